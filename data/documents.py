"""JSON documents by kind and key (an audit, a bench, a calibration): the latest of a key counts, older ones stay."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import func
from sqlmodel import Session, col, select

from . import history
from .tables import DocumentRow

Json = dict[str, Any]


def put_document(session: Session, kind: str, key: str, body: Mapping[str, Any]) -> None:
    session.add(DocumentRow(kind=kind, key=key, at=history.now(), body=dict(body)))


def latest(session: Session, kind: str, key: str) -> Json | None:
    """The document of this kind and key that counts."""
    row = session.exec(
        select(DocumentRow)
        .where(DocumentRow.kind == kind, DocumentRow.key == key)
        .order_by(col(DocumentRow.id).desc())
        .limit(1)
    ).first()
    return row.body if row else None


def latest_by_key(session: Session, kind: str) -> dict[str, Json]:
    """The document that counts of every key of this kind, the newest first."""
    last = (
        select(func.max(DocumentRow.id)).where(DocumentRow.kind == kind).group_by(DocumentRow.key)
    )
    statement = (
        select(DocumentRow)
        .where(col(DocumentRow.id).in_(last))
        .order_by(col(DocumentRow.id).desc())
    )
    return {row.key: row.body for row in session.exec(statement)}
