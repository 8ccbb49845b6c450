"""Which files a path stands for: a file, a folder with all below it, or a glob.

Knows names only; nothing is opened here.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from ..errors import NotFound
from .streams import bare_name
from .window import SURROGATE

ENDINGS = (".json", ".jsonl", ".ndjson")


@dataclass(frozen=True)
class TraceFile:
    """A file to read, and the name of the collection it belongs to."""

    path: Path
    source: str
    root: Path | None = None  # the folder that was given, or the one that the file lies in

    @property
    def name(self) -> str:
        """The path as it was given; bytes that are no UTF-8 become U+FFFD, so it can be stored."""
        return SURROGATE.sub("\ufffd", str(self.path))

    @property
    def may_hold_traces(self) -> bool:
        return bare_name(self.path.name).endswith(ENDINGS)


def files_at(paths: Iterable[str | Path], source: str | None = None) -> list[TraceFile]:
    """All files that the paths stand for, each once, in the order of paths and then of names.

    A file's source is the folder that was given, or the folder it lies in. Hidden files in folders
    are passed over. NotFound where a path stands for nothing.
    """
    found: dict[Path, TraceFile] = {}
    for path in paths:
        for file in _files_at(Path(path)):
            found.setdefault(file.path, file)
    files = found.values()
    return [TraceFile(f.path, source or SURROGATE.sub("\ufffd", f.source), f.root) for f in files]


def _files_at(path: Path) -> Iterator[TraceFile]:
    if path.is_dir():
        yield from _files_below(path)
        return
    if path.is_file():
        yield _single(path)
        return
    if path.exists():
        raise NotFound(f"{path}: neither a file nor a folder; name what holds the traces")
    if path.is_symlink():
        raise NotFound(f"{path}: a link that leads to no file")
    matches = sorted(glob(str(path), recursive=True))
    if not matches:
        raise NotFound(f"{path}: no such file or folder")
    for match in map(Path, matches):
        if match.is_file():
            yield _single(match)


def _single(path: Path) -> TraceFile:
    folder = path.resolve().parent
    return TraceFile(path, folder.name, folder)


def _files_below(folder: Path) -> Iterator[TraceFile]:
    source = folder.resolve().name
    for path in sorted(folder.rglob("*")):
        is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.is_file() and not is_hidden:
            yield TraceFile(path, source, folder.resolve())
