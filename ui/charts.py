"""An audit's report shaped for pictures and tables: rows of plain values, ready to draw or to print.

Knows the report's keys and nothing of how anything is drawn. A figure that was not told (None) yields no point.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Json = Mapping[str, Any]

UNASSIGNED = "unassigned"
NONE_FITS = "none fits"
OTHER_KINDS = "other kinds"
MAX_KINDS = 7  # as many colours as can be told apart
LABEL_CHARACTERS = 64
POLICIES = {"assigned_recovery": "assigned", "routed_recovery": "routed"}
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)
MODES = {
    "select": "select a candidate",
    "think": "generate, recorded length",
    "think_65": "generate 65 tokens",
    "own_65": "generate 65 tokens, our decoder",
}


class Point(NamedTuple):
    """One recovery with its interval: of a set of `size` candidates under a policy."""

    set_name: str
    size: int
    policy: str
    value: float
    low: float
    high: float


class Use(NamedTuple):
    """How often a candidate (by its label) is assigned before actions of one kind."""

    label: str
    kind: str
    turns: int


class Latency(NamedTuple):
    """Milliseconds a turn of one mode of reasoning, the share of it that selecting saves, the median with the prefill."""

    mode: str
    p50: float
    p95: float
    saved: float | None
    total: float | None


@dataclass(frozen=True)
class UseTable:
    """Rows in the set's order (the unassigned last), kinds by how often they occur."""

    labels: tuple[str, ...]
    kinds: tuple[str, ...]
    uses: tuple[Use, ...]

    def counts(self, kind: str) -> list[int]:
        """(labels,): uses before actions of `kind`."""
        found = {use.label: use.turns for use in self.uses if use.kind == kind}
        return [found.get(label, 0) for label in self.labels]


def recovery_curve(report: Json) -> list[Point]:
    """The audited set at its nested sizes and whole, smallest first, each policy in turn."""
    name = report.get("set", "")
    points = [
        point
        for set_name, figures in _sets(report).items()
        if set_name == name or is_nested(set_name, name)
        for point in _points(set_name, figures)
    ]
    one_a_size = {(point.policy, point.size): point for point in points}
    return [one_a_size[key] for key in sorted(one_a_size)]


def coverage_curve(report: Json) -> list[Point]:
    """Semantic coverage of the audited set at its nested sizes and whole, smallest first."""
    name = report.get("set", "")
    points = {}
    for set_name, figures in _sets(report).items():
        found = figures.get("semantic_coverage") or {}
        value, low, high = (found.get(part) for part in ("value", "low", "high"))
        if value is None or low is None or high is None:
            continue
        if set_name == name or is_nested(set_name, name):
            size = figures.get("size") or 0
            points[size] = Point(set_name, size, "coverage", value, low, high)
    return [points[size] for size in sorted(points)]


def candidate_figures(report: Json) -> dict[str, str]:
    """By candidate, how often the audit's turns were assigned to it, and what it recovers there where that is told."""
    use = report.get("use") or {}
    total = sum(sum(row.values()) for row in use.values())
    by_candidate = report.get("by_candidate") or {}
    told = {}
    for id, row in use.items():
        told[id] = f"used on {sum(row.values())} of {total} test turns"
        recovery = ((by_candidate.get(id) or {}).get("assigned_recovery") or {}).get("value")
        if recovery is not None:
            told[id] += f", recovers {figure(recovery)} there"
    return told


def comparison(report: Json) -> list[Point]:
    """The audited set and every other one, in the report's order, without nested sizes."""
    name = report.get("set", "")
    return [
        point
        for set_name, figures in _sets(report).items()
        if not is_nested(set_name, name)
        for point in _points(set_name, figures)
    ]


def is_nested(set_name: str, main: str) -> bool:
    """Whether `set_name` is `MAIN[:k]`: the audited set cut to its first k candidates."""
    return re.fullmatch(re.escape(main) + r"\[:\d+\]", set_name) is not None


def is_told(report: Json) -> bool:
    """Whether recoveries mean anything: the free thoughts' gain is above zero with its whole interval."""
    low = (report.get("free_gain") or {}).get("low")
    return low is not None and low > 0


def use_by_action(report: Json) -> UseTable:
    """What the audited set's candidates are assigned to; rare kinds are counted together."""
    name = report.get("set", "")
    use = (_sets(report).get(name) or {}).get("use") or report.get("use") or {}
    labels = candidate_labels(report, name)
    totals = Counter[str]()
    for row in use.values():
        totals.update(row)
    kinds = [kind for kind, _ in sorted(totals.items(), key=lambda item: (-item[1], item[0]))]
    shown = kinds if len(kinds) <= MAX_KINDS else kinds[: MAX_KINDS - 1]
    counts = Counter[tuple[str, str]]()
    for id, row in use.items():
        for kind, count in row.items():
            counts[labels.get(id, NONE_FITS), kind if kind in shown else OTHER_KINDS] += count
    ordered = [*labels.values(), *([NONE_FITS] if UNASSIGNED in use else [])]
    folded = [*shown, *([OTHER_KINDS] if len(shown) < len(kinds) else [])]
    uses = [Use(label, kind, count) for (label, kind), count in counts.items()]
    return UseTable(tuple(ordered), tuple(folded), tuple(uses))


