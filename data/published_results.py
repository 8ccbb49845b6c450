"""What SSR's authors published of their method and of others: numbers to stand beside a run's own, never among them.

Another harness, model, machine and judge made them. Knows no run.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).parent / "published" / "results.json"


class PublishedSuccess(NamedTuple):
    """A row of the main table, in percent; `is_reproduced` by SSR's authors of another's method."""

    method: str
    size: str
    is_reproduced: bool
    by_benchmark: Mapping[str, float]
    mean: float


class PublishedLatency(NamedTuple):
    """Seconds of reasoning a turn and of the model a question, success in percent on the questions that were timed."""

    method: str
    size: str
    success: float
    reasoning_s: float
    reasoning_s_p95: float
    model_s: float
    model_s_p95: float


class Side(NamedTuple):
    """One way to reason: success in percent, mean seconds of reasoning a turn and of the model a question."""

    success: float
    reasoning_s: float
    model_s: float


class PublishedPair(NamedTuple):
    """Thinking freely and selecting after the same training; what selecting saves, in percent of the mean."""

    objective: str
    size: str
    free: Side
    select: Side
    reasoning_saved: float
    model_saved: float


class Published(NamedTuple):
    """All rows, the benchmarks in the order of the table, and where they come from."""

    paper: str
    page: str
    source: str
    notes: tuple[str, ...]
    benchmarks: tuple[str, ...]
    success: tuple[PublishedSuccess, ...]
    latency: tuple[PublishedLatency, ...]
    objectives: tuple[PublishedPair, ...]


@cache
def published() -> Published:
    """The rows that ship with Forethought."""
    found = json.loads(RESULTS.read_text("utf-8"))
    sides = ("free", "select")
    return Published(
        found["paper"],
        found["page"],
        found["source"],
        tuple(found["notes"]),
        tuple(found["benchmarks"]),
        tuple(PublishedSuccess(**row) for row in found["success"]),
        tuple(PublishedLatency(**row) for row in found["latency"]),
        tuple(
            PublishedPair(**row | {side: Side(**row[side]) for side in sides})
            for row in found["objectives"]
        ),
    )
