"""How an edit of a stored set is checked and carried out: the write unit that every command is made of.

An edit names the version it was made from. When the candidate is another one by now, nothing is written and the
conflict tells all three. What the commands are is in `commands.py`, `regrouping.py` and `reversal.py`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sqlalchemy.orm import defer
from sqlmodel import Session, col, select

from .candidate_sets import folded, set_row
from .candidates import Candidate, Status
from .errors import Conflict, InvalidCandidate, NotFound
from .history import Author, Change, begin_command, candidate_at, revise
from .tables import CandidateRow, CommandType

PAGE = 500  # ids a query


@dataclass(frozen=True)
class Edit:
    """Which candidate is edited, from which version on, by whom and why."""

    set_name: str
    candidate_id: str
    expected_version: int
    actor: str
    reason: str = ""

    @property
    def author(self) -> Author:
        return Author(self.actor, self.reason)


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


class Deed(NamedTuple):
    """What is done to a set, as the log keeps it."""

    set_name: str
    type: CommandType
    args: Mapping[str, Any]
    author: Author


def member(session: Session, set_name: str, candidate_id: str) -> CandidateRow:
    """The row of a candidate that is in the set."""
    row = once_member(session, set_name, candidate_id)
    if row.position is None:
        raise NotFound(
            f"candidate {candidate_id!r} was taken out of set {set_name!r}; bring it back first "
            f"with `forethought candidates restore`"
        )
    return row


def once_member(session: Session, set_name: str, candidate_id: str) -> CandidateRow:
    """The row of a candidate that is or was in the set."""
    set_row(session, set_name)
    row = session.get(CandidateRow, (set_name, candidate_id))
    if row is None:
        raise NotFound(
            f"set {set_name!r} has no candidate {candidate_id!r}; "
            f"list them with `forethought sets show {set_name}`"
        )
    return row


def edited(session: Session, edit: Edit, columns: Mapping[str, Any]) -> CandidateRow:
    """The row that `edit` means; StaleEdit where it is not what the edit was made from."""
    row = member(session, edit.set_name, edit.candidate_id)
    stale = conflict(session, row, edit, columns)
    if stale is not None:
        raise stale
    return row


def conflict(
    session: Session, row: CandidateRow, edit: Edit, columns: Mapping[str, Any]
) -> StaleEdit | None:
    """Whether the candidate differs from the one that was edited. Its place in the order is no part of it."""
    if row.version == edit.expected_version:
        return None
    base = candidate_at(session, row, edit.expected_version)
    if base is not None and replace(base, version=row.version) == row.value():
        return None
    return StaleEdit(base, row.value(), changed(base or row.value(), columns))


def carry_out(session: Session, deed: Deed, changes: Sequence[Change]) -> int:
    """Write one command with the revisions that it makes; its id.

    InvalidCandidate where two members of the set would have the same text after it.
    """
    command_id = begin_command(session, deed.set_name, deed.type, deed.args, deed.author)
    revise(session, changes, command_id, deed.author)
    if any(change.columns.keys() & {"text", "position"} for change in changes):
        _check_texts(session, deed.set_name, {change.row.id for change in changes})
    return command_id


def changes_anything(change: Change) -> bool:
    return any(getattr(change.row, key) != value for key, value in change.columns.items())


def changed(candidate: Candidate, columns: Mapping[str, Any]) -> Candidate:
    """The candidate as these columns would make it."""
    values = {key: value for key, value in columns.items() if key != "position"}
    if "status" in values:
        values["status"] = Status(values["status"])
    for key in ("support", "expected_actions", "aliases"):
        if key in values:
            values[key] = tuple(values[key])
    return replace(candidate, **values)


def rows_of(session: Session, set_name: str, ids: Sequence[str]) -> dict[str, CandidateRow]:
    """The rows of candidates that are or were in the set, in the given order.

    Their support is read when it is looked at: it may be long, and a bulk edit does not touch it.
    """
    rows: dict[str, CandidateRow] = {}
    for start in range(0, len(ids), PAGE):
        found = session.exec(
            select(CandidateRow)
            .where(
                CandidateRow.set_name == set_name,
                col(CandidateRow.id).in_(ids[start : start + PAGE]),
            )
            .options(defer(CandidateRow.support))  # type: ignore[arg-type]
        )
        rows |= {row.id: row for row in found}
    return {id: rows.get(id) or once_member(session, set_name, id) for id in ids}


class Place(NamedTuple):
    """A member's id and where it stands."""

    id: str
    position: float


def order(session: Session, set_name: str) -> list[Place]:
    """The members of the set in its order, without reading them."""
    rows = session.execute(
        select(CandidateRow.id, CandidateRow.position)
        .where(CandidateRow.set_name == set_name, col(CandidateRow.position).is_not(None))
        .order_by(col(CandidateRow.position), col(CandidateRow.id))
    )
    return [Place(*row) for row in rows]


def end_of(session: Session, set_name: str) -> float:
    """The position behind the last member."""
    places = order(session, set_name)
    return places[-1].position + 1 if places else 0


def _check_texts(session: Session, set_name: str, ids: set[str]) -> None:
    rows = session.execute(
        select(CandidateRow.id, CandidateRow.text).where(
            CandidateRow.set_name == set_name, col(CandidateRow.position).is_not(None)
        )
    ).all()
    texts = Counter(folded(text) for _, text in rows)
    for id, text in rows:
        if id in ids and texts[folded(text)] > 1:
            other = next(o for o, its in rows if o != id and folded(its) == folded(text))
            raise InvalidCandidate(
                f"candidate {other} of set {set_name!r} has this text already; "
                "word it differently or reject one of the two"
            )


def _brief(candidate: Candidate | None) -> str:
    if candidate is None:
        return "unknown"
    return f"v{candidate.version} {candidate.status.value} {candidate.text[:80]!r}"
