"""`forethought bench`: a benchmark's questions in several modes, same model, tools and limits. Parses, calls `benching` and prints."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..data.store import DEFAULT
from . import terminal
from .command_options import AsJson, Model, Seed, SetName, StoreUrl
from .wiring import find_set, make_model, open_existing

bench_app = typer.Typer()
MODES = ("select", "think")


class BenchCalibration(StrEnum):
    """What is taken out of a candidate's score, of what needs no turns to be fitted on."""

    RAW = "raw"
    PMI = "pmi"


@bench_app.command()
def bench(
    name: SetName,
    benchmark: Annotated[
        str, typer.Option(help="hotpotqa-replay: HotpotQA over the store's recorded runs.")
    ] = "hotpotqa-replay",
    mode: Annotated[
        list[str] | None,
        typer.Option(
            help="select, think, think-65, none, draft, index, hybrid; may be repeated. Default: select and think."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Questions a mode; 0: all.")] = 100,
    out: Annotated[
        Path, typer.Option(help="Folder of the records; a killed run goes on from it.")
    ] = Path("bench-out"),
    source: Annotated[
        str | None, typer.Option(help="Replay this collection only, and answers of it.")
    ] = None,
    turns: Annotated[int, typer.Option(min=1, help="Most turns a question.")] = 4,
    thought_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of a free thought.")] = 64,
    action_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of an action.")] = 32,
    fewer: Annotated[
        int, typer.Option(min=0, help="Questions of the modes other than select and think; 0: all.")
    ] = 20,
    guided: Annotated[
        bool, typer.Option(help="Begin each action as the likeliest of those there are.")
    ] = True,
    listed: Annotated[
        bool, typer.Option(help="List the set's texts before the question, as SSR does.")
    ] = False,
    calibration: Annotated[
        BenchCalibration, typer.Option(help="Of the scores that select goes by: raw, or pmi.")
    ] = BenchCalibration.RAW,
    store: StoreUrl = DEFAULT,
    model: Model = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Does a set keep success and cut time? Play a benchmark's questions selecting and thinking."""
    from ..scorer.agent.episode import Limits
    from ..scorer.agent.thinking import Freedom
    from .bench_runs import run_bench
    from .bench_table import show_bench
    from .benching import BenchPlan, parse_modes

    modes = parse_modes(mode or list(MODES))
    plan = BenchPlan(
        benchmark=benchmark,
        modes=modes,
        source=source,
        limit=limit or None,
        fewer={one: fewer for one in modes if one.value not in MODES} if fewer else {},
        seed=seed,
        limits=Limits(turns=turns, action_tokens=action_tokens),
        freedom=Freedom(tokens=thought_tokens),
        is_listed=listed,
        is_guided=guided,
        is_less_premise=calibration is BenchCalibration.PMI,
    )
    opened = open_existing(store)
    candidate_set = find_set(opened, name)
    with terminal.bar("bench", quiet=as_json) as progress:
        found = run_bench(opened, candidate_set, make_model(model), plan, out, progress)
    show_bench(found, as_json=as_json)
