"""Rows of files that no reader could use, kept with the reason until they are mended."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import delete
from sqlmodel import Session, col, select

from .history import now
from .tables import QuarantineRow, storable


class Unusable(Protocol):
    """A row that no reader could use."""

    @property
    def file(self) -> str: ...
    @property
    def position(self) -> int | str: ...
    @property
    def reason(self) -> str: ...
    @property
    def raw(self) -> str: ...


@dataclass(frozen=True)
class Quarantined:
    """An unusable row as it was kept; `at` is UTC."""

    file: str
    position: str
    reason: str
    raw: str
    at: str


def keep_rows(session: Session, rows: Iterable[Unusable]) -> int:
    """Each file, position and reason once; how many were new."""
    return sum(_keep(session, row) for row in rows)


def kept_rows(session: Session, offset: int, limit: int | None) -> list[Quarantined]:
    """In the order they were kept; `limit` of them, None: all."""
    ordered = select(QuarantineRow).order_by(col(QuarantineRow.id))
    rows = session.exec(ordered.offset(offset).limit(limit))
    return [Quarantined(row.file, row.position, row.reason, row.raw, row.at) for row in rows]


def forget_files(session: Session, files: Iterable[str]) -> None:
    """Drop what is kept of these files, which are being read anew."""
    names = {storable(file) for file in files}
    known = set(session.exec(select(QuarantineRow.file).distinct()))
    session.execute(delete(QuarantineRow).where(col(QuarantineRow.file).in_(names & known)))


def _keep(session: Session, row: Unusable) -> bool:
    file, position, reason = storable(row.file), storable(str(row.position)), storable(row.reason)
    known = select(QuarantineRow.id).where(
        QuarantineRow.file == file,
        QuarantineRow.position == position,
        QuarantineRow.reason == reason,
    )
    if session.exec(known).first() is not None:
        return False
    raw = storable(row.raw)
    session.add(QuarantineRow(file=file, position=position, reason=reason, raw=raw, at=now()))
    return True
