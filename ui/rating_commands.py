"""`forethought ratings`: which turns deserve more, taught from what two arms did. Parses, calls `rating_training` and prints."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from ..data.identity import Split
from ..data.store import DEFAULT
from . import terminal
from .command_options import AsJson, Model, Seed, SetName, StoreUrl
from .terminal import OUT, plain, print_json
from .wiring import find_set, open_if_there

rating_app = typer.Typer()
Json = Mapping[str, Any]


class LearningBy(StrEnum):
    """What a rating learns by."""

    OUTCOMES = "outcomes"
    GROUPS = "groups"


@rating_app.command()
def ratings(
    name: SetName,
    table: Annotated[
        list[Path],
        typer.Argument(
            help="What both arms did: a bench's --out folder, or a wide CSV (question, M_correct, M_cost)."
        ),
    ],
    small: Annotated[
        str, typer.Option(help="The cheap arm, whose own chance is rated.")
    ] = "select",
    large: Annotated[str, typer.Option(help="The stronger one.")] = "think",
    out: Annotated[
        Path,
        typer.Option(help="Folder of the taught model, the probe and the table; goes on from it."),
    ] = Path("ratings-out"),
    by: Annotated[
        LearningBy,
        typer.Option(help="The level that an outcome earned, or reinforcement in groups."),
    ] = LearningBy.OUTCOMES,
    epochs: Annotated[int, typer.Option(min=1, help="Times through the questions.")] = 1,
    rate: Annotated[float, typer.Option(min=0.0, help="Learning rate at its highest.")] = 1e-4,
    mine: Annotated[int, typer.Option(min=0, help="Questions to learn from; 0: all.")] = 400,
    choose: Annotated[int, typer.Option(min=0, help="Questions to choose by; 0: all.")] = 200,
    test: Annotated[int, typer.Option(min=0, help="Questions to measure on; 0: all.")] = 1000,
    store: StoreUrl = DEFAULT,
    model: Model = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Teach a model to rate its own chance and that of thinking more, and compare that with every other signal."""
    candidate_set = find_set(open_if_there(store), name)
    from ..scorer.training.teaching import Schedule
    from .rating_training import ArmNames, By, RatingPlan, teach_ratings

    plan = RatingPlan(
        tuple(table),
        ArmNames(small, large),
        model,
        By(by),
        Schedule(epochs, group=8, rate=rate, looks=2, seed=seed),
        {Split.MINE: mine or None, Split.CHOOSE: choose or None, Split.TEST: test or None},
    )
    with terminal.stages("ratings", quiet=as_json) as stage:
        report = teach_ratings(
            plan, candidate_set, out, lambda what, done, total: stage(f"{what}, {done} of {total}")
        )
    if as_json:
        return print_json(report)
    show_signals(report)


def show_signals(report: Json) -> None:
    """A table that eighty columns hold, in percentage points."""
    heads = ("signal", "area %", "at half", "less random", "less margin", "less log Z")
    shown = Table(*heads, box=SIMPLE_HEAD, padding=(0, 0))
    for name, row in report["signals"].items():
        rivals = (row.get(key) for key in ("less_random", "less_margin", "less_log_z"))
        shown.add_row(
            name.removeprefix("rating, ") + " *" * row["chosen"],
            f"{100 * row['area']['value']:.1f}",
            f"{100 * row['at']['0.5']:.1f}",
            *("" if one is None else _points(one) for one in rivals),
        )
    OUT.print(shown)
    for arm, one in report["always"].items():
        OUT.print(plain(f"always {arm}: {100 * one['success']:.1f} % at {one['cost']:.4g}"))
    asked = report["questions"]
    OUT.print(
        plain(
            f"learned on {asked['mine']} questions, chosen on {asked['choose']} (*), measured on {asked['test']}; left out {report['left_out']}"
        )
    )
    OUT.print(
        plain(
            f"model: {report['trained']} (forethought bench ... --model DIR --policy {report['policy']})"
        )
    )
    if report["probe"]:
        OUT.print(plain(f"probe: {report['probe']} (--policy probe --probe FILE)"))


def _points(estimate: Json) -> str:
    """Percentage points and their interval in few characters."""
    value, low, high = (100 * estimate[key] for key in ("value", "low", "high"))
    return f"{value:.1f}[{low:.1f},{high:.1f}]"
