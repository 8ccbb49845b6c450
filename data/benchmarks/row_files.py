"""Rows out of a benchmark's files: JSON, JSON lines, gzipped or not, and parquet, alone, in folders or by a glob.

Knows files, not what a row means: it is told by `is_row`. A file in which no row is found is passed over and named.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from ..errors import BenchmarkUnavailable
from ..formats.documents import LOOKAHEAD, Broken, Document, documents
from ..formats.files import ENDINGS, TraceFile, files_at
from ..formats.reader import Skipped
from .fields import Row
from .question import Unusable

PARQUET = ".parquet"
BATCH = 64  # rows of parquet in memory at once: each may hold pictures


def rows_at(place: str, is_row: Callable[[Any], bool]) -> Iterator[Row | Unusable | Skipped]:
    """All rows at a file, folder or glob, in the order of names.

    NotFound where there is nothing, BenchmarkUnavailable where no file has a known ending.
    """
    files = [file for file in files_at([place]) if file.may_hold_traces or _is_parquet(file)]
    if not files:
        known = ", ".join((*ENDINGS, PARQUET))
        raise BenchmarkUnavailable(f"{place}: no file there that ends in {known} (or .gz of JSON)")
    return (entry for file in files for entry in _read(file, place, is_row))


def _is_parquet(file: TraceFile) -> bool:
    return file.path.name.lower().endswith(PARQUET)


def _read(
    file: TraceFile, place: str, is_row: Callable[[Any], bool]
) -> Iterator[Row | Unusable | Skipped]:
    entries = _parquet_rows(file.path) if _is_parquet(file) else documents(file.path, is_row)
    first = _up_to_a_row(entries, is_row)
    if not any(_is_good(entry, is_row) for entry in first):
        yield from (_lost(file, entry) for entry in first if isinstance(entry, Broken))
        yield Skipped(file.name, f"no row of this benchmark (looked at {len(first)})")
        return
    name = _short(file.path, place)
    for entry in chain(first, entries):
        if isinstance(entry, Broken):
            yield _lost(file, entry)
        elif is_row(entry.value):
            id = entry.key or f"{name}-{entry.position}"
            yield Row(_place(file, entry), id, entry.value, file.path.parent)
        else:
            yield Unusable(_place(file, entry), "no row of this benchmark: no question in it")


def _up_to_a_row(
    entries: Iterator[Document | Broken], is_row: Callable[[Any], bool]
) -> list[Document | Broken]:
    """The entries up to the first that is a row, or the first hundred: enough to judge a file."""
    first: list[Document | Broken] = []
    for entry in entries:
        first.append(entry)
        if _is_good(entry, is_row) or len(first) == LOOKAHEAD:
            break
    return first


def _is_good(entry: Document | Broken, is_row: Callable[[Any], bool]) -> bool:
    return isinstance(entry, Document) and is_row(entry.value)


def _lost(file: TraceFile, entry: Broken) -> Unusable:
    return Unusable(_place(file, entry), entry.reason)


def _place(file: TraceFile, entry: Document | Broken) -> str:
    return f"{file.name}:{entry.position if entry.key is None else entry.key}"


def _short(path: Path, place: str) -> str:
    """The file's name without endings, and the folders between it and the place that was given."""
    below = path.relative_to(place) if Path(place).is_dir() else Path(path.name)
    return str(below.with_name(below.name.split(".")[0]))


def _parquet_rows(path: Path) -> Iterator[Document | Broken]:
    from pyarrow import ArrowException  # a second to load, for those who have parquet
    from pyarrow.parquet import ParquetFile

    position = 0
    try:
        with ParquetFile(path) as file:
            for row in _rows(file.iter_batches(BATCH)):
                position += 1
                yield Document(position, row, "")
    except (ArrowException, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        yield Broken(position + 1, f"no parquet that can be read: {reason}")


def _rows(batches: Iterable[Any]) -> Iterator[dict[str, Any]]:
    return (row for batch in batches for row in batch.to_pylist())
