"""How well phrases stand for turns, read a phrase at a time: a dense matrix, in millionths where it is large, or a sparse one.

Knows nothing of thoughts, texts or weights.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csc_array, issparse, sparray

Similarity: TypeAlias = np.ndarray | sparray  # (turns, phrases), >= 0
MILLION = 1_000_000
MILLIONTHS = np.int32  # as which a similarity of six digits takes half the memory


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
            return Column(slice(None), in_ones(matrix[:, phrase]))
        part = slice(matrix.indptr[phrase], matrix.indptr[phrase + 1])
        return Column(matrix.indices[part], matrix.data[part])

    def nearest(self) -> np.ndarray:
        """(turns,): the similarity of each turn's nearest phrase, 0 where none is near."""
        nearest = np.zeros(self.num_turns)
        for phrase in range(self.num_phrases):
            rows, values = self.column(phrase)
            nearest[rows] = np.maximum(nearest[rows], values)
        return nearest


def in_ones(values: np.ndarray) -> np.ndarray:
    """MILLIONTHS as the numbers that were rounded to six digits, to the bit; all else as it is."""
    return values / MILLION if values.dtype == MILLIONTHS else values
