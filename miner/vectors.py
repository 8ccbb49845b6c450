"""What vectors are fit to be clustered, and vectors that a user brings.

Knows no model: it looks at numbers, and serves stored ones by their text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ..data.errors import InvalidVectors
from .embed import Embedder, Limited

NUMPY_FILES = (".npz", ".npy")


@dataclass(frozen=True)
class EmbeddingReport:
    """Ids by what is wrong with their vectors, in the order given.

    Vectors with a NaN, with an infinity, of length zero, or with all components equal are kept out of a fit; those of
    texts that were truncated (the model has not read the end) stay in.
    """

    num_texts: int
    truncated: tuple[str, ...] = ()
    nan: tuple[str, ...] = ()
    infinite: tuple[str, ...] = ()
    zero: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()

    @property
    def left_out(self) -> tuple[str, ...]:
        return (*self.nan, *self.infinite, *self.zero, *self.constant)

    def as_json(self) -> dict[str, Any]:
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
        }


def embedding_report(
    embedder: Embedder, ids: Sequence[str], texts: Sequence[str], vectors: np.ndarray
) -> EmbeddingReport:
    """What is wrong with `vectors` (texts, dimensions), the embedder's rows for `texts`, by id."""
    faults = {fault: _named(ids, rows) for fault, rows in _faults(vectors).items()}
    if isinstance(embedder, Limited):
        faults["truncated"] = _named(ids, embedder.truncated(texts))
    return EmbeddingReport(len(texts), **faults)


def usable(vectors: np.ndarray) -> np.ndarray:
    """(rows,) bool: which of `vectors` (rows, dimensions) may enter a fit."""
    return ~np.any(list(_faults(vectors).values()), axis=0)


class CheckedEmbedder:
    """An embedder that gives zeros in the place of what is no vector, so that nothing which is fitted breaks on it.

    `faults` are the texts with which something was wrong, by the names of an EmbeddingReport's fields.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.faults: dict[str, set[str]] = {}

    @property
    def name(self) -> str:
        return self.embedder.name

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        vectors = self.embedder.embed(texts)
        report = embedding_report(self.embedder, texts, texts, vectors)
        for fault in (field.name for field in fields(report) if field.name != "num_texts"):
            if found := getattr(report, fault):
                self.faults.setdefault(fault, set()).update(found)
        return np.where(usable(vectors)[:, None], vectors, 0) if report.left_out else vectors

    def report(self, ids: Mapping[str, str]) -> EmbeddingReport:
        """What was wrong with the texts that have an id in `ids`, in their order."""
        named = {
            fault: tuple(id for text, id in ids.items() if text in texts)
            for fault, texts in self.faults.items()
        }
        return EmbeddingReport(len(ids), **named)


class OwnVectors:
    """An embedder that serves vectors a user brings, scaled to length 1, and refuses texts it has none for.

    FILE.npz holds `texts` (strings) and `vectors` (texts, dimensions); FILE.npy holds the vectors, and FILE.jsonl beside
    it the texts, one JSON string a line. InvalidVectors says what does not fit.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        texts, self._vectors = _read(self.path)
        _check(texts, self._vectors, self.path)
        self._rows = {text: row for row, text in enumerate(texts)}
        if len(self._rows) < len(texts):
            raise InvalidVectors(
                f"{path}: {len(texts) - len(self._rows)} of {len(texts)} texts stand in it twice"
            )
        self.name = f"{self.path.name}@{_digest(texts, self._vectors)[:12]}"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        missing = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if missing:
            raise InvalidVectors(
                f"{self.path}: lacks {len(missing)} of {len(set(texts))} texts; {self._list(missing)}"
            )
        found = np.asarray(self._vectors[[self._rows[t] for t in texts]], dtype=np.float32)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):  # what has no length stays as it is, for the report
            return np.where(lengths > 0, found / np.maximum(lengths, 1e-30), found)

    def _list(self, missing: Sequence[str]) -> str:
        """Writes the missing texts beside the file, so that they can be embedded too; says where."""
        listed = self.path.with_suffix(".missing.jsonl")
        try:
            listed.write_text("".join(json.dumps(text) + "\n" for text in missing), "utf-8")
        except OSError as error:
            return f"they could not be listed in {listed} ({error.strerror})"
        return f"they are listed in {listed}, a JSON string a line: embed and add them"


def _faults(vectors: np.ndarray) -> dict[str, np.ndarray]:
    """For each fault which rows have it; a row has one at most."""
    nan = np.isnan(vectors).any(axis=1)
    infinite = np.isinf(vectors).any(axis=1) & ~nan
    low, high = vectors.min(axis=1, initial=np.inf), vectors.max(axis=1, initial=-np.inf)
    flat = (low == high) & ~nan & ~infinite
    zero = flat & (low == 0)
    constant = flat & ~zero & (vectors.shape[1] > 1)
    return {"nan": nan, "infinite": infinite, "zero": zero, "constant": constant}


def _named(ids: Sequence[str], rows: np.ndarray) -> tuple[str, ...]:
    return tuple(ids[int(row)] for row in np.flatnonzero(rows))


def _read(path: Path) -> tuple[list[str], np.ndarray]:
    try:
        if path.suffix == ".npy":
            lines = path.with_suffix(".jsonl").read_text("utf-8").split("\n")
            return [json.loads(line) for line in lines if line], np.load(path, mmap_mode="r")
        with np.load(path) as stored:
            return stored["texts"].tolist(), stored["vectors"]
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        raise InvalidVectors(
            f"{path}: no vectors can be read from it ({error}); it takes FILE.npz with texts and vectors, or FILE.npy "
            "with FILE.jsonl"
        ) from error


def _check(texts: list[str], vectors: np.ndarray, path: Path) -> None:
    if vectors.ndim != 2 or vectors.dtype.kind != "f" or vectors.shape[1] < 2:
        raise InvalidVectors(
            f"{path}: vectors are {vectors.dtype} of shape {vectors.shape}; they must be floats (texts, dimensions)"
        )
    if len(texts) != len(vectors):
        raise InvalidVectors(f"{path}: {len(vectors)} vectors for {len(texts)} texts")
    if not all(isinstance(text, str) for text in texts):
        raise InvalidVectors(f"{path}: its texts are not all strings")


def _digest(texts: list[str], vectors: np.ndarray) -> str:
    digest = sha256(json.dumps(texts).encode())
    for start in range(0, len(vectors), 4096):
        digest.update(np.ascontiguousarray(vectors[start : start + 4096]).tobytes())
    return digest.hexdigest()
