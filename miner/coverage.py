"""Semantic coverage: which thoughts a set's texts come near, which they do not, and how near is near enough.

Near is the cosine of the masked thought and the text. What cosine means "the text fits the thought" is told by pairs
that people judged; nothing here reads a file, an outcome or the action that followed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from .embed import Embedder
from .mask import Mask
from .thoughts import Thought

COVERED_AT = 0.6  # cosine from which a text covers a thought, until judged pairs say better
NEIGHBOURS = 10  # uncovered thoughts of other questions that tell how typical one is
MOST_REFERENCES = 2000  # thoughts that density is measured against
BLOCK = 1024
LEAST_ABOVE = 10  # judged pairs that a threshold must leave above it


@dataclass(frozen=True)
class Nearest:
    """`rows` and `cosine` (turns,): each thought's nearest text; `vectors` (turns, d) of the masked thoughts."""

    rows: np.ndarray
    cosine: np.ndarray
    vectors: np.ndarray


@dataclass(frozen=True)
class Uncovered:
    """A thought that no text comes near, `cosine` to the nearest one, text number `nearest`.

    `typicality` is its mean cosine to the nearest uncovered thoughts of other questions.
    """

    thought: Thought
    nearest: int
    cosine: float
    typicality: float


class Fit(NamedTuple):
    """How a threshold does on judged pairs: of `above` pairs at or over it, `right` fit; `fitting` fit in all."""

    above: int
    right: int
    fitting: int


def nearest(
    thoughts: Sequence[Thought], texts: Sequence[str], mask: Mask, embedder: Embedder
) -> Nearest:
    """The nearest of `texts` (at least one) for each thought, the first of equals."""
    vectors = masked_vectors(thoughts, mask, embedder)
    candidates = embedder.embed(texts)
    rows = np.zeros(len(thoughts), dtype=int)
    cosine = np.zeros(len(thoughts))
    for start in range(0, len(thoughts), BLOCK):
        part = slice(start, start + BLOCK)
        similarity = (vectors[part] @ candidates.T).round(6)  # (block, texts)
        rows[part], cosine[part] = similarity.argmax(axis=1), similarity.max(axis=1)
    return Nearest(rows, cosine, vectors)


def masked_vectors(thoughts: Sequence[Thought], mask: Mask, embedder: Embedder) -> np.ndarray:
    """(turns, d): the masked thoughts' unit vectors."""
    return embedder.embed([mask.apply(t.text, t.instance).text for t in thoughts])


def uncovered(
    thoughts: Sequence[Thought], near: Nearest, threshold: float = COVERED_AT
) -> list[Uncovered]:
    """The thoughts below `threshold`, the most typical first, so that the first are those worth a candidate."""
    below = np.flatnonzero(near.cosine < threshold)
    typical = typicality(near.vectors[below], [thoughts[int(row)].question for row in below])
    found = [
        Uncovered(thoughts[int(row)], int(near.rows[row]), float(near.cosine[row]), float(value))
        for row, value in zip(below, typical, strict=True)
    ]
    return sorted(found, key=lambda one: (-one.typicality, one.thought.turn))


def typicality(vectors: np.ndarray, questions: Sequence[str]) -> np.ndarray:
    """(rows,): mean cosine to the NEIGHBOURS nearest rows of other questions, 0 where there is no other.

    Of many rows an even sample of MOST_REFERENCES is compared with, so the work grows with the rows only.
    """
    names = np.array(questions, dtype=object)
    step = max(1, -(-len(vectors) // MOST_REFERENCES))
    references, of = vectors[::step], names[::step]
    found = np.zeros(len(vectors))
    for start in range(0, len(vectors), BLOCK):
        part = slice(start, start + BLOCK)
        cosine = vectors[part] @ references.T  # (block, references)
        cosine[names[part, None] == of[None, :]] = -np.inf
        best = np.sort(cosine, axis=1)[:, ::-1][:, :NEIGHBOURS].astype(float)
        told = np.isfinite(best)
        total = np.where(told, best, 0.0).sum(axis=1)
        found[part] = total / np.maximum(told.sum(axis=1), 1)
    return found.round(6)


def pick_threshold(cosine: np.ndarray, fits: np.ndarray, precision: float) -> float | None:
    """The lowest threshold at and above which at least `precision` of the judged pairs fit; None where there is none.

    `cosine` and `fits` are (pairs,); at least LEAST_ABOVE pairs must be left above it.
    """
    for value in np.unique(np.floor(np.asarray(cosine) * 100) / 100):  # never above its own pair
        found = fit_at(cosine, fits, float(value))
        if found.above >= LEAST_ABOVE and found.right >= precision * found.above:
            return float(value)
    return None


def fit_at(cosine: np.ndarray, fits: np.ndarray, threshold: float) -> Fit:
    """Counts of judged pairs at a threshold."""
    above = np.asarray(cosine) >= threshold
    return Fit(int(above.sum()), int((above & fits).sum()), int(np.sum(fits)))


def in_train_half(question: str) -> bool:
    """Whether a judged pair's question picks the threshold; those of the other half only measure it."""
    return blake2b(question.encode("utf-8", "replace"), digest_size=1).digest()[0] < 128