def candidate_labels(report: Json, set_name: str) -> dict[str, str]:
    """id -> `1. its text`, short enough for an axis, in the order of the set."""
    texts = report.get("texts") or {}
    ids = (report.get("members") or {}).get(set_name) or ()
    return {id: f"{n}. {shortened(texts.get(id) or id)}" for n, id in enumerate(ids, start=1)}


def latencies(report: Json) -> list[Latency]:
    """The modes that were measured, selecting first."""
    found = report.get("latency") or {}
    select = (found.get("select") or {}).get("p50")
    rows = []
    for key, mode in MODES.items():
        p50, p95 = ((found.get(key) or {}).get(q) for q in ("p50", "p95"))
        if p50 is None or p95 is None:
            continue
        saved = 1 - select / p50 if key != "select" and select is not None and p50 > 0 else None
        total = (found.get(f"total_{key}") or {}).get("p50")
        rows.append(Latency(mode, p50, p95, saved, total))
    return rows


def latency_conditions(report: Json) -> str:
    """What latency was measured on, as far as the report tells; empty where it does not."""
    found = report.get("latency") or {}
    told = {
        "turns": "{:.0f} turns",
        "context_tokens": "{:,.0f} context tokens on average",
        "candidates": "{:.0f} candidates",
        "candidate_tokens": "{:.0f} tokens in all candidates",
        "thought_tokens": "recorded thoughts of {:.0f} tokens on average",
    }
    parts = [say.format(found[key]) for key, say in told.items() if found.get(key) is not None]
    if found.get("capped") is not None:
        parts.append(f"{percent(found['capped'])} of them cut")
    prefill = (found.get("prefill") or {}).get("p50")
    if prefill is not None:
        parts.append(f"a shared prefill of {milliseconds(prefill)} (median) on top of every mode")
    return f"Measured on {', '.join(parts)}." if parts else ""


def headlines(report: Json) -> dict[str, str]:
    """The few figures that sum up an audit, by their labels; dashes before there is one."""
    if not report:
        report_figures = ["–"] * 4
    else:
        top = ((report.get("collapse") or {}).get("top_share") or {}).get("value")
        saved = [row.saved for row in latencies(report) if row.saved is not None]
        values = [(report.get(key) or {}).get("value") for key in POLICIES]
        report_figures = [*map(figure, values), percent(top), percent(saved[0] if saved else None)]
    labels = ("Assigned recovery", "Routed recovery", "Most used, raw", "Reasoning time saved")
    return dict(zip(labels, report_figures, strict=True))


def collapse_sentence(report: Json) -> str:
    """How evenly the model itself selects, by each calibration."""
    collapse = report.get("collapse") or {}
    parts = []
    for calibration, found in (
        ("raw", collapse),
        *((c, collapse.get(c)) for c in ("pmi", "batch")),
    ):
        top = ((found or {}).get("top_share") or {}).get("value")
        if top is not None:
            evenness = figure(((found or {}).get("entropy") or {}).get("value"))
            parts.append(f"{percent(top)} of turns by {calibration} (evenness {evenness})")
    if not parts:
        return "Not told: how evenly the model selects."
    return f"Left to itself, the model takes its favourite candidate on {', '.join(parts)}."


def saving_sentence(rows: Sequence[Latency]) -> str:
    """What selecting saves against each way of generating."""
    parts = [f"{percent(row.saved)} against: {row.mode}" for row in rows if row.saved is not None]
    return (
        f"Selecting saves {'; '.join(parts)} (medians)."
        if parts
        else "Selecting alone was measured."
    )


def shortened(text: str, characters: int = LABEL_CHARACTERS) -> str:
    """`text` on one line, cut at `characters`."""
    line = legible(" ".join(text.split()))
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()}…"


def legible(text: str) -> str:
    """`text` with what no page can carry, or would show as something else (NUL, control characters, lone surrogates, forced
    directions), as visible signs."""
    return UNPRINTABLE.sub(lambda found: _sign(ord(found.group())), text)


def figure(value: float | None, digits: int = 2) -> str:
    """A number as the tables print it."""
    return "not told" if value is None else f"{value:.{digits}f}".replace("-", "−")


def interval(estimate: Json | None) -> str:
    """`[low, high]`, or nothing where there is none."""
    low, high = ((estimate or {}).get(end) for end in ("low", "high"))
    return "" if low is None or high is None else f"[{figure(low)}, {figure(high)}]"


def percent(share: float | None) -> str:
    return "not told" if share is None else f"{100 * share:.0f} %".replace("-", "−")


def milliseconds(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 10 else f"{value:.1f} ms"


def excludes_zero(estimate: Json | None) -> bool:
    """Whether the whole interval lies on one side of zero."""
    low, high = ((estimate or {}).get(end) for end in ("low", "high"))
    return low is not None and high is not None and (low > 0 or high < 0)


def _sign(code: int) -> str:
    return chr(0x2400 + code) if code < 0x20 else "␡" if code == 0x7F else "\ufffd"


def _sets(report: Json) -> Mapping[str, Any]:
    return report.get("sets") or {}


def _points(set_name: str, figures: Json) -> Sequence[Point]:
    points = []
    for key, policy in POLICIES.items():
        estimate = figures.get(key) or {}
        value, low, high = (estimate.get(part) for part in ("value", "low", "high"))
        if value is not None and low is not None and high is not None:
            points.append(Point(set_name, figures.get("size") or 0, policy, value, low, high))
    return points
