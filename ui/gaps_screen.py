"""What the set does not cover: groups of turns, a candidate made out of some of them, a growing run started. Decides nothing."""

import os
import shlex
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from ..data.errors import ForethoughtError
from ..data.store import Store
from ..miner.coverage import COVERED_AT
from . import cards, wording_panel
from .access import Right
from .cards import Button, counted
from .charts import legible, percent
from .computations import Computation
from .curation import Notice
from .evidence import read_turn
from .evidence_panel import clipped, turn
from .gaps import Gap, Gaps, GapThought, Kind, actions_of, add_candidate, gaps_asked_for, gaps_of
from .jobs import Jobs
from .roster import Roster, roster_of
from .runs import MineRun
from .serving import STORE_VARIABLE
from .wording import advice

SOON = 1  # seconds to the next look at what is being worked out
LISTED = 15  # thoughts of a gap that can be ticked
GROWN_BY = 3  # candidates that a run may add
LAST, SAID, OPEN = "gaps-last", "gaps-said", "gaps-open"


def show(store: Store, preferred: str | None = None) -> None:
    st.title("Gaps")
    name = cards.pick_set(store, preferred)
    if name is None:
        return
    roster = roster_of(store, name)
    cards.notice(st.session_state.pop(SAID, None))
    kind, threshold = _settings()

    def begin() -> None:
        gaps_of(store, name, roster, kind, threshold)

    asked = gaps_asked_for(store, name, roster, kind, threshold)
    if asked is not None and not asked.is_over:
        st.fragment(_wait, run_every=SOON)(asked)
        return
    found = _finished(name, asked)
    if found is None or found.kind is not kind:
        _invite(begin)
        _mine(store, name)
        return
    if found.state != roster.state:
        st.caption("As they were before the set's last changes.")
        st.button("Work them out anew", key="gaps-anew", on_click=begin)
    _gaps(store, name, roster, found)
    _mine(store, name)


def _settings() -> tuple[Kind, float]:
    left, right = st.columns([5, 3], gap="medium")
    kind = left.segmented_control(
        "Uncovered are mine turns where",
        list(Kind),
        default=Kind.FAR,
        key="gaps-kind",
        required=True,
        persist_state="session",
    )
    chosen = Kind(kind or Kind.FAR)
    threshold = COVERED_AT
    if chosen is Kind.FAR:
        threshold = right.slider(
            "near from this cosine on", 0.3, 0.9, COVERED_AT, 0.05, key="gaps-threshold"
        )
    return chosen, threshold


def _invite(begin: Callable[[], None]) -> None:
    st.info(
        "Gaps are worked out on all mine turns of this set's source: seconds for thousands of turns, "
        "minutes for a hundred thousand the first time. You can go on reviewing meanwhile."
    )
    cards.buttons(Button("Find the gaps", None, begin, is_main=True))


def _finished(name: str, asked: Computation[Gaps] | None) -> Gaps | None:
    """What was asked for, or the last that was."""
    key = f"{LAST}-{name}"
    if asked is not None:
        try:
            st.session_state[key] = asked.result()
        except ForethoughtError as error:
            cards.problem(str(error), "The gaps cannot be told.")
            st.session_state[key] = None
    return st.session_state.get(key)


def _wait(asked: Computation[Gaps]) -> None:
    if asked.is_over:
        st.rerun()
    st.caption(f":material/hourglass_empty: {asked.stage or 'begun'} … you can go on reviewing")


def _gaps(store: Store, name: str, roster: Roster, found: Gaps) -> None:
    st.caption(
        f"{found.uncovered:,} of {found.turns:,} mine turns ({percent(found.uncovered / max(found.turns, 1))}) "
        f"are uncovered; {found.scattered:,} of them resemble no others."
    )
    if not found.gaps:
        st.success("Nothing that recurs is uncovered.")
        return
    left, right = st.columns([5, 7], gap="medium")
    place = min(st.session_state.get(OPEN, 0), len(found.gaps) - 1)
    with left, st.container(height=620, gap="xsmall"):
        for number, gap in enumerate(found.gaps):
            _listed(number, gap, is_open=number == place)
    with right:
        _open(store, name, roster, found.gaps[place])


def _listed(number: int, gap: Gap, *, is_open: bool) -> None:
    with st.container(border=True, gap="xxsmall"):
        st.text(legible(clipped(gap.wording or gap.thoughts[0].example)))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                f"{counted(gap.num_turns, 'turn')} of {counted(gap.num_questions, 'question')}"
            )
            st.button(
                "Open",
                key=f"open-gap-{number}",
                type="primary" if is_open else "tertiary",
                on_click=partial(st.session_state.__setitem__, OPEN, number),
            )


