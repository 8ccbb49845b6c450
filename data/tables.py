"""The store's tables, and how values become rows and rows values again.

Values (`traces.py`, `candidates.py`) know nothing of this. Traces are turned into rows in `trace_rows.py`. A change here needs a new file in
`migrations/versions`; a test compares the two. `_row` columns hold what is filtered and listed, JSON
columns what is only read whole.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, ClassVar

from sqlalchemy import (
    CheckConstraint,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    UniqueConstraint,
)
from sqlmodel import Field, SQLModel

from .candidates import Candidate, Status
from .json_column import ExactJSON
from .traces import Outcome

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
    DECIDE_MANY = "decide_many"
    EXPECT = "expect"
    PLACE = "place"
    RESTORE = "restore"
    ADD = "add"
    MERGE = "merge"
    SPLIT = "split"
    RESTORE_RELEASE = "restore_release"
    COMMENT = "comment"
    RELEASE = "release"
    BRANCH = "branch"


class LineageKind(StrEnum):
    """How one candidate came out of another."""

    MERGE = "merge"
    SPLIT = "split"
    DERIVED = "derived"


def one_of(column: str, choices: Iterable[str]) -> CheckConstraint:
    """SQLite stores anything in any column, so each enum is held by a CHECK."""
    listed = ", ".join(f"'{choice}'" for choice in choices)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def storable(text: str) -> str:
    """`text` with lone surrogates (undecodable file names, broken escapes) and NUL written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")


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
    body: dict[str, Any] = Field(sa_type=ExactJSON)  # question and turns, exactly as read


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
    manifest: dict[str, Any] = Field(sa_type=ExactJSON)
    created_at: str


class CandidateColumns(Row):
    """What a stored candidate and its frozen copy in a release have in common."""

    text: str
    expected_actions: list[str] = Field(sa_type=ExactJSON)
    status: str
    support: list[str] = Field(sa_type=ExactJSON)
    questions: int
    created_at: str
    aliases: list[str] = Field(sa_type=ExactJSON, sa_column_kwargs={"server_default": "[]"})


VERSION = Column("version", Integer, nullable=False)


class CandidateRow(CandidateColumns, table=True):
    """`position` orders the set (ties by id); None: no longer in it, but kept, because its history is.

    It is a fraction, so that moving one candidate changes no other. `num_support` is the length of
    `support`, for lists that do not read the turns themselves.
    """

    __tablename__ = "candidate"
    __mapper_args__: ClassVar[dict[str, Any]] = {"version_id_col": VERSION}  # counts every change
    __table_args__ = (one_of("status", Status),)

    set_name: str = Field(primary_key=True, foreign_key="candidate_set.name")
    id: str = Field(primary_key=True)
    position: float | None = Field(sa_type=Float)
    version: int = Field(sa_column=VERSION)
    num_support: int = Field(default=0, sa_column_kwargs={"server_default": "0"})

    def value(self) -> Candidate:
        return candidate_value(self, self.id)


class CommandRow(Row, table=True):
    """One act on a set; the newest first, they are its activity log."""

    __tablename__ = "command"
    __table_args__ = (one_of("type", CommandType),)

    id: int | None = Field(default=None, primary_key=True)
    set_name: str = Field(foreign_key="candidate_set.name", index=True)
    type: str
    args: dict[str, Any] = Field(sa_type=ExactJSON)
    undone_by: int | None = Field(default=None, foreign_key="command.id")
    actor: str = Field(default="", sa_column_kwargs={"server_default": ""})
    at: str = Field(default="", sa_column_kwargs={"server_default": ""})
    reason: str = Field(default="", sa_column_kwargs={"server_default": ""})


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
    before: dict[str, Any] = Field(sa_type=ExactJSON)
    after: dict[str, Any] = Field(sa_type=ExactJSON)


class LineageRow(Row, table=True):
    """`to_id` came out of `from_id`, as long as the command is not undone; never changed after."""

    __tablename__ = "lineage"
    __table_args__ = (one_of("kind", LineageKind),)

    id: int | None = Field(default=None, primary_key=True)
    set_name: str = Field(foreign_key="candidate_set.name", index=True)
    from_id: str
    to_id: str
    kind: str
    command_id: int = Field(foreign_key="command.id")


class CommentRow(Row, table=True):
    """What someone said of a candidate; who and when stands in the command. Never changed after."""

    __tablename__ = "comment"
    __table_args__ = (
        ForeignKeyConstraint(["set_name", "candidate_id"], ["candidate.set_name", "candidate.id"]),
        Index(None, "set_name", "candidate_id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    set_name: str
    candidate_id: str
    command_id: int = Field(foreign_key="command.id")
    text: str


class DraftRow(Row, table=True):
    """A wording that is not saved yet, one a person and candidate."""

    __tablename__ = "draft"
    __table_args__ = (
        ForeignKeyConstraint(["set_name", "candidate_id"], ["candidate.set_name", "candidate.id"]),
    )

    set_name: str = Field(primary_key=True)
    candidate_id: str = Field(primary_key=True)
    actor: str = Field(primary_key=True)
    text: str
    base_version: int
    at: str


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


class ThoughtRow(Row, table=True):
    """The thoughts of one turn as text, for search; made when its trace is imported."""

    __tablename__ = "thought"
    __table_args__ = (UniqueConstraint("trace_id", "turn"),)

    id: int | None = Field(default=None, primary_key=True)
    trace_id: str = Field(foreign_key="trace.id")
    turn: int
    text: str


class DocumentRow(Row, table=True):
    """Audits, calibrations, run manifests: the latest of a kind and key counts, older ones stay."""

    __tablename__ = "document"

    id: int | None = Field(default=None, primary_key=True)
    kind: str = Field(index=True)
    key: str
    at: str
    body: dict[str, Any] = Field(sa_type=ExactJSON)


def candidate_columns(candidate: Candidate) -> dict[str, Any]:
    """The columns that curation and mining change; id and version stand apart."""
    return {
        "text": candidate.text,
        "expected_actions": list(candidate.expected_actions),
        "status": candidate.status.value,
        "support": list(candidate.support),
        "questions": candidate.questions,
        "created_at": candidate.created_at,
        "aliases": list(candidate.aliases),
    }


def candidate_row(set_name: str, candidate: Candidate) -> CandidateRow:
    """A row of its own, not yet in any set's order nor in the database."""
    return CandidateRow(
        set_name=set_name,
        id=candidate.id,
        position=None,
        version=candidate.version,
        num_support=len(candidate.support),
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
        aliases=tuple(row.aliases),
    )
