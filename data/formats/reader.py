"""Traces out of files, folders and globs, one at a time, and an account of all that is no trace.

Knows no format: the tables do. Nothing is lost silently. What should be a trace and cannot be used is
quarantined with its place and the reason; a file that holds no traces at all is skipped and named.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ..traces import Trace, Turn
from .containers import A_PICTURE, Content, Refused, contents_of
from .documents import LOOKAHEAD, Broken, Document
from .files import TraceFile, files_at
from .gathering import Gathered, Gatherer, Key, Origin
from .gatherings import GATHERINGS, Gathering
from .mapping import mapped_format
from .outcomes import is_unread
from .pictures import Pictures
from .table import TraceFormat, formats_named
from .window import MAX_BYTES

NO_OUTCOME = "outcome_unread"
# What a reader meets in documents of its format that are not what the format says.
UNREADABLE = (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True)
class Quarantined:
    """A row that cannot be used.

    `position` is the line in JSON lines, the key in an object of runs, the element's number otherwise, and `place` its number in
    any case, as a trace's is; `raw` the first 500 characters. `tried` names the formats that it might have had.
    """

    file: str
    position: int | str
    reason: str
    raw: str = ""
    place: int = 1
    tried: tuple[str, ...] = ()


@dataclass(frozen=True)
class Skipped:
    """A file that holds no traces; `tried` names the formats that it might have had."""

    file: str
    reason: str
    tried: tuple[str, ...] = ()


Found = Trace | Quarantined | Skipped


def read_traces(
    paths: Iterable[str | Path],
    source: str | None = None,
    format: str | None = None,
    max_bytes: int = MAX_BYTES,
    images: Path | None = None,
    mapping: Path | None = None,
) -> Iterator[Found]:
    """What the paths hold, in sorted order; `format` allows one row of the table only, `mapping` the row in that file.

    NotFound for a path that stands for nothing, UnknownTraceFormat for a format's name and InvalidMapping for a mapping,
    all before anything is read. A line or element longer than `max_bytes` is quarantined. Pictures are named by their
    hash and kept in the folder `images`, if one is given. Runs whose parts stand in many documents come last.
    """
    rows = (mapped_format(mapping),) if mapping else formats_named(format)
    files = files_at(paths, source)
    gatherings = () if mapping else GATHERINGS
    return _Reading(rows, gatherings, max_bytes, images).found_in(files)


@dataclass
class _Reading:
    rows: Sequence[TraceFormat]
    gatherings: Sequence[Gathering]
    max_bytes: int
    images: Path | None
    gatherer: Gatherer = field(default_factory=Gatherer)
    seen: set[Path] = field(default_factory=set)  # pictures that a trace names
    waiting: list[TraceFile] = field(default_factory=list)  # pictures that a trace may yet name

    def found_in(self, files: Iterable[TraceFile]) -> Iterator[Found]:
        for file in files:
            for content in contents_of(file):
                yield from self._content(file, content)
        for run in self.gatherer.runs():
            yield from self._joined(run)
        for picture in self.waiting:
            if picture.path.resolve() not in self.seen:
                yield Skipped(picture.name, A_PICTURE)

    def _joined(self, run: Gathered) -> Iterator[Found]:
        """The traces of a run whose parts have been put together."""
        _, name, position = run.origin
        if run.document is None:
            reason = f"a run of {run.size:,} bytes in its parts"
            yield Quarantined(name, position, reason, place=position)
        elif (row := _row_of(run.document, self.rows)) is None:
            yield Skipped(name, "no traces (parts of runs only)", self._tried())
        else:
            key = None if run.run == name else run.run
            yield from self._traces(run.origin, Document(position, run.document, "", key), row)

    def _content(self, file: TraceFile, content: Content | Refused) -> Iterator[Found]:
        name = content.name
        if isinstance(content, Refused) and content.reason == A_PICTURE and name == file.name:
            self.waiting.append(file)
            return
        if isinstance(content, Refused):
            yield (
                Quarantined(name, 1, content.reason)
                if content.is_damage
                else Skipped(name, content.reason)
            )
            return
        entries = content.reads(self._is_known, self.max_bytes)
        first = self._up_to_a_trace(entries)
        if first and self._is_trace(first[-1]):
            for entry in chain(first, entries):
                yield from self._judged(Origin(file, name, entry.position), entry)
            return
        broken = [entry for entry in first if isinstance(entry, Broken)]
        for entry in broken:
            yield from self._judged(Origin(file, name, entry.position), entry)
        if len(first) == LOOKAHEAD or len(broken) < len(first) or not first:
            reason = f"no traces (documents looked at: {len(first)})"
            yield Skipped(name, reason, self._tried())

    def _up_to_a_trace(self, entries: Iterator[Document | Broken]) -> list[Document | Broken]:
        """The entries up to the first that is a trace, or the first hundred: enough to judge a file."""
        first: list[Document | Broken] = []
        for entry in entries:
            if self._is_trace(entry):
                return [*first, entry]
            first.append(replace(entry, value=None) if isinstance(entry, Document) else entry)
            if len(first) == LOOKAHEAD:
                break
        return first

    def _judged(self, origin: Origin, entry: Document | Broken) -> Iterator[Found]:
        position = entry.position if entry.key is None else entry.key
        if isinstance(entry, Broken):
            yield Quarantined(origin.name, position, entry.reason, entry.raw, entry.position)
            return
        if (gathering := self._gathering_of(entry.value)) is not None:
            yield from self._gather(origin, gathering, entry)
        elif (row := _row_of(entry.value, self.rows)) is not None:
            yield from self._traces(origin, entry, row)
        else:
            at, raw, tried = entry.position, entry.raw, self._tried()
            yield Quarantined(origin.name, position, "no known trace format", raw, at, tried)

    def _traces(self, origin: Origin, entry: Document, row: TraceFormat) -> Iterator[Found]:
        position = entry.position if entry.key is None else entry.key
        try:
            traces = row.traces(entry.value)
        except UNREADABLE as error:
            reason = f"not what {row.name} says: {type(error).__name__}: {error}"
            yield Quarantined(origin.name, position, reason, entry.raw, entry.position)
            return
        if not traces:
            yield Quarantined(origin.name, position, "no turns", entry.raw, entry.position)
        for trace in traces:
            placed = self._placed(trace, origin, entry, row)
            if lack := _lack(placed):
                yield Quarantined(origin.name, position, lack, entry.raw, entry.position)
            else:
                yield placed

    def _placed(self, trace: Trace, origin: Origin, entry: Document, row: TraceFormat) -> Trace:
        """The trace with where it stood, and its pictures by name."""
        turns, repairs = trace.turns, trace.repairs
        if any(turn.images for turn in turns):
            root = origin.file.root or origin.file.path.parent
            pictures = Pictures(root.resolve(), self.images, self.seen)
            turns, told = _with_pictures(turns, pictures, origin.file.path.parent)
            repairs += told
        if trace.outcome is None and is_unread(entry.value):
            repairs += (NO_OUTCOME,)
        return replace(
            trace,
            turns=turns,
            source=origin.file.source,
            file=origin.name,
            position=entry.position,
            format=row.name,
            run=trace.run or entry.key or "",
            repairs=repairs,
        )

    def _gather(self, origin: Origin, gathering: Gathering, entry: Document) -> Iterator[Found]:
        try:
            for part in gathering.parts(entry.value):
                key = Key(gathering.name, part.run or origin.name)
                after = Key(gathering.name, part.after) if part.after else None
                self.gatherer.add(key, part.value, origin, after)
        except UNREADABLE as error:
            reason = f"not what {gathering.name} says: {type(error).__name__}: {error}"
            yield Quarantined(origin.name, entry.position, reason, entry.raw, entry.position)

    def _gathering_of(self, value: Any) -> Gathering | None:
        return next((one for one in self.gatherings if one.detects(value)), None)

    def _is_known(self, value: Any) -> bool:
        return self._gathering_of(value) is not None or _row_of(value, self.rows) is not None

    def _is_trace(self, entry: Document | Broken) -> bool:
        return isinstance(entry, Document) and self._is_known(entry.value)

    def _tried(self) -> tuple[str, ...]:
        return tuple(row.name for row in self.rows)


def _with_pictures(
    turns: Iterable[Turn], pictures: Pictures, beside: Path
) -> tuple[tuple[Turn, ...], tuple[str, ...]]:
    named, repairs = [], []
    for turn in turns:
        found = [pictures.named(place, beside) for place in turn.images]
        repairs += [one.repair for one in found if one.repair]
        named.append(replace(turn, images=tuple(one.name for one in found if one.name)))
    return tuple(named), tuple(repairs)


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
    except (TypeError, ValueError) as error:
        return f"cannot be stored: {error}"
    return None


def _row_of(value: Any, rows: Sequence[TraceFormat]) -> TraceFormat | None:
    return next((row for row in rows if row.detects(value)), None)
