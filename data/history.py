"""How a change of a candidate is written down: one command, one revision a changed candidate.

Works inside the session of one write unit, so a change and its revision are kept or lost together.
Does not decide who may change what: that is `candidate_sets.py` (mining) and `commands.py` (people).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlmodel import Session, col, select

from .candidates import Candidate
from .tables import (
    CandidateRow,
    CommandRow,
    CommandType,
    RevisionRow,
    candidate_row,
)


class Author(NamedTuple):
    """Who makes a change, and why."""

    actor: str
    reason: str = ""


class Change(NamedTuple):
    """A candidate's row, and the columns that it is to have."""

    row: CandidateRow
    columns: Mapping[str, Any]


@dataclass(frozen=True)
class Revision:
    """One change of one candidate: its changed fields before ({} for a new one) and after.

    `position` None stands for "not in the set". `at` is UTC.
    """

    set_name: str
    candidate_id: str
    version: int
    command_id: int
    command: CommandType
    actor: str
    at: str
    reason: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def begin_command(
    session: Session, set_name: str, type: CommandType, args: Mapping[str, Any], author: Author
) -> int:
    """The id of a new command, for the revisions that it makes."""
    row = CommandRow(
        set_name=set_name,
        type=type.value,
        args=dict(args),
        actor=author.actor,
        at=now(),
        reason=author.reason,
    )
    session.add(row)
    session.flush()
    assert row.id is not None
    return row.id


def revise(session: Session, changes: Iterable[Change], command_id: int, author: Author) -> None:
    """Change the rows and write a revision each; a row not yet in the session starts its history."""
    revisions = [(change.row, *_carry_out(session, change)) for change in changes]
    session.flush()  # counts the versions up
    for row, before, after in revisions:
        if after:
            session.add(
                RevisionRow(
                    set_name=row.set_name,
                    candidate_id=row.id,
                    version=row.version,
                    command_id=command_id,
                    actor=author.actor,
                    at=now(),
                    reason=author.reason,
                    before=before,
                    after=after,
                )
            )


class _Changed(NamedTuple):
    before: dict[str, Any]
    after: dict[str, Any]


def _carry_out(session: Session, change: Change) -> _Changed:
    """What really changes, set on the row."""
    row, is_new = change.row, change.row not in session
    after = {k: v for k, v in change.columns.items() if is_new or getattr(row, k) != v}
    before = {} if is_new else {k: getattr(row, k) for k in after}
    for key, value in after.items():
        setattr(row, key, value)
    if "support" in after:
        row.num_support = len(after["support"])
    if after:
        session.add(row)
    return _Changed(before, after)


def revisions_of(session: Session, set_name: str, candidate_id: str) -> list[Revision]:
    """Oldest first."""
    rows = session.exec(
        select(RevisionRow, CommandRow)
        .join(CommandRow)
        .where(RevisionRow.set_name == set_name, RevisionRow.candidate_id == candidate_id)
        .order_by(col(RevisionRow.version))
    )
    return [
        Revision(
            set_name=row.set_name,
            candidate_id=row.candidate_id,
            version=row.version,
            command_id=row.command_id,
            command=CommandType(command.type),
            actor=row.actor,
            at=row.at,
            reason=row.reason,
            before=row.before,
            after=row.after,
        )
        for row, command in rows
    ]


def candidate_at(session: Session, row: CandidateRow, version: int) -> Candidate | None:
    """The candidate as it stood at `version`, or None where there was no such version."""
    history = [r for r in revisions_of(session, row.set_name, row.id) if r.version <= version]
    if not history or history[-1].version != version:
        return None
    # a history that began before there were aliases does not say that there were none
    past = candidate_row(row.set_name, replace(row.value(), version=version, aliases=()))
    for revision in history:
        for key, value in revision.after.items():
            setattr(past, key, value)
    return past.value()
