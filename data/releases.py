"""Releases: a set's active candidates copied under a number and the authors' hash, never changed after.

The database itself refuses to change them (triggers in the first migration).
"""

from sqlmodel import Session, col, select

from .candidate_sets import read_set, set_row
from .candidates import Candidate, Release
from .errors import NothingToDo
from .history import Author, begin_command, now
from .library import library_hash
from .tables import CommandType, ReleaseItemRow, ReleaseRow, candidate_columns


def release_set(session: Session, name: str, notes: str, actor: str) -> Release:
    candidate_set = read_set(session, name)
    if not candidate_set.active:
        raise NothingToDo(f"set {name!r} has no candidate that is not rejected; nothing to release")
    number = 1 + len(releases_of(session, name))
    begin_command(session, name, CommandType.RELEASE, {"release": number}, Author(actor, notes))
    row = ReleaseRow(
        set_name=name,
        number=number,
        hash=library_hash(candidate_set),
        notes=notes,
        actor=actor,
        at=now(),
    )
    session.add(row)
    session.flush()
    for position, candidate in enumerate(candidate_set.active):
        session.add(
            ReleaseItemRow(
                set_name=name,
                number=number,
                position=position,
                candidate_id=candidate.id,
                version=candidate.version,
                **candidate_columns(candidate),
            )
        )
    return _value(row, candidate_set.active)


def releases_of(session: Session, name: str) -> list[Release]:
    """Oldest first."""
    set_row(session, name)
    rows = session.exec(
        select(ReleaseRow).where(ReleaseRow.set_name == name).order_by(col(ReleaseRow.number))
    )
    return [_value(row, _items(session, row)) for row in rows.all()]


def _items(session: Session, row: ReleaseRow) -> tuple[Candidate, ...]:
    items = session.exec(
        select(ReleaseItemRow)
        .where(ReleaseItemRow.set_name == row.set_name, ReleaseItemRow.number == row.number)
        .order_by(col(ReleaseItemRow.position))
    )
    return tuple(item.value() for item in items)


def _value(row: ReleaseRow, candidates: tuple[Candidate, ...]) -> Release:
    return Release(row.set_name, row.number, row.hash, candidates, row.notes, row.actor, row.at)
