"""Success against the model's time a question: a bench's modes and policies, its set's smaller sizes, and sets benched before in the same way.

Points only, and which runs have none; drawn by pictures.py and plots.py.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .bench_rows import AT, EQUALS, SELECT, parts, pooled
from .charts import shortened

Json = Mapping[str, Any]
POLICY = "policy"  # whichever it is
BENCH_MODES = (
    SELECT,
    "think",
    "think-65",
    "draft",
    "index",
    "hybrid",
    "none",
    POLICY,
)  # a colour each
MOST_SETS = 4  # others beside a bench's own: as many marks as can be told apart
ASIDE = ("modes", "sizes", "limit", "agreement_turns")  # of a plan: they change no point of a mode


class ParetoPoint(NamedTuple):
    """Success with its interval, and mean seconds a question, of one mode with one set; `size` where it selects from so many.

    `policy` is a policy's own name and shares.
    """

    set_name: str
    mode: str
    size: int | None
    success: float
    low: float
    high: float
    seconds: float
    policy: str = ""

    @property
    def label(self) -> str:
        return self.policy or (self.mode if self.size is None else f"{self.mode}{AT}{self.size}")

    @property
    def mark(self) -> str:
        """What stands beside it where its colour does not tell it from others."""
        return self.policy or ("" if self.size is None else str(self.size))


def pareto_points(report: Json, others: Mapping[str, Json] | None = None) -> list[ParetoPoint]:
    """The report's own points first, then those of other sets' reports that were played in the same way, the newest few."""
    comparable = [other for other in _others(report, others) if not _unlike(report, other)]
    return [point for one in (report, *comparable[:MOST_SETS]) for point in _points(one)]


def left_out(report: Json, others: Mapping[str, Json] | None = None) -> str:
    """How many of the other sets' reports have no points, and why, in a line; empty where all have."""
    why = Counter(_unlike(report, other) for other in _others(report, others))
    older = max(0, why.pop("", 0) - MOST_SETS)
    told = {**why, "older than those shown": older}
    reasons = [f"{count} {reason}" for reason, count in told.items() if count]
    if not reasons:
        return ""
    return f"Left out of the store's runs: {', '.join(reasons)}."


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


def _others(report: Json, others: Mapping[str, Json] | None) -> list[Json]:
    return [other for name, other in (others or {}).items() if name != report.get("set")]


def _unlike(report: Json, other: Json) -> str:
    """Why two reports do not compare; empty where they do."""
    if _agent(report) != _agent(other):
        return "with another model or benchmark"
    if _settings(report) != _settings(other):
        return "with other settings"
    return "" if _asked(report) == _asked(other) else "with another number of questions"


def _agent(report: Json) -> tuple[object, ...]:
    return report.get("benchmark"), report.get("model")


def _settings(report: Json) -> str:
    """As JSON: a report that was stored has lists where a new one has tuples."""
    plan = report.get("plan")
    told = plan.items() if isinstance(plan, Mapping) else ()
    kept = {key: value for key, value in told if key not in ASIDE}
    metrics = [part.metric for part in parts(report)]
    others = [report.get(key) for key in ("judge", "engine", "workers")]
    return json.dumps([kept, metrics, others], sort_keys=True, default=str)


def _asked(report: Json) -> list[int]:
    """Questions by benchmark, of the mode that was asked most."""
    return [max((row.n for row in part.modes), default=0) for part in parts(report)]


def _points(report: Json) -> list[ParetoPoint]:
    name, found = shortened(str(report.get("set", "")), 30), []
    for row in pooled(report).modes:
        told, seconds = row.success, row.model.mean
        if told.value is None or told.low is None or told.high is None or seconds is None:
            continue
        mode, _, size = row.mode.partition(AT)
        whole = report.get("candidates") if mode == SELECT else None
        count = int(size) if size.isdecimal() else whole if isinstance(whole, int) else None
        policy = row.mode if EQUALS in row.mode else ""
        figures = (told.value, told.low, told.high, seconds)
        found.append(ParetoPoint(name, POLICY if policy else mode, count, *figures, policy))
    return found
