"""Wordings that nobody has saved yet, and views that somebody has: what must survive the browser, but is no edit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlmodel import select

from .candidate_sets import set_row
from .documents import latest, put_document
from .edits import once_member
from .history import now
from .store import Store
from .tables import DraftRow

VIEWS = "views"


@dataclass(frozen=True)
class StoredDraft:
    """One person's unsaved wording of a candidate, begun from its `base_version`; `at` is UTC."""

    set_name: str
    candidate_id: str
    actor: str
    text: str
    base_version: int
    at: str = ""


def keep_draft(store: Store, draft: StoredDraft) -> None:
    """In the place of the draft that this person had of this candidate."""
    with store.database.writing() as session:
        once_member(session, draft.set_name, draft.candidate_id)
        session.merge(
            DraftRow(
                set_name=draft.set_name,
                candidate_id=draft.candidate_id,
                actor=draft.actor,
                text=draft.text,
                base_version=draft.base_version,
                at=now(),
            )
        )


def drop_draft(store: Store, set_name: str, candidate_id: str, actor: str) -> None:
    """Nothing happens where there is none."""
    with store.database.writing() as session:
        row = session.get(DraftRow, (set_name, candidate_id, actor))
        if row is not None:
            session.delete(row)


def drafts(store: Store, set_name: str, actor: str) -> dict[str, StoredDraft]:
    """A person's drafts in a set, by candidate."""
    with store.database.reading() as session:
        rows = session.exec(
            select(DraftRow).where(DraftRow.set_name == set_name, DraftRow.actor == actor)
        )
        return {
            row.candidate_id: StoredDraft(
                row.set_name, row.candidate_id, row.actor, row.text, row.base_version, row.at
            )
            for row in rows
        }


def save_view(store: Store, set_name: str, name: str, filters: Mapping[str, Any]) -> None:
    """Keep filters under a name, in the place of those that had it."""
    _change_views(store, set_name, {name: dict(filters)})


def drop_view(store: Store, set_name: str, name: str) -> None:
    """Nothing happens where there is none."""
    _change_views(store, set_name, {name: None})


def views(store: Store, set_name: str) -> dict[str, dict[str, Any]]:
    """The set's saved views by name, in the order they were first kept."""
    return (store.document(VIEWS, set_name) or {"views": {}})["views"]


def _change_views(store: Store, set_name: str, changes: Mapping[str, Any]) -> None:
    """Read and written in one unit, so that two people lose no view to each other."""
    with store.database.writing() as session:
        set_row(session, set_name)
        stored = (latest(session, VIEWS, set_name) or {"views": {}})["views"]
        kept = {name: body for name, body in (stored | changes).items() if body is not None}
        put_document(session, VIEWS, set_name, {"views": kept})
