"""A conflict, field by field: what it was, what is stored, what was to be written; take one, keep the other, or write a third."""

from functools import partial
from typing import Any

import streamlit as st

from ..data.candidates import Candidate
from . import cards
from .cards import Button
from .charts import legible
from .conflict import DECIDE, Conflict, Resolution
from .curation import Desk

LABELS = {"text": "Wording", "expected_actions": "Announces", "status": "Status"}
THEIRS, YOURS = "theirs", "yours"


def show(desk: Desk, conflict: Conflict) -> None:
    st.warning("This candidate changed while you worked on it. Nothing of yours is lost.")
    sides(conflict)
    for field in conflict.fields:
        _choice(conflict, field)
    if not conflict.fields:
        st.caption("Its turns changed; what you were about to write can be given again.")
    cards.buttons(
        Button("Write this", None, partial(_settle, desk, conflict), is_main=True),
        Button("Take theirs", None, partial(desk.take_theirs, conflict)),
    )


def sides(conflict: Conflict) -> None:
    """All three beside each other, in full."""
    titles = ("Before", "Theirs, as stored", "Yours, not stored")
    versions = (conflict.base, conflict.theirs, conflict.yours)
    for column, title, version in zip(st.columns(3), titles, versions, strict=True):
        with column, st.container(border=True, gap="xsmall"):
            st.caption(title)
            if version is None:
                st.text("not known any more")
            else:
                _version(version)


def _version(candidate: Candidate) -> None:
    st.text(legible(candidate.text))
    st.text(cards.origin(candidate))
    cards.status(candidate)


def _choice(conflict: Conflict, field: str) -> None:
    key = _key(conflict, field)
    proposal = conflict.proposal(field)
    if field == "text":
        st.session_state.setdefault(key, proposal)
        st.text_area(LABELS[field], key=key, height=80)
        cards.buttons(
            Button("Fill in theirs", None, partial(_fill, key, conflict.theirs.text)),
            Button("Fill in yours", None, partial(_fill, key, conflict.yours.text)),
        )
    elif field == "expected_actions":
        names = [*conflict.theirs.expected_actions, *conflict.yours.expected_actions]
        st.session_state.setdefault(key, list(proposal))
        st.multiselect(
            LABELS[field],
            list(dict.fromkeys(names)),
            key=key,
            format_func=legible,
            accept_new_options=True,
        )
    else:
        offered = (
            [*DECIDE] if conflict.theirs.status in DECIDE else [conflict.theirs.status, *DECIDE]
        )
        st.session_state.setdefault(key, proposal)
        st.segmented_control(
            LABELS[field],
            offered,
            key=key,
            required=True,
            format_func=lambda status: status.value.replace("_", " "),
        )


def _settle(desk: Desk, conflict: Conflict) -> None:
    chosen: dict[str, Any] = {f: st.session_state[_key(conflict, f)] for f in conflict.fields}
    if "expected_actions" in chosen:
        chosen["expected_actions"] = tuple(chosen["expected_actions"])
    desk.settle(conflict, Resolution(chosen))


def _fill(key: str, text: str) -> None:
    st.session_state[key] = text


def _key(conflict: Conflict, field: str) -> str:
    theirs = conflict.theirs
    return f"settle-{field}-{theirs.id}-{theirs.version}"
