"""The command line: one verb a task. Parses, calls a service, prints; decides nothing.

`--json` prints one JSON document on standard output; progress and messages go to standard error. Exit codes: 0 done,
1 a check failed, 2 a mistake in the call or its input, 3 done in part. Heavy imports wait until a verb needs them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

INTERRUPTED = 130  # what Ctrl-C exits with

try:
    import typer

    from ..data.errors import ForethoughtError
    from ..data.library import library_hash
    from ..data.store import DEFAULT
    from . import terminal
    from .audit_commands import audit_app
    from .bench_commands import bench_app
    from .command_options import AsJson, Model, Seed, SetName, StoreUrl
    from .curation_commands import candidates_app
    from .export_commands import export_app
    from .mining_commands import mining_app
    from .rating_commands import rating_app
    from .records_commands import records_app
    from .routing_commands import routing_app
    from .score_options import (
        Calibration,
        EngineKind,
        Method,
        ScoreOptions,
        parse_normalisation,
        parse_visual_budget,
        require_served,
    )
    from .stability_commands import stability_app
    from .store_commands import store_app
    from .trace_commands import import_app, traces_app
    from .training_commands import training_app
    from .version_commands import undo_app, versions_app
    from .wiring import (
        find_set,
        make_engine,
        make_model,
        open_existing,
        open_if_there,
    )
except KeyboardInterrupt:  # these take a second, and nothing has begun
    print("forethought: interrupted", file=sys.stderr)
    sys.exit(INTERRUPTED)

# Before torch loads: threads that spin while they wait take a shared machine's cores from whoever works,
# this process included (an audit beside one busy process: 6 times slower).
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

app = typer.Typer(
    name="forethought",
    help="Thoughts prepared in advance: mine, curate, measure and export reasoning candidates.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
sets_app = typer.Typer(
    help="Look at candidate sets, release them, compare and restore versions.", no_args_is_help=True
)
app.add_typer(import_app)  # no name: its commands stand beside the others
app.add_typer(traces_app, name="traces")
app.add_typer(sets_app, name="sets")
app.add_typer(audit_app)
app.add_typer(bench_app)
app.add_typer(export_app)
app.add_typer(mining_app)
app.add_typer(records_app)
app.add_typer(rating_app)
app.add_typer(routing_app)
app.add_typer(stability_app)
app.add_typer(training_app)
app.add_typer(store_app, name="store")
app.add_typer(candidates_app, name="candidates")
app.add_typer(undo_app)
sets_app.add_typer(versions_app)


@app.command()
def score(
    name: SetName,
    context: Annotated[Path, typer.Option(help="File whose text is the context, word for word.")],
    store: StoreUrl = DEFAULT,
    model: Model = None,
    method: Annotated[
        Method, typer.Option(help="shared (fast) or plain (the definition).")
    ] = Method.SHARED,
    calibration: Annotated[
        Calibration, typer.Option(help="What is taken out of the score; an audit makes fitted.")
    ] = Calibration.RAW,
    normalisation: Annotated[
        str | None, typer.Option(help="sum, mean (SSR's, the default), byte or alpha=X.")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Length exponent: 1 mean, 0 sum; as alpha=X.")
    ] = None,
    tau: Annotated[float, typer.Option(min=0, help="Temperature; 0 takes the best.")] = 1.0,
    constrained: Annotated[
        bool, typer.Option("--constrained", help="Show what constrained decoding says, too.")
    ] = False,
    special_tokens: Annotated[
        bool, typer.Option("--special-tokens", help="Read <|...|> in the context as tokens.")
    ] = False,
    image: Annotated[
        list[Path] | None,
        typer.Option(help="A picture for the next <image> in the context; may be repeated."),
    ] = None,
    visual_budget: Annotated[
        str | None,
        typer.Option(help="Percents of the visual tokens that later layers see: 5-10,anchor=17."),
    ] = None,
    engine: Annotated[
        EngineKind | None, typer.Option(help="Score where the model is served, by this program.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="Of the engine, like http://127.0.0.1:30000.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Every candidate's likelihood after a context, and which one is taken."""
    from .context_file import read_context
    from .scoring import score_with_store

    normalised = parse_normalisation(normalisation, alpha)
    budget = parse_visual_budget(visual_budget)
    options = ScoreOptions(
        method, calibration, normalised, tau, constrained, special_tokens, budget
    )
    if engine is not None:
        require_served(options, len(image or ()))
    read = read_context(context, image or ())
    opened = open_if_there(store)
    candidate_set = find_set(opened, name)
    served = make_engine(engine, url, model)
    here = served.model if served else make_model(model)
    far = served.engine if served else None
    scored = score_with_store(opened, candidate_set, read, here, options, far)
    terminal.show_scores(scored, as_json=as_json)
    for warning in scored["warnings"]:
        typer.echo(f"warning: {warning}", err=True)


@sets_app.command("list")
def sets_list(store: StoreUrl = DEFAULT, as_json: AsJson = False) -> None:
    """Every stored set with its size and hash."""
    opened = open_existing(store)
    sets = [opened.candidate_set(name) for name in opened.set_names()]
    rows = [
        {"name": s.name, "hash": library_hash(s) if s.active else "", "candidates": len(s.active)}
        for s in sets
    ]
    terminal.show_sets(rows, as_json=as_json)


@sets_app.command("show")
def sets_show(name: SetName, store: StoreUrl = DEFAULT, as_json: AsJson = False) -> None:
    """One set, candidate by candidate."""
    terminal.show_set(find_set(open_if_there(store), name), as_json=as_json)


@app.command()
def check(store: StoreUrl = DEFAULT, as_json: AsJson = False) -> None:
    """Check the store and every set in it; exit 1 if anything is wrong."""
    problems = open_existing(store).check()
    terminal.show_check(problems, as_json=as_json)
    if problems:
        raise typer.Exit(1)


@app.command()
def ui(
    store: StoreUrl = DEFAULT,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port it listens on.")] = 8501,
    host: Annotated[str, typer.Option(help="Address it listens on.")] = "127.0.0.1",
    auth: Annotated[
        Path | None,
        typer.Option(help="TOML with \\[auth] for OIDC and \\[roles]: a login for all."),
    ] = None,
    no_login: Annotated[
        bool, typer.Option("--no-login", help="Let others reach it without a login.")
    ] = False,
    headless: Annotated[bool, typer.Option("--headless", help="Open no browser.")] = False,
) -> None:
    """Start the curation app; on this machine only, unless people log in or --no-login is given."""
    from .serving import Serving, serve

    open_existing(store).close()
    serve(Serving(store, port, host, auth, headless), without_login=no_login)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for store, exports and report.")] = Path(
        "demo-out"
    ),
    seed: Seed = 0,
) -> None:
    """The whole job on real traces that ship with Forethought: import, mine, audit, latency, export, report."""
    from .demo import run_demo

    run_demo(out, seed)


def main() -> None:
    """Runs the CLI; a user's mistake becomes one line on standard error and an exit code."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, where a full disk can still be told in one line
    except ForethoughtError as error:
        print(terminal.printable(f"forethought: {error}"), file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        told = f"forethought: cannot go on: {error.strerror or error}{where}"
        print(terminal.printable(told), file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left in the buffer goes nowhere
        sys.exit(ForethoughtError.exit_code)
    except SystemExit as stop:
        if stop.code == INTERRUPTED:
            print(
                "forethought: interrupted; what is stored is kept, run it again to go on",
                file=sys.stderr,
            )
        raise


if __name__ == "__main__":
    main()
