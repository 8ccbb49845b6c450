"""A report's pictures as inline SVG, drawn by matplotlib from the rows of `charts.py`.

Colours are CSS variables of the page (`--ink`, `--faint`, `--c0` ...), so one drawing serves light, dark and paper. Text stays
text, never markup nor mathematics. Nothing in the result refers outside itself.
"""

import re
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .charts import Latency, Point, UseTable, milliseconds, percent, shortened
from .pareto import BENCH_MODES, ParetoPoint, by_size, frontier

INK, FAINT, PAPER = (
    "#0a0a01",
    "#0a0a02",
    "#0a0a03",
)  # colours that nothing else has; `_themed` turns them into variables
SERIES = tuple(f"#0a0b{number:02x}" for number in range(8))
POLICY_COLOURS = {"assigned": SERIES[0], "routed": SERIES[1]}
MODE_COLOURS = dict(zip(BENCH_MODES, SERIES, strict=True))
SET_MARKS = "os^Dv"  # the bench's own set first; the page's legend says them in words
RC: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 10.5,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "lines.color": INK,
    "patch.edgecolor": "none",
}


def recovery_picture(curve: Sequence[Point], sets: Sequence[Point], constant: float | None) -> str:
    """Recovery against the set's size, and beside it every set of the report, on one scale."""
    with _figure("recovery", 9.2, 3.9) as drawing:
        left, right = drawing.figure.subplots(1, 2, sharey=True, width_ratios=(5, 4))
        _draw_curve(left, curve)
        _draw_sets(right, sets)
        for axes in (left, right):
            axes.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
            if constant is not None:
                axes.axhline(constant, color=INK, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        left.set_ylabel("share of the free thoughts' gain")
    return drawing.svg


def use_picture(table: UseTable) -> str:
    """Bars by candidate, stacked by the kind of the action that followed."""
    height = 0.9 + 0.36 * max(len(table.labels), 1)
    with _figure("use", 9.2, height) as drawing:
        axes = drawing.figure.subplots()
        rows = range(len(table.labels))
        left = [0] * len(table.labels)
        for kind, colour in zip(table.kinds, SERIES, strict=False):
            counts = table.counts(kind)
            axes.barh(rows, counts, left=left, height=0.66, color=colour, edgecolor=PAPER)
            left = [a + b for a, b in zip(left, counts, strict=True)]
        axes.set_yticks(list(rows), list(table.labels))
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("test turns")
    return drawing.svg


def latency_picture(rows: Sequence[Latency]) -> str:
    """Median time a turn of each mode, whiskers to the 95th percentile, what selecting saves beside it."""
    with _figure("latency", 9.2, 0.9 + 0.5 * max(len(rows), 1)) as drawing:
        axes = drawing.figure.subplots()
        medians = [row.p50 for row in rows]
        places = range(len(rows))
        colours = [SERIES[0] if row.saved is None else SERIES[1] for row in rows]
        axes.barh(places, medians, height=0.55, color=colours)
        tails = [max(row.p95 - row.p50, 0.0) for row in rows]
        axes.errorbar(
            medians, places, xerr=[[0.0] * len(rows), tails], fmt="none", ecolor=INK, capsize=4
        )
        for place, row in zip(places, rows, strict=True):
            saved = "" if row.saved is None else f" · selecting saves {percent(row.saved)}"
            note = f"{milliseconds(row.p50)}{saved}"
            axes.annotate(
                note,
                (max(row.p95, row.p50), place),
                (8, 0),
                textcoords="offset points",
                va="center",
            )
        axes.set_yticks(list(places), [row.mode for row in rows])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0, 1.55 * max([row.p95 for row in rows] + medians, default=1.0))
        axes.set_xlabel(
            "milliseconds a turn after the shared prefill (bar: median, whisker: 95th percentile)"
        )
    return drawing.svg


