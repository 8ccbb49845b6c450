"""What keeping or dropping a candidate does to what the set covers, worked out when it is asked for, beside the review."""

import streamlit as st

from ..data.errors import ForethoughtError
from . import cards
from .charts import legible, percent
from .computations import Computation
from .curation import Desk, View
from .effects import Effects, effects_asked_for, effects_of

SOON = 1  # seconds to the next look at what is being worked out
LAST = "effects-last"  # the last effects that were shown, of each set


def show(desk: Desk, view: View) -> None:
    asked = effects_asked_for(desk.store, desk.set_name, desk.roster)
    if asked is None:
        _older(desk, view)
        return
    if not asked.is_over:
        st.fragment(_wait, run_every=SOON)(asked)
        return
    try:
        found = asked.result()
    except ForethoughtError as error:
        cards.problem(str(error), "The effect cannot be told.")
        _ask(desk, "Try again")
        return
    assert found is not None
    st.session_state[f"{LAST}-{desk.set_name}"] = found
    _told(desk, view, found)


def _older(desk: Desk, view: View) -> None:
    """The figures from before the set's last changes, if there are any, and the button for new ones."""
    last: Effects | None = st.session_state.get(f"{LAST}-{desk.set_name}")
    if last is not None and last.texts.get(view.candidate.id) == view.candidate.text:
        st.caption("Of the set as it was before its last changes:")
        _told(desk, view, last)
    else:
        st.info(
            "Which turns this candidate takes, and which would be left without it. "
            "Worked out on all mine turns: seconds for thousands, minutes for a hundred thousand."
        )
    _ask(desk, "Work out the effect")


def _ask(desk: Desk, label: str) -> None:
    def begin() -> None:
        effects_of(desk.store, desk.set_name, desk.roster)

    st.button(label, key="work-out-effect", on_click=begin)


def _wait(asked: Computation[Effects]) -> None:
    if asked.is_over:
        st.rerun()
    st.caption(f":material/hourglass_empty: {asked.stage or 'begun'} … you can go on reviewing")


def _told(desk: Desk, view: View, found: Effects) -> None:
    effect = found.by_id.get(view.candidate.id)
    if effect is None:
        st.info("A rejected candidate takes no turns. Accept it to see what it would do.")
        return
    of = max(found.turns, 1)
    with st.container(horizontal=True):
        st.metric("Takes", percent(effect.turns / of), help=None)
        st.metric("Lost without it", _share(effect.lost / of))
        st.metric("Contested", percent(effect.contested / max(effect.turns, 1)))
    st.caption(
        f"It takes {effect.turns:,} of {found.turns:,} mine turns. Without it {effect.lost:,} would fit no candidate, "
        f"and {effect.turns - effect.lost:,} would go to others; on {effect.contested:,} another comes close."
    )
    for heir in effect.heirs:
        listed = desk.roster.by_id.get(heir.id)
        text = listed.text if listed else found.texts[heir.id]
        st.text(legible(f"{heir.turns:,} turns → {text}"))


def _share(value: float) -> str:
    return f"{100 * value:.1f} %" if 0 < value < 0.1 else percent(value)
