"""One group of thoughts divided into parts, and for each part a sentence that says it.

Unlike `cluster`, nothing is left over: a person asked for the division, and every thought goes to some part.
"""

from collections.abc import Collection, Sequence

import numpy as np
from sklearn.cluster import KMeans

from .cluster import NOISE, cluster
from .embed import Embedder
from .phrase import Phrase

MOST = 4  # parts that recur: more are no longer seen beside each other
SPREAD = 0.02  # what saying a part in many questions counts against being near it


def divide(vectors: np.ndarray, weights: Sequence[int], count: int | None = None) -> np.ndarray:
    """(rows,): the part of each row from 0, the weightiest first. `vectors` (rows, d) of unit length, `weights` (rows,).

    `count` parts, or fewer where there are fewer rows; None: as many as recur up to MOST, 1 where nothing sets them apart.
    """
    weight = np.asarray(weights)
    if count is None:
        labels = _frequent(cluster(vectors, weights).labels, weight)
    else:
        means = KMeans(min(count, len(vectors)), n_init=10, random_state=0)
        labels = means.fit_predict(vectors.round(6), sample_weight=weight)
    if (labels == NOISE).all():
        return np.zeros(len(vectors), dtype=int)
    return _ranked(_adopted(vectors, labels), weight)


def phrase_for(
    rows: np.ndarray, phrases: Sequence[Phrase], embedder: Embedder, taken: Collection[str]
) -> str | None:
    """The phrase nearest the centre of `rows` (rows, d) that is none of `taken` (case folded); None where there is none."""
    free = [phrase for phrase in phrases if phrase.text.casefold() not in taken]
    if not free or not len(rows):
        return None
    centre = rows.mean(axis=0)
    near = (
        embedder.embed([p.text for p in free]) @ centre / max(float(np.linalg.norm(centre)), 1e-12)
    )
    spread = np.array([1 + np.log(phrase.questions) for phrase in free])
    return free[int((near + SPREAD * spread).round(6).argmax())].text


def _frequent(labels: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The MOST weightiest of the labels; NOISE instead of the others."""
    kept = labels != NOISE
    totals = np.bincount(labels[kept], weight[kept])
    order = np.argsort(-totals, kind="stable")[:MOST]
    return np.where(np.isin(labels, order), labels, NOISE)


def _ranked(labels: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The labels numbered anew, the weightiest first."""
    names, of = np.unique(labels, return_inverse=True)
    rank = np.empty(len(names), dtype=int)
    rank[np.argsort(-np.bincount(of, weight), kind="stable")] = np.arange(len(names))
    return rank[of]


def _adopted(vectors: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """What belongs to no part joins the part whose centre is nearest."""
    names = np.unique(labels[labels != NOISE])
    centres = np.stack([vectors[labels == name].mean(axis=0) for name in names])
    left = np.flatnonzero(labels == NOISE)
    adopted = labels.copy()
    adopted[left] = names[(vectors[left] @ centres.T).round(6).argmax(axis=1)]
    return adopted
