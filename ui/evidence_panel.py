"""How the turns behind a candidate are shown: typical, boundary and outside ones, each with its whole trace and its pictures on demand.

Texts of traces reach the page letter by letter: by `st.text` and `cards.verbatim` only.
"""

from collections.abc import Sequence

import streamlit as st

from . import cards
from .browsing import Picture
from .charts import legible
from .evidence import Evidence, EvidenceTurn

CLIP = 400  # characters of what stands around a thought; the whole trace has the rest
MOST_PICTURES = 8  # of a trace, shown at once


def evidence(found: Evidence) -> None:
    """Everything that a person judges a candidate by."""
    if not found.support:
        st.info("Nobody's turns stand behind this candidate: it was written, not mined.")
    else:
        if found.missing:
            st.warning(f"{found.missing} of its turns are no longer in the store.")
        st.caption(f"{found.looked_at} of {found.support:,} turns were compared by their words")
    _section("Typical", found.typical)
    _section("Boundary: its own, but read more like another candidate", found.boundary)
    if found.outside:
        st.caption("**Outside: turns of other candidates that read most like this one**")
    for place, outsider in enumerate(found.outside):
        turn(outsider.turn, f"outside-{place}", of=outsider.of)


def turn(one: EvidenceTurn, key: str, of: str | None = None) -> None:
    """One turn with its question, the thought and what followed; `of`: the candidate that it belongs to instead."""
    with st.container(border=True, gap="xsmall"):
        outcome = one.trace.outcome.value if one.trace.outcome else "unknown outcome"
        st.caption(f"turn {one.index + 1} of {len(one.trace.turns)} · {outcome}")
        field("Thought", one.thought)
        if of is not None:
            field("Stands for", of)
        field("Question", one.trace.question)
        field("Then", clipped(one.after))
        pictures(one.pictures)
        opened = st.expander(
            "Before it, and the whole trace",
            key=f"trace-{key}-{one.trace.id}-{one.index}",
            on_change="rerun",
        )
        if opened.open:
            with opened:
                _whole(one)


def field(label: str, text: str) -> None:
    """A text of a trace under one of our own labels."""
    if text:
        with st.container(gap=None):
            st.caption(label)
            st.text(legible(text))


def pictures(found: Sequence[Picture]) -> None:
    for one in found[:MOST_PICTURES]:
        if one.content is not None:
            st.image(one.content, width=240)
        else:
            st.text(legible(f"Picture {clipped(one.name)} is not shown: {one.reason}"))


def clipped(text: str) -> str:
    return text if len(text) <= CLIP else f"{text[:CLIP]} …"


def _section(title: str, turns: Sequence[EvidenceTurn]) -> None:
    if turns:
        st.caption(f"**{title}**")
    for place, one in enumerate(turns):
        turn(one, f"{title[:8].lower()}-{place}")


def _whole(one: EvidenceTurn) -> None:
    if one.before:
        field("Just before", cards.end_of(one.before))
    cards.verbatim(one.whole, height=420)
    pictures(one.pictures_of_trace)
