"""What a signal is worth over recorded outcomes of two arms: success and cost of the routed system at every share, before anything is played.

At share s the s n questions of greatest need get the stronger arm. Between two questions, and inside equal needs, the curve is a
line: what a draw among them would get on average. So a signal that tells nothing is random routing, exactly. Two signals are compared on the same
resampled questions. Letters: n questions, S shares.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ....data.errors import ForethoughtError, NothingToDo
from ...metrics import RESAMPLES, Estimate

SHARES = tuple(float(share) for share in np.linspace(0, 1, 101))


@dataclass(frozen=True, eq=False)
class TwoArms:
    """Success 0..1 and cost, (n, 2) each: of the cheap arm and the stronger one on the same questions."""

    success: np.ndarray
    cost: np.ndarray

    def __post_init__(self) -> None:
        if self.success.shape != self.cost.shape or self.success.shape[1:] != (2,):
            raise ForethoughtError(
                f"two arms need (questions, 2) successes and costs; found {self.success.shape} and {self.cost.shape}"
            )
        if not len(self.success):
            raise NothingToDo("no question was asked of both arms, so nothing can be routed")
        if not (np.isfinite(self.success).all() and np.isfinite(self.cost).all()):
            raise ForethoughtError(
                "a success or a cost is missing; leave out the questions that one arm was not asked"
            )

    @property
    def gain(self) -> np.ndarray:
        """(n,) what the stronger arm adds; as a need it is the oracle's."""
        return self.success[:, 1] - self.success[:, 0]


class Curve(NamedTuple):
    """(S,) each."""

    shares: np.ndarray
    success: np.ndarray
    cost: np.ndarray

    @property
    def area(self) -> float:
        """Mean success over all shares from 0 to 1."""
        return float(np.trapezoid(self.success, self.shares))

    def at(self, share: float) -> float:
        return float(np.interp(share, self.shares, self.success))


def curve(arms: TwoArms, needs: np.ndarray, shares: Sequence[float] = SHARES) -> Curve:
    """Of routing by `needs` (n,)."""
    shape = _Sorted(arms.success, needs), _Sorted(arms.cost, needs)
    even = np.ones(len(needs))
    told = np.array(shares)
    return Curve(told, *(one.means(even, told) for one in shape))


class Comparison(NamedTuple):
    """One signal less another, paired by question: of the area, and of success at some shares."""

    area: Estimate
    at: Mapping[float, Estimate]


@dataclass(frozen=True, eq=False)
class Resampled:
    """Two arms and the resamples of their questions, the same for every signal."""

    arms: TwoArms
    seed: int = 0
    resamples: int = RESAMPLES

    @cached_property
    def _weights(self) -> np.ndarray:
        """(1 + resamples, n); row 0 is the sample itself."""
        n = len(self.arms.success)
        drawn = np.random.default_rng(self.seed).multinomial(n, [1 / n] * n, self.resamples)
        return np.vstack([np.ones(n), drawn])

    def successes(self, needs: np.ndarray, shares: Sequence[float] = SHARES) -> np.ndarray:
        """(1 + resamples, S)"""
        sorted_ = _Sorted(self.arms.success, needs)
        told = np.array(shares)
        return np.array([sorted_.means(weights, told) for weights in self._weights])

    def area(self, needs: np.ndarray) -> Estimate:
        return self._estimate(np.trapezoid(self.successes(needs), SHARES, axis=1))

    def compared(
        self, first: np.ndarray, second: np.ndarray, at: Sequence[float] = (0.25, 0.5, 0.75)
    ) -> Comparison:
        """Needs (n,) of the one less those of the other."""
        difference = self.successes(first) - self.successes(second)
        area = self._estimate(np.trapezoid(difference, SHARES, axis=1))
        places = {share: int(np.argmin(np.abs(np.array(SHARES) - share))) for share in at}
        return Comparison(
            area, {share: self._estimate(difference[:, place]) for share, place in places.items()}
        )

    def _estimate(self, values: np.ndarray) -> Estimate:
        low, high = np.percentile(values[1:], [2.5, 97.5])
        return Estimate(float(values[0]), float(low), float(high), len(self.arms.success))


class _Sorted:
    """A figure of both arms (n, 2) in the order of falling need, equal needs together."""

    def __init__(self, figure: np.ndarray, needs: np.ndarray) -> None:
        told = np.asarray(needs, dtype=np.float64)
        if told.shape != figure.shape[:1] or np.isnan(told).any():
            raise ForethoughtError(
                f"{len(figure)} questions need a number each; found {told.shape[0]}, {int(np.isnan(told).sum())} of them none"
            )
        self._order = np.argsort(-told, kind="stable")
        inside = told[self._order]
        self._first_of_tie = np.flatnonzero(np.append(True, inside[1:] != inside[:-1]))
        self._base = figure[:, 0]
        self._gain = (figure[:, 1] - figure[:, 0])[self._order]

    def means(self, weights: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """(S,) the mean of the figure, a question counting `weights` (n,) times."""
        own = weights[self._order]
        handed = np.add.reduceat(own, self._first_of_tie).cumsum()
        gained = np.add.reduceat(own * self._gain, self._first_of_tie).cumsum()
        total = handed[-1]
        grown = np.interp(shares * total, np.append(0.0, handed), np.append(0.0, gained))
        return (weights @ self._base + grown) / total
