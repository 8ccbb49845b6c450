"""Which candidates of a set say nearly the same as a text: by an embedder's vectors once they are there, by shared words until then."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..data.errors import ModelUnavailable
from ..miner.confusions import ALIKE_AT
from ..miner.embed import CachedEmbedder, Embedder
from ..miner.mask import words
from . import fitted
from .computations import PROCESS, Report
from .roster import Roster

NEAR_AT = 0.75  # cosine from which another candidate is shown while someone types
NEAR_WORDS = 0.65  # the same of shared words
MOST = 3


class Alike(NamedTuple):
    """A candidate and how like the text it is, in [0, 1]; `is_twin`: so like that the two say the same."""

    id: str
    text: str
    likeness: float
    is_twin: bool


class Vectors(NamedTuple):
    """(candidates, d): unit rows of the texts of a set, in its order."""

    ids: tuple[str, ...]
    rows: np.ndarray
    embedder: Embedder


def alike(
    text: str, roster: Roster, own_id: str | None, least: float | None = None, most: int = MOST
) -> list[Alike]:
    """The candidates most like `text`, the most like first, without that of `own_id`; answers at once."""
    if not roster.candidates:
        return []
    vectors = vectors_of(roster)
    if vectors is None:
        values = [word_likeness(text, one.text) for one in roster.candidates]
        least, twin_at = NEAR_WORDS if least is None else least, 1.0
    else:
        own = next((at for at, one in enumerate(roster.candidates) if one.text == text), None)
        if own is None:
            vector = _vector(vectors.embedder, text)  # type: ignore[arg-type]
        else:
            vector = vectors.rows[own]
        values = (vectors.rows @ vector).round(4).tolist()
        least, twin_at = NEAR_AT if least is None else least, ALIKE_AT
    found = [
        Alike(one.id, one.text, max(value, 0.0), value >= twin_at)
        for one, value in zip(roster.candidates, values, strict=True)
        if one.id != own_id and value >= least
    ]
    return sorted(found, key=lambda one: -one.likeness)[:most]


def vectors_of(roster: Roster, wait: float | None = 0) -> Vectors | None:
    """The set's vectors, None while they are being computed."""
    texts = tuple(one.text for one in roster.candidates)

    def embed(report: Report) -> np.ndarray:
        report(f"embedding {len(texts):,} candidates")
        _model(fitted.embedder()).embed(texts[:1])  # loads it: whoever types must not wait
        return fitted.embedder().embed(texts)

    try:
        found = PROCESS.ask(("vectors", texts), embed).result(wait)
    except ModelUnavailable:
        return None
    if found is None:
        return None
    return Vectors(tuple(one.id for one in roster.candidates), found, fitted.embedder())


def word_likeness(first: str, second: str) -> float:
    """Share of the words of either that both have: 1 for the same words, 0 for none in common."""
    a, b = _words(first), _words(second)
    return len(a & b) / len(a | b) if a | b else 0.0


@lru_cache(maxsize=20_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(words(text))


def nearest_by_words(text: str, texts: Sequence[str], most: int) -> list[int]:
    """The places of the `most` of `texts` that share most words with `text`, the first of equals."""
    ranked = sorted(range(len(texts)), key=lambda at: -word_likeness(text, texts[at]))
    return ranked[:most]


@lru_cache(maxsize=256)
def _vector(embedder: Embedder, text: str) -> np.ndarray:
    """Past the cache on disk: what is being typed need not be kept."""
    return _model(embedder).embed([text])[0]


def _model(embedder: Embedder) -> Embedder:
    return embedder.embedder if isinstance(embedder, CachedEmbedder) else embedder
