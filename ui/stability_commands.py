"""`stability` and `families`: how far a mined set can be relied on, and how it is ordered. As in `cli.py`, which includes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from ..data.store import DEFAULT
from .command_options import AsJson, EmbedderPath, Seed, SetName, StoreUrl
from .terminal import OUT, plain, print_json, stages
from .wiring import find_set, make_embedder, open_existing

if TYPE_CHECKING:
    from ..miner.families import Family

MOST_RUNS = 100
LEAST_GROUPED = 8  # candidates; a shorter list is read at a glance

stability_app = typer.Typer()


@stability_app.command()
def stability(
    name: SetName,
    runs: Annotated[int, typer.Option(min=1, max=MOST_RUNS, help="Bootstraps over questions.")] = 3,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Also what other settings would give, cliffs marked.")
    ] = False,
    store: StoreUrl = DEFAULT,
    embedder: EmbedderPath = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Mine again, shuffled and on other draws of the questions: which candidates would be found again? Exit 1 if order matters."""
    from ..miner.stability import Draws
    from .stability import stability_report, sweep_report

    opened = open_existing(store)
    candidate_set = find_set(opened, name)
    vectors = make_embedder(embedder)
    with stages("stability", quiet=as_json) as progress:
        report = stability_report(opened, candidate_set, vectors, Draws(runs, seed), progress)
        if sweep:
            report["sweep"] = sweep_report(opened, candidate_set, vectors, progress)
    show_stability(report, as_json=as_json)
    if not report["shuffle"]["identical"]:
        raise typer.Exit(1)


def show_stability(report: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        return print_json(report)
    runs, ari = report["runs"], report["ari"]
    title = f"{report['set']}: {runs} bootstraps of {report['questions']} questions"
    table = Table("candidate", "found again", "same text", "turns shared", "", title=plain(title))
    for row in report["candidates"]:
        if row["jaccard"] is None:
            table.add_row(plain(row["text"]), "-", "-", "-", "not mined")
            continue
        counts = (f"{row[key]} of {runs}" for key in ("found_again", "same_text"))
        shaky = "shaky" if row["shaky"] else ""
        table.add_row(plain(row["text"]), *counts, _spread(row["jaccard"]), shaky)
    OUT.print(table)
    same = "gives the same set" if report["shuffle"]["identical"] else "GIVES ANOTHER SET"
    OUT.print(f"Shuffling the rows {same}; agreement of assignments (ARI) {_spread(ari)}")
    for setting, swept in report.get("sweep", {}).items():
        show_sweep(setting, swept)


def show_sweep(setting: str, swept: dict[str, Any]) -> None:
    """A row a value; a cliff is marked at the value behind it."""
    table = Table(setting, "candidates", "covers", "assigned", "")
    behind = {after: before for before, after in swept["cliffs"]}
    for point in swept["points"]:
        value = point["value"]
        mark = f"cliff from {behind[value]:g}" if value in behind else ""
        mark = ", ".join(filter(None, ("as mined" if value == swept["own"] else "", mark)))
        shares = (f"{point[key]:.1%}" for key in ("coverage", "assigned"))
        table.add_row(f"{value:g}", str(point["candidates"]), *shares, mark)
    OUT.print(table)


def _spread(found: dict[str, float]) -> str:
    return f"{found['mean']:.2f} [{found['min']:.2f}, {found['max']:.2f}]"


@stability_app.command()
def families(
    name: SetName,
    store: StoreUrl = DEFAULT,
    source: Annotated[
        str | None, typer.Option(help="Turns of this collection only; default: the set's own.")
    ] = None,
    embedder: EmbedderPath = None,
    as_json: AsJson = False,
) -> None:
    """A set in two levels: candidates that say nearly one thing in one situation, under the text of the central one."""
    from .corpus import Corpus
    from .families import families_json, families_of
    from .masking import rules_of

    opened = open_existing(store)
    candidate_set = find_set(opened, name)
    mined_from = candidate_set.manifest.get("source")
    traces = opened.traces(source or (str(mined_from) if mined_from is not None else None))
    corpus = Corpus.of(list(traces), make_embedder(embedder), rules_of(candidate_set))
    found = families_of(corpus, candidate_set)
    if as_json:
        return print_json(families_json(candidate_set, found))
    show_families(candidate_set.name, found)


def show_families(name: str, found: tuple[Family, ...]) -> None:
    """A list by family; without them where it is short."""
    grouped = sum(len(family.candidates) for family in found) >= LEAST_GROUPED
    table = Table("candidate", "then", "support", title=plain(name))
    for family in found:
        if grouped and len(family.candidates) > 1:
            share = f"{family.share:.0%}"
            table.add_row(plain(family.name), "", share, style="bold")
        for candidate in family.candidates:
            indent = "  " if grouped and len(family.candidates) > 1 else ""
            actions = plain(", ".join(candidate.expected_actions) or "-")
            table.add_row(plain(indent + candidate.text), actions, str(len(candidate.support)))
        table.add_section()
    OUT.print(table)
