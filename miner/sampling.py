"""Groups of very many vectors: a sample is clustered, the rest joins the groups it is inside of, and what is left is sampled again.

Density clustering takes time with the square of its rows, so at most MOST rows are ever clustered. A group is then known by its
medoid and radius, and one rule says who belongs: the nearest medoid, if it is within the radius. What is within none stays noise.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .cluster import JOIN_DISTANCE, NOISE, Clustering, cluster

MOST = 20_000  # rows that are clustered at once
ROUNDS = 2  # each of which looks twice, as `cluster` does
LEAST_GAIN = 0.01  # of all weight; a round that brings less is the last
RADIUS_SHARE = 0.98  # of a group's sampled rows that lie within its radius
FURTHEST = 1 - JOIN_DISTANCE  # cosine; no group reaches further than small data is joined
BLOCK = 4096


class Spheres(NamedTuple):
    """Groups as they are kept: `medoids` (groups, dimensions), unit vectors, and `cosines` (groups,) at their edges."""

    medoids: np.ndarray
    cosines: np.ndarray


def cluster_many(
    vectors: np.ndarray, weights: Sequence[int], strata: np.ndarray, most: int = MOST
) -> Clustering:
    """What `cluster` gives, for any number of `vectors` (rows, dimensions); up to `most` rows it is the same to the letter.

    `strata` (rows,) are numbers of kinds of rows; a sample holds at least its share of each.
    """
    if len(vectors) <= most:
        return cluster(vectors, weights)
    weighed = np.asarray(weights)
    labels = np.full(len(vectors), NOISE)
    for _ in range(ROUNDS):
        left = np.flatnonzero(labels == NOISE)
        sample = left[stratified_sample(strata[left], weighed[left], most)]
        found = cluster(vectors[sample], weighed[sample].tolist()).labels
        if found.max(initial=NOISE) == NOISE:
            break
        spheres = spheres_of(vectors[sample], found)
        joined = inside(vectors[left], spheres)
        joined[np.searchsorted(left, sample)] = found  # the sample keeps its own groups
        gained = joined != NOISE
        labels[left[gained]] = joined[gained] + labels.max(initial=NOISE) + 1
        if weighed[left[gained]].sum() < LEAST_GAIN * weighed.sum():
            break
    return Clustering(labels)


def spheres_of(vectors: np.ndarray, labels: np.ndarray) -> Spheres:
    """The medoid of each group (its row nearest the mean) and the cosine that RADIUS_SHARE of its rows reach."""
    medoids, cosines = [], []
    for group in range(labels.max(initial=NOISE) + 1):
        rows = vectors[labels == group]
        medoid = rows[int((rows @ rows.mean(axis=0)).round(6).argmax())]
        medoids.append(medoid)
        cosines.append(max(FURTHEST, np.quantile((rows @ medoid).round(6), 1 - RADIUS_SHARE)))
    return Spheres(np.array(medoids, np.float32), np.array(cosines))


def inside(vectors: np.ndarray, spheres: Spheres) -> np.ndarray:
    """(rows,): the group of the nearest medoid, NOISE where that is further than the group's radius."""
    groups = np.full(len(vectors), NOISE)
    for start in range(0, len(vectors), BLOCK):
        near = (vectors[start : start + BLOCK] @ spheres.medoids.T).round(6)
        best = near.argmax(axis=1)
        fits = near[np.arange(len(near)), best] >= spheres.cosines[best]
        groups[start : start + BLOCK][fits] = best[fits]
    return groups


def stratified_sample(
    strata: np.ndarray, weights: np.ndarray, most: int, seed: int = 0
) -> np.ndarray:
    """At most `most` rows, ascending: of each stratum its share by the square root of its size, the heavier rows the likelier.

    `strata` and `weights` (rows,); the roots keep rare kinds of rows in. The same rows in the same order give the same sample.
    """
    if len(strata) <= most:
        return np.arange(len(strata))
    names, of = np.unique(strata, return_inverse=True)
    quotas = _quotas(np.bincount(of), most)
    draws = np.random.default_rng(seed).random(len(strata))
    keys = np.log(draws) / weights  # the largest are a weighted sample without repetition
    kept = []
    for stratum in range(len(names)):
        rows = np.flatnonzero(of == stratum)
        if quotas[stratum]:
            edge = np.argpartition(-keys[rows], quotas[stratum] - 1)[: quotas[stratum]]
            kept.append(rows[edge])
    return np.sort(np.concatenate(kept))


def _quotas(sizes: np.ndarray, most: int) -> np.ndarray:
    """(strata,): how many rows of each; small strata whole, the rest by the root of their sizes."""
    quotas = np.zeros(len(sizes), dtype=int)
    is_open = np.ones(len(sizes), dtype=bool)
    while is_open.any():
        roots = np.sqrt(sizes[is_open])
        shares = (most - quotas.sum()) * roots / roots.sum()
        full = np.flatnonzero(is_open)[shares >= sizes[is_open]]
        if not len(full):
            quotas[is_open] = np.floor(shares).astype(int)
            break
        quotas[full] = sizes[full]
        is_open[full] = False
    return quotas
