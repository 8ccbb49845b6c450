"""The app's charts in Altair, from the rows of `charts.py`. Vega draws text as text: nothing in it is markup.

Field names are ours and values plain, so that a tooltip can only ever show them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import altair as alt

from .charts import Latency, Point, UseTable
from .pareto import BENCH_MODES, ParetoPoint, frontier

PALETTE = ("#4f7be8", "#e08b35", "#2fa584", "#c05fa2", "#8a7be6", "#a89a35", "#8791a1", "#d0534f")
POLICY = alt.Color(
    "policy:N",
    title=None,
    scale=alt.Scale(domain=["assigned", "routed"], range=list(PALETTE[:2])),
    legend=alt.Legend(orient="top", symbolOpacity=1),
)
RECOVERY = "recovery of the free thoughts' gain"


class Bar(NamedTuple):
    """A candidate's label and its score after one context."""

    label: str
    score: float
    is_taken: bool


def recovery_plot(curve: Sequence[Point], constant: float | None) -> alt.LayerChart:
    """Recovery against the set's size with its interval; the best constant as a dashed line."""
    data = alt.Data(values=[point._asdict() for point in curve])
    size = alt.X(
        "size:Q",
        title="candidates in the set",
        axis=alt.Axis(tickMinStep=1, format="d", grid=False),
    )
    tooltip = [alt.Tooltip(f, format=".2f") for f in ("value:Q", "low:Q", "high:Q")]
    base = alt.Chart(data).encode(x=size, color=POLICY)
    band = base.mark_area(opacity=0.13).encode(y=alt.Y("low:Q", title=RECOVERY), y2="high:Q")
    line = base.mark_line(point=True).encode(
        y=alt.Y("value:Q", title=RECOVERY), tooltip=["policy:N", "size:Q", *tooltip]
    )
    return _over_constant(band + line, constant).properties(height=320)


def sets_plot(sets: Sequence[Point], constant: float | None) -> alt.LayerChart:
    """Every set of the report side by side, each policy with its interval."""
    order = list(dict.fromkeys(point.set_name for point in sets))
    data = alt.Data(values=[point._asdict() for point in sets])
    name = alt.X(
        "set_name:N", title=None, sort=order, axis=alt.Axis(labelAngle=-30, labelLimit=110)
    )
    base = alt.Chart(data).encode(x=name, xOffset="policy:N", color=POLICY)
    whisker = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", title=RECOVERY), y2="high:Q")
    tooltip = [alt.Tooltip(f, format=".2f") for f in ("value:Q", "low:Q", "high:Q")]
    dots = base.mark_circle(size=70, opacity=1).encode(
        y=alt.Y("value:Q", title=RECOVERY), tooltip=["set_name:N", "policy:N", "size:Q", *tooltip]
    )
    return _over_constant(whisker + dots, constant).properties(height=320)


def coverage_plot(curve: Sequence[Point]) -> alt.LayerChart:
    """Share of held-out thoughts that some wording is near, against the set's size, with its interval."""
    data = alt.Data(values=[point._asdict() for point in curve])
    size = alt.X(
        "size:Q",
        title="candidates in the set",
        axis=alt.Axis(tickMinStep=1, format="d", grid=False),
    )
    title, share = "share of test thoughts covered", alt.Axis(format=".0%")
    base = alt.Chart(data).encode(x=size)
    band = base.mark_area(opacity=0.13, color=PALETTE[2]).encode(
        y=alt.Y("low:Q", title=title, axis=share), y2="high:Q"
    )
    line = base.mark_line(point={"color": PALETTE[2]}, color=PALETTE[2]).encode(
        y=alt.Y("value:Q", title=title, axis=share),
        tooltip=["size:Q", *(alt.Tooltip(f, format=".2f") for f in ("value:Q", "low:Q", "high:Q"))],
    )
    return (band + line).properties(height=220)


def use_plot(table: UseTable) -> alt.Chart:
    """Bars by candidate, stacked by the kind of the action that followed."""
    rows = [
        {"candidate": label, "action": kind, "turns": count, "place": place}
        for place, kind in enumerate(table.kinds)
        for label, count in zip(table.labels, table.counts(kind), strict=True)
    ]
    colours = alt.Scale(domain=list(table.kinds), range=list(PALETTE[: len(table.kinds)]))
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("turns:Q", title="test turns", axis=alt.Axis(tickMinStep=1, format="d")),
            y=alt.Y(
                "candidate:N", title=None, sort=list(table.labels), axis=alt.Axis(labelLimit=420)
            ),
            color=alt.Color("action:N", title=None, scale=colours, legend=alt.Legend(orient="top")),
            order="place:Q",
            tooltip=["candidate:N", "action:N", "turns:Q"],
        )
        .properties(height=alt.Step(26))
    )


