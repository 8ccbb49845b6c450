"""A bench's report as one HTML file that needs nothing else: the tables of the papers for the user's own run.

The sibling of report.py with the same rules: no script, no loading, everything escaped. Figures come from bench_rows.py; what was
published stands apart and is marked so.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ..data.published_results import published
from . import bench_rows as rows
from .bench_settings import settings
from .bench_summary import AGREEMENT, DASH, cards, claim, coverage_told, metric, share_table
from .charts import milliseconds
from .pareto import BENCH_MODES, ParetoPoint, left_out, pareto_points
from .pictures import pareto_picture
from .report import page_environment
from .result_file import write_whole

Json = Mapping[str, Any]
MARKS = "●■▲◆▼"  # as pictures.SET_MARKS draws them


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
        saved=rows.saved,
        range=rows.range_of,
        points=rows.points,
        plain=rows.plain,
        chance=rows.chance,
        time=_time,
        metric=metric,
    )
    environment.tests["apart"] = rows.is_clear
    part, points = rows.pooled(report), pareto_points(report, others)
    shares = share_table(report)
    sets = list(dict.fromkeys(point.set_name for point in points))
    return environment.get_template("bench_report.html").render(
        name=str(report.get("set", "")),
        report=report,
        claim=claim(report),
        pooled=part,
        sent=rows.sent(part),
        parts=rows.parts(report),
        mean=rows.mean_success(report),
        cards=cards(report),
        settings=settings(report),
        shares=shares,
        agreement_told=AGREEMENT,
        dash=DASH,
        coverage_told=coverage_told(shares.least_log_z),
        unlike=rows.unlike(report),
        columns=rows.modes_of(rows.parts(report)),
        seconds=rows.SECONDS,
        has_points=bool(points),
        left_out=left_out(report, others),
        modes=_coloured(points),
        sets=list(zip(MARKS, sets, strict=False)),
        pareto_svg=Markup(pareto_picture(points, has_frontier=not part.is_floor)),
        published=published(),
    )


def _coloured(points: Iterable[ParetoPoint]) -> list[tuple[int, str]]:
    """Number of its colour and name, of each mode that is drawn."""
    drawn = {point.mode for point in points}
    return [(number, mode) for number, mode in enumerate(BENCH_MODES) if mode in drawn]


def _time(value: float | None) -> str:
    return "–" if value is None else milliseconds(value)
