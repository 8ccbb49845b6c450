"""`mine`, and the verbs beside it that show how it comes about. Each parses, calls a service and prints, as in `cli.py`, which
includes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from ..data.errors import ForethoughtError
from ..data.store import DEFAULT
from ..scorer.cache import cache_folder
from .command_options import AsJson, EmbedderPath, MaskRulesPath, Model, Seed, SetName, StoreUrl
from .terminal import OUT, plain, print_json, set_json, show_set, stages
from .wiring import (
    ExecutorKind,
    find_set,
    make_embedder,
    make_executor,
    make_models,
    open_existing,
    open_if_there,
)

if TYPE_CHECKING:
    from ..data.candidates import CandidateSet
    from ..miner.incremental import Growth
    from .masking import MaskPreview

mining_app = typer.Typer()


@mining_app.command()
def mine(
    name: Annotated[str, typer.Option(help="Name of the set.")] = "mined",
    budget: Annotated[int, typer.Option(min=1, help="Candidates at most.")] = 12,
    tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Tokens of all candidates together at most (about: words x 1.3)."),
    ] = None,
    store: StoreUrl = DEFAULT,
    source: Annotated[str | None, typer.Option(help="Mine this collection only.")] = None,
    pin: Annotated[
        list[str] | None, typer.Option(help="A text that must be in, first; repeatable.")
    ] = None,
    ban: Annotated[
        list[str] | None, typer.Option(help="A text that must not be in; repeatable.")
    ] = None,
    escape: Annotated[
        bool, typer.Option("--escape", help="Add a last candidate that says none of these fits.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option("--admit", help="Only what surely gains on choose turns enters (minutes)."),
    ] = False,
    reference: Model = None,
    writer: Annotated[
        str | None,
        typer.Option(help="A chat model that rewords: http://host:port/v1, a folder or a hub id."),
    ] = None,
    writer_model: Annotated[str | None, typer.Option(help="Its name at the URL.")] = None,
    writer_calls: Annotated[
        int | None, typer.Option(min=0, help="Ask it at most so often.")
    ] = None,
    grow: Annotated[
        str | None,
        typer.Option(help="Grow this set instead by what was imported since; its candidates stay."),
    ] = None,
    mask_rules: MaskRulesPath = None,
    embedder: EmbedderPath = None,
    executor: Annotated[
        ExecutorKind,
        typer.Option(
            help="Mask and embed one block after the other, or with Ray on all processors at once; the set is the same."
        ),
    ] = ExecutorKind.PLAIN,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Mine the traces' thoughts into a candidate set. Reads mine questions only, half of all; --admit choose ones too."""
    from ..miner.mask_rules import read_rules, shipped_rules
    from ..miner.wishes import Wishes
    from .audit_table import show_mining
    from .growing import grow_set
    from .mining import MiningRequest, mine_set
    from .writing import make_writer

    opened = open_existing(store)
    if grow is not None and mask_rules is not None:
        raise ForethoughtError(
            f"set {grow!r} grows by the mask rules that it was mined with; leave out --mask-rules or mine anew"
        )
    if grow is not None and executor is not ExecutorKind.PLAIN:
        raise ForethoughtError(
            "--grow works in this process; leave out --executor, or mine anew with it"
        )
    if grow is not None:
        with stages("grow", quiet=as_json) as progress:
            growth = grow_set(opened, grow, make_embedder(embedder), budget, progress)
        return show_growth(opened.candidate_set(grow), growth, as_json=as_json)
    model = make_models(reference, None).reference if verify else None
    chat = make_writer(writer, writer_model, writer_calls) if writer else None
    wishes = Wishes(tuple(pin or ()), tuple(ban or ()))
    rules = read_rules(mask_rules) if mask_rules else shipped_rules()
    with make_executor(executor) as where, stages("mine", quiet=as_json) as progress:
        asked = MiningRequest(
            budget,
            source,
            wishes,
            escape,
            model,
            seed,
            chat,
            cache_folder() / "stages",
            rules,
            where,
            tokens,
        )
        result = mine_set(opened, name, make_embedder(embedder, where), asked, progress)
    show_mining(opened.candidate_set(name), result, as_json=as_json)


def show_growth(candidate_set: CandidateSet, growth: Growth, *, as_json: bool) -> None:
    from .audit_table import show_flags

    if as_json:
        told = {"growth": growth.as_json(), "flags": candidate_set.manifest.get("flags", [])}
        return print_json(set_json(candidate_set) | told)
    show_set(candidate_set)
    OUT.print(
        f"{growth.num_new} new turns to mine, {growth.num_placed} of them joined a candidate; "
        f"{len(growth.added)} candidates proposed, {len(growth.merged)} sentences said one again"
    )
    show_flags(candidate_set)


@mining_app.command()
def lint(
    name: SetName,
    store: StoreUrl = DEFAULT,
    embedder: EmbedderPath = None,
    as_json: AsJson = False,
) -> None:
    """What is wrong with a set's texts: form, sense, tools, near twins, words of their sources. Exit 1 if any is blocked."""
    from .linting import lint_json, lint_stored

    opened = open_if_there(store)
    candidate_set = find_set(opened, name)
    found = lint_json(candidate_set, lint_stored(candidate_set, opened, make_embedder(embedder)))
    show_lint(found, as_json=as_json)
    if not found["ok"]:
        raise typer.Exit(1)


def show_lint(found: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        return print_json(found)
    problems = 0
    for candidate in found["candidates"]:
        for problem in candidate["problems"]:
            OUT.print(plain(f"{problem['severity']}: {candidate['text']}  {problem['problem']}"))
            problems += 1
    blocked = sum(candidate["blocked"] for candidate in found["candidates"])
    OUT.print(f"{len(found['candidates'])} texts, {problems} problems, {blocked} texts blocked")


@mining_app.command()
def mask(
    store: StoreUrl = DEFAULT,
    limit: Annotated[int, typer.Option(min=0, help="Show so many thoughts.")] = 10,
    rules: Annotated[
        Path | None, typer.Option(help="Mask rules (TOML) in the place of the shipped ones.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="Thoughts of this collection only.")] = None,
    print_rules: Annotated[
        bool, typer.Option("--print-rules", help="Print the shipped rules file, to copy; no more.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Preview masking: what is taken out of each thought, by which rule, and what is left."""
    from ..miner.mask_rules import SHIPPED
    from .masking import preview

    if print_rules:
        typer.echo(SHIPPED.read_text("utf-8"), nl=False)
        return
    show_mask(preview(open_existing(store), limit, rules, source), as_json=as_json)


def show_mask(found: MaskPreview, *, as_json: bool) -> None:
    if as_json:
        return print_json(found.as_json())
    for turn, masked in found.shown:
        OUT.print(plain(turn), style="bold")
        OUT.print(plain(f"  original  {masked.original}"))
        OUT.print(plain(f"  typed     {masked.typed}"), style="cyan")
        OUT.print(plain(f"  masked    {masked.text}"), style="dim")
    for title, counts in (("rule", found.rules), ("kind", found.kinds), ("owner", found.owners)):
        table = Table(title, "slots")
        for name, count in counts.most_common():
            table.add_row(plain(name), str(count))
        OUT.print(table)
    OUT.print(
        f"{found.num_thoughts} thoughts, {found.num_whole} of them whole; "
        f"{found.kept_types} of {found.word_types} word types remain"
    )
