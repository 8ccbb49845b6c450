"""Thoughts on a plane: draw a line around some, read them, make a candidate of them. Decides nothing."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial

import streamlit as st

from ..data.commands import NewCandidate
from ..data.errors import ForethoughtError
from ..data.store import Store
from ..miner.embed import Embedder
from . import cards, landscape, wording_panel
from .cards import Button, counted
from .charts import legible, shortened
from .computations import Computation
from .curation import Notice
from .landscape import Landscape, Point, landscape_asked_for, landscape_of
from .map_plot import Dot, map_plot
from .roster import Roster, roster_of
from .wording import advice

SOON = 1  # seconds to the next look at what is being drawn
LABELS = 6  # that have a colour of their own; the rest share one
LAST, SAID = "map-last", "map-said"
OTHERS, NONE = "others", "none assigned"
LISTED = 300  # thoughts inside that are listed
Make = Callable[[], Embedder]


class Colour(StrEnum):
    """What points are coloured by."""

    CANDIDATE = "candidate"
    ACTION = "action"
    OUTCOME = "outcome"
    SOURCE = "source"


def show(store: Store, preferred: str | None = None, make: Make | None = None) -> None:
    """`make` builds the embedder, by default the packaged one."""
    st.title("Map")
    name = cards.pick_set(store, preferred)
    if name is None:
        return
    roster = roster_of(store, name)
    cards.notice(st.session_state.pop(SAID, None))
    asked = landscape_asked_for(store, name, roster)
    if asked is not None and not asked.is_over:
        st.fragment(_wait, run_every=SOON)(asked)
        return
    found = _finished(name, asked)

    def begin() -> None:
        landscape_of(store, name, roster, make)

    if found is None:
        st.info(
            "The map lays out what the set was mined from: alike thoughts lie near each other. Some seconds for thousands "
            "of turns, minutes for a hundred thousand the first time; you can go on reviewing meanwhile."
        )
        cards.buttons(Button("Draw the map", None, begin, is_main=True))
        return
    if asked is None:
        st.caption("As it was before the set's last changes.")
        st.button("Draw it anew", key="map-anew", on_click=begin)
    left, right = st.columns([6, 5], gap="medium")
    with left:
        chosen = _map(roster, found)
    with right:
        _chosen(store, name, roster, chosen)


def _finished(name: str, asked: Computation[Landscape] | None) -> Landscape | None:
    """What was asked for, or the last that was."""
    key = f"{LAST}-{name}"
    if asked is not None:
        try:
            st.session_state[key] = asked.result()
        except ForethoughtError as error:
            cards.problem(str(error), "The map cannot be drawn.")
            st.session_state[key] = None
    return st.session_state.get(key)


def _wait(asked: Computation[Landscape]) -> None:
    if asked.is_over:
        st.rerun()
    st.caption(f":material/hourglass_empty: {asked.stage or 'begun'} … you can go on reviewing")


def _map(roster: Roster, found: Landscape) -> list[Point]:
    """The map; the points in what was drawn on it."""
    colour = Colour(
        st.segmented_control(
            "Colour by", list(Colour), default=Colour.CANDIDATE, key="map-colour", required=True
        )
        or Colour.CANDIDATE
    )
    labels = _labels(roster, found.points, colour)
    common = [label for label, _ in Counter(labels).most_common(LABELS)]
    colours = [*common, *([OTHERS] if len(set(labels)) > len(common) else [])]
    dots = [
        Dot(p.turn, p.x, p.y, label if label in common else OTHERS, legible(p.text))
        for p, label in zip(found.points, labels, strict=True)
    ]
    event = st.plotly_chart(
        map_plot(dots, colours),
        width="stretch",
        key=f"map-{colour.value}-{found.state}",
        on_select="rerun",
        selection_mode=("lasso", "box"),
        config={"displaylogo": False, "modeBarButtonsToRemove": ["autoScale2d", "toImage"]},
    )
    st.caption(
        f"{len(found.points):,} of {found.num_turns:,} mine turns, every source and action among them. "
        "Nearness tells, distance and direction do not. Draw a line around some."
    )
    taken = {point["customdata"][0] for point in event["selection"]["points"]}
    return [point for point in found.points if point.turn in taken]


def _labels(roster: Roster, points: Sequence[Point], colour: Colour) -> list[str]:
    if colour is not Colour.CANDIDATE:
        return [legible(getattr(point, colour.value)) or "unnamed" for point in points]
    texts = {
        one.id: f"{n}. {shortened(one.text, 40)}" for n, one in enumerate(roster.candidates, 1)
    }
    return [texts.get(point.candidate, NONE) for point in points]


def _chosen(store: Store, name: str, roster: Roster, points: list[Point]) -> None:
    if not points:
        st.info("Draw a line around some thoughts: they are listed here, and become a candidate.")
        return
    st.subheader(f"{counted(len(points), 'thought')} inside")
    key = "-".join((points[0].turn, points[-1].turn, str(len(points))))
    taken = _listed(roster, points, key)
    wording = f"map-wording-{name}"
    text = st.text_area("Wording of a new candidate", key=wording, height=80) or ""
    if text:
        wording_panel.told(advice(store, name, roster, text, None))
    kinds = dict.fromkeys([*landscape.actions_of(taken), *(p.action for p in taken)])
    actions = st.multiselect(
        "Announces",
        list(kinds),
        default=list(landscape.actions_of(taken)),
        key=f"map-actions-{key}-{len(taken)}",
        format_func=legible,
    )
    st.caption(f"It would be supported by {counted(len(taken), 'turn')}.")
    new = NewCandidate(text, tuple(point.turn for point in taken), tuple(actions))
    cards.buttons(
        Button(
            "Make a candidate",
            None,
            partial(_make, store, name, wording, new),
            is_main=True,
            is_disabled=not text.strip(),
        )
    )


def _listed(roster: Roster, points: list[Point], key: str) -> list[Point]:
    """The thoughts inside; those of the rows that are picked, or all."""
    listed = points[:LISTED]
    event = st.dataframe(
        [
            {
                "thought": legible(point.text),
                "then": legible(point.action),
                "outcome": point.outcome,
                "candidate": shortened(one.text)
                if (one := roster.by_id.get(point.candidate))
                else "",
            }
            for point in listed
        ],
        key=f"map-list-{key}",
        on_select="rerun",
        selection_mode="multi-row",
        hide_index=True,
        height=260,
        row_height=30,
        column_config={
            "thought": st.column_config.TextColumn(width=230),
            "then": st.column_config.TextColumn(width=60),
            "outcome": st.column_config.TextColumn(width=65),
        },
    )
    rows = event["selection"]["rows"]
    more = "" if len(points) <= LISTED else f"; {LISTED} are listed"
    st.caption(
        f"{counted(len(rows), 'row')} picked"
        if rows
        else f"All are taken; pick rows to take those only{more}."
    )
    return [listed[row] for row in rows] if rows else points


def _make(store: Store, name: str, wording: str, new: NewCandidate) -> None:
    try:
        typed = replace(new, text=st.session_state[wording])  # as it stands now
        landscape.add_candidate(store, name, cards.actor().name, typed)
    except ForethoughtError as error:
        st.session_state[SAID] = Notice("Nothing was written.", str(error))
        return
    st.session_state[SAID] = Notice("A new candidate stands at the end of the set, to be reviewed.")
    st.session_state[wording] = ""
