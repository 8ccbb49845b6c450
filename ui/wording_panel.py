"""The wording of a candidate as one types it: the text, what speaks against it, candidates that say nearly the same."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from . import cards
from .charts import legible, percent
from .curation import Desk, View
from .keyboard_panel import WORDING_BOX
from .likeness import Alike, alike
from .wording import Advice, advice

SIMILAR = 12  # candidates listed as similar


def heading(view: View) -> None:
    """Which candidate of how many, its status and origin."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"Candidate {view.number} of {view.total}", width="content")
        cards.status(view.candidate)
        if view.draft is not None:
            st.badge("draft", color="violet")
    st.text(cards.origin(view.candidate))
    for alias in view.candidate.aliases[:3]:
        st.text(legible(f"also: {alias}"))


def wording(desk: Desk, view: View) -> None:
    """The text to edit, with advice on it as it stands."""
    st.session_state[_key(view)] = view.wording
    with st.container(key=WORDING_BOX):
        st.text_area(
            "Wording",
            key=_key(view),
            height=100,
            on_change=partial(after_typing, desk, view),
            label_visibility="collapsed",
        )
    told(advice(desk.store, desk.set_name, desk.roster, view.wording, view.candidate.id))


def after_typing(desk: Desk, view: View, command: Callable[[], None] | None = None) -> None:
    """Take in what was typed, then act: a click straight after a keystroke must not lose it."""
    if _key(view) in st.session_state:
        desk.type(view, st.session_state[_key(view)])
    if command:
        command()


def announced(desk: Desk, view: View) -> None:
    """The kinds of action that the candidate announces, to be changed at once."""
    key = f"announces-{view.candidate.id}-{view.candidate.version}"

    def changed() -> None:
        desk.expect(view, st.session_state[key])

    known = (name for one in desk.roster.candidates for name in one.expected_actions)
    st.multiselect(
        "Announces",
        list(dict.fromkeys((*view.candidate.expected_actions, *known))),
        default=list(view.candidate.expected_actions),
        key=key,
        format_func=legible,
        accept_new_options=True,
        placeholder="any action",
        on_change=changed,
    )


def told(found: Advice) -> None:
    """What speaks against the wording as it stands."""
    if found.problems:
        st.caption(":material/info: Before you accept: this wording")
        st.text("\n".join(f"– {legible(problem)}" for problem in found.problems))
    else:
        st.caption(":material/check: The wording reads as an instance-free thought.")
    if found.alike:
        st.caption(":material/content_copy: Nearly the same is said by")
        for one in found.alike:
            st.text(legible(f"{percent(one.likeness)}  {one.text}"))
    if found.pending:
        st.caption(f":material/hourglass_empty: Not known yet: {found.pending}")


def similar(desk: Desk, view: View) -> None:
    """The candidates most like this one, each to be opened."""
    found = alike(view.wording, desk.roster, view.candidate.id, least=0.0, most=SIMILAR)
    if not found:
        st.info("This set has no other candidate.")
    for one in found:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            _alike(desk, one)


def _alike(desk: Desk, one: Alike) -> None:
    listed = desk.roster.by_id[one.id]
    with st.container(gap=None):
        st.text(legible(one.text))
        st.text(f"{percent(one.likeness)} alike · {cards.origin(listed)}")
    cards.status(listed)
    st.button("Open", key=f"open-{one.id}", on_click=partial(desk.open, one.id))


def _key(view: View) -> str:
    return f"wording-{view.candidate.id}"
