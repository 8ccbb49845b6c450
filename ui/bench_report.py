"""A bench's report as one HTML file that needs nothing else: the tables of the papers for the user's own run.

The sibling of report.py with the same rules: no script, no loading, everything escaped. Figures come from bench_rows.py; what was
published stands apart and is marked so.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from ..data.published_results import published
from . import bench_rows as rows
from .bench_rows import Part
from .charts import milliseconds
from .pareto import BENCH_MODES, SELECT, ParetoPoint, pareto_points
from .pictures import pareto_picture
from .report import page_environment
from .result_file import write_whole

Json = Mapping[str, Any]
MARKS = "●■▲◆▼"  # as pictures.SET_MARKS draws them
METRICS = {
    "judge": "a judge's word",
    "exact": "exact match",
    "relaxed": "relaxed match",
    "f1": "token F1",
}


class Card(NamedTuple):
    """A figure that stands on top."""

    what: str
    value: str
    range: str
    says: str


class Share(NamedTuple):
    """A candidate: its text and how often it was taken, a column each."""

    text: str
    shares: tuple[float | None, ...]


class ShareTable(NamedTuple):
    """Columns are benchmarks where `select` played several, else the modes that chose."""

    columns: tuple[str, ...]
    rows: tuple[Share, ...]
    announced: tuple[float | None, ...]


def write_bench_report(
    path: str | Path, report: Json, others: Mapping[str, Json] | None = None
) -> None:
    """Writes `bench_html` to `path`, whole or not at all; ForethoughtError where it cannot be written."""
    write_whole(Path(path), bench_html(report, others))


def bench_html(report: Json, others: Mapping[str, Json] | None = None) -> str:
    """The page of a bench; `others` are the latest reports by set, of which those that compare are drawn beside it."""
    environment = page_environment()
    environment.filters.update(
        share=rows.percent,
        range=rows.range_of,
        points=rows.points,
        plain=rows.plain,
        chance=rows.chance,
        time=_time,
        metric=lambda name: METRICS.get(name, name),
    )
    environment.tests["apart"] = rows.is_clear
    part, points = rows.pooled(report), pareto_points(report, others)
    sets = list(dict.fromkeys(point.set_name for point in points))
    return environment.get_template("bench_report.html").render(
        name=str(report.get("set", "")),
        report=report,
        claim=rows.claim(report),
        pooled=part,
        parts=rows.parts(report),
        mean=rows.mean_success(report),
        cards=cards(report),
        settings=rows.settings(report),
        shares=share_table(report),
        unlike=rows.unlike(report),
        columns=list(_columns(rows.parts(report))),
        seconds=rows.SECONDS,
        has_points=bool(points),
        modes=_coloured(points),
        sets=list(zip(MARKS, sets, strict=False)),
        pareto_svg=Markup(pareto_picture(points, has_frontier=not part.is_floor)),
        published=published(),
    )


def cards(report: Json) -> list[Card]:
    """Agreement first where success tells nothing; else success and what selecting saves."""
    part = rows.pooled(report)
    found = list(_agreements(report)) if part.is_floor else []
    for mode in (SELECT, rows.THINK):
        if row := part.mode(mode):
            says = f"success of {row.mode}, on {row.n} questions"
            found.append(
                Card(mode, rows.percent(row.success.value), rows.range_of(row.success), says)
            )
    for one in part.against:
        if one.mode == rows.THINK and not part.is_floor:  # there, time is saved at nothing
            saved = (
                ("reasoning", one.reasoning_saved, "a turn"),
                ("model", one.model_saved, "a question"),
            )
            found += [
                Card(f"{what} time saved", rows.percent(share), "", f"{per}, mean, against think")
                for what, share, per in saved
            ]
    return found


def share_table(report: Json) -> ShareTable:
    """How often each candidate was taken; those the report does not name come last, by their id."""
    parts = [part for part in rows.parts(report) if (row := part.mode(SELECT)) and row.shares]
    if len(parts) > 1:
        columns = {part.name: part.mode(SELECT) for part in parts}
    else:
        columns = {row.mode: row for row in rows.choosing(rows.pooled(report))}
    taken = {id for row in columns.values() if row for id in row.shares}
    texts = rows.texts(report)
    texts |= {id: id for id in sorted(taken - texts.keys())}
    return ShareTable(
        tuple(columns),
        tuple(
            Share(text, tuple(row.shares.get(id, 0.0) if row else None for row in columns.values()))
            for id, text in texts.items()
        ),
        tuple(row.announced if row else None for row in columns.values()),
    )


def _agreements(report: Json) -> Iterable[Card]:
    for part in rows.parts(report):
        if part.agreement is None:
            continue
        for mode in (SELECT, rows.THINK):
            if told := part.agreement.modes.get(mode):
                says = f"takes the recorded action, {part.agreement.turns} turns"
                yield Card(f"{mode} agrees", rows.percent(told.value), rows.range_of(told), says)
        constant = rows.percent(part.agreement.constant)
        yield Card("most frequent action", constant, "", "what taking it always would agree")


def _columns(parts: Iterable[Part]) -> Iterable[str]:
    """Every mode that was played anywhere, in the order of the report."""
    return dict.fromkeys(row.mode for part in parts for row in part.modes)


def _coloured(points: Iterable[ParetoPoint]) -> list[tuple[int, str]]:
    """Number of its colour and name, of each mode that is drawn."""
    drawn = {point.mode for point in points}
    return [(number, mode) for number, mode in enumerate(BENCH_MODES) if mode in drawn]


def _time(value: float | None) -> str:
    return "–" if value is None else milliseconds(value)
