"""Traces on their way into a store: new ones are kept, known ones learn what was not told of them before.

A run is known by its id. Pictures are part of that, and their files may turn up later than the run's, or be missing when it is read
again: at one place (source, file, position) two readings that differ in nothing but pictures that one of them lacks are one run.
The store has the one that sees more, under the id it was first kept by, which candidates name.
"""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from sqlalchemy import insert, update
from sqlmodel import Session, col, select

from .removal import same_file
from .tables import TraceRow, storable
from .text_search import keep_thoughts
from .trace_rows import is_kept_picture, trace_columns, trace_value
from .traces import Outcome, Trace, Turn


class Added(NamedTuple):
    """What one import brought: new traces, their turns and thoughts; traces the store had already, and how many of those
    learned how they ended, or had pictures turn up."""

    traces: int
    turns: int
    thoughts: int
    duplicates: int
    outcomes: int = 0
    pictures: int = 0

    def plus(self, other: "Added") -> "Added":
        return Added(*map(sum, zip(self, other, strict=True)))


class Taken(NamedTuple):
    """What a batch brought, and the ids under which its runs stand in the store."""

    added: Added
    ids: frozenset[str]


class Place(NamedTuple):
    file: str
    position: int


class _Settled(NamedTuple):
    """Traces as they are to be stored, those of them whose pictures have turned up, and the ids that the store has them by."""

    traces: list[Trace]
    grown: list[Trace]
    ids: set[str]


@dataclass
class Intake:
    """One import's way in. What it tells of how runs ended counts where the store says nothing; with `corrects` in any case.

    `renews`: so does all else that is told of a run by the file that it came from.
    """

    corrects: bool = False
    renews: bool = False
    _places: dict[str, dict[Place, list[str]]] = field(default_factory=dict)  # by source

    def take(self, session: Session, batch: Sequence[Trace]) -> Taken:
        """Keep what the store does not have, within the caller's write unit."""
        known = _known(session, batch)
        settled = self._settled(session, batch, known)
        firsts = {trace.id: trace for trace in reversed(settled.traces)}
        known |= settled.ids
        new = [one for one in settled.traces if one.id not in known and firsts[one.id] is one]
        if new:
            session.execute(insert(TraceRow), [trace_columns(trace) for trace in new])
            keep_thoughts(session, new)
        _show_more(session, settled.grown)
        num_outcomes = self._tell(session, settled.traces)
        if self.renews:
            _renew(session, [one for id, one in firsts.items() if id in known])
        added = Added(
            traces=len(new),
            turns=sum(len(trace.turns) for trace in new),
            thoughts=sum(trace.num_thoughts for trace in new),
            duplicates=len(batch) - len(new),
            outcomes=num_outcomes,
            pictures=len(settled.grown),
        )
        return Taken(added, frozenset(firsts))

    def _settled(self, session: Session, batch: Sequence[Trace], known: Set[str]) -> _Settled:
        """The batch, with runs that the store has under another id, since it saw more or fewer pictures, as it is to have them."""
        settled = _Settled([], [], set())
        for trace in batch:
            stored = None if trace.id in known else self._seen_before(session, trace)
            if stored is None:
                settled.traces.append(trace)
                continue
            settled.ids.add(stored.id)
            if _sees_more(trace, stored):
                settled.grown.append(_known_as(trace, stored))
                settled.traces.append(settled.grown[-1])
            else:
                settled.traces.append(replace(stored, outcome=trace.outcome))
        return settled

    def _seen_before(self, session: Session, trace: Trace) -> Trace | None:
        """The same run as the store had it at this place when the import began, if it had."""
        if not any(turn.images for turn in trace.turns):
            return None
        source = storable(trace.source)
        if source not in self._places:
            self._places[source] = _places(session, source)
        ids = self._places[source].get(Place(storable(trace.file), trace.position), [])
        rows = session.exec(select(TraceRow).where(col(TraceRow.id).in_(ids))) if ids else ()
        found = (trace_value(row) for row in rows)
        return next((one for one in found if _are_one_run(one, trace)), None)

    def _tell(self, session: Session, traces: Sequence[Trace]) -> int:
        """Set how known runs ended; how many of them learned it."""
        told = {one.id: one.outcome for one in reversed(traces) if one.outcome is not None}
        columns: Any = (TraceRow.id, TraceRow.outcome)
        stored = session.exec(select(*columns).where(col(TraceRow.id).in_(told))).all()
        learn = [
            id
            for id, outcome in stored
            if outcome is None or (self.corrects and outcome != told[id])
        ]
        for outcome in Outcome:
            its_rows = col(TraceRow.id).in_([id for id in learn if told[id] is outcome])
            session.execute(update(TraceRow).where(its_rows).values(outcome=outcome.value))
        return len(learn)


