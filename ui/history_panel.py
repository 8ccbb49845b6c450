"""What was said of a candidate and what was done to it, newest first, and the box for a new comment."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import streamlit as st

from ..data import activity
from ..data.history import Revision
from ..data.store import Store
from .charts import legible

MOST = 30  # events shown
SHOWN = {"text": "wording", "status": "status", "expected_actions": "announces"}
COMMENT = "comment-text"


class Event(NamedTuple):
    """One line of the history: when (UTC), who, what, and the texts that go with it."""

    at: str
    actor: str
    said: str
    details: tuple[str, ...]


def history(store: Store, set_name: str, candidate_id: str, say: Callable[[str], None]) -> None:
    """Comments and revisions together; `say` is called with a new comment."""

    def send() -> None:
        text = st.session_state[COMMENT]
        st.session_state[COMMENT] = ""
        say(text)

    with st.form("comment-form", border=False):
        st.text_area("Comment", key=COMMENT, height=68)
        st.form_submit_button("Comment", on_click=send)
    events = events_of(store, set_name, candidate_id)
    for event in events[:MOST]:
        with st.container(border=True, gap=None):
            st.text(legible(f"{event.said} · {event.actor} · {_moment(event.at)}"))
            for line in event.details:
                st.text(legible(line))
    if len(events) > MOST:
        st.caption(f"and {len(events) - MOST} older ones")


def events_of(store: Store, set_name: str, candidate_id: str) -> list[Event]:
    """Newest first."""
    said = [
        Event(one.at, one.actor, "comment", (one.text,))
        for one in activity.comments(store, set_name, candidate_id)
    ]
    done = [_revised(one) for one in store.revisions(set_name, candidate_id)]
    return sorted([*said, *done], key=lambda event: event.at, reverse=True)


def _revised(one: Revision) -> Event:
    details = [one.reason] if one.reason else []
    for name, label in SHOWN.items():
        if name in one.after and one.before:
            details.append(f"{label}: {_value(one.before, name)} → {_value(one.after, name)}")
    if "support" in one.after and one.before:
        before, after = len(one.before["support"]), len(one.after["support"])
        details.append(f"turns: {before:,} → {after:,}")
    return Event(
        one.at, one.actor, f"v{one.version} {one.command.value.replace('_', ' ')}", tuple(details)
    )


def _value(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return ", ".join(value) if isinstance(value, (list, tuple)) else str(value)


def _moment(at: str) -> str:
    return f"{at[:16].replace('T', ' ')} UTC"
