"""How a question is worded, as a vector: its words and pairs of words, beside what an embedder makes of its meaning.

Whether an arm will do depends on the form of a question ("Which film came out first, A or B?") as much as on its subject, and embedders
are made to look past the form. Words are hashed (no vocabulary), weighed by how rare they are among training questions, and projected on
the training questions' main directions.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

BUCKETS = 1 << 14
DIRECTIONS = 128
TOKEN = r"\w+|[^\w\s]"


class Wording(NamedTuple):
    """`rarity` (BUCKETS,) and `directions` (BUCKETS, D), learned from training questions."""

    rarity: np.ndarray
    directions: np.ndarray

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """(texts, D) float32."""
        return np.asarray(_weighed(_counts(texts), self.rarity) @ self.directions, np.float32)


def learned(texts: Sequence[str], seed: int) -> Wording:
    """From training questions; as many directions as they can tell apart, 128 at most."""
    counts = _counts(texts)
    rarity = TfidfTransformer().fit(counts).idf_.astype(np.float32)
    number = min(DIRECTIONS, len(set(texts)))
    found = TruncatedSVD(number, random_state=seed).fit(_weighed(counts, rarity))
    return Wording(rarity, np.ascontiguousarray(found.components_.T, np.float32))


def _counts(texts: Sequence[str]) -> csr_matrix:
    return HashingVectorizer(
        n_features=BUCKETS,
        ngram_range=(1, 2),
        lowercase=False,
        token_pattern=TOKEN,
        norm=None,
        alternate_sign=False,
    ).transform(texts)


def _weighed(counts: csr_matrix, rarity: np.ndarray) -> csr_matrix:
    """Rows of length 1: a word said twice counts 1.7 times, a rare one more."""
    weighed = counts.copy()
    weighed.data = (1 + np.log(weighed.data)) * rarity[weighed.indices]
    lengths = np.sqrt(weighed.multiply(weighed).sum(axis=1)).A1
    return csr_matrix(weighed.multiply((1 / np.maximum(lengths, 1e-12))[:, None]))
