"""How well phrases stand for turns, read a phrase at a time: a dense matrix, or a sparse one of the nearest phrases only.

Knows nothing of thoughts, texts or weights.
"""

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse, sparray, vstack

Similarity: TypeAlias = np.ndarray | sparray  # (turns, phrases), >= 0


class Column(NamedTuple):
    """What one phrase stands for: `values` (touched,) at `rows`, the turns it touches; others are 0."""

    rows: np.ndarray | slice
    values: np.ndarray


class Columns:
    """The columns of a similarity. Held by phrases: a dense matrix in C order is copied once, one in Fortran order is not."""

    def __init__(self, similarity: Similarity) -> None:
        if issparse(similarity):
            matrix = csc_array(similarity)
            if not matrix.has_canonical_format:
                matrix = matrix.copy()  # the caller's own stays as it is
                matrix.sum_duplicates()
            self._similarity = matrix
        else:
            self._similarity = np.asfortranarray(similarity)
        self.num_turns, self.num_phrases = similarity.shape

    def column(self, phrase: int) -> Column:
        matrix = self._similarity
        if not issparse(matrix):
            return Column(slice(None), matrix[:, phrase])
        part = slice(matrix.indptr[phrase], matrix.indptr[phrase + 1])
        return Column(matrix.indices[part], matrix.data[part])

    def nearest(self) -> np.ndarray:
        """(turns,): the similarity of each turn's nearest phrase, 0 where none is near."""
        nearest = np.zeros(self.num_turns)
        for phrase in range(self.num_phrases):
            rows, values = self.column(phrase)
            nearest[rows] = np.maximum(nearest[rows], values)
        return nearest


def keep_nearest(blocks: Iterable[np.ndarray], keep: int) -> csc_array:
    """(turns, phrases) out of `blocks` (some turns, phrases) of it, a block in memory at a time.

    Each turn keeps its `keep` nearest phrases and all that are as near as the last of them, so that what is kept does not depend on
    the order of phrases.
    """
    packed = []
    for block in blocks:
        keeps = min(keep, block.shape[1])
        edge = np.partition(block, -keeps, axis=1)[:, [-keeps]] if keeps else np.inf
        packed.append(csr_array(np.where((block >= edge) & (block > 0), block, 0)))
    return csc_array(vstack(packed, format="csc")) if packed else csc_array((0, 0))
