"""The store: traces, candidate sets with their history, and documents, in one file.

Every public method is one transaction, `add` one a batch; values go in and values come out. Edits by
people are in `commands.py`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import func
from sqlmodel import col, select

from . import (
    candidate_sets,
    history,
    integrity,
    listing,
    quarantine,
    releases,
    removal,
    rereading,
    text_search,
)
from .candidates import Candidate, CandidateSet, Release
from .database import Database
from .documents import latest, latest_by_key, put_document
from .errors import NotFound
from .history import Author, Revision
from .intake import Added, Intake
from .listing import CandidateFilter, CandidatesPage, Sort, TraceFilter, TracesPage
from .quarantine import Quarantined, Unusable
from .removal import Removed
from .rereading import Reread, Unread
from .schema import bring_up_to_date
from .tables import CandidateRow, QuarantineRow, TraceRow, storable
from .text_search import ThoughtFilter, ThoughtsPage
from .trace_rows import outcome_of, trace_value
from .traces import Outcome, Trace

DEFAULT = "forethought.db"
BATCH = 500  # traces a write unit or a page of reading
LAST_CHARACTER = "\U0010ffff"  # sorts behind every continuation of an id
ANY_TRACE, ANY_THOUGHT, ANY_CANDIDATE = TraceFilter(), ThoughtFilter(), CandidateFilter()
IN_ORDER = Sort()


class Counts(NamedTuple):
    traces: int
    turns: int
    thoughts: int
    quarantined: int
    sets: int


class TraceSummary(NamedTuple):
    id: str
    question: str
    outcome: Outcome | None
    turns: int
    source: str


class Store:
    """One open store; may be shared between threads."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def open(cls, url: str | Path = DEFAULT) -> "Store":
        """The store at a path or `sqlite:///` address, made if it is not there, migrated if it is older.

        Raises StoreError where that cannot be, for a newer store, and for another program's file.
        """
        database = Database(url)
        bring_up_to_date(database)
        return cls(database)

    def close(self) -> None:
        self.database.close()

    # Traces

    def add(self, traces: Iterable[Trace], intake: Intake | None = None) -> Added:
        """Keep the traces the store does not have, the batches of one import by one `intake`.

        Killed at any moment and run again, the result is the same.
        """
        remaining, intake = iter(traces), intake or Intake()
        added = Added(0, 0, 0, 0)
        while batch := list(islice(remaining, BATCH)):
            with self.database.writing() as session:
                added = added.plus(intake.take(session, batch).added)
        return added

    def take_anew(
        self,
        traces: Iterable[Trace],
        broken: Iterable[Unusable] = (),
        unread: Unread = MappingProxyType({}),
        *,
        force: bool = False,
    ) -> Reread:
        """Let the runs of files that were read again take the place of those that the store has from them, all or nothing.

        `broken` are those files' rows for the quarantine, `unread` the places where they could not be read: runs from there stay.
        StillNeeded where candidates stand on what would go, unless `force`.
        """
        with self.database.writing() as session:
            reread = rereading.take_anew(session, traces, unread, force=force)
            quarantine.forget_files(session, reread.files)
            quarantine.keep_rows(session, broken)
            return reread

    def remove(self, ids: Collection[str], *, force: bool = False) -> Removed:
        """Take traces out for good; StillNeeded where candidates stand on them, unless `force`."""
        with self.database.writing() as session:
            return removal.remove_traces(session, ids, force=force)

    def ids_of(self, source: str | None = None, file: str | None = None) -> list[str]:
        """The traces of a source, a file, or both; NotFound where there is none."""
        with self.database.reading() as session:
            return removal.ids_of(session, source, file)

    def traces(self, source: str | None = None) -> Iterator[Trace]:
        """All traces, or those of one source, in the order of their ids; a page in memory at a time."""
        statement = select(TraceRow)
        if source is not None:
            statement = statement.where(TraceRow.source == storable(source))
        for row in self._pages(statement):
            yield trace_value(row)

    def _pages(self, statement: Any) -> Iterator[Any]:
        """Rows of `trace` in the order of ids. No transaction stays open between two pages."""
        last = ""
        while True:
            page = statement.where(TraceRow.id > last).order_by(TraceRow.id).limit(BATCH)
            with self.database.reading() as session:
                rows = session.exec(page).all()
            yield from rows
            if len(rows) < BATCH:
                return
            last = rows[-1].id

    def trace(self, id: str) -> Trace:
        """The trace with this id, or the only one whose id begins so."""
        with self.database.reading() as session:
            rows = session.exec(
                select(TraceRow)
                .where(col(TraceRow.id).between(storable(id), storable(id) + LAST_CHARACTER))
                .order_by(TraceRow.id)
                .limit(4)
            ).all()
        if not id or not rows:
            raise NotFound(f"no trace {id!r}; list them with `forethought traces list`")
        if len(rows) > 1 and rows[0].id != id:
            some = ", ".join(row.id for row in rows[:3])
            raise NotFound(f"several traces begin with {id!r} ({some}, ...); give more of the id")
        return trace_value(rows[0])

    def traces_of(self, ids: Iterable[str]) -> Iterator[Trace]:
        """Those of `ids` that the store has; a page in memory at a time."""
        remaining = iter(ids)
        while page := list(islice(remaining, BATCH)):
            with self.database.reading() as session:
                rows = session.exec(select(TraceRow).where(col(TraceRow.id).in_(page))).all()
            yield from map(trace_value, rows)

    def summaries(self) -> Iterator[TraceSummary]:
        """All traces in the order of their ids, without reading their turns."""
        columns: Any = (
            TraceRow.id,
            TraceRow.question,
            TraceRow.outcome,
            TraceRow.num_turns,
            TraceRow.source,
        )
        for id, question, outcome, turns, source in self._pages(select(*columns)):
            yield TraceSummary(id, question, outcome_of(outcome), turns, source)

    def traces_page(
        self, filter: TraceFilter = ANY_TRACE, offset: int = 0, limit: int = 50
    ) -> TracesPage:
        """Some of the traces that the filter lets through, by id, and how many those are."""
        with self.database.reading() as session:
            return listing.traces_page(session, filter, offset, limit)

    def thoughts_page(
        self, filter: ThoughtFilter = ANY_THOUGHT, offset: int = 0, limit: int = 50
    ) -> ThoughtsPage:
        """Some of the turns whose thoughts the filter lets through, and how many those are."""
        with self.database.reading() as session:
            return text_search.thoughts_page(session, filter, offset, limit)

    def sources(self) -> list[str]:
        with self.database.reading() as session:
            statement = select(TraceRow.source).distinct().order_by(TraceRow.source)
            return list(session.exec(statement))

    def counts(self) -> Counts:
        with self.database.reading() as session:
            sums = select(
                func.count(),
                func.coalesce(func.sum(TraceRow.num_turns), 0),
                func.coalesce(func.sum(TraceRow.num_thoughts), 0),
            ).select_from(TraceRow)
            quarantined = session.exec(select(func.count()).select_from(QuarantineRow)).one()
            sets = len(candidate_sets.set_names(session))
            traces, turns, thoughts = session.execute(sums).one()
            return Counts(traces, turns, thoughts, quarantined, sets)

    def quarantine(self, rows: Iterable[Unusable]) -> int:
        """Keep unusable rows, each file, position and reason once; how many were new."""
        with self.database.writing() as session:
            return quarantine.keep_rows(session, rows)

    def quarantined(self, offset: int = 0, limit: int | None = None) -> list[Quarantined]:
        """In the order they were kept; `limit` of them, None: all."""
        with self.database.reading() as session:
            return quarantine.kept_rows(session, offset, limit)

    # Candidate sets

    def save_set(self, candidate_set: CandidateSet, actor: str = "miner", reason: str = "") -> None:
        """Store a set; over one of the same name, candidates a person has touched stay as they are."""
        with self.database.writing() as session:
            candidate_sets.save_set(session, candidate_set, Author(actor, reason))

    def set_names(self) -> list[str]:
        with self.database.reading() as session:
            return candidate_sets.set_names(session)

    def candidate_set(self, name: str) -> CandidateSet:
        """NotFound names the sets there are."""
        with self.database.reading() as session:
            return candidate_sets.read_set(session, name)

    def candidate(self, set_name: str, id: str, version: int | None = None) -> Candidate | None:
        """One candidate that is or was in the set, now or as it was at `version`; None where there is no such."""
        with self.database.reading() as session:
            candidate_sets.set_row(session, set_name)
            row = session.get(CandidateRow, (set_name, id))
            if row is None or version in (None, row.version):
                return row.value() if row else None
            return history.candidate_at(session, row, version)

    def manifest(self, set_name: str) -> Mapping[str, Any]:
        """How the set was made, without reading its candidates."""
        with self.database.reading() as session:
            return candidate_sets.set_row(session, set_name).manifest

    def candidates_page(
        self,
        set_name: str,
        filter: CandidateFilter = ANY_CANDIDATE,
        sort: Sort = IN_ORDER,
        offset: int = 0,
        limit: int = 50,
    ) -> CandidatesPage:
        """Some of a set's candidates, without their turns, and how many the filter lets through."""
        with self.database.reading() as session:
            return listing.candidates_page(session, set_name, filter, sort, offset, limit)

    def matching_versions(self, set_name: str, filter: CandidateFilter) -> dict[str, int]:
        """All candidates that the filter lets through, with their versions: what a bulk edit is made from."""
        with self.database.reading() as session:
            return listing.matching_versions(session, set_name, filter)

    def revisions(self, set_name: str, candidate_id: str) -> list[Revision]:
        """The history of a candidate, oldest first; NotFound where the set never had it."""
        with self.database.reading() as session:
            candidate_sets.set_row(session, set_name)
            if session.get(CandidateRow, (set_name, candidate_id)) is None:
                raise NotFound(f"set {set_name!r} never had a candidate {candidate_id!r}")
            return history.revisions_of(session, set_name, candidate_id)

    def release(self, set_name: str, notes: str, actor: str) -> Release:
        """Freeze the set's active candidates under its next number."""
        with self.database.writing() as session:
            return releases.release_set(session, set_name, notes, actor)

    def releases(self, set_name: str) -> list[Release]:
        with self.database.reading() as session:
            return releases.releases_of(session, set_name)

    # Documents

    def put(self, kind: str, key: str, body: Mapping[str, Any]) -> None:
        """Keep a JSON document (an audit, a calibration, a manifest); older ones of its key stay."""
        with self.database.writing() as session:
            put_document(session, kind, key, body)

    def document(self, kind: str, key: str) -> dict[str, Any] | None:
        """The latest of this kind and key."""
        with self.database.reading() as session:
            return latest(session, kind, key)

    def documents(self, kind: str) -> dict[str, dict[str, Any]]:
        """The latest of each key of this kind, the newest first."""
        with self.database.reading() as session:
            return latest_by_key(session, kind)

    def check(self) -> list[str]:
        """What is wrong with the store, a sentence each; empty when all is well."""
        with self.database.reading() as session:
            return list(integrity.problems(session))
