"""A person's edits of a stored candidate set, as commands that can be undone.

Each names the version it was made from; when the stored one is newer, nothing is written and the
conflict tells all three. A change and its revision are one transaction.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlmodel import Session, col, select

from .candidate_sets import folded, members, set_row
from .candidates import Candidate, Status, check_text
from .errors import Conflict, InvalidCandidate, NotFound, NothingToDo
from .history import Author, begin_command, candidate_at, revise
from .store import Store
from .tables import CandidateRow, CommandRow, CommandType, RevisionRow

EDITS = (CommandType.ACCEPT, CommandType.REJECT, CommandType.NEEDS_WORK, CommandType.REWORD)


@dataclass(frozen=True)
class Edit:
    """Which candidate is edited, from which version on, by whom and why."""

    set_name: str
    candidate_id: str
    expected_version: int
    actor: str
    reason: str = ""


class StaleEdit(Conflict):
    """The candidate changed since `base` was read: `theirs` is stored, `yours` was not written.

    `base` is None where the expected version never existed.
    """

    def __init__(self, base: Candidate | None, theirs: Candidate, yours: Candidate) -> None:
        self.base = base
        self.theirs = theirs
        self.yours = yours
        super().__init__(
            f"candidate {theirs.id} was changed meanwhile and nothing was written; "
            f"base: {_brief(base)}; theirs: {_brief(theirs)}; yours: {_brief(yours)}; "
            f"look at it again and repeat your edit if it still holds"
        )


def accept(store: Store, edit: Edit) -> Candidate:
    """The candidate as it stands after; unchanged, and no new version, if it was accepted already."""
    return _edit(store, CommandType.ACCEPT, edit, {"status": Status.ACCEPTED.value})


def reject(store: Store, edit: Edit) -> Candidate:
    return _edit(store, CommandType.REJECT, edit, {"status": Status.REJECTED.value})


def needs_work(store: Store, edit: Edit) -> Candidate:
    return _edit(store, CommandType.NEEDS_WORK, edit, {"status": Status.NEEDS_WORK.value})


def reword(store: Store, edit: Edit, text: str) -> Candidate:
    """InvalidCandidate for a text that no candidate may have, or that another of the set has."""
    return _edit(store, CommandType.REWORD, edit, {"text": check_text(text)})


def undo(store: Store, set_name: str, actor: str) -> Candidate:
    """Take back the last edit of the set that still holds; Conflict if its candidate changed after."""
    with store.database.writing() as session:
        set_row(session, set_name)
        last = _last(session, set_name, EDITS)
        if last is None:
            raise NothingToDo(f"no edit of set {set_name!r} is left to undo")
        return _reverse(session, last, CommandType.UNDO, actor)


def redo(store: Store, set_name: str, actor: str) -> Candidate:
    """Bring back the edit that was undone last, unless something else was done since."""
    with store.database.writing() as session:
        set_row(session, set_name)
        undone = _last(session, set_name, (CommandType.UNDO,))
        newest = _last(session, set_name, (*EDITS, CommandType.SAVE_SET))
        if undone is None or (newest is not None and newest.id > undone.id):  # type: ignore[operator]
            raise NothingToDo(f"no undone edit of set {set_name!r} is left to redo")
        candidate = _reverse(session, undone, CommandType.REDO, actor)
        original = session.get_one(CommandRow, undone.args["of"])
        original.undone_by = None
        return candidate


def _edit(store: Store, type: CommandType, edit: Edit, changes: Mapping[str, Any]) -> Candidate:
    with store.database.writing() as session:
        row = _member(session, edit.set_name, edit.candidate_id)
        if row.version != edit.expected_version:
            base = candidate_at(session, row, edit.expected_version)
            raise StaleEdit(base, row.value(), _changed(base or row.value(), changes))
        if all(getattr(row, key) == value for key, value in changes.items()):
            return row.value()
        args = {"candidate": row.id, **changes}
        command_id = begin_command(session, edit.set_name, type, args)
        return _apply(session, row, changes, command_id, Author(edit.actor, edit.reason))


def _member(session: Session, set_name: str, candidate_id: str) -> CandidateRow:
    set_row(session, set_name)
    row = session.get(CandidateRow, (set_name, candidate_id))
    if row is None or row.position is None:
        raise NotFound(
            f"set {set_name!r} has no candidate {candidate_id!r}; "
            f"list them with `forethought sets show {set_name}`"
        )
    return row


def _apply(
    session: Session,
    row: CandidateRow,
    changes: Mapping[str, Any],
    command_id: int,
    author: Author,
) -> Candidate:
    if "text" in changes:
        for other in members(session, row.set_name):
            if other.id != row.id and folded(other.text) == folded(changes["text"]):
                raise InvalidCandidate(
                    f"candidate {other.id} of set {row.set_name!r} has this text already; "
                    "word it differently or reject one of the two"
                )
    revise(session, row, changes, command_id, author)
    return row.value()


def _last(session: Session, set_name: str, types: tuple[CommandType, ...]) -> CommandRow | None:
    """The newest command of these types that is not undone."""
    return session.exec(
        select(CommandRow)
        .where(
            CommandRow.set_name == set_name,
            col(CommandRow.type).in_([type.value for type in types]),
            col(CommandRow.undone_by).is_(None),
        )
        .order_by(col(CommandRow.id).desc())
    ).first()


def _reverse(session: Session, command: CommandRow, type: CommandType, actor: str) -> Candidate:
    """Put back what the command's one revision replaced."""
    revision = session.exec(select(RevisionRow).where(RevisionRow.command_id == command.id)).one()
    row = _member(session, command.set_name, revision.candidate_id)
    if any(getattr(row, key) != value for key, value in revision.after.items()):
        base = candidate_at(session, row, revision.version)
        raise StaleEdit(base, row.value(), _changed(row.value(), revision.before))
    command_id = begin_command(session, command.set_name, type, {"of": command.id})
    candidate = _apply(session, row, revision.before, command_id, Author(actor))
    command.undone_by = command_id
    session.add(command)
    return candidate


def _changed(candidate: Candidate, changes: Mapping[str, Any]) -> Candidate:
    values = dict(changes)
    if "status" in values:
        values["status"] = Status(values["status"])
    return replace(candidate, **values)


def _brief(candidate: Candidate | None) -> str:
    if candidate is None:
        return "unknown"
    return f"v{candidate.version} {candidate.status.value} {candidate.text[:80]!r}"
