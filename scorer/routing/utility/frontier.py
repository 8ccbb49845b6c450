"""What a router's predictions come to: the arm each question gets at every trade of quality for cost, and the figures of that.

Every router, learned or not, is the quality it predicts (Q, A); all choose by one rule, the available arm of the highest quality
less lambda times the arm's normalised cost. Figures may be worked out on weighted questions, so that one function serves the
sample and its resamples: W is the number of weightings, L that of lambdas.
"""

from typing import NamedTuple

import numpy as np

from ..outcomes import Outcomes

LAMBDAS = np.concatenate([[0.0], np.logspace(-4, 4, 50)])  # (51,), the published ones
RANK_WEIGHT = 0.1
ROUNDING = 1e-9  # two means of the same numbers, added up in another order


class Frontier(NamedTuple):
    """(W, L) each: mean quality and mean cost over the questions at each lambda."""

    quality: np.ndarray
    cost: np.ndarray


class CostRange(NamedTuple):
    """(W,) each: the least and the most that giving every question to one arm costs."""

    low: np.ndarray
    high: np.ndarray

    @property
    def is_point(self) -> np.ndarray:
        """(W,) bool: all costs the same, so that there is nothing to be traded."""
        return self.high - self.low <= ROUNDING * self.high


def choices(
    predicted: np.ndarray, available: np.ndarray, costs: np.ndarray, weight: float
) -> np.ndarray:
    """(Q,): the arm each question gets at lambda `weight`; `costs` (A,) are normalised. Of equals the cheapest, then the first."""
    utility = np.where(available, predicted - weight * costs, -np.inf)
    best = utility == utility.max(axis=1, keepdims=True)
    return np.argmin(np.where(best, costs, np.inf), axis=1)


def frontier(
    predicted: np.ndarray, table: Outcomes, costs: np.ndarray, weights: np.ndarray
) -> Frontier:
    """Of what is `predicted` (Q, A) with arms of normalised `costs` (A,), on questions of `weights` (W, Q)."""
    rows = np.arange(len(table.ids))
    picked = np.stack([choices(predicted, table.available, costs, one) for one in LAMBDAS])
    share = weights / weights.sum(axis=1, keepdims=True)
    return Frontier(share @ table.quality[rows, picked].T, share @ table.cost[rows, picked].T)


def cost_range(table: Outcomes, weights: np.ndarray) -> CostRange:
    """From the lowest to the highest mean cost of an arm over these very questions, whatever it cost on others.

    Where an arm is missing, another plays: the question's cheapest for the lowest, its dearest for the highest.
    """
    share = weights / weights.sum(axis=1, keepdims=True)
    low, high = (
        share @ np.where(table.available, table.cost, end(table.cost, axis=1, keepdims=True))
        for end in (np.nanmin, np.nanmax)
    )
    return CostRange(low.min(axis=1), high.max(axis=1))


def nauc(found: Frontier, within: CostRange) -> np.ndarray:
    """(W,): area under the best quality up to a cost, cost 0 to 1 over `within`, points joined by lines.

    The range is the table's, the same for all routers, and past a router's dearest point its best quality holds. (The authors'
    program takes each router's own range, by which a router that never leaves its best point beats every trade: `own_range`.)
    Where the range is a point, it is the peak.
    """
    ranges = zip(found.quality, found.cost, *within, within.is_point, strict=True)
    return np.array(
        [
            best.max() if is_point else _area(best, cost, low, high)
            for best, cost, low, high, is_point in ranges
        ]
    )


def own_range(found: Frontier) -> CostRange:
    """(W,): from a router's own cheapest to its own dearest point, the range of the authors' program."""
    return CostRange(found.cost.min(axis=1), found.cost.max(axis=1))


def peak(found: Frontier) -> np.ndarray:
    """(W,): the best quality at any lambda."""
    return found.quality.max(axis=1)


def qnc(found: Frontier, quality: float, cost: float) -> float | None:
    """The least cost at which the sample's frontier reaches the best single arm's `quality`, over its `cost`; None where never."""
    reached = found.cost[0][found.quality[0] >= quality - ROUNDING]
    return float(reached.min() / cost) if len(reached) and cost > 0 else None


def rank_score(quality: float, cost: float, lowest: float, highest: float) -> float:
    """(1+b) A C / (b A + C), b = .1, A the quality, C how cheap: 1 at the `lowest` arm's mean cost, 0 at the `highest`, by logarithm."""
    if not 0 < lowest < highest or cost <= 0:
        cheap = 1.0  # nothing to be saved
    else:
        cheap = float(np.clip(np.log(highest / cost) / np.log(highest / lowest), 0.0, 1.0))
    below = RANK_WEIGHT * quality + cheap
    return (1 + RANK_WEIGHT) * quality * cheap / below if below > 0 else 0.0


def _area(quality: np.ndarray, cost: np.ndarray, low: float, high: float) -> float:
    order = np.lexsort((-quality, cost))
    costs, first = np.unique(cost[order], return_index=True)
    best = np.maximum.accumulate(quality[order][first])
    inner = costs[(costs > low) & (costs < high)]
    ends = np.concatenate([[low], inner, [high]])
    return float(np.trapezoid(np.interp(ends, costs, best), (ends - low) / (high - low)))
