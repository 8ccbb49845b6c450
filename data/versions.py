"""Versions of a set: as it is now, as a release holds it, as it stood after a command or at a time.

A version is named by `now`, a release's number (`3`), a command's (`@120`) or a time in UTC (`2026-11-30T09:00`).
Compares them, makes the set an old one again, and begins a new set from one.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlmodel import Session, col, select

from .activity import lineage_of
from .candidate_sets import check_distinct, members, read_set, set_row
from .candidates import Candidate, CandidateSet, Status
from .edits import Deed, carry_out, changes_anything
from .errors import Conflict, NotFound, NothingToDo
from .history import Author, Change, begin_command, now, revise
from .releases import releases_of
from .set_diff import SetDiff, Version, compare
from .store import Store
from .tables import (
    CandidateRow,
    CommandRow,
    CommandType,
    RevisionRow,
    SetRow,
    candidate_columns,
    candidate_row,
)

NOW = "now"
LATER = "\U0010ffff"  # makes a time a day or a minute names its last moment


def diff(store: Store, set_name: str, a: str, b: str = NOW) -> SetDiff:
    """What changed from version `a` to version `b`; NotFound for a version that is none."""
    with store.database.reading() as session:
        set_row(session, set_name)
        before, after = (Version(v, _active(_at(session, set_name, v))) for v in (a, b))
        return compare(before, after, lineage_of(session, set_name))


def candidates_at(store: Store, set_name: str, version: str) -> tuple[Candidate, ...]:
    """The set's candidates in that version's order; the rejected too, but for a release, which has none."""
    with store.database.reading() as session:
        set_row(session, set_name)
        return tuple(_at(session, set_name, version))


def restore_release(
    store: Store, set_name: str, number: int, actor: str, reason: str = ""
) -> CandidateSet:
    """Make the set what it was in the release, by one command that can be undone.

    Candidates that the release lacks leave the order, but for rejected ones; nothing is deleted. NothingToDo where
    the set is as the release already.
    """
    with store.database.writing() as session:
        released = {c.id: c for c in _release(session, set_name, number)}
        changes = [
            _restored(session, set_name, candidate, place)
            for place, candidate in enumerate(released.values())
        ]
        end = len(released)
        for row in members(session, set_name):
            if row.id not in released:
                stays = row.status == Status.REJECTED
                changes.append(Change(row, {"position": float(end) if stays else None}))
                end += stays
        changes = [change for change in changes if changes_anything(change)]
        if not changes:
            raise NothingToDo(f"set {set_name!r} is as in release {number} already")
        args = {"release": number}
        deed = Deed(set_name, CommandType.RESTORE_RELEASE, args, Author(actor, reason))
        carry_out(session, deed, changes)
        return read_set(session, set_name)


def branch(store: Store, set_name: str, version: str, new_name: str, actor: str) -> CandidateSet:
    """A new set that begins as `version` of this one; Conflict where a set of that name exists."""
    with store.database.writing() as session:
        source = read_set(session, set_name)
        if not new_name.strip():
            raise NothingToDo("the new set has no name; give it one")
        if session.get(SetRow, new_name) is not None:
            raise Conflict(f"there is a set {new_name!r} already; choose another name")
        candidates = [replace(c, version=1) for c in _at(session, set_name, version)]
        check_distinct(candidates)
        origin = {"branched_from": {"set": set_name, "version": version}}
        manifest = dict(source.manifest) | origin
        session.add(
            SetRow(
                name=new_name,
                note=source.note,
                version=source.version,
                manifest=manifest,
                created_at=now(),
            )
        )
        session.flush()
        author = Author(actor)
        args = {"from": set_name, "version": version}
        command_id = begin_command(session, new_name, CommandType.BRANCH, args, author)
        changes = [
            Change(candidate_row(new_name, c), candidate_columns(c) | {"position": float(place)})
            for place, c in enumerate(candidates)
        ]
        revise(session, changes, command_id, author)
        return read_set(session, new_name)


def _active(candidates: Sequence[Candidate]) -> list[Candidate]:
    return [candidate for candidate in candidates if candidate.status is not Status.REJECTED]


def _at(session: Session, set_name: str, version: str) -> Sequence[Candidate]:
    if version == NOW:
        return [row.value() for row in members(session, set_name)]
    if version.isdecimal():
        return _release(session, set_name, int(version))
    return _after(session, set_name, _last_command(session, set_name, version))


def _release(session: Session, set_name: str, number: int) -> tuple[Candidate, ...]:
    releases = releases_of(session, set_name)
    for release in releases:
        if release.number == number:
            return release.candidates
    have = (
        f"it has 1 to {len(releases)}" if releases else "make one with `forethought sets release`"
    )
    raise NotFound(f"set {set_name!r} has no release {number}; {have}")


def _last_command(session: Session, set_name: str, version: str) -> int:
    """The newest command that the version includes."""
    commands = select(CommandRow.id).where(CommandRow.set_name == set_name)
    if re.fullmatch(r"@\d+", version):
        found = session.exec(commands.where(CommandRow.id == int(version[1:]))).first()
    elif re.match(r"\d{4}-\d\d-\d\d", version):
        before = commands.where(col(CommandRow.at) <= version.rstrip("Z") + LATER)
        found = session.exec(before.order_by(col(CommandRow.id).desc()).limit(1)).first()
    else:
        found = None
    if found is None:
        raise NotFound(
            f"set {set_name!r} has no version {version!r}; give now, a release's number, "
            f"@COMMAND (see `forethought sets log`) or a time like 2026-11-30T09:00"
        )
    return found


def _after(session: Session, set_name: str, command_id: int) -> list[Candidate]:
    """The members after that command, out of the revisions up to it."""
    states: dict[str, dict[str, Any]] = {}
    versions: dict[str, int] = {}
    revisions = session.exec(
        select(RevisionRow)
        .where(RevisionRow.set_name == set_name, RevisionRow.command_id <= command_id)
        .order_by(col(RevisionRow.version))
    )
    for revision in revisions:
        states.setdefault(revision.candidate_id, {"aliases": []}).update(revision.after)
        versions[revision.candidate_id] = revision.version
    rows = [
        CandidateRow(set_name=set_name, id=id, version=versions[id], **columns)
        for id, columns in states.items()
        if columns["position"] is not None
    ]
    return [row.value() for row in sorted(rows, key=lambda row: (row.position, row.id))]


def _restored(session: Session, set_name: str, candidate: Candidate, place: int) -> Change:
    row = session.get_one(CandidateRow, (set_name, candidate.id))
    return Change(row, candidate_columns(candidate) | {"position": float(place)})
