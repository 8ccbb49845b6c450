"""One candidate at a time, its evidence beside it: accept, reject, reword, undo. Decides nothing: a Desk does."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from ..data.store import Store
from . import cards, curation
from .cards import Button
from .curation import Decision, Desk, View
from .evidence import evidence_of


def show(store: Store, preferred: str | None = None) -> None:
    st.title("Review")
    name = cards.pick_set(store, preferred)
    if name is None:
        return
    desk = _desk(store, name)
    view = desk.look()
    if view is None:
        st.info("This set has no candidate.")
        return
    cards.progress(curation.status_counts(store.candidate_set(name)))
    left, right = st.columns([6, 5], gap="large")
    with left:
        cards.heading(view)
        _wording(desk, view)
        _buttons(desk, view)
        if not view.changed_meanwhile:  # it says all that a notice would
            cards.notice(desk.notice)
    with right:
        cards.evidence(evidence_of(store, view.candidate))


def _desk(store: Store, name: str) -> Desk:
    key = f"desk-{name}"
    if key not in st.session_state:
        st.session_state[key] = Desk(store, name, curation.actor_name())
    return st.session_state[key]


def _wording(desk: Desk, view: View) -> None:
    st.session_state[_key(view)] = view.wording
    typed = partial(_after_typing, desk, view)
    st.text_area("Wording", key=_key(view), height=120, on_change=typed)
    mask = curation.mask_of(desk.store, desk.set_name)
    cards.advice(curation.wording_problems(view.wording, mask))
    if view.changed_meanwhile:
        cards.changed_meanwhile(
            view, partial(desk.take_theirs, view), partial(desk.keep_mine, view)
        )


def _buttons(desk: Desk, view: View) -> None:
    act = partial(_after_typing, desk, view)
    decide = partial(desk.decide, view)
    cards.buttons(
        Button("Accept", "A", partial(act, partial(decide, Decision.ACCEPT)), is_main=True),
        Button("Reject", "X", partial(act, partial(decide, Decision.REJECT))),
        Button("Needs work", "N", partial(act, partial(decide, Decision.NEEDS_WORK))),
        Button("Save wording", "W", partial(act, partial(desk.reword, view))),
    )
    cards.buttons(
        Button("Previous", "Left", partial(act, partial(desk.step, -1))),
        Button("Next", "Right", partial(act, partial(desk.step, 1))),
        Button("Undo", "Z", partial(act, desk.undo)),
        Button("Redo", "Shift+Z", partial(act, desk.redo)),
    )


def _after_typing(desk: Desk, view: View, command: Callable[[], None] | None = None) -> None:
    """Take in what was typed, then act: a click straight after a keystroke must not lose it."""
    desk.type(view, st.session_state[_key(view)])
    if command:
        command()


def _key(view: View) -> str:
    return f"wording-{view.candidate.id}"
