"""Stages of a long run: what each one made is kept on disk, so that an interrupted run goes on where it stopped.

A product is found again only for the same inputs, parameters, versions and code; those that were used last are kept, the
others go. Knows arrays and JSON, and nothing of mining.
"""

import json
import logging
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np

from ..data.identity import content_id

VERSIONS = ("hdbscan", "numpy", "scikit-learn")  # what decides a product beside our own code
DAMAGE = (OSError, ValueError, KeyError, EOFError, BadZipFile, ZlibError)
MIB = 1 << 20
MOST_KEPT = 80  # products in a folder: those of about 20 runs,
MOST_BYTES = 1 << 30  # and no more than this together

log = logging.getLogger(__name__)
Product = Mapping[str, Any]  # arrays, and values that JSON can hold
T = TypeVar("T")


class Rows(NamedTuple):
    """How many rows went into a stage, and came out."""

    into: int
    out: int


@dataclass(frozen=True)
class StageRecord:
    """One stage of a run as its manifest tells it; `peak_mib` is the process's most memory until then.

    `seconds` by the clock, `processor` of this process: on a busy machine the clock runs on.
    """

    name: str
    key: str
    rows: Rows
    seconds: float
    processor: float
    peak_mib: int
    is_resumed: bool

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"rows": self.rows._asdict()}


@dataclass(frozen=True)
class Kept(Generic[T]):
    """How what a stage makes is kept, and on which `parameters` it depends beside the stages before it."""

    pack: Callable[[T], Product]
    unpack: Callable[[Product], T]
    parameters: Sequence[str] = ()


class Stages:
    """The stages of one run, in order. `folder` is where products are kept; without one nothing is."""

    def __init__(self, inputs: str, folder: Path | None = None) -> None:
        self._key = content_id("run", [inputs, code_digest(), {p: version(p) for p in VERSIONS}])
        self._folder = folder
        self._own: set[Path] = set()  # products of this run
        self.records: list[StageRecord] = []

    def run(
        self,
        name: str,
        make: Callable[[], T],
        rows: Callable[[T], Rows],
        kept: Kept[T] | None = None,
    ) -> T:
        """What the stage made: as it was kept, or made now and kept."""
        started, worked = time.perf_counter(), time.process_time()
        found = None
        if kept:
            self._key = content_id("stage", [self._key, name, list(kept.parameters)])
            found = self._find(name)
        made = make() if found is None or kept is None else kept.unpack(found)
        if kept and self._folder:
            path = self._path(self._folder, name)
            if found is None:
                _write(path, kept.pack(made))
            self._own.add(path)
            prune(self._folder, self._own)
        seconds = round(time.perf_counter() - started, 3)
        processor = round(time.process_time() - worked, 3)
        self.records.append(
            StageRecord(
                name, self._key, rows(made), seconds, processor, peak_mib(), found is not None
            )
        )
        return made

    def _find(self, name: str) -> Product | None:
        return _read(self._path(self._folder, name)) if self._folder else None

    def _path(self, folder: Path, name: str) -> Path:
        return folder / f"{name}-{self._key}.npz"


def peak_mib() -> int:
    """The most memory that this process has held so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // MIB if sys.platform == "darwin" else peak // 1024


def code_digest() -> str:
    """Of this package's sources: another rule makes other products."""
    digest = blake2b(digest_size=8)
    for path in sorted(Path(__file__).parent.iterdir()):
        if path.suffix in (".py", ".toml"):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def digest_of(texts: Iterable[str]) -> str:
    """Of many texts in their order, one at a time."""
    digest = blake2b(digest_size=8)
    for text in texts:
        digest.update(text.encode("utf-8", "replace") + b"\0")
    return digest.hexdigest()


def prune(folder: Path, own: Collection[Path]) -> None:
    """Removes the files in `folder` that were used longest ago, until it holds MOST_KEPT and MOST_BYTES at most; never `own`.

    Other processes may do the same at once: a file that is gone, or that may not go, is passed over.
    """
    held = sorted((kept for path in folder.iterdir() if (kept := _held(path))), reverse=True)
    total = 0
    for number, one in enumerate(held):
        total += one.size
        if (number >= MOST_KEPT or total > MOST_BYTES) and one.path not in own:
            with suppress(OSError):
                one.path.unlink()


class _Held(NamedTuple):
    used: float
    size: int
    path: Path


def _held(path: Path) -> _Held | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return _Held(found.st_mtime, found.st_size, path)


def _write(path: Path, product: Product) -> None:
    """Whole or not at all. What is no array is kept as the bytes of its JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {
        name: value
        if isinstance(value, np.ndarray)
        else np.frombuffer(b"json" + json.dumps(value).encode(), np.uint8)
        for name, value in product.items()
    }
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
    os.replace(file.name, path)


def _read(path: Path) -> Product | None:
    """The product at `path`; None where there is none, and for a damaged one, which is removed."""
    if not path.exists():
        return None
    try:
        with np.load(path) as stored:
            found = {name: _value(stored[name]) for name in stored.files}
        with suppress(OSError):  # another process may have removed it by now
            os.utime(path)  # used last
        return found
    except FileNotFoundError:
        return None
    except DAMAGE as error:
        log.warning("%s: damaged (%s); its stage runs again", path, type(error).__name__)
        path.unlink(missing_ok=True)
        return None


def _value(array: np.ndarray) -> Any:
    head = array[:4].tobytes() if array.ndim == 1 and array.dtype == np.uint8 else b""
    return json.loads(array[4:].tobytes()) if head == b"json" else array
