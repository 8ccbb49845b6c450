"""One group of thoughts divided into parts, and for each part a sentence that says it.

Unlike `cluster`, nothing is left over: a person asked for the division, and every thought goes to some part.
"""

from collections.abc import Collection, Sequence

import numpy as np
from sklearn.cluster import AgglomerativeClustering

from .cluster import NOISE, cluster
from .embed import Embedder
from .phrase import Phrase

MOST_LINKED = 1500  # rows that are linked pair by pair; the others join the nearest part
SPREAD = 0.02  # what saying a part in many questions counts against being near it


def divide(vectors: np.ndarray, weights: Sequence[int], count: int | None = None) -> np.ndarray:
    """(rows,): the part of each row from 0, the weightiest first. `vectors` (rows, d) of unit length, `weights` (rows,).

    `count` parts, or fewer where there are fewer rows; None: as many as recur, 1 where nothing sets them apart.
    """
    weight = np.asarray(weights)
    if count is None:
        labels = cluster(vectors, weights).labels
    else:
        labels = np.full(len(vectors), NOISE)
        heavy = np.argsort(-weight, kind="stable")[:MOST_LINKED]
        labels[heavy] = _linked(vectors[heavy], min(count, len(heavy)))
    if (labels == NOISE).all():
        return np.zeros(len(vectors), dtype=int)
    labels = _adopted(vectors, labels)
    totals = np.bincount(labels, weight)
    rank = np.empty(len(totals), dtype=int)
    rank[np.argsort(-totals, kind="stable")] = np.arange(len(totals))
    return rank[labels]


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


def _linked(vectors: np.ndarray, count: int) -> np.ndarray:
    if count < 2:
        return np.zeros(len(vectors), dtype=int)
    return AgglomerativeClustering(count, metric="cosine", linkage="average").fit_predict(
        vectors.round(6)
    )


def _adopted(vectors: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """What belongs to no part joins the part whose centre is nearest."""
    centres = np.stack([vectors[labels == k].mean(axis=0) for k in range(labels.max() + 1)])
    left = np.flatnonzero(labels == NOISE)
    adopted = labels.copy()
    adopted[left] = (vectors[left] @ centres.T).round(6).argmax(axis=1)
    return adopted
