"""A set at a glance: its candidates, what it recovers, how it is used and how fast selecting is. Decides nothing."""

from typing import Any

import streamlit as st

from ..data.candidates import CandidateSet, Status
from ..data.store import Store
from . import cards, charts, curation, plots


def show(store: Store, preferred: str | None = None) -> None:
    st.title("Overview")
    name = cards.pick_set(store, preferred)
    if name is None:
        return
    candidate_set = store.candidate_set(name)
    report = store.document("audit", name)
    cards.next_step(curation.next_step(candidate_set, report))
    _headlines(candidate_set, report or {})
    if report and curation.is_outdated(candidate_set, report):
        st.warning("The figures are of the set as it was when audited; it has changed since.")
    st.header("Candidates")
    cards.candidate_list(candidate_set.candidates)
    if report is None:
        st.info("Recovery, use, collapse and latency appear here once the set is audited.")
        return
    _recovery(report)
    _use(report)
    _latency(report)


def _headlines(candidate_set: CandidateSet, report: dict[str, Any]) -> None:
    total = len(candidate_set.candidates)
    reviewed = total - curation.status_counts(candidate_set)[Status.PROPOSED]
    figures = {
        "Candidates": str(len(candidate_set.active)),
        "Reviewed": f"{reviewed} of {total}",
        **charts.headlines(report),
    }
    for column, (label, value) in zip(st.columns(len(figures)), figures.items(), strict=True):
        column.metric(label, value)


def _recovery(report: dict[str, Any]) -> None:
    st.header("Recovery")
    turns = report.get("turns") or {}
    st.caption(
        f"Over a sample of {turns.get('test', '?')} test turns, with 95 % intervals; dashed: the best constant."
    )
    if not charts.comparison(report):
        st.info(
            "Recovery is not told: on this sample the free thoughts' own gain is not above zero."
        )
        return
    constant = (report.get("constant_recovery") or {}).get("value")
    left, right = st.columns(2)
    left.altair_chart(plots.recovery_plot(charts.recovery_curve(report), constant), width="stretch")
    right.altair_chart(plots.sets_plot(charts.comparison(report), constant), width="stretch")


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
