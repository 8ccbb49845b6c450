"""Picks the evidence that a writer is shown: a group's central, typical and boundary thoughts, and the nearest outsiders.

Works on rows of vectors; equal masked texts are shown once. Also picks the examples of style: what people accepted or
reworded comes before what ships with Forethought.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ..data.candidates import Candidate, CandidateSet, Status
from ..data.identity import candidate_id, canonical
from .writer import Evidence, Quote

CENTRAL, TYPICAL, BOUNDARY, OUTSIDERS = 4, 4, 3, 5


def gather(
    quotes: Sequence[Quote],
    vectors: np.ndarray,
    group: Sequence[int],
    phrase: str,
    expected_actions: Sequence[str] = (),
    examples: Sequence[str] = (),
) -> Evidence:
    """Evidence for the rows `group` of `quotes`; `vectors` (quotes, dimensions) are unit vectors of their masked texts.

    Central are the nearest to the group's centre, boundary the farthest, typical those in the middle between; outsiders
    the nearest of all other rows. Ties go to the lower row. An empty group is an error of the caller.
    """
    assert len(group), "a group without rows has no evidence"
    rows = np.asarray(group)
    nearness = (vectors @ vectors[rows].mean(axis=0)).round(6)  # (quotes,)
    members = _distinct(_ranked(rows, nearness), quotes)
    central, rest = members[:CENTRAL], members[CENTRAL:]
    edge = max(0, len(rest) - BOUNDARY) if len(rest) > TYPICAL else len(rest)
    between, boundary = rest[:edge], rest[edge:]
    start = max(0, (len(between) - TYPICAL) // 2)
    shown = {quotes[row].masked for row in members}
    others = np.setdiff1d(np.arange(len(quotes)), rows)
    outside = [row for row in _ranked(others, nearness) if quotes[row].masked not in shown]
    return Evidence(
        phrase=phrase,
        central=_picked(central, quotes),
        typical=_picked(between[start : start + TYPICAL], quotes),
        boundary=_picked(boundary, quotes),
        outsiders=_picked(_distinct(outside, quotes)[:OUTSIDERS], quotes),
        expected_actions=tuple(expected_actions),
        examples=tuple(text for text in examples if canonical(text) != canonical(phrase)),
    )


def examples_of(own: Iterable[CandidateSet], shipped: Iterable[CandidateSet]) -> tuple[str, ...]:
    """Texts to write like: those of `own` sets that a person accepted or reworded, then those of `shipped` sets."""
    texts = [c.text for c in _active(own) if c.status is Status.ACCEPTED or _is_reworded(c)]
    texts += [c.text for c in _active(shipped)]
    return tuple({canonical(text).casefold(): text for text in reversed(texts)}.values())[::-1]


def _active(sets: Iterable[CandidateSet]) -> Iterator[Candidate]:
    return (candidate for candidate_set in sets for candidate in candidate_set.active)


def _is_reworded(candidate: Candidate) -> bool:
    """A candidate keeps the id that its first text gave it."""
    return candidate.id.startswith("c_") and candidate.id != candidate_id(candidate.text)


def _picked(rows: Sequence[int], quotes: Sequence[Quote]) -> tuple[Quote, ...]:
    return tuple(quotes[row] for row in rows)


def _ranked(rows: np.ndarray, nearness: np.ndarray) -> list[int]:
    return [int(row) for row in rows[np.argsort(-nearness[rows], kind="stable")]]


def _distinct(rows: Iterable[int], quotes: Sequence[Quote]) -> list[int]:
    """The first row of each masked text."""
    first: dict[str, int] = {}
    for row in rows:
        first.setdefault(quotes[row].masked, row)
    return list(first.values())
