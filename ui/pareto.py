"""Success against the model's time a question: the modes of a bench, its set's smaller sizes, and sets benched before.

Points only; drawn by pictures.py and plots.py.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .bench_rows import SELECT, pooled
from .charts import shortened

Json = Mapping[str, Any]
AT = "@"
BENCH_MODES = (SELECT, "think", "think-65", "draft", "index", "hybrid", "none")  # a colour each
MOST_SETS = 4  # others beside a bench's own: as many marks as can be told apart


class ParetoPoint(NamedTuple):
    """Success with its interval, and mean seconds a question, of one mode with one set; `size` where it selects from so many."""

    set_name: str
    mode: str
    size: int | None
    success: float
    low: float
    high: float
    seconds: float

    @property
    def label(self) -> str:
        return self.mode if self.size is None else f"{self.mode}{AT}{self.size}"


def pareto_points(report: Json, others: Mapping[str, Json] | None = None) -> list[ParetoPoint]:
    """The report's own points first, then those of other sets' reports: of the same benchmarks and model only, the newest few."""
    comparable = [
        other
        for name, other in (others or {}).items()
        if name != report.get("set") and _played(other) == _played(report)
    ]
    return [point for one in (report, *comparable[:MOST_SETS]) for point in _points(one)]


def frontier(points: Iterable[ParetoPoint]) -> list[ParetoPoint]:
    """Those that no other beats in both, fastest first."""
    best: list[ParetoPoint] = []
    for point in sorted(points, key=lambda one: (one.seconds, -one.success)):
        if not best or point.success > best[-1].success:
            best.append(point)
    return best


def by_size(points: Iterable[ParetoPoint], set_name: str) -> list[ParetoPoint]:
    """The points that select from a set, fewest candidates first."""
    sized = [point for point in points if point.set_name == set_name and point.size is not None]
    return sorted(sized, key=lambda point: point.size or 0)


def _played(report: Json) -> tuple[object, object]:
    return report.get("benchmark"), report.get("model")


def _points(report: Json) -> list[ParetoPoint]:
    name, found = shortened(str(report.get("set", "")), 30), []
    for row in pooled(report).modes:
        told, seconds = row.success, row.model.mean
        if told.value is None or told.low is None or told.high is None or seconds is None:
            continue
        mode, _, size = row.mode.partition(AT)
        whole = report.get("candidates") if mode == SELECT else None
        count = int(size) if size.isdecimal() else whole if isinstance(whole, int) else None
        found.append(ParetoPoint(name, mode, count, told.value, told.low, told.high, seconds))
    return found
