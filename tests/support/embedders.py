"""Small real embedders: no download, no weights."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from forethought.miner.mask import words

DIMENSIONS = 64


class HashingEmbedder:
    """Words to fixed pseudo-random directions: texts that share words are near each other."""

    name = "hashing"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        vectors = np.stack([sum(map(_direction, words(text)), _direction("")) for text in texts])
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


class CountingEmbedder(HashingEmbedder):
    """Remembers how many texts it was asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += len(texts)
        return super().embed(texts)


def _direction(word: str) -> np.ndarray:
    seed = int.from_bytes(blake2b(word.encode(), digest_size=4).digest(), "big")
    return np.random.default_rng(seed).standard_normal(DIMENSIONS)
