"""`--fail-under METRIC=X`: a figure of the report that must not be below X."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..data.errors import ForethoughtError

FIGURES = (
    *("assigned_recovery", "routed_recovery", "selected_recovery", "constant_recovery"),
    *("oracle_recovery", "oracle_random", "collapse", "action_agreement", "semantic_coverage"),
    *("reuse", "leakage", "redundancy", "escape", "latency", "free_gain", "free_kind_nats"),
    *("differences", "difference_from_constant", "sets"),
)


@dataclass(frozen=True)
class Gate:
    """`metric` is a path into the report, e.g. `assigned_recovery` or `selected_recovery.pmi`."""

    metric: str
    least: float

    def miss(self, report: Mapping[str, Any]) -> str | None:
        """Why the gate is missed, or None. A figure that could not be told misses it too."""
        value = _figure(report, self.metric)
        if value is None:
            return f"{self.metric} could not be told on these turns, and --fail-under asks for {self.least:g}"
        return (
            None if value >= self.least else f"{self.metric} is {value:.3f}, below {self.least:g}"
        )


def parse_gate(text: str) -> Gate:
    """Reads METRIC=X."""
    metric, _, number = text.partition("=")
    try:
        least = float(number)
    except ValueError:
        least = math.nan
    if not metric.strip() or math.isnan(least):
        raise ForethoughtError(
            f"--fail-under {text!r}: write METRIC=NUMBER, as in assigned_recovery=0.2"
        )
    gate = Gate(metric.strip(), least)
    if gate.metric.split(".")[0] not in FIGURES:
        raise ForethoughtError(
            f"--fail-under: the report has no figure {gate.metric!r}; it has {', '.join(FIGURES)}"
        )
    return gate


def _figure(report: Mapping[str, Any], metric: str) -> float | None:
    found: Any = report
    for part in metric.split("."):
        if not isinstance(found, Mapping) or part not in found:
            raise ForethoughtError(
                f"--fail-under: the report has no figure {metric!r}; it has {', '.join(_paths(report))}"
            )
        found = found[part]
    if isinstance(found, Mapping):
        if "value" not in found:
            raise ForethoughtError(
                f"--fail-under: {metric!r} has parts; name one: {', '.join(f'{metric}.{p}' for p in found)}"
            )
        found = found["value"]
    return found


def _paths(report: Mapping[str, Any]) -> list[str]:
    return [
        key for key, figure in report.items() if isinstance(figure, Mapping) and "value" in figure
    ]
