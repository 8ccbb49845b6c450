"""Traces out of files, folders and globs, one at a time, and an account of all that is no trace.

Knows no format: the table does. Nothing is lost silently. What should be a trace and cannot be used is
quarantined with its place and the reason; a file that holds no traces at all is skipped and named.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ..traces import Trace
from .documents import LOOKAHEAD, Broken, Document, documents
from .files import ENDINGS, TraceFile, files_at
from .table import TraceFormat, formats_named
from .window import MAX_BYTES


@dataclass(frozen=True)
class Quarantined:
    """A row that cannot be used.

    `position` is the line in JSON lines, the key in an object of runs, the element's number otherwise;
    `raw` the first 500 characters.
    """

    file: str
    position: int | str
    reason: str
    raw: str = ""


@dataclass(frozen=True)
class Skipped:
    """A file that holds no traces."""

    file: str
    reason: str


def read_traces(
    paths: Iterable[str | Path],
    source: str | None = None,
    format: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Iterator[Trace | Quarantined | Skipped]:
    """What the paths hold, in sorted order; `format` allows one row of the table only.

    NotFound for a path that stands for nothing and UnknownTraceFormat for a format's name, both before
    anything is read. A line or element longer than `max_bytes` is quarantined.
    """
    rows = formats_named(format)
    files = files_at(paths, source)
    return (entry for file in files for entry in _read(file, rows, max_bytes))


def _read(
    file: TraceFile, rows: Sequence[TraceFormat], max_bytes: int
) -> Iterator[Trace | Quarantined | Skipped]:
    name = file.name
    if not file.may_hold_traces:
        yield Skipped(name, f"not one of {', '.join(ENDINGS)} (or .gz of them)")
        return
    entries = documents(file.path, lambda value: _row_of(value, rows) is not None, max_bytes)
    first = _up_to_a_trace(entries, rows)
    if first and _is_trace(first[-1], rows):
        yield from (_judged(file, entry, rows) for entry in chain(first, entries))
        return
    broken = [entry for entry in first if isinstance(entry, Broken)]
    yield from (_judged(file, entry, rows) for entry in broken)
    if len(first) == LOOKAHEAD or len(broken) < len(first) or not first:
        yield Skipped(name, f"no traces (documents looked at: {len(first)}; {_tried(rows)})")


def _up_to_a_trace(
    entries: Iterator[Document | Broken], rows: Sequence[TraceFormat]
) -> list[Document | Broken]:
    """The entries up to the first that is a trace, or the first hundred: enough to judge a file."""
    first: list[Document | Broken] = []
    for entry in entries:
        if _is_trace(entry, rows):
            return [*first, entry]
        first.append(replace(entry, value=None) if isinstance(entry, Document) else entry)
        if len(first) == LOOKAHEAD:
            break
    return first


def _judged(
    file: TraceFile, entry: Document | Broken, rows: Sequence[TraceFormat]
) -> Trace | Quarantined:
    name = file.name
    position = entry.position if entry.key is None else entry.key
    if isinstance(entry, Broken):
        return Quarantined(name, position, entry.reason, entry.raw)
    row = _row_of(entry.value, rows)
    if row is None:
        return Quarantined(name, position, f"no known trace format ({_tried(rows)})", entry.raw)
    trace = replace(
        row.reads(entry.value),
        source=file.source,
        file=name,
        position=entry.position,
        format=row.name,
    )
    lack = _lack(trace)
    return Quarantined(name, position, lack, entry.raw) if lack else trace


def _lack(trace: Trace) -> str | None:
    """Why the trace cannot be used, if it cannot."""
    if not trace.question.strip():
        return "no question"
    if not trace.turns:
        return "no turns"
    try:
        trace.id  # noqa: B018 - what cannot be hashed cannot be stored
    except RecursionError:
        return "nested too deep"
    return None


def _is_trace(entry: Document | Broken, rows: Sequence[TraceFormat]) -> bool:
    return isinstance(entry, Document) and _row_of(entry.value, rows) is not None


def _row_of(value: Any, rows: Sequence[TraceFormat]) -> TraceFormat | None:
    return next((row for row in rows if row.detects(value)), None)


def _tried(rows: Sequence[TraceFormat]) -> str:
    return f"formats tried: {', '.join(row.name for row in rows)}"
