"""Files read anew: their runs take the place of those that the store has from them.

What such a file does not tell any more goes; but not what stood where it could not be read.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from os.path import abspath
from typing import Any, NamedTuple

from sqlmodel import Session, col, select

from .intake import Added, Intake
from .removal import Removed, remove_traces
from .tables import TraceRow, storable
from .traces import Trace

BATCH = 500
Unread = Mapping[str, Collection[int]]  # by file: the places at which it could not be read


class Reread(NamedTuple):
    """What came in, what went, and how many runs stay because their place in the file could not be read; the files that were read."""

    added: Added
    removed: Removed
    kept: int
    files: frozenset[str]


class ReadFile(NamedTuple):
    source: str
    path: str


def take_anew(session: Session, traces: Iterable[Trace], unread: Unread, *, force: bool) -> Reread:
    """Replace the runs of the files that `traces` come from; StillNeeded (`removal`) where candidates stand on what would go."""
    intake, added = Intake(corrects=True, renews=True), Added(0, 0, 0, 0)
    told: set[str] = set()
    ends: dict[ReadFile, int] = {}
    files: set[str] = set()
    remaining = iter(traces)
    while batch := list(islice(remaining, BATCH)):
        taken = intake.take(session, batch)
        added = added.plus(taken.added)
        told |= taken.ids
        files |= {trace.file for trace in batch}
        for trace in batch:
            file = ReadFile(storable(trace.source), abspath(storable(trace.file)))
            ends[file] = max(ends.get(file, 0), trace.position)
    gone, kept = _not_told(session, told, ends, unread)
    removed = remove_traces(session, gone, force=force)
    return Reread(added, removed, len(kept), frozenset(files))


class _NotTold(NamedTuple):
    gone: list[str]
    kept: list[str]


def _not_told(
    session: Session, told: Collection[str], ends: Mapping[ReadFile, int], unread: Unread
) -> _NotTold:
    """The runs of these files that none of them told."""
    holes = {abspath(storable(file)): set(places) for file, places in unread.items()}
    columns: Any = (TraceRow.id, TraceRow.source, TraceRow.file, TraceRow.position)
    sources = {file.source for file in ends}
    found = _NotTold([], [])
    for id, source, name, position in session.exec(
        select(*columns).where(col(TraceRow.source).in_(sources)).order_by(TraceRow.id)
    ):
        file = ReadFile(source, abspath(name))
        if file not in ends or id in told:
            continue
        bad = holes.get(file.path, set())
        is_unread = position in bad or (bad and position > max(ends[file], *bad))
        (found.kept if is_unread else found.gone).append(id)
    return found
