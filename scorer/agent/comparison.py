"""Two modes of thinking compared over the same questions: rates, their difference, and whether chance would do as much.

A question that failed in a mode (no answer came, or nobody could judge it) is no success there, and stays in every denominator:
leaving it out would favour the mode that fails on hard questions. A question that was asked in one mode only is in no
comparison. Both are counted. Knows no benchmark and no model.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

from ..metrics import Estimate, Resampler


class McNemar(NamedTuple):
    """Questions that only one mode got right, and the exact two-sided p of a split as uneven by chance; 1 where there are none."""

    only_first: int
    only_second: int
    p: float


class Paired(NamedTuple):
    """The questions that both modes were asked, in the first's order, and how many of them failed in each.

    `unpaired` were asked in one mode only.
    """

    questions: tuple[str, ...]
    first: tuple[bool, ...]
    second: tuple[bool, ...]
    first_failed: int
    second_failed: int
    unpaired: int


def paired(first: Mapping[str, bool | None], second: Mapping[str, bool | None]) -> Paired:
    """Successes by question, None where it failed."""
    questions = tuple(question for question in first if question in second)
    return Paired(
        questions,
        tuple(bool(first[question]) for question in questions),
        tuple(bool(second[question]) for question in questions),
        sum(first[question] is None for question in questions),
        sum(second[question] is None for question in questions),
        len(first.keys() ^ second.keys()),
    )


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> McNemar:
    """Successes by question, the same questions in both. `mcnemar([1, 1, 0], [0, 0, 0])` is (2, 0, 0.5)."""
    pairs = list(zip(first, second, strict=True))
    only_first = sum(bool(one and not other) for one, other in pairs)
    only_second = sum(bool(other and not one) for one, other in pairs)
    if not only_first + only_second:
        return McNemar(0, 0, 1.0)
    p = binomtest(only_first, only_first + only_second, 0.5).pvalue
    return McNemar(only_first, only_second, float(p))


def paired_difference(first: Sequence[float], second: Sequence[float], seed: int = 0) -> Estimate:
    """The mean of first minus second with its bootstrap interval by question; one figure a question, the same questions in both.

    Takes successes as well as seconds or turns. No interval where all differences are the same: drawing them again says nothing.
    """
    differences = [float(one) - float(other) for one, other in zip(first, second, strict=True)]
    if not differences:
        return Estimate(None, None, None, 0)
    if len(set(differences)) == 1:
        return Estimate(differences[0], None, None, len(differences))
    questions = [{"question": i} for i in range(len(differences))]
    return Resampler(questions, seed).mean(np.array(differences))


def rate(successes: Sequence[bool | None]) -> Estimate:
    """The share of successes with Wilson's 95 % interval; None, a question that failed, is one of the `n`."""
    n, hits = len(successes), sum(map(bool, successes))
    if not n:
        return Estimate(None, None, None, 0)
    interval = binomtest(hits, n).proportion_ci(0.95, method="wilson")
    return Estimate(hits / n, float(interval.low), float(interval.high), n)
