"""What is known of an arm from the training split alone: the profile its capability token is made of.

Every number is about the arm itself or about it against the pool as a whole, in no order of arms, so a profile is as wide for
three arms as for ten, and an arm that comes later gets one without touching the others'. Letters: Q questions, A arms, F numbers.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

NEIGHBOURHOODS = 16
SHRINKAGE = 10  # questions that the overall accuracy weighs in a slice or neighbourhood
LEAST_SPREAD = 0.05
FARTHEST = 3.0  # spreads that an arm can be from the pool
BESIDE_GROUPS = 7  # numbers of a profile that are of no slice and no neighbourhood


class Neighbourhoods(NamedTuple):
    """Regions of the space of questions: `centres` (N, E)."""

    centres: np.ndarray

    def of(self, vectors: np.ndarray) -> np.ndarray:
        """(Q,): the nearest centre of each of `vectors` (Q, E)."""
        squares = (self.centres**2).sum(axis=1)
        return np.argmin(squares - 2 * vectors @ self.centres.T, axis=1)


@dataclass(frozen=True)
class Pool:
    """The arms a router was trained with on the training questions: what a profile is made against.

    `quality` and `cost` (Q, A) with NaN in missing cells; `slice` and `region` (Q,) numbers below `slices` and `regions`;
    `top_cost` is the dearest arm's mean cost, by which costs are normalised.
    """

    quality: np.ndarray
    cost: np.ndarray
    slice: np.ndarray
    region: np.ndarray
    slices: int
    regions: int

    @property
    def top_cost(self) -> float:
        return max(float(np.nanmean(self.cost, axis=0).max()), 1e-12)

    def profiles(self) -> np.ndarray:
        """(A, F) of the pool's own arms; the last number is the normalised cost."""
        return np.stack(
            [self.profile(*one) for one in zip(self.quality.T, self.cost.T, strict=True)]
        )

    def profile(self, quality: np.ndarray, cost: np.ndarray) -> np.ndarray:
        """(F,) of any arm, of what it reached on the training questions: (Q,) each, NaN where it was not tried.

        All but the cost is told by how far it is from what the pool's arms have.
        """
        own = np.stack(
            [self._numbers(*one) for one in zip(self.quality.T, self.cost.T, strict=True)]
        )
        raw = self._numbers(quality, cost)
        spread = np.maximum(own.std(axis=0), LEAST_SPREAD)
        scaled = np.clip((raw - own.mean(axis=0)) / spread, -FARTHEST, FARTHEST)
        return np.append(scaled[:-1], raw[-1]).astype(np.float32)

    def _numbers(self, quality: np.ndarray, cost: np.ndarray) -> np.ndarray:
        overall = float(np.nanmean(quality))
        return np.concatenate(
            [
                [overall, np.mean(~np.isnan(quality))],
                _by_group(quality, self.slice, self.slices, overall),
                _by_group(quality, self.region, self.regions, overall),
                _against(quality, self.quality),
                [np.nanmean(cost) / self.top_cost],
            ]
        )


def neighbourhoods(vectors: np.ndarray, seed: int) -> Neighbourhoods:
    """Of training questions, by k-means."""
    from sklearn.cluster import KMeans

    number = min(NEIGHBOURHOODS, len(np.unique(vectors, axis=0)))
    found = KMeans(number, n_init=1, random_state=seed).fit(vectors)
    return Neighbourhoods(found.cluster_centers_.astype(np.float32))


def _by_group(quality: np.ndarray, group: np.ndarray, groups: int, overall: float) -> np.ndarray:
    """(groups,): accuracy in each, drawn towards `overall` where few questions are in it."""
    known = ~np.isnan(quality)
    hits = np.bincount(group[known], quality[known], groups)
    return (hits + SHRINKAGE * overall) / (np.bincount(group[known], None, groups) + SHRINKAGE)


def _against(quality: np.ndarray, pool: np.ndarray) -> np.ndarray:
    """(4,): shares of wins and losses against the pool's arms, how alike they succeed, how often both fail; means over the pool."""
    found = [_pair(quality, other) for other in pool.T]
    known = [pair for pair in found if pair is not None]
    return np.mean(known, axis=0) if known else np.zeros(4)


def _pair(first: np.ndarray, second: np.ndarray) -> np.ndarray | None:
    both = ~np.isnan(first) & ~np.isnan(second)
    if not both.any():
        return None
    one, other = first[both], second[both]
    varies = one.std() > 0 and other.std() > 0
    alike = float(np.corrcoef(one, other)[0, 1]) if varies else 0.0
    fails = np.mean((one < 0.5) & (other < 0.5))
    return np.array([np.mean(one > other), np.mean(one < other), alike, fails])
