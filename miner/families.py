"""Families of candidates: those that are made in one situation and say nearly one thing, such as checking the next drawer or shelf.

Two levels, family and candidate, and no more. Knows candidates and how alike they are; a family is named by one of its own texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import AgglomerativeClustering

from ..data.candidates import Candidate

APART = 0.45  # average distance at which families stay two; measured, see docs/mining.md


@dataclass(frozen=True)
class Family:
    """Candidates in the order of their set. `name` is the text of the central one, `share` theirs of all support."""

    name: str
    candidates: tuple[Candidate, ...]
    share: float


def families(candidates: Sequence[Candidate], alike: np.ndarray) -> tuple[Family, ...]:
    """Average linkage of `alike` (candidates, candidates; 1 for equal) down to 1 - APART, the family of most support first.

    The central candidate is the one most like the turns behind its family, the first of equals.
    """
    support = np.array([len(candidate.support) for candidate in candidates])
    labels = _labels(alike)
    found = []
    for number in dict.fromkeys(labels):
        rows = [row for row, label in enumerate(labels) if label == number]
        weights = np.maximum(support[rows], 1)  # a written candidate counts, too
        central = rows[int((alike[np.ix_(rows, rows)] @ weights).round(6).argmax())]
        share = float(support[rows].sum() / max(support.sum(), 1))
        found.append(
            Family(candidates[central].text, tuple(candidates[r] for r in rows), round(share, 4))
        )
    return tuple(sorted(found, key=lambda family: -family.share))


def likeness(
    candidates: Sequence[Candidate],
    vectors: np.ndarray,
    affinity: np.ndarray,
    counts: np.ndarray,
) -> np.ndarray:
    """(candidates, candidates) in [0, 1]: the mean of three agreements, none below 0.

    Cosine of the texts (`vectors` (candidates, d), unit length); correlation of what turns they suit (`affinity` (rows, candidates),
    each row standing for `counts` (rows,) turns); and the actions they expect, shared ones over all of both.
    """
    centred = affinity - np.average(affinity, axis=0, weights=counts)
    centred *= np.sqrt(counts)[:, None]
    lengths = np.maximum(np.linalg.norm(centred, axis=0), 1e-12)
    correlation = (centred / lengths).T @ (centred / lengths)
    actions = [frozenset(candidate.expected_actions) for candidate in candidates]
    agreement = np.array([[_shared(one, other) for other in actions] for one in actions])
    mean = (np.maximum(vectors @ vectors.T, 0) + np.maximum(correlation, 0) + agreement) / 3
    return mean.round(6)


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return 1.0 if one == other else len(one & other) / len(one | other)


def _labels(alike: np.ndarray) -> list[int]:
    """The number of each row's family."""
    if len(alike) < 2:
        return [0] * len(alike)
    linked = AgglomerativeClustering(
        n_clusters=None, distance_threshold=APART, metric="precomputed", linkage="average"
    )
    return linked.fit_predict(1 - alike).tolist()
