"""Splitting side by side: parts by what their turns say, a sentence each, thoughts moved from part to part, and what comes of it."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from ..data.errors import ForethoughtError
from . import cards, conflict_panel, wording_panel
from .cards import Button, counted
from .charts import legible
from .computations import Computation
from .curation import Desk, Mode, View
from .evidence_panel import clipped
from .splitting import (
    AUTO,
    BY_HAND,
    LEFT_OUT,
    Members,
    SplitPlan,
    division,
    members_of,
    plan,
    split,
)
from .wording import PATIENCE, advice

COUNTS = (2, 3, 4)
LISTED = 40  # thoughts that can be moved; rarer ones go where the division put them
SOON = 1  # seconds to the next look at what is being read


def show(desk: Desk, view: View) -> None:
    st.subheader("Split")
    cards.notice(desk.notice)
    if desk.stale is not None:
        conflict_panel.sides(desk.stale)
        st.caption(
            "What you chose is still below, now on what is stored: look at it, and do it again."
        )
    with st.container(border=True, gap="xsmall"):
        st.text(legible(view.candidate.text))
        st.text(cards.origin(view.candidate))
    if view.candidate.support:
        _members(desk, view)
    else:
        st.info(
            "No turn stands behind this candidate, so there is nothing to divide. Reword it, or add another in Gaps."
        )
        _back(desk, view)


def _members(desk: Desk, view: View) -> None:
    reading = members_of(desk.store, desk.set_name, view.candidate)
    try:
        members = reading.result(PATIENCE)
    except ForethoughtError as error:
        cards.problem(str(error), "Its turns cannot be read.")
        members = None
    if members is not None:
        _divide(desk, view, members)
        return
    if not reading.is_over:
        st.fragment(_wait, run_every=SOON)(reading)
    _back(desk, view)


def _divide(desk: Desk, view: View, members: Members) -> None:
    id = view.candidate.id
    how = st.segmented_control(
        "Parts",
        [AUTO, *COUNTS, BY_HAND],
        default=AUTO,
        format_func=str,
        key=f"split-how-{id}",
        required=True,
        on_change=partial(_forget, id),
    )
    others = [one.text for one in desk.roster.candidates if one.id != id]
    proposed = division(members, view.candidate, str(how or AUTO), others)
    moved: dict[int, int] = st.session_state.setdefault(f"split-moved-{id}", {})
    parts = [moved.get(place, part) for place, part in enumerate(proposed.parts)]
    if len(proposed.texts) < 2:
        st.info("Nothing sets its turns apart. Ask for a number of parts, or divide them by hand.")
    texts = _columns(desk, view, members, parts, proposed.texts, moved)
    wanted = plan(view.candidate, members, parts, texts)
    _told(wanted)

    def as_it_stands() -> SplitPlan:  # when the button is pressed, not when it was drawn
        keys = (f"split-text-{id}-{number}" for number in range(len(texts)))
        typed = [st.session_state.get(key, text) for key, text in zip(keys, texts, strict=True)]
        placed = [moved.get(place, part) for place, part in enumerate(proposed.parts)]
        return plan(view.candidate, members, placed, typed)

    cards.buttons(
        Button(
            "Split it",
            "Y",
            lambda: _split(desk, as_it_stands()),
            is_main=True,
            is_disabled=wanted.is_one,
        ),
        Button("Back", "B", partial(desk.open, id)),
    )


def _columns(
    desk: Desk,
    view: View,
    members: Members,
    parts: list[int],
    proposed: Sequence[str],
    moved: dict[int, int],
) -> list[str]:
    """A column a part: its sentence, and the thoughts that can be moved elsewhere; the sentences."""
    texts = []
    for number, (column, text) in enumerate(zip(st.columns(len(proposed)), proposed, strict=True)):
        with column:
            texts.append(_sentence(desk, view, number, text))
            _thoughts(view, members, parts, number, len(proposed), moved)
    return texts


def _sentence(desk: Desk, view: View, number: int, proposed: str) -> str:
    key = f"split-text-{view.candidate.id}-{number}"
    st.session_state.setdefault(key, proposed)
    text = st.text_area(f"Part {number + 1}", key=key, height=100) or ""
    if text.casefold() == view.candidate.text.casefold():
        st.caption(":material/check: keeps this candidate's text, and is it from then on")
    elif text:
        wording_panel.told(advice(desk.store, desk.set_name, desk.roster, text, view.candidate.id))
    else:
        st.caption(":material/edit: write a sentence: no phrase of its turns says this part")
    return text


def _thoughts(
    view: View, members: Members, parts: list[int], number: int, count: int, moved: dict[int, int]
) -> None:
    places = [place for place, part in enumerate(parts) if part == number]
    turns = sum(len(members.sayings[place].turns) for place in places)
    st.caption(f"{counted(turns, 'turn')}, {counted(len(places), 'thought')}")
    targets = [*(n for n in range(count) if n != number), LEFT_OUT]
    with st.container(height=320, gap="xsmall"):
        for place in [place for place in places if place < LISTED]:
            saying = members.sayings[place]
            with st.container(border=True, gap="xxsmall"):
                st.text(legible(clipped(saying.example)))
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.caption(counted(len(saying.turns), "turn"))
                    for target in targets:
                        st.button(
                            "leave out" if target == LEFT_OUT else f"→ {target + 1}",
                            key=f"move-{view.candidate.id}-{place}-{target}",
                            type="tertiary",
                            on_click=partial(moved.__setitem__, place, target),
                        )
        rarer = sum(place >= LISTED for place in places)
        if rarer:
            st.caption(f"and {counted(rarer, 'rarer thought')}, kept with this part")


def _told(wanted: SplitPlan) -> None:
    kept = (
        "One part keeps the candidate, its history and its aliases; the others are new, to be reviewed."
        if wanted.keeps_itself
        else "No part keeps its text: the candidate is rejected, and all parts are new, to be reviewed."
    )
    left = f" {counted(len(wanted.left_out), 'turn')} left out." if wanted.left_out else ""
    st.caption(f"{counted(len(wanted.parts), 'part')}. {kept}{left}")


def _wait(reading: Computation[Members]) -> None:
    if reading.is_over:
        st.rerun()
    st.caption(f":material/hourglass_empty: {reading.stage or 'begun'} …")


def _back(desk: Desk, view: View) -> None:
    cards.buttons(Button("Back", "B", partial(desk.open, view.candidate.id)))


def _split(desk: Desk, wanted: SplitPlan) -> None:
    said = f"Split into {counted(len(wanted.parts), 'part')}. Z takes it back."
    desk.regroup(lambda: split(desk.store, desk.set_name, desk.actor, wanted)[0], said)
    if desk.mode is Mode.REVIEW:
        _forget(wanted.candidate.id)


def _forget(id: str) -> None:
    """What was chosen for another division."""
    names = (f"split-moved-{id}", f"split-text-{id}-")
    for key in [k for k in st.session_state if str(k).startswith(names)]:
        del st.session_state[key]
