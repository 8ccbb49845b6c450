"""What a router may know of a question before anybody answers it, and how that becomes vectors of one scale.

Beside what an embedder makes of its text and, where there is one, its picture stands its wording. What is learned here is learned from
training questions alone, and every router gets the same.
"""

from typing import NamedTuple

import numpy as np

from ..outcomes import InvalidRoutingTable
from .wording import Wording, learned


class Asked(NamedTuple):
    """`texts`, their `vectors` (Q, E) by an embedder, and `image` (Q, E') with `has_image` (Q,) bool where any has a picture."""

    texts: tuple[str, ...]
    vectors: np.ndarray
    image: np.ndarray | None = None
    has_image: np.ndarray | None = None

    def rows(self, chosen: np.ndarray) -> "Asked":
        """Those of `chosen` (Q,) bool."""
        texts = tuple(text for text, is_chosen in zip(self.texts, chosen, strict=True) if is_chosen)
        image = None if self.image is None else self.image[chosen]
        has_image = None if self.has_image is None else self.has_image[chosen]
        return Asked(texts, self.vectors[chosen], image, has_image)


class Encoded(NamedTuple):
    """`text` (Q, T) float32: meaning and wording; `image` (Q, E') and `has_image` (Q,) bool, or None where no picture is known."""

    text: np.ndarray
    image: np.ndarray | None = None
    has_image: np.ndarray | None = None

    @property
    def joined(self) -> np.ndarray:
        """(Q, T) or (Q, T + E' + 1): all of it as one vector, zeros where there is no picture."""
        if self.image is None or self.has_image is None:
            return self.text
        image = np.where(self.has_image[:, None], self.image, 0.0)
        return np.concatenate([self.text, image, self.has_image[:, None]], axis=1, dtype=np.float32)


class Scale(NamedTuple):
    """`centre` (E,) and the `spread` (1,) of all its numbers together, so that a direction in which little varies stays small."""

    centre: np.ndarray
    spread: np.ndarray

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        if vectors.shape[1] != len(self.centre):
            raise InvalidRoutingTable(
                f"vectors of {vectors.shape[1]} numbers, where the router was trained with {len(self.centre)}; take the same embedder"
            )
        return np.asarray((vectors - self.centre) / self.spread, np.float32)


class Encoder(NamedTuple):
    """Asked to Encoded; `image` is None where no training question had a picture, and then none is looked at."""

    meaning: Scale
    wording: Wording
    worded: Scale
    image: Scale | None

    def __call__(self, asked: Asked) -> Encoded:
        """InvalidRoutingTable for vectors of another size than in training, of other texts, and for what in them is no number."""
        _require_whole(asked)
        worded = self.worded(self.wording.vectors(asked.texts))
        text = np.concatenate([self.meaning(asked.vectors), worded], axis=1)
        if self.image is None or asked.image is None or asked.has_image is None:
            return Encoded(text)
        return Encoded(text, self.image(asked.image), asked.has_image)

    @property
    def text_size(self) -> int:
        return len(self.meaning.centre) + len(self.worded.centre)

    @property
    def image_size(self) -> int:
        return 0 if self.image is None else len(self.image.centre)


def _require_whole(asked: Asked) -> None:
    """A vector for each text, and a picture's for each that has one, of numbers."""
    seen = None if asked.has_image is None else asked.image
    for vectors in (asked.vectors, *(() if seen is None else (seen, asked.has_image))):
        if len(vectors) != len(asked.texts):
            raise InvalidRoutingTable(
                f"{len(asked.texts)} texts and {len(vectors)} vectors; give each text its own"
            )
    used = [asked.vectors, *(() if seen is None else (seen[asked.has_image],))]
    if not all(np.isfinite(vectors).all() for vectors in used):
        raise InvalidRoutingTable(
            "a question's vector holds what is no number; embed the questions again"
        )


def encoder_of(train: Asked, seed: int) -> Encoder:
    """Learned from training questions."""
    wording = learned(train.texts, seed)
    image = None
    if train.image is not None and train.has_image is not None and train.has_image.any():
        image = _scale(train.image[train.has_image])
    return Encoder(_scale(train.vectors), wording, _scale(wording.vectors(train.texts)), image)


def _scale(vectors: np.ndarray) -> Scale:
    centre = vectors.mean(axis=0)
    spread = np.sqrt(((vectors - centre) ** 2).mean())
    return Scale(centre, np.array([spread if spread > 0 else 1.0]))
