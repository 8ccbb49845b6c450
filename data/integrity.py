"""Whether a store tells one consistent story: the file, the ids, the order of sets, history, releases.

Every problem is one sentence for the user; an empty list means that all is well.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from sqlmodel import Session, col, select

from .candidate_sets import check_distinct, read_set, set_names
from .candidates import CandidateSet
from .database import damage
from .errors import InvalidCandidate
from .library import library_hash
from .releases import releases_of
from .tables import CandidateRow, RevisionRow, TraceRow, candidate_columns
from .trace_rows import trace_value


def problems(session: Session) -> Iterator[str]:
    yield from damage(session)
    yield from _trace_problems(session)
    for name in set_names(session):
        yield from _set_problems(session, name)
        yield from _history_problems(session, name)
        yield from _release_problems(session, name)


def _trace_problems(session: Session) -> Iterator[str]:
    rows = session.exec(select(TraceRow).execution_options(yield_per=500))
    for row in rows:
        trace = trace_value(row)
        if trace.id != row.id:
            yield f"trace {row.id} is not what was imported: its content has the id {trace.id}"
        if (row.num_turns, row.num_thoughts) != (len(trace.turns), trace.num_thoughts):
            yield f"trace {row.id} is listed with wrong counts of turns or thoughts"
        session.expunge(row)


def _set_problems(session: Session, name: str) -> Iterator[str]:
    try:
        check_distinct(read_set(session, name).candidates)
    except InvalidCandidate as error:
        yield f"set {name!r}: {error}"


def _history_problems(session: Session, name: str) -> Iterator[str]:
    revisions = session.exec(
        select(RevisionRow)
        .where(RevisionRow.set_name == name)
        .order_by(col(RevisionRow.candidate_id), col(RevisionRow.version))
    )
    histories = {
        id: list(history) for id, history in groupby(revisions, lambda row: row.candidate_id)
    }
    for row in session.exec(select(CandidateRow).where(CandidateRow.set_name == name)):
        history = histories.get(row.id, [])
        where = f"set {name!r}, candidate {row.id}"
        if [revision.version for revision in history] != list(range(1, row.version + 1)):
            yield f"{where}: its history does not have every version from 1 to {row.version}"
        elif not _leads_to(history, candidate_columns(row.value()) | {"position": row.position}):
            yield f"{where}: its history does not lead to what is stored"
        if row.num_support != len(row.support):
            yield f"{where}: it is listed with {row.num_support} turns of support and has {len(row.support)}"


def _leads_to(history: Iterable[RevisionRow], stored: Mapping[str, Any]) -> bool:
    state: dict[str, Any] = {"aliases": []}  # an old history does not name them
    for revision in history:
        if any(state.get(key) != value for key, value in revision.before.items()):
            return False
        state |= revision.after
    return state == stored


def _release_problems(session: Session, name: str) -> Iterator[str]:
    for release in releases_of(session, name):
        if library_hash(CandidateSet(name, release.candidates)) != release.hash:
            yield f"release {release.number} of set {name!r} is not what its hash says"