def pareto_picture(points: Sequence[ParetoPoint], *, has_frontier: bool) -> str:
    """Success against seconds a question: a colour a mode, a mark a set; sizes of a set joined, what nothing beats dashed."""
    with _figure("pareto", 9.2, 4.2) as drawing:
        axes = drawing.figure.subplots()
        names = list(dict.fromkeys(point.set_name for point in points))
        for point in points:
            _draw_point(axes, point, SET_MARKS[names.index(point.set_name) % len(SET_MARKS)])
        for name in names:
            sized = by_size(points, name)
            places = [point.seconds for point in sized], [100 * point.success for point in sized]
            axes.plot(*places, color=SERIES[0], linewidth=1, alpha=0.5, zorder=1)
        if has_frontier:
            best = frontier(points)
            places = [point.seconds for point in best], [100 * point.success for point in best]
            axes.plot(*places, color=INK, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        axes.set_xlim(0, 1.08 * max([point.seconds for point in points], default=1.0) or 1.0)
        axes.set_ylim(0, 100 * min(1.0, 1.05 * max([point.high for point in points], default=1.0)))
        axes.set_xlabel("model seconds a question, mean")
        axes.set_ylabel("success, %")
    return drawing.svg


def _draw_point(axes: Axes, point: ParetoPoint, mark: str) -> None:
    value, low, high = (100 * share for share in (point.success, point.low, point.high))
    axes.errorbar(
        [point.seconds],
        [value],
        yerr=[[max(value - low, 0.0)], [max(high - value, 0.0)]],
        fmt=mark,
        markersize=7,
        elinewidth=1,
        color=MODE_COLOURS.get(point.mode, SERIES[-1]),
        markeredgecolor=PAPER,
        clip_on=False,  # whole at zero, too
        zorder=3,
    )
    axes.annotate(
        point.mark, (point.seconds, value), (7, 4), textcoords="offset points", fontsize=9
    )


def _draw_curve(axes: Axes, curve: Sequence[Point]) -> None:
    for policy, colour in POLICY_COLOURS.items():
        points = [point for point in curve if point.policy == policy]
        sizes = [point.size for point in points]
        axes.fill_between(
            sizes, [p.low for p in points], [p.high for p in points], color=colour, alpha=0.14, lw=0
        )
        axes.plot(sizes, [p.value for p in points], color=colour, marker="o", markersize=4)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("candidates in the set")


def _draw_sets(axes: Axes, sets: Sequence[Point]) -> None:
    names = list(dict.fromkeys(point.set_name for point in sets))
    sizes = {point.set_name: point.size for point in sets}
    for policy, shift in (("assigned", -0.14), ("routed", 0.14)):
        points = [point for point in sets if point.policy == policy]
        axes.errorbar(
            [names.index(p.set_name) + shift for p in points],
            [p.value for p in points],
            yerr=[
                [max(p.value - p.low, 0.0) for p in points],
                [max(p.high - p.value, 0.0) for p in points],
            ],
            fmt="o",
            markersize=5,
            color=POLICY_COLOURS[policy],
        )
    labels = [f"{shortened(name, 16)} ({sizes[name]})" for name in names]
    axes.set_xticks(range(len(names)), labels, rotation=28, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.6, max(len(names), 1) - 0.4)
    axes.tick_params(axis="x", length=0)
    axes.set_xlabel("set (candidates)")


class Drawing:
    """A figure being drawn; `svg` once it is done."""

    def __init__(self, width: float, height: float) -> None:
        self.figure = Figure(figsize=(width, height), layout="constrained")
        self.svg = ""


@contextmanager
def _figure(name: str, width: float, height: float) -> Iterator[Drawing]:
    """A figure of inches `width` by `height`, serialised when the block ends; `name` keeps ids apart."""
    with matplotlib.rc_context(RC | {"svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message="Glyph .* missing"
        )  # the reader's fonts will have it
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        drawing = Drawing(width, height)
        yield drawing
        written = StringIO()
        none = {"Date": None, "Creator": None, "Format": None, "Type": None}
        drawing.figure.savefig(written, format="svg", transparent=True, metadata=none)
    drawing.svg = _inline(written.getvalue(), name)


def _inline(document: str, name: str) -> str:
    """The `<svg>` of an SVG document, fit to stand in an HTML page beside others."""
    root = ElementTree.fromstring(document)
    referred = set(re.findall(r'(?:href="#|url\(#)([^")]+)', document))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith("}style"):  # would hold for the whole page
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        attributes = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
        if attributes.get("id") not in referred:
            attributes.pop("id", None)
        if "style" in attributes:
            attributes["style"] = _themed(attributes["style"])
        element.attrib.clear()
        element.attrib.update(attributes)
    root.attrib.update({"class": f"picture {name}", "role": "img"})
    return ElementTree.tostring(root, encoding="unicode")


def _themed(style: str) -> str:
    style = (
        style.replace(INK, "var(--ink)")
        .replace(FAINT, "var(--faint)")
        .replace(PAPER, "var(--paper)")
    )
    for number, colour in enumerate(SERIES):
        style = style.replace(colour, f"var(--c{number})")
    return re.sub(r"font-family: [^;]+", "font-family: var(--font)", style)
