"""Stored candidate sets: reading one, and saving a mined one over it without losing a person's work.

A candidate is *touched* when its status is not proposed, or its text, support, expected actions or aliases
are not those last mined.
"""

from collections.abc import Sequence
from typing import Any

from sqlmodel import Session, col, select

from .candidates import Candidate, CandidateSet, Status, check_text
from .errors import InvalidCandidate, NotFound
from .history import Author, Change, begin_command, now, revise
from .identity import canonical
from .tables import (
    CandidateRow,
    CommandRow,
    CommandType,
    RevisionRow,
    SetRow,
    candidate_columns,
    candidate_row,
)

A_PERSONS = ("text", "support", "expected_actions", "aliases")  # columns that commands change


def set_names(session: Session) -> list[str]:
    return list(session.exec(select(SetRow.name).order_by(SetRow.name)))


def read_set(session: Session, name: str) -> CandidateSet:
    row = set_row(session, name)
    return CandidateSet(
        name=row.name,
        candidates=tuple(candidate.value() for candidate in members(session, name)),
        note=row.note,
        version=row.version,
        manifest=row.manifest,
    )


def set_row(session: Session, name: str) -> SetRow:
    row = session.get(SetRow, name)
    if row is None:
        names = set_names(session)
        have = f"there are: {', '.join(names)}" if names else "make one with `forethought mine`"
        raise NotFound(f"no candidate set {name!r}; {have}")
    return row


def members(session: Session, name: str) -> Sequence[CandidateRow]:
    """The rows of the candidates that are in the set, in its order."""
    return session.exec(
        select(CandidateRow)
        .where(CandidateRow.set_name == name, col(CandidateRow.position).is_not(None))
        .order_by(col(CandidateRow.position), col(CandidateRow.id))
    ).all()


def save_set(session: Session, candidate_set: CandidateSet, author: Author) -> None:
    """Make the stored set of this name the given one, but for what a person has touched.

    Touched candidates stay as they are; those that the given set lacks come first, since a person's
    choice ranks above the miner's order. A given candidate that repeats a touched one's text is left out.
    """
    name = candidate_set.name
    check_distinct(candidate_set.candidates)
    _save_header(session, candidate_set)
    rows = {
        row.id: row
        for row in session.exec(select(CandidateRow).where(CandidateRow.set_name == name))
    }
    touched = _touched(session, name)
    order = _merged(touched, candidate_set.candidates)
    places = {id: place for place, id in enumerate(order)}
    given = {candidate.id: candidate for candidate in candidate_set.candidates}
    args = {"candidates": len(order)}
    command_id = begin_command(session, name, CommandType.SAVE_SET, args, author)
    kept = {row.id for row in touched}
    changes = []
    for id in [*order, *sorted(rows.keys() - places.keys())]:
        row = rows.get(id) or candidate_row(name, given[id])
        columns = candidate_columns(given[id]) if id in places and id not in kept else {}
        changes.append(Change(row, columns | {"position": places.get(id)}))
    revise(session, changes, command_id, author)


def check_distinct(candidates: Sequence[Candidate]) -> None:
    """InvalidCandidate where two candidates have one id, or texts that read the same."""
    seen: dict[str, str] = {}
    for candidate in candidates:
        other = seen.setdefault(folded(check_text(candidate.text)), candidate.id)
        if other != candidate.id:
            raise InvalidCandidate(
                f"candidates {other} and {candidate.id} have the same text "
                f"{canonical(candidate.text)[:80]!r}; reword or reject one"
            )
    if len({candidate.id for candidate in candidates}) < len(candidates):
        raise InvalidCandidate("two candidates of a set have the same id; give each its own")


def folded(text: str) -> str:
    """Equal for texts that differ in case and white space only."""
    return canonical(text).casefold()


def _save_header(session: Session, candidate_set: CandidateSet) -> None:
    row = SetRow(
        name=candidate_set.name,
        note=candidate_set.note,
        version=candidate_set.version,
        manifest=dict(candidate_set.manifest),
        created_at=now(),
    )
    stored = session.get(SetRow, candidate_set.name)
    if stored is not None:
        row.created_at = stored.created_at
    session.merge(row)
    session.flush()


def _touched(session: Session, name: str) -> list[CandidateRow]:
    mined: dict[str, dict[str, Any]] = {}
    revisions = session.exec(
        select(RevisionRow)
        .join(CommandRow)
        .where(RevisionRow.set_name == name, CommandRow.type == CommandType.SAVE_SET.value)
        .order_by(col(RevisionRow.version))
    )
    for revision in revisions:
        mined.setdefault(revision.candidate_id, {"aliases": []}).update(revision.after)
    return [
        row
        for row in members(session, name)
        if row.status != Status.PROPOSED
        or row.id not in mined
        or any(getattr(row, column) != mined[row.id][column] for column in A_PERSONS)
    ]


def _merged(touched: Sequence[CandidateRow], given: Sequence[Candidate]) -> list[str]:
    """The ids of the saved set, in its order."""
    ids = {row.id for row in touched}
    texts = {folded(text) for row in touched for text in (row.text, *row.aliases)}
    incoming = [c.id for c in given if c.id in ids or folded(c.text) not in texts]
    return [row.id for row in touched if row.id not in incoming] + incoming
