"""Searching the turns' thoughts: the words of a query, anywhere in a thought.

Thoughts stand as text in a table of their own, a row a turn, since a search reads all of them: 100,000 in a tenth of a
second. A full-text index (FTS5 by trigrams) cost an import of that size 15 s and 80 MB, to save less than that.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import exists, func, insert
from sqlmodel import Session, col, select

from .tables import ThoughtRow, TraceRow, storable
from .trace_rows import outcome_of
from .traces import Outcome, Trace, turn_id


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
    wanted = [*contains_words(ThoughtRow.text, filter.query), *_of_traces(filter)]
    total = session.exec(select(func.count()).select_from(ThoughtRow).where(*wanted)).one()
    if total <= offset:
        return ThoughtsPage((), total)
    columns: Any = (
        ThoughtRow.trace_id,
        ThoughtRow.turn,
        ThoughtRow.text,
        TraceRow.question,
        TraceRow.source,
        TraceRow.outcome,
    )
    rows = session.execute(
        select(*columns)
        .join(TraceRow)
        .where(*wanted)
        .order_by(col(ThoughtRow.id))
        .offset(offset)
        .limit(limit)
    )
    found = [
        FoundThought(**dict(row._mapping) | {"outcome": outcome_of(row.outcome)}) for row in rows
    ]
    return ThoughtsPage(tuple(found), total)


def _of_traces(filter: ThoughtFilter) -> list[Any]:
    """Asked of each thought that has the words: the database would begin at the traces if they were joined."""
    wanted: list[Any] = []
    if filter.source is not None:
        wanted.append(TraceRow.source == storable(filter.source))
    if filter.outcome is not None:
        wanted.append(TraceRow.outcome == filter.outcome.value)
    is_its_trace: Any = TraceRow.id == ThoughtRow.trace_id
    asked = exists().where(is_its_trace, *wanted).correlate(ThoughtRow)
    return [asked] if wanted else []


def contains_words(text_column: Any, query: str) -> list[Any]:
    """Conditions that the column has every word of the query, in either case (of ASCII letters, on SQLite)."""
    return [text_column.icontains(word, autoescape=True) for word in storable(query).split()]
