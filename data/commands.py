"""A person's edits of a stored candidate set, as commands that can be undone: the one door for all of them.

Each names the version it was made from; when the candidate is another by now, nothing is written and the
conflict tells all three. A change and its revision are one transaction.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlmodel import Session

from .candidates import Candidate, Status, check_text
from .edits import (
    Deed,
    Edit,
    Place,
    StaleEdit,
    carry_out,
    changes_anything,
    conflict,
    edited,
    end_of,
    once_member,
    order,
    rows_of,
)
from .errors import InvalidCandidate, NothingToDo
from .history import Author, Change, begin_command
from .regrouping import NewCandidate, add, merge, split
from .reversal import next_undo, redo, undo
from .store import Store
from .tables import CandidateRow, CommandType, CommentRow

__all__ = [
    "Decided",
    "Edit",
    "NewCandidate",
    "StaleEdit",
    "accept",
    "add",
    "comment",
    "decide_many",
    "expect",
    "merge",
    "needs_work",
    "next_undo",
    "place",
    "redo",
    "reject",
    "restore",
    "reword",
    "split",
    "undo",
]


class Decided(NamedTuple):
    """Which candidates a bulk decision changed, and which someone else had changed before."""

    applied: tuple[str, ...]
    conflicts: tuple[StaleEdit, ...]


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


def expect(store: Store, edit: Edit, actions: Sequence[str]) -> Candidate:
    """Say which kinds of action the candidate announces."""
    if any(not name.strip() for name in actions):
        raise InvalidCandidate("an expected action has no name; leave it out")
    names = list(dict.fromkeys(actions))
    return _edit(store, CommandType.EXPECT, edit, {"expected_actions": names})


def place(store: Store, edit: Edit, position: int) -> Candidate:
    """Move the candidate to this place in the set's order, from 0; beyond an end is the end."""
    with store.database.writing() as session:
        row = edited(session, edit, {})
        places = order(session, edit.set_name)
        others = [stands for stands in places if stands.id != row.id]
        index = min(max(position, 0), len(others))
        if places[index].id != row.id:
            args = {"candidate": row.id, "position": index}
            deed = Deed(edit.set_name, CommandType.PLACE, args, edit.author)
            carry_out(session, deed, _moves(session, row, others, index))
        return row.value()


def restore(store: Store, set_name: str, candidate_id: str, actor: str) -> Candidate:
    """Bring back a candidate that was rejected or taken out of the set, for review; NothingToDo for another."""
    with store.database.writing() as session:
        row = once_member(session, set_name, candidate_id)
        columns: dict[str, Any] = {}
        if row.position is None:
            columns["position"] = end_of(session, set_name)
        if row.status == Status.REJECTED:
            columns["status"] = Status.PROPOSED.value
        if not columns:
            raise NothingToDo(f"candidate {candidate_id} is in set {set_name!r} as it is")
        deed = Deed(set_name, CommandType.RESTORE, {"candidate": row.id}, Author(actor))
        carry_out(session, deed, [Change(row, columns)])
        return row.value()


def comment(store: Store, edit: Edit, text: str) -> None:
    """Say something of a candidate; it changes nothing, and so never conflicts."""
    if not text.strip():
        raise NothingToDo("the comment is empty; nothing was written")
    with store.database.writing() as session:
        row = once_member(session, edit.set_name, edit.candidate_id)
        args = {"candidate": row.id, "text": text}
        command_id = begin_command(session, edit.set_name, CommandType.COMMENT, args, edit.author)
        session.add(
            CommentRow(
                set_name=edit.set_name, candidate_id=row.id, command_id=command_id, text=text
            )
        )


def decide_many(store: Store, set_name: str, edits: Sequence[Edit], decision: Status) -> Decided:
    """Give many candidates one status by one command, which one undo takes back.

    Those that someone changed meanwhile are left alone and told; the command is the first edit's author's.
    """
    if not edits:
        raise NothingToDo("no candidate is selected; nothing was written")
    columns = {"status": decision.value}
    with store.database.writing() as session:
        rows = rows_of(session, set_name, [edit.candidate_id for edit in edits])
        conflicts = {
            edit.candidate_id: stale
            for edit in edits
            if (stale := _bulk_conflict(session, rows[edit.candidate_id], edit, columns))
        }
        changes = [Change(row, columns) for id, row in rows.items() if id not in conflicts]
        changes = [change for change in changes if changes_anything(change)]
        if changes:
            ids = [change.row.id for change in changes]
            args = {**columns, "candidates": ids}
            deed = Deed(set_name, CommandType.DECIDE_MANY, args, edits[0].author)
            carry_out(session, deed, changes)
        return Decided(tuple(change.row.id for change in changes), tuple(conflicts.values()))


def _edit(store: Store, type: CommandType, edit: Edit, columns: Mapping[str, Any]) -> Candidate:
    with store.database.writing() as session:
        row = edited(session, edit, columns)
        change = Change(row, columns)
        if changes_anything(change):
            deed = Deed(edit.set_name, type, {"candidate": row.id, **columns}, edit.author)
            carry_out(session, deed, [change])
        return row.value()


def _moves(
    session: Session, row: CandidateRow, others: Sequence[Place], index: int
) -> list[Change]:
    """The one row's new position between its new neighbours; all rows', where there is no room for it."""
    if not others[:index]:
        return [Change(row, {"position": others[0].position - 1})]
    if not others[index:]:
        return [Change(row, {"position": others[-1].position + 1})]
    low, high = others[index - 1].position, others[index].position
    middle = (low + high) / 2
    if low < middle < high:
        return [Change(row, {"position": middle})]
    ids = [stands.id for stands in others]
    ids.insert(index, row.id)
    rows = rows_of(session, row.set_name, ids)
    return [Change(rows[id], {"position": float(place)}) for place, id in enumerate(ids)]


def _bulk_conflict(
    session: Session, row: CandidateRow, edit: Edit, columns: Mapping[str, Any]
) -> StaleEdit | None:
    if row.position is None:
        return StaleEdit(None, row.value(), row.value())
    return conflict(session, row, edit, columns)
