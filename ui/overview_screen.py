"""A set at a glance: what to do next, its candidates, what it recovers, how it is used and how fast selecting is. Decides nothing."""

from typing import Any

import streamlit as st

from ..data.candidates import Status
from ..data.store import Store
from . import cards, charts, plots
from .likeness import vectors_of
from .next_steps import NextStep, is_outdated, next_steps
from .roster import Roster, roster_of

PAGES = "pages"  # the app's pages by title, as `app` leaves them
MOST_FIGURES = 6


def show(store: Store, preferred: str | None = None) -> None:
    st.title("Overview")
    name = cards.pick_set(store, preferred)
    if name is None:
        return
    roster = roster_of(store, name)
    report = store.document("audit", name)
    _headlines(roster, report or {})
    _next_steps(next_steps(name, roster, report, vectors_of(roster)))
    if report and is_outdated(name, roster, report):
        st.warning("The figures are of the set as it was when audited; it has changed since.")
    st.header("Candidates")
    cards.progress(roster.counts)
    cards.candidate_list(roster.candidates, charts.candidate_figures(report or {}))
    if report is None:
        st.info("Recovery, use, collapse and latency appear here once the set is audited.")
        return
    _recovery(report)
    _use(report)
    _latency(report)


def _headlines(roster: Roster, report: dict[str, Any]) -> None:
    total = len(roster.candidates)
    reviewed = total - roster.counts[Status.PROPOSED]
    covered = (report.get("semantic_coverage") or {}).get("value")
    figures = {
        "Candidates": f"{len(roster.active):,}",
        "Reviewed": f"{reviewed:,} of {total:,}",
        "Coverage": charts.percent(covered) if report else "–",
        **charts.headlines(report),
    }
    for column, (label, value) in zip(st.columns(len(figures)), figures.items(), strict=True):
        column.metric(label, value)


def _next_steps(steps: list[NextStep]) -> None:
    pages = st.session_state.get(PAGES, {})
    with st.container(border=True, gap="xsmall"):
        st.caption("What to do next")
        for step in steps:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(step.sentence)
                if step.page in pages:
                    st.page_link(pages[step.page], label=f"Open {step.page}")
            if step.command:
                st.text(charts.legible(f"or in a terminal: {step.command}"))


def _recovery(report: dict[str, Any]) -> None:
    st.header("Recovery and coverage")
    turns = report.get("turns") or {}
    st.caption(
        f"Over a sample of {turns.get('test', '?')} test turns, with 95 % intervals; dashed: the best constant."
    )
    if not charts.comparison(report):
        st.info(
            "Recovery is not told: on this sample the free thoughts' own gain is not above zero."
        )
    else:
        constant = (report.get("constant_recovery") or {}).get("value")
        left, right = st.columns(2)
        curve = charts.recovery_curve(report)
        left.altair_chart(plots.recovery_plot(curve, constant), width="stretch")
        right.altair_chart(plots.sets_plot(charts.comparison(report), constant), width="stretch")
    if covered := charts.coverage_curve(report):
        st.altair_chart(plots.coverage_plot(covered), width="stretch")


def _use(report: dict[str, Any]) -> None:
    st.header("Use by action")
    use = charts.use_by_action(report)
    st.caption(charts.collapse_sentence(report))
    if use.uses:
        st.altair_chart(plots.use_plot(use), width="stretch")
    else:
        st.info("No turn was audited.")


def _latency(report: dict[str, Any]) -> None:
    st.header("Latency of reasoning")
    rows = charts.latencies(report)
    if rows:
        st.caption(f"{charts.saving_sentence(rows)} {charts.latency_conditions(report)}")
        st.altair_chart(plots.latency_plot(rows), width="stretch")
    else:
        st.info("Latency was not measured in this audit.")
