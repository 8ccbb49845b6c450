"""Traces taken out of a store, with their thoughts: which ones, and who stands on them.

A candidate keeps the ids of the turns it was mined from, as one does that came from another store: they say where it is from, and
its evidence tells how many of them are gone.
"""

from collections.abc import Collection, Iterable, Sequence
from os.path import abspath
from typing import Any, NamedTuple

from sqlalchemy import delete, func, select
from sqlmodel import Session, col

from .errors import ForethoughtError, NotFound
from .tables import CandidateRow, ThoughtRow, TraceRow, storable

PART = 500  # ids in one statement
SHOWN = 3  # sets, or files, named in a message


class StillNeeded(ForethoughtError):
    """Traces that candidates stand on, and no word that they may go all the same."""


class Standing(NamedTuple):
    """A candidate of a set, and how many of the turns in question it was mined from."""

    set_name: str
    candidate_id: str
    turns: int


class Removed(NamedTuple):
    """What was taken out, and the candidates that were mined from turns of it."""

    traces: int
    turns: int
    thoughts: int
    standing: tuple[Standing, ...]


def remove_traces(session: Session, ids: Collection[str], *, force: bool = False) -> Removed:
    """Take these traces out; StillNeeded, with nothing changed, where candidates stand on them and `force` is not given."""
    standing = standing_on(session, ids) if ids else ()
    if standing and not force:
        raise StillNeeded(_needed(standing))
    traces = turns = thoughts = 0
    for part in _parts(ids):
        sums = session.execute(
            select(
                func.count(),
                func.coalesce(func.sum(TraceRow.num_turns), 0),
                func.coalesce(func.sum(TraceRow.num_thoughts), 0),
            ).where(col(TraceRow.id).in_(part))
        ).one()
        traces, turns, thoughts = traces + sums[0], turns + sums[1], thoughts + sums[2]
        session.execute(delete(ThoughtRow).where(col(ThoughtRow.trace_id).in_(part)))
        session.execute(delete(TraceRow).where(col(TraceRow.id).in_(part)))
    return Removed(traces, turns, thoughts, standing)


def standing_on(session: Session, trace_ids: Collection[str]) -> tuple[Standing, ...]:
    """The candidates in sets, rejected ones among them, whose support has turns of these traces."""
    wanted = set(trace_ids)
    columns = (CandidateRow.set_name, CandidateRow.id, CandidateRow.support)
    rows = session.execute(
        select(*map(col, columns))
        .where(col(CandidateRow.position).is_not(None))
        .order_by(*map(col, (CandidateRow.set_name, CandidateRow.position, CandidateRow.id)))
    )
    counted = (
        Standing(name, id, sum(turn.rpartition(":")[0] in wanted for turn in support))
        for name, id, support in rows
    )
    return tuple(one for one in counted if one.turns)


def ids_of(session: Session, source: str | None, file: str | None) -> list[str]:
    """The traces of a source, of a file (or of what lies in it: a folder, an archive), or of both; NotFound where there is none."""
    statement: Any = select(col(TraceRow.id), col(TraceRow.file)).order_by(col(TraceRow.id))
    if source is not None:
        statement = statement.where(col(TraceRow.source) == storable(source))
    ids = [id for id, name in session.execute(statement) if file is None or _is_in(name, file)]
    if not ids:
        raise NotFound(_none_there(session, source, file))
    return ids


def same_file(name: str, other: str) -> bool:
    """Whether two names of files, as imports were given them, lead to one place from here."""
    return name == other or abspath(name) == abspath(other)


def _is_in(name: str, place: str) -> bool:
    place = storable(place)
    return same_file(name, place) or abspath(name).startswith(f"{abspath(place)}/")


def _none_there(session: Session, source: str | None, file: str | None) -> str:
    named = {f"source {source!r}": source, f"file {file!r}": file}
    told = " and ".join(name for name, value in named.items() if value is not None)
    column = col(TraceRow.source) if file is None else col(TraceRow.file)
    have = list(session.execute(select(column).distinct().order_by(column).limit(SHOWN + 1)))
    some = ", ".join([one for (one,) in have[:SHOWN]] + ["..."] * (len(have) > SHOWN))
    return f"no traces of {told}; " + (f"the store has some of {some}" if have else "it is empty")


def _needed(standing: Sequence[Standing]) -> str:
    turns = sum(one.turns for one in standing)
    names = list(dict.fromkeys(one.set_name for one in standing))
    some = ", ".join([*names[:SHOWN], *["..."] * (len(names) > SHOWN)])
    candidates = "1 candidate stands" if len(standing) == 1 else f"{len(standing)} candidates stand"
    return (
        f"{candidates} on {turns} {'turn' if turns == 1 else 'turns'} of these traces (sets: {some}); "
        "nothing was changed: give --force to remove them all the same"
    )


def _parts(ids: Iterable[str]) -> Iterable[list[str]]:
    listed = list(ids)
    return (listed[start : start + PART] for start in range(0, len(listed), PART))
