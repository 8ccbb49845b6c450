"""Look through the store's traces: search them or their thoughts, open one, see what could not be used. Decides nothing."""

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from ..data.errors import ForethoughtError
from ..data.listing import TraceFilter
from ..data.store import Store
from ..data.text_search import ThoughtFilter
from ..data.traces import Outcome, Trace
from . import browsing, cards
from .browsing import Hits, TurnView
from .charts import legible
from .importing import pictures_beside


class Asked(NamedTuple):
    """What a trace or a thought is looked for by."""

    query: str
    source: str | None
    outcome: Outcome | None


TRACES, THOUGHTS, QUARANTINE = "Traces", "Thoughts", "Quarantine"
OPEN = "trace"  # in the page's address: the trace that is open
TURNS = 20  # of a trace, laid out at once
LONG = 700  # characters of an observation that stand there before it is folded


def show(store: Store, preferred: str | None = None) -> None:
    st.title("Traces")
    counts = store.counts()
    if not counts.traces and not counts.quarantined:
        st.info("No trace is in this store yet. Import some in Runs, or on the command line:")
        st.code("forethought import runs/*.jsonl", language=None)
        return
    st.caption(
        f"{counts.traces:,} traces, {counts.turns:,} turns, {counts.thoughts:,} thoughts; "
        f"in quarantine: {counts.quarantined:,}"
    )
    options = [TRACES, THOUGHTS, QUARANTINE]
    look = st.segmented_control(
        "Look at",
        options,
        default=TRACES,
        key="look",
        bind="query-params",
        required=True,
        label_visibility="collapsed",
    )
    if look == QUARANTINE:
        _quarantine(store)
        return
    asked = _asked(store)
    left, right = st.columns([5, 6], gap="medium")
    with left:
        _search(store, str(look), asked)
    with right:
        _open(store)


def _asked(store: Store) -> Asked:
    """What to search for: words, a source, an outcome."""
    words, source, outcome = st.columns([5, 3, 3])
    query = words.text_input(
        "Words", key="words", placeholder="every word must occur", bind="query-params"
    )
    chosen = source.selectbox(
        "Source",
        ["", *store.sources()],
        key="source",
        format_func=lambda name: legible(name) or "any",
    )
    ended = outcome.selectbox(
        "Outcome", ["", *Outcome], key="outcome", format_func=lambda name: str(name) or "any"
    )
    return Asked(query or "", chosen or None, Outcome(ended) if ended else None)


def _search(store: Store, look: str, asked: Asked) -> None:
    digest = sha256(repr((look, asked)).encode("utf-8", "replace")).hexdigest()[:12]
    page = st.session_state.get(f"page-{digest}", 1)
    if look == TRACES:
        found = browsing.find_traces(store, TraceFilter(*asked), page)
    else:
        found = browsing.find_thoughts(store, ThoughtFilter(*asked), page)
    _hits(found, look)
    if found.total > browsing.PAGE:
        st.pagination(-(-found.total // browsing.PAGE), key=f"page-{digest}", max_visible_pages=5)


def _hits(found: Hits, look: str) -> None:
    if not found.hits:
        st.info("Nothing found: fewer words, or another source or outcome.")
        return
    st.caption(f"{found.total:,} found; choose a row to open it")
    rows = [
        {
            "outcome": hit.outcome,
            "turns" if look == TRACES else "turn": hit.turns if hit.turn is None else hit.turn + 1,
            "question" if look == TRACES else "thought": legible(hit.text),
        }
        for hit in found.hits
    ]
    # The key changes with the rows, so that a choice never stands for another row.
    shown = repr([(hit.trace_id, hit.turn) for hit in found.hits])
    event = st.dataframe(
        rows,
        key=f"hits-{sha256(shown.encode()).hexdigest()[:12]}",
        on_select="rerun",
        selection_mode="single-row",
        hide_index=True,
        height="content",
        row_height=30,
        column_config={
            "outcome": st.column_config.TextColumn(width=66),
            "turns": st.column_config.NumberColumn(width=40),
            "turn": st.column_config.NumberColumn(width=40),
        },
    )
    if event["selection"]["rows"]:
        st.query_params[OPEN] = found.hits[event["selection"]["rows"][0]].trace_id


def _open(store: Store) -> None:
    id = st.query_params.get(OPEN)
    if not id:
        st.info("Choose a trace on the left: its turns appear here.")
        return
    try:
        trace = store.trace(id)
    except ForethoughtError as error:
        cards.problem(str(error), "That trace cannot be shown.")
        return
    with st.container(border=True, gap="xsmall"):
        st.caption("Question")
        st.text(legible(trace.question[: cards.CLIP]))
        facts = (
            *(browsing.told(trace.outcome), trace.source, trace.format, trace.split),
            *(f"{browsing.shown_path(trace.file)}, {trace.position}", trace.id),
        )
        st.text(legible(" · ".join(filter(None, facts))))
    _turns(trace, pictures_beside(store.database.location))


def _turns(trace: Trace, kept: Path | None) -> None:
    pages = -(-len(trace.turns) // TURNS)
    page = st.pagination(pages, key=f"turns-{trace.id}") if pages > 1 else 1
    for view in browsing.laid_out(trace, TURNS * (page - 1), TURNS, kept):
        with st.container(border=True, gap="xsmall"):
            _turn(view, f"{trace.id}-{view.number}")


def _turn(view: TurnView, key: str) -> None:
    st.caption(f"Turn {view.number}")
    for place, thought in enumerate(view.thoughts):
        _text(thought, f"thought-{key}-{place}")
    for place, exchange in enumerate(view.exchanges):
        if exchange.action:
            cards.verbatim(exchange.action[: cards.CLIP])
        if exchange.observation:
            st.caption("Observation")
            _text(exchange.observation, f"observation-{key}-{place}")
    for picture in view.pictures:
        if picture.content is not None:
            st.image(picture.content)
            st.text(legible(picture.name))
        else:
            st.text(legible(f"Picture {picture.name[: cards.CLIP]} is not shown: {picture.reason}"))


def _text(text: str, key: str) -> None:
    """A text in full, or its beginning with the whole on demand."""
    if len(text) <= LONG:
        st.text(legible(text))
        return
    st.text(legible(f"{text[:LONG]} …"))
    opened = st.expander(f"All {len(text):,} characters", key=key, on_change="rerun")
    if opened.open:
        with opened:
            cards.verbatim(text, height=320)


def _quarantine(store: Store) -> None:
    page = st.session_state.get("quarantine_page", 1)
    found = browsing.quarantine_page(store, page)
    if not found.total:
        st.success("Nothing is in quarantine: every row of every file could be used.")
        return
    st.caption(f"Not usable: {found.total:,}. Mend them and import their files again.")
    for row in found.rows:
        with st.container(border=True, gap="xxsmall"):
            st.text(legible(f"row {row.position} of {browsing.shown_path(row.file)}"))
            st.text(legible(row.reason))
            if row.raw:
                cards.verbatim(row.raw[:LONG])
    if found.total > browsing.PAGE:
        st.pagination(-(-found.total // browsing.PAGE), key="quarantine_page")
