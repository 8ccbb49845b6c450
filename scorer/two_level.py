"""Choosing from very large sets without scoring all of them: first one representative a group, then the best groups.

Approximate: the best candidate may stand in a group whose representative scores low. With a beam of all groups it is
the exact choice; `agreement` tells what a smaller one loses, from scores of all candidates on some contexts. Knows
no model: a score is whatever the function handed in says of the candidates at the given places.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from .trie import Ids

Score = Callable[[np.ndarray], np.ndarray]  # places (n,) of candidates -> their scores (n,)
LARGE = 256  # candidates above which a set is worth the approximation


@dataclass(frozen=True, eq=False)
class Grouping:
    """Every candidate's group, numbered from 0 without gaps, and each group's representative: one of its members."""

    groups: np.ndarray  # (candidates,)
    representatives: np.ndarray  # (groups,) places of candidates

    @classmethod
    def of(cls, labels: Sequence[object]) -> "Grouping":
        """Candidates with equal labels (candidates,) are a group; its first in the set's order represents it."""
        numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
        groups = np.array([numbers[label] for label in labels], dtype=np.int64)
        return cls(groups, np.unique(groups, return_index=True)[1])

    @classmethod
    def by_stem(cls, candidates: Sequence[Ids], most: int | None = None) -> "Grouping":
        """At most `most` runs (default: root of the number, rounded up) of about equal length in sorted order.

        Neighbours in it share their longest stems, which a trie computes once. A run ends where little is shared.
        """
        order = sorted(range(len(candidates)), key=candidates.__getitem__)
        most = min(most or default_groups(len(order)), len(order))
        step = len(order) / most
        cuts = []
        for target in (round(step * number) for number in range(1, most)):
            near = range(
                max(1, target - int(step / 3)), min(len(order), target + int(step / 3) + 1)
            )
            shared = [_shared(candidates[order[i - 1]], candidates[order[i]]) for i in near]
            cuts.append(near[int(np.argmin(shared))])
        runs = np.searchsorted(cuts, np.argsort(order), side="right")
        return cls.of(runs.tolist())

    @classmethod
    def by_vectors(cls, vectors: np.ndarray, most: int | None = None, seed: int = 0) -> "Grouping":
        """By k-means over embeddings (candidates, width); the member nearest its centre represents a group."""
        most = min(most or default_groups(len(vectors)), len(np.unique(vectors, axis=0)))
        means = KMeans(most, n_init=4, random_state=seed).fit(vectors)
        distances = means.transform(vectors)  # (candidates, groups)
        grouping = cls.of(means.labels_.tolist())
        nearest = [
            members[np.argmin(distances[members, means.labels_[members[0]]])]
            for members in map(grouping.members, range(len(grouping.representatives)))
        ]
        return cls(grouping.groups, np.array(nearest))

    def members(self, group: int) -> np.ndarray:
        """Places of its candidates, ascending."""
        return np.flatnonzero(self.groups == group)


class ApproximateSelection(NamedTuple):
    """`selected` is the place of the first highest score among those that were asked for; the others are NaN."""

    selected: int
    scores: np.ndarray  # (candidates,)

    @property
    def num_scored(self) -> int:
        return int(np.isfinite(self.scores).sum())


class Agreement(NamedTuple):
    """Against the exact choice, over contexts; scored and regret are means a context."""

    contexts: int
    share: float  # of contexts on which both choose the same
    scored: float  # candidates
    regret: float  # how much lower the score of the approximate choice is


def _shared(one: Ids, other: Ids) -> int:
    """How many leading tokens are the same."""
    most = min(len(one), len(other))
    return next((i for i in range(most) if one[i] != other[i]), most)


def default_groups(size: int) -> int:
    """The number of groups that makes one level about as long as a group of the other."""
    return int(np.ceil(np.sqrt(size)))


def select_approximately(score: Score, grouping: Grouping, beam: int) -> ApproximateSelection:
    """Scores the representatives, then all members of the `beam` groups whose representatives score highest."""
    if beam < 1:
        raise ValueError(f"a beam holds at least one group, not {beam}")
    scores = np.full(len(grouping.groups), np.nan)
    scores[grouping.representatives] = score(grouping.representatives)
    ranked = np.argsort(-scores[grouping.representatives], kind="stable")[:beam]
    rest = np.flatnonzero(np.isin(grouping.groups, ranked) & np.isnan(scores))
    if len(rest):
        scores[rest] = score(rest)
    return ApproximateSelection(int(np.nanargmax(scores)), scores)


def agreement(scores: np.ndarray, grouping: Grouping, beam: int) -> Agreement:
    """What a beam would have lost on contexts where all `scores` (contexts, candidates) are known."""
    if not len(scores):
        raise ValueError("there is no context to compare on")
    found = [select_approximately(row.__getitem__, grouping, beam) for row in scores]
    chosen = np.array([one.selected for one in found])
    exact = scores.argmax(axis=1)
    lost = scores.max(axis=1) - scores[np.arange(len(scores)), chosen]
    return Agreement(
        contexts=len(scores),
        share=float((chosen == exact).mean()),
        scored=float(np.mean([one.num_scored for one in found])),
        regret=float(lost.mean()),
    )
