"""What was done to a set: the log of its commands, its lineage, and what people said of its candidates."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func
from sqlmodel import Session, col, select

from .candidate_sets import set_row
from .edits import once_member
from .set_diff import Kinship
from .store import Store
from .tables import CommandRow, CommandType, CommentRow, LineageRow, RevisionRow


@dataclass(frozen=True)
class Activity:
    """One command as the log shows it; `at` is UTC, `num_candidates` how many it changed.

    `args` say what it was about: `candidate` or `candidates` (ids) and new values; `of`: the command undone or redone.
    """

    command_id: int
    command: CommandType
    actor: str
    at: str
    reason: str
    args: Mapping[str, Any]
    undone_by: int | None
    num_candidates: int


@dataclass(frozen=True)
class Comment:
    """What someone said of a candidate; `at` is UTC."""

    candidate_id: str
    actor: str
    at: str
    text: str


@dataclass(frozen=True)
class ActivityPage:
    """Some of the log, newest first, and how long all of it is."""

    entries: tuple[Activity, ...]
    total: int


def log(store: Store, set_name: str, offset: int = 0, limit: int = 50) -> ActivityPage:
    """What was done to the set, newest first."""
    num_revisions = (
        select(func.count())
        .where(RevisionRow.command_id == CommandRow.id)
        .correlate(CommandRow)
        .scalar_subquery()
    )
    with store.database.reading() as session:
        set_row(session, set_name)
        total = session.exec(
            select(func.count()).select_from(CommandRow).where(CommandRow.set_name == set_name)
        ).one()
        rows = session.execute(
            select(CommandRow, num_revisions)
            .where(CommandRow.set_name == set_name)
            .order_by(col(CommandRow.id).desc())
            .offset(offset)
            .limit(limit)
        )
        return ActivityPage(tuple(_activity(row, count) for row, count in rows), total)


def last_command(store: Store, set_name: str) -> int:
    """The number of the set's latest command, 0 before any: as long as it is the same, so is the set."""
    with store.database.reading() as session:
        set_row(session, set_name)
        latest = select(func.max(CommandRow.id)).where(CommandRow.set_name == set_name)
        return session.exec(latest).one() or 0


def comments(store: Store, set_name: str, candidate_id: str) -> list[Comment]:
    """Oldest first; NotFound where the set never had the candidate."""
    with store.database.reading() as session:
        once_member(session, set_name, candidate_id)
        rows = session.execute(
            select(CommentRow, CommandRow)
            .join(CommandRow)
            .where(CommentRow.set_name == set_name, CommentRow.candidate_id == candidate_id)
            .order_by(col(CommentRow.id))
        )
        return [Comment(candidate_id, by.actor, by.at, said.text) for said, by in rows]


def lineage(store: Store, set_name: str) -> list[Kinship]:
    """Which candidate came out of which, oldest first; what was undone does not count."""
    with store.database.reading() as session:
        set_row(session, set_name)
        return lineage_of(session, set_name)


def lineage_of(session: Session, set_name: str) -> list[Kinship]:
    rows = session.exec(
        select(LineageRow)
        .join(CommandRow)
        .where(LineageRow.set_name == set_name, col(CommandRow.undone_by).is_(None))
        .order_by(col(LineageRow.id))
    )
    return [Kinship(row.from_id, row.to_id, row.kind) for row in rows]


def _activity(row: CommandRow, num_candidates: int) -> Activity:
    assert row.id is not None
    return Activity(
        command_id=row.id,
        command=CommandType(row.type),
        actor=row.actor,
        at=row.at,
        reason=row.reason,
        args=row.args,
        undone_by=row.undone_by,
        num_candidates=num_candidates,
    )
