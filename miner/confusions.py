"""Pairs of a set's texts that are easily taken for each other: they read alike, or turns lie between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

CONTEST_MARGIN = 0.1  # of the best affinity: a second so near could have been taken
ALIKE_AT = 0.85  # cosine from which two texts say the same
CONTESTED_AT = 0.2  # share of a pair's turns that lie between the two
LEAST_TURNS = 10  # a share over fewer turns says nothing


@dataclass(frozen=True)
class Contest:
    """How often two are the first two. `turns`: either is first; `close` of them: the other follows within the margin."""

    turns: int
    close: int

    @property
    def share(self) -> float:
        return self.close / self.turns if self.turns else 0.0

    @property
    def tells(self) -> bool:
        return self.turns >= LEAST_TURNS and self.share >= CONTESTED_AT


@dataclass(frozen=True)
class Confusion:
    """Two texts, by their place in the set, with the cosine of their texts and the turns between them."""

    first: int
    second: int
    similarity: float
    contest: Contest

    @property
    def reads_alike(self) -> bool:
        return self.similarity >= ALIKE_AT


def confusions(vectors: np.ndarray, affinity: np.ndarray) -> list[Confusion]:
    """Every pair, the most alike first. `vectors` (texts, d) of unit length, `affinity` (turns, texts) of the assignment rule."""
    cosine = (vectors @ vectors.T).round(6)
    pairs = [
        Confusion(first, second, float(cosine[first, second]), contest(affinity, first, second))
        for first, second in combinations(range(len(vectors)), 2)
    ]
    return sorted(pairs, key=lambda p: (-max(p.similarity, p.contest.share), p.first, p.second))


def contest(scores: np.ndarray, first: int, second: int) -> Contest:
    """The contest of two columns of `scores` (turns, texts; >= 0): turns where all are 0 count nowhere."""
    if scores.shape[1] < 2 or not len(scores):
        return Contest(0, 0)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :2]  # (turns, 2)
    top = np.take_along_axis(scores, order, axis=1)
    taken = np.isin(order[:, 0], (first, second)) & (top[:, 0] > 0)
    between = np.isin(order, (first, second)).all(axis=1)
    close = top[:, 0] - top[:, 1] <= CONTEST_MARGIN * top[:, 0]
    return Contest(int(taken.sum()), int((taken & between & close).sum()))


def suggestion(pair: Confusion, kinds: Sequence[Sequence[str]], support: Sequence[int]) -> str:
    """What to do about a pair: "merge", or "reword first" or "reword second", the less supported one.

    `kinds` are the texts' expected actions: texts that read alike but lead elsewhere are reworded, not merged.
    """
    one, other = set(kinds[pair.first]), set(kinds[pair.second])
    if pair.reads_alike and (one & other or not one or not other):
        return "merge"
    less = "first" if support[pair.first] < support[pair.second] else "second"
    return f"reword {less}"
