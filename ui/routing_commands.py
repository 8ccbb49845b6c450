"""`forethought route`: which arm each question should get, learned from what the arms did. Parses, calls `routing` and prints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from .command_options import AsJson, EmbedderPath, Seed
from .result_file import require_writable
from .terminal import OUT, plain, print_json, printable, stages

routing_app = typer.Typer()
Json = Mapping[str, Any]
LEADING_ZERO = re.compile(r"(?<![\d.])0\.")


@routing_app.command()
def route(
    table: Annotated[
        list[Path],
        typer.Argument(
            help="What each arm did: a wide CSV (question, M_correct, M_cost), or a bench's --out folder."
        ),
    ],
    arm: Annotated[
        list[str] | None, typer.Option(help="Route between these arms only; may be repeated.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File that the trained router is kept in.")
    ] = None,
    seeds: Annotated[
        int, typer.Option(min=1, help="Networks that differ by their seed, averaged.")
    ] = 3,
    embedder: EmbedderPath = None,
    pictures: Annotated[
        str | None,
        typer.Option(
            help="Vectors of the pictures by their names in the table: FILE.npz or FILE.npy."
        ),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train a router on what models, sets or modes did, and compare it with simpler ones on questions it has not seen."""
    from ..miner.vectors import OwnVectors
    from .routing import RoutingPlan, require_other, route_table
    from .wiring import make_embedder

    require_writable(out)
    if out is not None:
        require_other(out, [Path(one) for one in (embedder, pictures) if one])
    plan = RoutingPlan(tuple(table), tuple(arm or ()), seeds, seed)
    seen = OwnVectors(pictures) if pictures else None
    with stages("route", quiet=as_json) as tell:
        tell("reading, embedding, training")
        report = route_table(plan, make_embedder(embedder), seen, out)
    if as_json:
        return print_json(report)
    show_routing(report)
    if out is not None:
        OUT.print(plain(f"router: {out}"))


def show_routing(report: Json) -> None:
    """A table that eighty columns hold."""
    heads = ("router", "nAUC", "latent less it", "peak", "QNC", "Rank")
    shown = Table(*heads, box=SIMPLE_HEAD, padding=(0, 0))
    for name, row in report["routers"].items():
        cells = (
            interval(row["nauc"], digits=3),
            interval(row["difference"], signed="+", digits=3),
            f"{row['peak']:.3f}",
            "never" if row["qnc"] is None else f"{row['qnc']:.2f}",
            f"{row['rank_score']:.3f}",
        )
        shown.add_row(name, *(LEADING_ZERO.sub(".", cell) for cell in cells))
    OUT.print(shown)
    arms = [*map(printable, report["arms"])]
    for name, row in report["routers"].items():
        shares = " / ".join(f"{100 * share:.0f}" for share in row["shares"].values())
        OUT.print(plain(f"{name}, at no price: {shares} % to {' / '.join(arms)}"))
    asked, best = report["questions"], report["best_single"]
    OUT.print(
        plain(
            f"learned on {asked['mine']} questions, chosen on {asked['choose']}, measured on {asked['test']}; left out {report['left_out']};"
            f" best single arm {printable(best['arm'])}: {best['quality']:.3f} at {best['cost']:.4g}"
        )
    )
    for remark in _remarks(report):
        OUT.print(plain(remark))


def _remarks(report: Json) -> Sequence[str]:
    """What of the table is in no figure, and what a figure is where it is not what it is called."""
    remarks = []
    if columns := report["columns_left_out"]:
        told = ", ".join(map(printable, columns))
        remarks.append(f"columns left out, for an arm M has M_correct and M_cost: {told}")
    if report["records_cut_off"]:
        remarks.append(f"records cut off at a file's end, left out: {report['records_cut_off']}")
    if report["same_cost"]:
        remarks.append("on test questions all arms cost the same: nAUC is the best quality")
    return remarks


def interval(estimate: Json, *, signed: str = "", digits: int = 4) -> str:
    """A figure with its interval, nothing where there is none."""
    if estimate["value"] is None:
        return ""
    value, low, high = (f"{estimate[key]:{signed}.{digits}f}" for key in ("value", "low", "high"))
    return f"{value} [{low}, {high}]"
