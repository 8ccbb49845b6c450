"""Vectors of masked thoughts to groups that recur: HDBSCAN on a PCA, with a path of its own for small data.

Noise stays noise. Deterministic for a given row order, and the caller brings rows in canonical order.
Follows the measured recipe of BERTopic-like tools less their traps: no UMAP, no prediction of new points, guards before the library.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import hdbscan
import numpy as np
from sklearn.cluster import AgglomerativeClustering
from sklearn.decomposition import PCA

NOISE = -1
ROUNDS = 2  # the second looks for groups among what the first left as noise
SMALL = 30  # fewer distinct rows than this are joined by average linkage
JOIN_DISTANCE = 0.35  # cosine distance up to which small data is joined
PCA_DIMENSIONS = 50  # clusters fuse below about 30
LEAF = 60  # rows in a leaf of HDBSCAN's tree; decides time, and which of equals, at 40 a quarter slower


@dataclass(frozen=True)
class Clustering:
    """`labels` (rows,): cluster numbers from 0, NOISE where a row belongs to none."""

    labels: np.ndarray

    @property
    def groups(self) -> list[np.ndarray]:
        """The rows of each cluster, in order of its number."""
        return [np.flatnonzero(self.labels == k) for k in range(self.labels.max(initial=NOISE) + 1)]

    @property
    def noise_share(self) -> float:
        return float(np.mean(self.labels == NOISE)) if len(self.labels) else 0.0


def cluster(vectors: np.ndarray, weights: Sequence[int]) -> Clustering:
    """Groups of `vectors` (rows, dimensions; unit length, distinct rows); `weights` (rows,) counts exact duplicates.

    A row that stands for enough duplicates is a cluster of its own where HDBSCAN leaves it out: fifty equal
    thoughts are a habit even if nothing is near them.
    """
    assert np.isfinite(vectors).all(), "vectors hold NaN or infinity; the embedder must refuse them"
    if len(vectors) < SMALL:
        return Clustering(_small(vectors))
    min_size = int(np.clip(round(0.0015 * sum(weights)), 5, 50))
    labels = np.full(len(vectors), NOISE)
    for _ in range(ROUNDS):
        left = np.flatnonzero(labels == NOISE)
        if len(left) < SMALL:
            break
        found = _density_groups(vectors[left], min_size)
        labels[left[found != NOISE]] = found[found != NOISE] + labels.max(initial=NOISE) + 1
    return Clustering(_promote_frequent(labels, weights, min_size))


def _density_groups(vectors: np.ndarray, min_size: int) -> np.ndarray:
    """HDBSCAN's labels on a PCA of the rows."""
    reduced = PCA(min(PCA_DIMENSIONS, len(vectors) - 1, vectors.shape[1]), random_state=0)
    points = reduced.fit_transform(vectors).round(6)  # rounding before ties
    labels = hdbscan.HDBSCAN(
        min_cluster_size=min_size,
        min_samples=5,
        cluster_selection_method="leaf",  # `eom` collapses masked vectors into two clusters
        approx_min_span_tree=False,
        core_dist_n_jobs=1,
        leaf_size=LEAF,
    ).fit_predict(points)
    return np.maximum(labels, NOISE)


def _small(vectors: np.ndarray) -> np.ndarray:
    if len(vectors) < 2:
        return np.zeros(len(vectors), dtype=int)
    joined = AgglomerativeClustering(
        n_clusters=None, distance_threshold=JOIN_DISTANCE, metric="cosine", linkage="average"
    )
    return joined.fit_predict(vectors)


def _promote_frequent(labels: np.ndarray, weights: Sequence[int], min_size: int) -> np.ndarray:
    labels = labels.copy()
    for row in np.flatnonzero((labels == NOISE) & (np.asarray(weights) >= min_size)):
        labels[row] = labels.max(initial=NOISE) + 1
    return labels
