"""Which texts are one candidate too many: near in meaning, or suiting the same turns.

Knows vectors and affinities; which of two such texts stays is decided where candidates are chosen.
"""

from dataclasses import dataclass

import numpy as np

from .similarity import in_ones

BLOCK = 4096  # rows of the affinity that are read at once


@dataclass(frozen=True)
class Nearness:
    """(texts, texts): cosine of the texts, and correlation of what turns they suit, to six digits."""

    cosine: np.ndarray
    overlap: np.ndarray

    @classmethod
    def of(cls, vectors: np.ndarray, affinity: np.ndarray, counts: np.ndarray) -> "Nearness":
        """Of texts with unit `vectors` (texts, d), by their `affinity` (rows, texts) to rows that stand for `counts` (rows,)
        turns."""
        return cls((vectors @ vectors.T).round(6), _correlation(affinity, counts).round(6))

    def redundant(self, max_similarity: float, max_overlap: float) -> np.ndarray:
        """(texts, texts) bool."""
        return (self.cosine > max_similarity) | (self.overlap > max_overlap)

    @property
    def nearest(self) -> np.ndarray:
        """(texts, texts): the nearer of the two ways."""
        return np.maximum(self.cosine, self.overlap)


def _correlation(affinity: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(texts, texts), a block of rows at a time: of many turns no centred copy is ever held."""
    num_texts = affinity.shape[1]
    parts = [slice(at, at + BLOCK) for at in range(0, len(affinity), BLOCK)]
    total = sum((counts[part] @ in_ones(affinity[part]) for part in parts), np.zeros(num_texts))
    mean = total / counts.sum()
    products = np.zeros((num_texts, num_texts))
    for part in parts:
        centred = (in_ones(affinity[part]) - mean) * np.sqrt(counts[part])[:, None]
        products += centred.T @ centred
    lengths = np.sqrt(products.diagonal())
    return products / np.maximum(np.outer(lengths, lengths), 1e-12)