def scores_plot(bars: Sequence[Bar]) -> alt.Chart:
    """The scores of candidates after one context, in the order given; the one that is taken in the accent."""
    rows = [{"candidate": f"{n}. {bar.label}"} | bar._asdict() for n, bar in enumerate(bars, 1)]
    colour = alt.condition("datum.is_taken", alt.value(PALETTE[0]), alt.value(PALETTE[6]))
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("score:Q", title="score, nats a token"),
            y=alt.Y(
                "candidate:N",
                title=None,
                sort=[row["candidate"] for row in rows],
                axis=alt.Axis(labelLimit=260),
            ),
            color=colour,
            tooltip=["candidate:N", alt.Tooltip("score:Q", format=".3f")],
        )
        .properties(height=alt.Step(22))
    )


def latency_plot(rows: Sequence[Latency]) -> alt.LayerChart:
    """Median milliseconds a turn by mode, with whiskers to the 95th percentile."""
    data = alt.Data(values=[row._asdict() for row in rows])
    mode = alt.Y(
        "mode:N", title=None, sort=[row.mode for row in rows], axis=alt.Axis(labelLimit=220)
    )
    title = "milliseconds a turn: median, whisker to the 95th percentile"
    base = alt.Chart(data).encode(y=mode)
    bars = base.mark_bar(color=PALETTE[0], height=20).encode(x=alt.X("p50:Q", title=title))
    whiskers = base.mark_rule(strokeWidth=2, color=PALETTE[6]).encode(
        x=alt.X("p50:Q", title=title),
        x2="p95:Q",
        tooltip=[
            "mode:N",
            alt.Tooltip("p50:Q", format=",.0f"),
            alt.Tooltip("p95:Q", format=",.0f"),
        ],
    )
    return (bars + whiskers).properties(height=alt.Step(38))


def pareto_plot(points: Sequence[ParetoPoint], *, has_frontier: bool) -> alt.LayerChart:
    """Success against seconds a question with its interval: a colour a mode, a shape a set; what nothing beats dashed."""
    drawn = [mode for mode in BENCH_MODES if any(point.mode == mode for point in points)]
    colours = [PALETTE[BENCH_MODES.index(mode)] for mode in drawn]
    base = alt.Chart(_values(points)).encode(
        x=alt.X(
            "seconds:Q",
            title="model seconds a question, mean",
            scale=alt.Scale(zero=True),
            axis=alt.Axis(grid=False, tickCount=8),
        ),
        color=alt.Color("mode:N", title=None, scale=alt.Scale(domain=drawn, range=colours)),
    )
    share = alt.Axis(format=".0%")
    whiskers = base.mark_rule().encode(y=alt.Y("low:Q", title="success", axis=share), y2="high:Q")
    figures = [alt.Tooltip(f, format=".1%") for f in ("success:Q", "low:Q", "high:Q")]
    dots = base.mark_point(size=110, filled=True, opacity=1).encode(
        y=alt.Y("success:Q", title="success", axis=share),
        shape=alt.Shape(
            "set_name:N",
            title=None,
            sort=None,
            legend=alt.Legend(symbolFillColor=PALETTE[6], symbolStrokeColor=PALETTE[6]),
        ),
        tooltip=["set_name:N", "label:N", *figures, alt.Tooltip("seconds:Q", format=".2f")],
    )
    marks = base.mark_text(dx=9, dy=-6, align="left").encode(y="success:Q", text="mark:N")
    chart = whiskers + dots + marks
    if has_frontier:
        line = alt.Chart(_values(frontier(points))).mark_line(strokeDash=[5, 4], color=PALETTE[6])
        chart = line.encode(x="seconds:Q", y="success:Q") + chart
    return chart.properties(height=360)


def _values(points: Sequence[ParetoPoint]) -> alt.Data:
    return alt.Data(
        values=[point._asdict() | {"label": point.label, "mark": point.mark} for point in points]
    )


def _over_constant(chart: alt.LayerChart, constant: float | None) -> alt.LayerChart:
    if constant is None:
        return chart
    line = alt.Chart(alt.Data(values=[{"constant": constant}])).mark_rule(
        strokeDash=[5, 4], color="#8791a1"
    )
    return chart + line.encode(
        y="constant:Q", tooltip=[alt.Tooltip("constant:Q", title="best constant", format=".2f")]
    )
