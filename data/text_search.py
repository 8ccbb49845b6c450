"""Searching the turns' thoughts: full text where the database has an index for it, LIKE where it has none.

Both find the same: turns whose thoughts contain every word of the query, anywhere in a word, in either case. (LIKE on
SQLite folds the case of ASCII only.) The index holds runs of three characters; shorter words are looked for by LIKE.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import column, func, insert, literal_column, table, text
from sqlmodel import Session, col, select

from .tables import ThoughtRow, TraceRow, storable
from .trace_rows import outcome_of
from .traces import Outcome, Trace, turn_id

INDEXED_CHARACTERS = 3
THOUGHT_INDEX = "thought_fts"  # made, and kept up to date by a trigger, in the second migration


class ThoughtFilter(NamedTuple):
    """Which turns: every word of `query` in a thought; None and "" mean any."""

    query: str = ""
    source: str | None = None
    outcome: Outcome | None = None


class FoundThought(NamedTuple):
    """A turn, its thoughts (a line each) and its trace's question."""

    trace_id: str
    turn: int
    text: str
    question: str
    source: str
    outcome: Outcome | None

    @property
    def turn_id(self) -> str:
        return turn_id(self.trace_id, self.turn)


class ThoughtsPage(NamedTuple):
    """Some of the turns found, in the order of their import, and how many there are."""

    thoughts: tuple[FoundThought, ...]
    total: int


def keep_thoughts(session: Session, traces: Iterable[Trace]) -> None:
    """Make the thoughts of new traces findable."""
    rows = [
        {"trace_id": trace.id, "turn": number, "text": storable("\n".join(turn.thoughts))}
        for trace in traces
        for number, turn in enumerate(trace.turns)
        if turn.thoughts
    ]
    if rows:
        session.execute(insert(ThoughtRow), rows)


def thoughts_page(
    session: Session, filter: ThoughtFilter, offset: int = 0, limit: int = 50
) -> ThoughtsPage:
    wanted = _conditions(session, filter)
    total = session.exec(select(func.count()).select_from(ThoughtRow).join(TraceRow).where(*wanted))
    rows = session.execute(
        select(
            ThoughtRow.trace_id,
            ThoughtRow.turn,
            ThoughtRow.text,
            TraceRow.question,
            TraceRow.source,
            TraceRow.outcome,
        )
        .join(TraceRow)
        .where(*wanted)
        .order_by(col(ThoughtRow.id))
        .offset(offset)
        .limit(limit)
    )
    found = [FoundThought(*row[:5], outcome=outcome_of(row.outcome)) for row in rows]
    return ThoughtsPage(tuple(found), total.one())


def words_of(query: str) -> list[str]:
    return query.replace("\x00", " ").split()


def contains_words(text_column: Any, query: str) -> list[Any]:
    """Conditions that `text_column` contains every word of the query, in either case."""
    return [text_column.icontains(word, autoescape=True) for word in words_of(storable(query))]


def _conditions(session: Session, filter: ThoughtFilter) -> list[Any]:
    conditions = _text_conditions(session, filter.query)
    if filter.source is not None:
        conditions.append(TraceRow.source == storable(filter.source))
    if filter.outcome is not None:
        conditions.append(TraceRow.outcome == filter.outcome.value)
    return conditions


def _text_conditions(session: Session, query: str) -> list[Any]:
    words = words_of(storable(query))
    indexed = [word for word in words if len(word) >= INDEXED_CHARACTERS]
    if not indexed or not _has_index(session):
        return contains_words(ThoughtRow.text, query)
    phrases = " AND ".join('"' + word.replace('"', '""') + '"' for word in indexed)
    index = table(THOUGHT_INDEX, column("rowid"))
    hits = select(index.c.rowid).where(literal_column(THOUGHT_INDEX).op("MATCH")(phrases))
    short = " ".join(word for word in words if len(word) < INDEXED_CHARACTERS)
    return [col(ThoughtRow.id).in_(hits), *contains_words(ThoughtRow.text, short)]


def _has_index(session: Session) -> bool:
    if session.connection().dialect.name != "sqlite":
        return False
    known = text("SELECT 1 FROM sqlite_master WHERE name = :name")
    return session.execute(known, {"name": THOUGHT_INDEX}).first() is not None
