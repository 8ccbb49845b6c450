"""One candidate at a time, its evidence beside it: accept, reject, reword, merge, split, undo. Decides nothing: a Desk does."""

from collections.abc import Callable
from enum import StrEnum
from functools import partial

import streamlit as st

from ..data.store import Store
from . import (
    cards,
    conflict_panel,
    effect_panel,
    evidence_panel,
    history_panel,
    keyboard_panel,
    merge_panel,
    split_panel,
    wording_panel,
)
from .cards import Button
from .curation import Decision, Desk, Mode, View
from .evidence import evidence_of
from .review_order import Order

SHEET = "key-sheet"  # whether the keys are shown
BESIDE = "beside"  # what stands beside the candidate


class Beside(StrEnum):
    EVIDENCE = "Evidence"
    SIMILAR = "Similar"
    EFFECT = "Effect"
    HISTORY = "History"


def show(store: Store, preferred: str | None = None) -> None:
    st.title("Review")
    name = cards.pick_set(store, preferred)
    if name is None:
        return
    desk = _desk(store, name)
    view = desk.look()
    if view is None:
        st.info("This set has no candidate. Add some in Gaps, or mine the set again in Runs.")
        return
    if desk.mode is Mode.MERGE:
        merge_panel.show(desk, view)
    elif desk.mode is Mode.SPLIT:
        split_panel.show(desk, view)
    else:
        _review(desk, view)


def _desk(store: Store, name: str) -> Desk:
    key = f"desk-{name}"
    if key not in st.session_state:
        st.session_state[key] = Desk(store, name, cards.actor().name)
    desk: Desk = st.session_state[key]
    desk.store, desk.actor = store, cards.actor().name
    return desk


def _review(desk: Desk, view: View) -> None:
    _top(desk, view)
    if st.session_state.get(SHEET):
        keyboard_panel.sheet()
    left, right = st.columns([6, 5], gap="medium")
    conflict = desk.conflict_of(view)
    with left:
        # What decides is laid out before what one decides on: whoever sees the next candidate may press a key at once.
        top, buttons = st.container(), st.container()
        with buttons:
            if conflict is None:
                _decisions(desk, view)
            _moves(desk, view)
        with top:
            wording_panel.heading(view)
            if conflict is None:
                wording_panel.wording(desk, view)
            else:
                conflict_panel.show(desk, conflict)
        if conflict is None:
            cards.notice(desk.notice)
            wording_panel.announced(desk, view)
    with right:
        _beside(desk, view)
    keyboard_panel.listen()


def _top(desk: Desk, view: View) -> None:
    """How far the review is, and in which order it goes."""
    bar, order = st.columns([6, 5], gap="medium", vertical_alignment="bottom")
    with bar:
        cards.progress(desk.roster.counts)
    with order, st.container(horizontal=True, horizontal_alignment="right"):
        st.segmented_control(
            "Order",
            list(Order),
            default=desk.order,
            key=f"order-{desk.set_name}",
            required=True,
            label_visibility="collapsed",
            on_change=partial(_reorder, desk),
        )
        st.button(
            "Keys", key="keys", shortcut="H", type="tertiary", on_click=partial(_toggle, SHEET)
        )


def _decisions(desk: Desk, view: View) -> None:
    act = partial(wording_panel.after_typing, desk, view)
    decide = partial(desk.decide, view)
    cards.buttons(
        Button("Accept", "A", partial(act, partial(decide, Decision.ACCEPT)), is_main=True),
        Button("Reject", "X", partial(act, partial(decide, Decision.REJECT))),
        Button("Needs work", "N", partial(act, partial(decide, Decision.NEEDS_WORK))),
        Button("Save wording", "W", partial(act, partial(desk.reword, view))),
    )


def _moves(desk: Desk, view: View) -> None:
    def act(command: Callable[[], None]) -> Callable[[], None]:
        return partial(wording_panel.after_typing, desk, view, command)

    cards.buttons(
        Button("Previous", "Left", act(partial(desk.step, -1))),
        Button("Next", "Right", act(partial(desk.step, 1))),
        Button("Undo", "Z", act(desk.undo)),
        Button("Redo", "Shift+Z", act(desk.redo)),
    )
    cards.buttons(
        Button("Merge", "M", act(partial(desk.open, view.candidate.id, Mode.MERGE))),
        Button("Split", "S", act(partial(desk.open, view.candidate.id, Mode.SPLIT))),
        Button("Find similar", "F", act(partial(_turn_to, Beside.SIMILAR))),
    )


def _beside(desk: Desk, view: View) -> None:
    st.session_state.setdefault(BESIDE, Beside.EVIDENCE)
    chosen = st.segmented_control(
        "Beside the candidate",
        list(Beside),
        key=BESIDE,
        required=True,
        label_visibility="collapsed",
        persist_state="session",
    )
    if chosen == Beside.SIMILAR:
        wording_panel.similar(desk, view)
    elif chosen == Beside.EFFECT:
        effect_panel.show(desk, view)
    elif chosen == Beside.HISTORY:
        say = partial(desk.comment, view)
        history_panel.history(desk.store, desk.set_name, view.candidate.id, say)
    else:
        others = [one for one in desk.roster.active if one.id != view.candidate.id]
        evidence_panel.evidence(evidence_of(desk.store, view.candidate, others, desk.set_name))


def _reorder(desk: Desk) -> None:
    chosen = Order(st.session_state[f"order-{desk.set_name}"])
    if chosen is not desk.order:  # told anew, too, after a run that a key cut short
        desk.order, desk.open_id = chosen, None


def _turn_to(beside: Beside) -> None:
    st.session_state[BESIDE] = beside


def _toggle(flag: str) -> None:
    st.session_state[flag] = not st.session_state.get(flag)
