"""Pages of candidates and traces, filtered and sorted by the database, without reading what is long."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import String, and_, exists, func, not_, or_
from sqlalchemy import cast as sql_cast
from sqlmodel import Session, col, select

from .candidate_sets import set_row
from .candidates import Status
from .tables import CandidateRow, CommentRow, TraceRow, storable
from .text_search import contains_words
from .trace_rows import outcome_of
from .traces import ALIASES, Outcome, kind_of


class SortKey(StrEnum):
    """What a list of candidates goes by; ties by the set's order."""

    POSITION = "position"
    SUPPORT = "support"
    QUESTIONS = "questions"
    TEXT = "text"
    STATUS = "status"
    VERSION = "version"


@dataclass(frozen=True)
class Sort:
    key: SortKey = SortKey.POSITION
    is_descending: bool = False


@dataclass(frozen=True)
class CandidateFilter:
    """Which candidates of a set; what is left out filters nothing.

    `text`: every word of it is in the text. `statuses`: one of them. `action`: a kind it announces. `ids`: among them
    (what the caller has flagged). `in_bin`: rejected or taken out of the set, instead of those that are in it.
    """

    text: str = ""
    statuses: tuple[Status, ...] = ()
    action: str | None = None
    min_support: int = 0
    ids: Collection[str] | None = None
    has_comments: bool = False
    has_aliases: bool = False
    in_bin: bool = False


@dataclass(frozen=True)
class ListedCandidate:
    """A candidate without its turns: how many they are instead. `is_member` False: taken out of the set."""

    id: str
    text: str
    expected_actions: tuple[str, ...]
    status: Status
    num_support: int
    questions: int
    version: int
    aliases: tuple[str, ...]
    num_comments: int
    is_member: bool


class CandidatesPage(NamedTuple):
    """Some of the candidates that the filter lets through, and how many those are."""

    candidates: tuple[ListedCandidate, ...]
    total: int


class TraceFilter(NamedTuple):
    """Which traces: every word of `query` in question or file; None and "" mean any."""

    query: str = ""
    source: str | None = None
    outcome: Outcome | None = None


class ListedTrace(NamedTuple):
    """A trace without its turns: how many they are instead."""

    id: str
    question: str
    outcome: Outcome | None
    num_turns: int
    num_thoughts: int
    source: str
    file: str
    position: int


class TracesPage(NamedTuple):
    """Some of the traces that the filter lets through, by id, and how many those are."""

    traces: tuple[ListedTrace, ...]
    total: int


def candidates_page(
    session: Session,
    set_name: str,
    filter: CandidateFilter,
    sort: Sort,
    offset: int = 0,
    limit: int = 50,
) -> CandidatesPage:
    set_row(session, set_name)
    wanted = _conditions(set_name, filter)
    total = session.exec(select(func.count()).select_from(CandidateRow).where(*wanted)).one()
    num_comments = (
        select(func.count())
        .where(CommentRow.set_name == set_name, CommentRow.candidate_id == CandidateRow.id)
        .correlate(CandidateRow)
        .scalar_subquery()
    )
    columns: Any = [*(getattr(CandidateRow, name) for name in LISTED), num_comments]
    rows = session.execute(
        select(*columns).where(*wanted).order_by(*_order(sort)).offset(offset).limit(limit)
    )
    return CandidatesPage(tuple(_listed(*row) for row in rows), total)


LISTED = (
    *("id", "text", "expected_actions", "status", "num_support", "questions", "version"),
    *("aliases", "position"),
)


def matching_versions(session: Session, set_name: str, filter: CandidateFilter) -> dict[str, int]:
    """All candidates that the filter lets through, in the set's order, with their versions: what a bulk edit needs."""
    set_row(session, set_name)
    rows = session.execute(
        select(CandidateRow.id, CandidateRow.version)
        .where(*_conditions(set_name, filter))
        .order_by(*_order(Sort()))
    )
    return {id: version for id, version in rows}


def traces_page(
    session: Session, filter: TraceFilter, offset: int = 0, limit: int = 50
) -> TracesPage:
    wanted: list[Any] = []
    for in_question, in_file in zip(
        contains_words(TraceRow.question, filter.query),
        contains_words(TraceRow.file, filter.query),
        strict=True,
    ):
        wanted.append(or_(in_question, in_file))
    if filter.source is not None:
        wanted.append(TraceRow.source == storable(filter.source))
    if filter.outcome is not None:
        wanted.append(TraceRow.outcome == filter.outcome.value)
    total = session.exec(select(func.count()).select_from(TraceRow).where(*wanted)).one()
    columns: Any = [getattr(TraceRow, name) for name in ListedTrace._fields]
    rows = session.execute(
        select(*columns).where(*wanted).order_by(TraceRow.id).offset(offset).limit(limit)
    )
    found = [
        ListedTrace(**dict(row._mapping) | {"outcome": outcome_of(row.outcome)}) for row in rows
    ]
    return TracesPage(tuple(found), total)


def _conditions(set_name: str, filter: CandidateFilter) -> list[Any]:
    is_member = col(CandidateRow.position).is_not(None)
    is_rejected: Any = CandidateRow.status == Status.REJECTED.value
    wanted: list[Any] = [CandidateRow.set_name == set_name]
    wanted.append(or_(is_rejected, not_(is_member)) if filter.in_bin else is_member)
    wanted += contains_words(CandidateRow.text, filter.text)
    if filter.statuses:
        wanted.append(col(CandidateRow.status).in_([s.value for s in filter.statuses]))
    if filter.action is not None:
        wanted.append(_announces(filter.action))
    if filter.min_support:
        wanted.append(CandidateRow.num_support >= filter.min_support)
    if filter.ids is not None:
        wanted.append(col(CandidateRow.id).in_(list(filter.ids)))
    if filter.has_aliases:
        wanted.append(sql_cast(CandidateRow.aliases, String) != "[]")
    if filter.has_comments:
        wanted.append(
            exists().where(
                and_(
                    CommentRow.set_name == set_name,  # type: ignore[arg-type]
                    CommentRow.candidate_id == CandidateRow.id,  # type: ignore[arg-type]
                )
            )
        )
    return wanted


def _announces(kind: str) -> Any:
    """The kind's name, or one that is folded to it, stands in the JSON list."""
    names = {kind, *(name for name, folded in ALIASES.items() if folded == kind_of(kind))}
    listed = sql_cast(CandidateRow.expected_actions, String)
    return or_(*(listed.contains(json.dumps(name), autoescape=True) for name in sorted(names)))


def _order(sort: Sort) -> tuple[Any, ...]:
    columns: dict[SortKey, Any] = {
        SortKey.POSITION: col(CandidateRow.position),
        SortKey.SUPPORT: col(CandidateRow.num_support),
        SortKey.QUESTIONS: col(CandidateRow.questions),
        SortKey.TEXT: func.lower(CandidateRow.text),
        SortKey.STATUS: col(CandidateRow.status),
        SortKey.VERSION: col(CandidateRow.version),
    }
    first = columns[sort.key]
    return (
        first.desc() if sort.is_descending else first,
        col(CandidateRow.position),
        col(CandidateRow.id),
    )


def _listed(*row: Any) -> ListedCandidate:
    facts = dict(zip((*LISTED, "num_comments"), row, strict=True))
    is_member = facts.pop("position") is not None
    facts |= {
        "expected_actions": tuple(facts["expected_actions"]),
        "aliases": tuple(facts["aliases"]),
        "status": Status(facts["status"]),
    }
    return ListedCandidate(**facts, is_member=is_member)