def _known(session: Session, traces: Iterable[Trace]) -> set[str]:
    ids = {trace.id for trace in traces}
    return set(session.exec(select(TraceRow.id).where(col(TraceRow.id).in_(ids))))


def _places(session: Session, source: str) -> dict[Place, list[str]]:
    """Where the source's runs stood in their files."""
    columns: Any = (TraceRow.id, TraceRow.file, TraceRow.position)
    found: dict[Place, list[str]] = {}
    for id, file, position in session.exec(select(*columns).where(TraceRow.source == source)):
        found.setdefault(Place(file, position), []).append(id)
    return found


def _are_one_run(one: Trace, other: Trace) -> bool:
    """Whether they differ at most in pictures, and there only in such as one of them lacks."""
    if _without_pictures(one).id != _without_pictures(other).id:
        return False
    same = all(a.images == b.images for a, b in zip(one.turns, other.turns, strict=True))
    return same or _sees_more(one, other) or _sees_more(other, one)


def _without_pictures(trace: Trace) -> Trace:
    return replace(
        trace, turns=tuple(replace(turn, images=(), known_as=None) for turn in trace.turns)
    )


def _sees_more(one: Trace, other: Trace) -> bool:
    """Whether every picture that the other run has kept is among the one's, and more."""
    pairs = [
        (_kept(mine), _kept(theirs)) for mine, theirs in zip(one.turns, other.turns, strict=True)
    ]
    return all(mine >= theirs for mine, theirs in pairs) and any(a != b for a, b in pairs)


def _kept(turn: Turn) -> Counter[str]:
    return Counter(filter(is_kept_picture, turn.images))


def _known_as(trace: Trace, stored: Trace) -> Trace:
    """The run with the pictures that it sees now, under the id that the store has it by."""
    pairs = zip(trace.turns, stored.turns, strict=True)
    turns = (
        replace(new, known_as=old.images if old.known_as is None else old.known_as)
        for new, old in pairs
    )
    return replace(trace, turns=tuple(turns))


def _show_more(session: Session, traces: Iterable[Trace]) -> None:
    """Give these runs the pictures that have turned up."""
    by_id = {trace.id: trace for trace in traces}
    for row in session.exec(select(TraceRow).where(col(TraceRow.id).in_(by_id))):
        row.body = trace_columns(by_id[row.id])["body"]


def _renew(session: Session, traces: Iterable[Trace]) -> None:
    """Store all that is told of these runs, where it is their own file that tells it; how one ended is not forgotten."""
    by_id = {trace.id: trace for trace in traces}
    for row in session.exec(select(TraceRow).where(col(TraceRow.id).in_(by_id))):
        trace, stored = by_id[row.id], trace_value(row)
        if _sees_more(stored, trace):
            trace = replace(trace, turns=stored.turns)
        if row.source == storable(trace.source) and same_file(row.file, storable(trace.file)):
            told = trace_columns(trace) | {"outcome": trace.outcome or row.outcome}
            for name, value in told.items():
                setattr(row, name, value)
