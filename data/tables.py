"""The store's tables, and how values become rows and rows values again.

Values (`traces.py`, `candidates.py`) know nothing of this. A change here needs a new file in
`migrations/versions`; a test compares the two. `_row` columns hold what is filtered and listed, JSON
columns what is only read whole.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Integer,
    MetaData,
    UniqueConstraint,
)
from sqlmodel import Field, SQLModel

from .candidates import Candidate, Status
from .traces import Action, Outcome, Trace, Turn

NAMING = {  # unnamed constraints could not be dropped by a later migration
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class CommandType(StrEnum):
    """What a person or the miner did to a set."""

    SAVE_SET = "save_set"
    ACCEPT = "accept"
    REJECT = "reject"
    NEEDS_WORK = "needs_work"
    REWORD = "reword"
    UNDO = "undo"
    REDO = "redo"


def one_of(column: str, choices: Iterable[str]) -> CheckConstraint:
    """SQLite stores anything in any column, so each enum is held by a CHECK."""
    listed = ", ".join(f"'{choice}'" for choice in choices)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def storable(text: str) -> str:
    """`text` with lone surrogates (undecodable file names, broken escapes) written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


class Row(SQLModel):
    metadata: ClassVar[MetaData] = MetaData(naming_convention=NAMING)


class TraceRow(Row, table=True):
    __tablename__ = "trace"
    __table_args__ = (one_of("outcome", Outcome),)

    id: str = Field(primary_key=True)
    question: str
    outcome: str | None
    source: str = Field(index=True)
    format: str
    file: str
    position: int
    num_turns: int
    num_thoughts: int
    body: dict[str, Any] = Field(sa_type=JSON)  # question and turns, exactly as read


class QuarantineRow(Row, table=True):
    __tablename__ = "quarantine"
    __table_args__ = (UniqueConstraint("file", "position", "reason"),)

    id: int | None = Field(default=None, primary_key=True)
    file: str
    position: str
    reason: str
    raw: str
    at: str


class SetRow(Row, table=True):
    __tablename__ = "candidate_set"

    name: str = Field(primary_key=True)
    note: str
    version: str
    manifest: dict[str, Any] = Field(sa_type=JSON)
    created_at: str


class CandidateColumns(Row):
    """What a stored candidate and its frozen copy in a release have in common."""

    text: str
    expected_actions: list[str] = Field(sa_type=JSON)
    status: str
    support: list[str] = Field(sa_type=JSON)
    questions: int
    created_at: str


VERSION = Column("version", Integer, nullable=False)


class CandidateRow(CandidateColumns, table=True):
    """`position` None: no longer in the set, but kept, because its history is."""

    __tablename__ = "candidate"
    __mapper_args__: ClassVar[dict[str, Any]] = {"version_id_col": VERSION}  # counts every change
    __table_args__ = (one_of("status", Status),)

    set_name: str = Field(primary_key=True, foreign_key="candidate_set.name")
    id: str = Field(primary_key=True)
    position: int | None
    version: int = Field(sa_column=VERSION)

    def value(self) -> Candidate:
        return candidate_value(self, self.id)


class CommandRow(Row, table=True):
    __tablename__ = "command"
    __table_args__ = (one_of("type", CommandType),)

    id: int | None = Field(default=None, primary_key=True)
    set_name: str = Field(foreign_key="candidate_set.name", index=True)
    type: str
    args: dict[str, Any] = Field(sa_type=JSON)
    undone_by: int | None = Field(default=None, foreign_key="command.id")


class RevisionRow(Row, table=True):
    """One change of one candidate: the changed columns before (none for a new one) and after."""

    __tablename__ = "candidate_revision"
    __table_args__ = (
        UniqueConstraint("set_name", "candidate_id", "version"),
        ForeignKeyConstraint(["set_name", "candidate_id"], ["candidate.set_name", "candidate.id"]),
    )

    id: int | None = Field(default=None, primary_key=True)
    set_name: str
    candidate_id: str
    version: int
    command_id: int = Field(foreign_key="command.id", index=True)
    actor: str
    at: str
    reason: str
    before: dict[str, Any] = Field(sa_type=JSON)
    after: dict[str, Any] = Field(sa_type=JSON)


class ReleaseRow(Row, table=True):
    __tablename__ = "release"

    set_name: str = Field(primary_key=True, foreign_key="candidate_set.name")
    number: int = Field(primary_key=True)
    hash: str
    notes: str
    actor: str
    at: str


class ReleaseItemRow(CandidateColumns, table=True):
    __tablename__ = "release_item"
    __table_args__ = (
        one_of("status", Status),
        ForeignKeyConstraint(["set_name", "number"], ["release.set_name", "release.number"]),
    )

    set_name: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    position: int = Field(primary_key=True)
    candidate_id: str
    version: int

    def value(self) -> Candidate:
        return candidate_value(self, self.candidate_id)


class DocumentRow(Row, table=True):
    """Audits, calibrations, run manifests: the latest of a kind and key counts, older ones stay."""

    __tablename__ = "document"

    id: int | None = Field(default=None, primary_key=True)
    kind: str = Field(index=True)
    key: str
    at: str
    body: dict[str, Any] = Field(sa_type=JSON)


def trace_columns(trace: Trace) -> dict[str, Any]:
    turns = [
        {
            "thoughts": list(turn.thoughts),
            "actions": [
                {"name": action.name, "arguments": dict(action.arguments)}
                for action in turn.actions
            ],
            "observations": list(turn.observations),
            "images": list(turn.images),
        }
        for turn in trace.turns
    ]
    return {
        "id": trace.id,
        "question": storable(trace.question),
        "outcome": trace.outcome,
        "source": storable(trace.source),
        "format": trace.format,
        "file": storable(trace.file),
        "position": trace.position,
        "num_turns": len(trace.turns),
        "num_thoughts": trace.num_thoughts,
        "body": {"question": trace.question, "turns": turns},
    }


def trace_value(row: TraceRow) -> Trace:
    return Trace(
        question=row.body["question"],
        turns=tuple(
            Turn(
                thoughts=tuple(turn["thoughts"]),
                actions=tuple(Action(a["name"], a["arguments"]) for a in turn["actions"]),
                observations=tuple(turn["observations"]),
                images=tuple(turn["images"]),
            )
            for turn in row.body["turns"]
        ),
        outcome=Outcome(row.outcome) if row.outcome else None,
        source=row.source,
        format=row.format,
        file=row.file,
        position=row.position,
    )


def candidate_columns(candidate: Candidate) -> dict[str, Any]:
    """The columns that curation and mining change; id and version stand apart."""
    return {
        "text": candidate.text,
        "expected_actions": list(candidate.expected_actions),
        "status": candidate.status.value,
        "support": list(candidate.support),
        "questions": candidate.questions,
        "created_at": candidate.created_at,
    }


def candidate_row(set_name: str, candidate: Candidate) -> CandidateRow:
    """A row of its own, not yet in any set's order nor in the database."""
    return CandidateRow(
        set_name=set_name,
        id=candidate.id,
        position=None,
        version=candidate.version,
        **candidate_columns(candidate),
    )


def candidate_value(row: CandidateRow | ReleaseItemRow, id: str) -> Candidate:
    return Candidate(
        id=id,
        text=row.text,
        expected_actions=tuple(row.expected_actions),
        status=Status(row.status),
        support=tuple(row.support),
        questions=row.questions,
        created_at=row.created_at,
        version=row.version,
    )
