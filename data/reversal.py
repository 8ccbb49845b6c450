"""Undo and redo of any command: a new command that puts back what the old one replaced.

Nothing is deleted. A command is not taken back where something else has touched what it changed.
"""

from typing import Any, NamedTuple

from sqlmodel import Session, col, select

from .candidate_sets import set_row
from .candidates import Candidate
from .edits import Deed, StaleEdit, carry_out, changed, rows_of
from .errors import Conflict, NotFound, NothingToDo
from .history import Author, Change, candidate_at
from .store import Store
from .tables import CandidateRow, CommandRow, CommandType, RevisionRow

UNDOABLE = (
    CommandType.ACCEPT,
    CommandType.REJECT,
    CommandType.NEEDS_WORK,
    CommandType.REWORD,
    CommandType.DECIDE_MANY,
    CommandType.EXPECT,
    CommandType.PLACE,
    CommandType.RESTORE,
    CommandType.ADD,
    CommandType.MERGE,
    CommandType.SPLIT,
    CommandType.RESTORE_RELEASE,
)


class Undoable(NamedTuple):
    """A command that an undo would take back: what it was, in words, and whose."""

    id: int
    what: str
    actor: str


def next_undo(store: Store, set_name: str) -> Undoable:
    """What `undo` would take back; NothingToDo where nothing is left."""
    with store.database.reading() as session:
        set_row(session, set_name)
        last = _next(session, set_name)
        assert last.id is not None
        return Undoable(last.id, last.type.replace("_", " "), last.actor)


def undo(store: Store, set_name: str, actor: str, command_id: int | None = None) -> Candidate:
    """Take back the last command of the set that still holds, or the one named.

    The first candidate that it had changed, as it stands after. Conflict if any of them was changed since.
    """
    with store.database.writing() as session:
        set_row(session, set_name)
        if command_id is not None:
            command = _named(session, set_name, command_id)
        else:
            command = _next(session, set_name)
        return _reverse(session, command, CommandType.UNDO, actor)


def redo(store: Store, set_name: str, actor: str) -> Candidate:
    """Bring back the command that was undone last, unless something else was done since."""
    with store.database.writing() as session:
        set_row(session, set_name)
        undone = last_of(session, set_name, (CommandType.UNDO,))
        newest = last_of(session, set_name, (*UNDOABLE, CommandType.SAVE_SET))
        if undone is None or (newest is not None and newest.id > undone.id):  # type: ignore[operator]
            raise NothingToDo(f"no undone edit of set {set_name!r} is left to redo")
        candidate = _reverse(session, undone, CommandType.REDO, actor)
        original = session.get_one(CommandRow, undone.args["of"])
        original.undone_by = None
        return candidate


def last_of(session: Session, set_name: str, types: tuple[CommandType, ...]) -> CommandRow | None:
    """The newest command of these types that is not undone."""
    return session.exec(
        select(CommandRow)
        .where(
            CommandRow.set_name == set_name,
            col(CommandRow.type).in_([type.value for type in types]),
            col(CommandRow.undone_by).is_(None),
        )
        .order_by(col(CommandRow.id).desc())
        .limit(1)
    ).first()


def _next(session: Session, set_name: str) -> CommandRow:
    """The command that is undone next; NothingToDo where none is left."""
    last = last_of(session, set_name, UNDOABLE)
    if last is None:
        raise NothingToDo(f"no edit of set {set_name!r} is left to undo")
    return last


def _named(session: Session, set_name: str, command_id: int) -> CommandRow:
    command = session.get(CommandRow, command_id)
    if command is None or command.set_name != set_name:
        raise NotFound(
            f"set {set_name!r} has no command {command_id}; "
            f"list them with `forethought sets log {set_name}`"
        )
    if command.type not in {type.value for type in UNDOABLE}:
        raise NothingToDo(f"command {command_id} ({command.type}) is none that can be undone")
    if command.undone_by is not None:
        raise Conflict(f"command {command_id} is undone already, by command {command.undone_by}")
    return command


def _reverse(session: Session, command: CommandRow, type: CommandType, actor: str) -> Candidate:
    revisions = session.exec(
        select(RevisionRow)
        .where(RevisionRow.command_id == command.id)
        .order_by(col(RevisionRow.id))
    ).all()
    rows = rows_of(session, command.set_name, [revision.candidate_id for revision in revisions])
    changes = [_inverse(session, rows[rev.candidate_id], rev) for rev in revisions]
    deed = Deed(command.set_name, type, {"of": command.id}, Author(actor))
    command.undone_by = carry_out(session, deed, changes)
    session.add(command)
    return changes[0].row.value()


def _inverse(session: Session, row: CandidateRow, revision: RevisionRow) -> Change:
    """What puts back what the revision replaced; a candidate that it made leaves the set's order."""
    columns: dict[str, Any] = dict(revision.before) or {"position": None}
    if any(getattr(row, key) != value for key, value in revision.after.items()):
        base = candidate_at(session, row, revision.version)
        raise StaleEdit(base, row.value(), changed(row.value(), columns))
    return Change(row, columns)
