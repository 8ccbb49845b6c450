"""An audit's figures by slice: by source, file, outcome, place in the run and kind of action, from records alone.

What is chosen (routes) is chosen on all *choose* turns; a slice is a part of the *test* turns. A trace names no model: where each
model's runs are a source or a file of their own, these tell models apart.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

from .metrics import Estimate
from .recovery import Record, SetView
from .summary import Trial, policy_figures, trial_of

LEAST_QUESTIONS = 10  # a slice of fewer is counted and not measured
MOST_SLICES = 20  # of one kind, those with the most turns
PLACES = ("1st turn", "2nd turn", "3rd turn")
LATER = "later turns"
UNASSIGNED = "unassigned"
Json = dict[str, Any]


def _place(record: Record) -> str:
    turn = record.get("turn")
    if turn is None:
        return "unknown"
    return PLACES[turn] if turn < len(PLACES) else LATER


SLICED_BY: Mapping[str, Callable[[Record], str]] = {
    "source": lambda record: record["source"],
    "file": lambda record: PurePath(record.get("file") or "unknown").name,
    "outcome": lambda record: record.get("outcome") or "unknown",
    "position": _place,
    "action": lambda record: record["kind"],
}


def slices(run: Trial, view: SetView, covered_at: float) -> Json:
    """`{by: {slice: {"turns", "questions", ...}}}`; the figures are there from LEAST_QUESTIONS questions on.

    Coverage needs the records' `nearest`: the cosine of the set's text nearest to the masked thought.
    """
    return {by: _sliced(run, view, covered_at, name) for by, name in SLICED_BY.items()}


def by_candidate(run: Trial, view: SetView, covered_at: float) -> Json:
    """The same of the test turns that the assignment rule gives to each candidate, by its id; `unassigned` where to none."""
    return _sliced(
        run,
        view,
        covered_at,
        lambda record: record["assignments"].get(view.name) or UNASSIGNED,
    )


def _sliced(run: Trial, view: SetView, covered_at: float, name: Callable[[Record], str]) -> Json:
    parts: dict[str, list[Record]] = defaultdict(list)
    for record in run.test:
        parts[name(record)].append(record)
    largest = sorted(parts, key=lambda part: (-len(parts[part]), part))[:MOST_SLICES]
    return {part: _figures(run, view, covered_at, parts[part]) for part in largest}


def _figures(run: Trial, view: SetView, covered_at: float, test: list[Record]) -> Json:
    questions = len({record["question"] for record in test})
    counts = {"turns": len(test), "questions": questions}
    if questions < LEAST_QUESTIONS:
        return counts
    part = trial_of(test, run.choose, run.seed)
    return {
        **counts,
        "free_gain": part.resampler.mean(part.free.total).as_json(),
        **policy_figures(part, view),
        "semantic_coverage": _coverage(part, view, covered_at).as_json(),
    }


def _coverage(part: Trial, view: SetView, covered_at: float) -> Estimate:
    nearest = [record.get("nearest", {}).get(view.name) for record in part.test]
    if None in nearest:
        return Estimate(None, None, None, len(nearest))
    return part.resampler.mean(np.array([float(cosine >= covered_at) for cosine in nearest]))
