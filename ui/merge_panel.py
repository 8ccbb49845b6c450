"""Merging side by side: who survives, who joins, under which text, without which turns, and what comes of it. Decides nothing."""

from dataclasses import replace
from functools import partial

import streamlit as st

from . import cards, conflict_panel, evidence_panel, wording_panel
from .cards import Button, counted
from .charts import legible
from .curation import Desk, Mode, View
from .merging import MergePlan, doubtful_members, merge, offered
from .wording import advice


def show(desk: Desk, view: View) -> None:
    survivor = view.candidate
    st.subheader("Merge")
    _told(desk)
    left, right = st.columns(2, gap="medium")
    with left:
        st.caption("This one survives")
        with st.container(border=True, gap="xsmall"):
            st.text(legible(survivor.text))
            st.text(cards.origin(survivor))
    with right:
        chosen = _others(desk, view)
    plan = _plan(desk, view, chosen)
    with left:
        _text(desk, plan)
    if plan.others:
        _preview(desk, plan)
    cards.buttons(
        Button(
            "Merge them",
            "Y",
            partial(_merge, desk, plan),
            is_main=True,
            is_disabled=not plan.others,
        ),
        Button("Back", "B", partial(desk.open, survivor.id)),
    )


def _told(desk: Desk) -> None:
    """After a conflict: what changed, and that all that was chosen is still here."""
    cards.notice(desk.notice)
    if desk.stale is not None:
        conflict_panel.sides(desk.stale)
        st.caption(
            "What you chose is still below, now on what is stored: look at it, and do it again."
        )


def _others(desk: Desk, view: View) -> list[str]:
    """The candidates that join, ticked among the most similar; ids."""
    words = st.text_input(
        "Join to it (most similar first)", placeholder="words to look for", key="merge-words"
    )
    kept_key = f"merge-chosen-{view.candidate.id}"
    chosen: list[str] = st.session_state.setdefault(kept_key, [])
    chosen[:] = [id for id in chosen if id in desk.roster.by_id]
    with st.container(height=330, gap="xsmall"):
        for one in offered(desk.roster, view.candidate, words or "", chosen):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.checkbox(
                    "join",
                    value=one.id in chosen,
                    key=f"join-{view.candidate.id}-{one.id}",
                    label_visibility="collapsed",
                    on_change=partial(_toggle, chosen, one.id),
                )
                with st.container(gap=None):
                    st.text(legible(one.text))
                    number = f"text {chosen.index(one.id) + 1} · " if one.id in chosen else ""
                    st.text(f"{number}{cards.origin(one)}")
    return chosen


def _plan(desk: Desk, view: View, chosen: list[str]) -> MergePlan:
    survivor = view.candidate
    others = [desk.store.candidate(desk.set_name, id) for id in chosen]
    text = st.session_state.get(_text_key(survivor.id), view.wording)
    excluded = frozenset(st.session_state.get(f"merge-excluded-{survivor.id}", ()))
    found = tuple(other for other in others if other is not None)
    known = {turn for other in found for turn in other.support}
    return MergePlan(survivor, found, text, excluded & known)


def _text(desk: Desk, plan: MergePlan) -> None:
    """The surviving text: either's, or a new one."""
    key = _text_key(plan.survivor.id)
    st.session_state.setdefault(key, plan.text)
    st.text_area("Text that survives", key=key, height=80)
    row = []
    for number, other in enumerate((plan.survivor, *plan.others), start=1):
        if other.text != plan.text and number <= 4:
            label = "Use its own text" if number == 1 else f"Use text {number - 1}"
            row.append(Button(label, None, partial(_fill, key, other.text)))
    cards.buttons(*row)
    found = advice(desk.store, desk.set_name, desk.roster, plan.text, plan.survivor.id)
    wording_panel.told(found.without({other.id for other in plan.others}))


def _preview(desk: Desk, plan: MergePlan) -> None:
    left, right = st.columns(2, gap="medium")
    with left, st.container(border=True, gap="xsmall"):
        st.caption("What comes of it")
        st.text(legible(plan.text))
        st.text(
            legible(
                f"before {', '.join(plan.actions) or 'any action'} · {counted(len(plan.support), 'turn')}"
                f", {len(plan.survivor.support):,} of them its own"
            )
        )
        st.caption("Also known by, for the record")
        for alias in plan.aliases:
            st.text(legible(f"– {alias}"))
    with right:
        st.caption("Turns of the others that fit the text least: tick what is to stay out")
        _members(desk, plan)


def _members(desk: Desk, plan: MergePlan) -> None:
    excluded: list[str] = st.session_state.setdefault(f"merge-excluded-{plan.survivor.id}", [])
    with st.container(height=260, gap="xsmall"):
        for member in doubtful_members(desk.store, plan):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.checkbox(
                    "leave out",
                    value=member.id in excluded,
                    key=f"leave-out-{plan.survivor.id}-{member.id}",
                    label_visibility="collapsed",
                    on_change=partial(_toggle, excluded, member.id),
                )
                with st.container(gap=None):
                    st.text(legible(evidence_panel.clipped(member.turn.thought)))


def _merge(desk: Desk, drawn: MergePlan) -> None:
    plan = replace(drawn, text=st.session_state[_text_key(drawn.survivor.id)])  # as it stands now
    said = f"{counted(len(plan.others) + 1, 'candidate')} merged. Z takes it back."
    desk.regroup(lambda: merge(desk.store, desk.set_name, desk.actor, plan), said)
    if desk.mode is Mode.REVIEW:
        for key in [k for k in st.session_state if str(k).startswith("merge-")]:
            del st.session_state[key]


def _toggle(ids: list[str], id: str) -> None:
    ids.remove(id) if id in ids else ids.append(id)


def _fill(key: str, text: str) -> None:
    st.session_state[key] = text


def _text_key(survivor_id: str) -> str:
    return f"merge-text-{survivor_id}"