def _open(store: Store, name: str, roster: Roster, gap: Gap) -> None:
    id = gap.thoughts[0].turns[0]
    nearest = roster.by_id.get(gap.nearest)
    if nearest is not None:
        st.caption(f"Nearest candidate, at {gap.cosine:.2f}")
        st.text(legible(nearest.text))
    key = f"gap-text-{id}"
    st.session_state.setdefault(key, gap.wording)
    text = st.text_area("Wording of a new candidate", key=key, height=80) or ""
    if text:
        wording_panel.told(advice(store, name, roster, text, None))
    else:
        st.caption(":material/edit: Write a sentence: no phrase of these turns says them all.")
    chosen = _ticked(store, gap)
    announced = actions_of(chosen)
    kinds = dict.fromkeys(kind for one in gap.thoughts for kind, _ in one.kinds)
    actions = st.multiselect(
        "Announces",
        list(kinds),
        default=list(announced),
        key=f"gap-actions-{id}-{len(chosen)}",
        format_func=legible,
    )
    turns = sum(len(one.turns) for one in chosen)
    st.caption(f"It would be supported by {counted(turns, 'turn')}.")
    make = partial(_make, store, name, key, chosen, actions)
    cards.buttons(
        Button("Make a candidate", None, make, is_main=True, is_disabled=not text.strip())
    )


def _ticked(store: Store, gap: Gap) -> list[GapThought]:
    """The thoughts that are to support the new candidate: all, until some are unticked; rarer ones go with the rest."""
    shown, rarer = gap.thoughts[:LISTED], gap.thoughts[LISTED:]
    chosen = []
    with st.container(height=300, gap="xsmall"):
        for one in shown:
            with st.container(horizontal=True, vertical_alignment="top", gap="small"):
                is_in = st.checkbox(
                    "take", value=True, key=f"take-{one.turns[0]}", label_visibility="collapsed"
                )
                with st.container(gap=None):
                    st.text(legible(clipped(one.example)))
                    st.caption(
                        f"{counted(len(one.turns), 'turn')} of {counted(one.questions, 'question')}"
                    )
                    _trace(store, one)
            if is_in:
                chosen.append(one)
    if rarer:
        is_in = st.checkbox(
            f"with {counted(len(rarer), 'rarer thought')}",
            value=True,
            key=f"take-rarer-{rarer[0].turns[0]}",
        )
        chosen += rarer if is_in else ()
    return chosen


def _trace(store: Store, one: GapThought) -> None:
    opened = st.expander(
        "One of them in its trace", key=f"gap-trace-{one.turns[0]}", on_change="rerun"
    )
    if opened.open and (found := read_turn(store, one.turns[0])) is not None:
        with opened:
            turn(found, "gap")


def _make(
    store: Store, name: str, key: str, chosen: Sequence[GapThought], actions: Sequence[str]
) -> None:
    text = st.session_state[key]
    try:
        add_candidate(store, name, cards.actor().name, text, chosen, actions)
    except ForethoughtError as error:
        st.session_state[SAID] = Notice("Nothing was written.", str(error))
    else:
        st.session_state[SAID] = Notice(
            "A new candidate stands at the end of the set, to be reviewed."
        )


def _mine(store: Store, name: str) -> None:
    """Let the miner propose candidates for what new traces brought."""
    st.header("Mine the gap")
    st.caption(
        f"Grows the set by at most {GROWN_BY} candidates, out of traces that were imported since it was mined. "
        "What you have touched stays as it is."
    )
    run = MineRun(name, GROWN_BY, grow=True)
    cards.verbatim(shlex.join(["forethought", *run.arguments()]))
    may = cards.actor().may(Right.JOBS)
    cards.buttons(
        Button("Start it in Runs", None, partial(_start, store, run), is_disabled=not may)
    )


def _start(store: Store, run: MineRun) -> None:
    jobs = Jobs.of(store.database.location, os.environ.get(STORE_VARIABLE))
    try:
        jobs.start(run.arguments(), cards.actor())
    except ForethoughtError as error:
        st.session_state[SAID] = Notice("Nothing was started.", str(error))
    else:
        st.session_state[SAID] = Notice("Started. See how far it is in Runs.")
