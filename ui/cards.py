"""How candidates, their evidence and what came of a command are shown. Every screen's text goes through here.

Traces and candidates are untrusted: they reach the page by `st.text`, `st.code` and text areas only, which show them
letter by letter. Labels and messages, which Streamlit would read as Markdown, carry nothing but our own words and numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from ..data.candidates import Candidate, Status
from ..data.listing import ListedCandidate
from ..data.store import Store
from .access import Actor, local_actor
from .charts import legible
from .curation import Notice

STATUS_COLOURS = {
    Status.PROPOSED: "blue",
    Status.ACCEPTED: "green",
    Status.NEEDS_WORK: "orange",
    Status.REJECTED: "gray",
}
CLIP = (
    1500  # characters of a turn's surroundings that stand in a card; the whole trace has the rest
)
PAGE = 10  # candidates listed at once
CHOSEN = "chosen_set"
ACTOR = "actor"


class Button(NamedTuple):
    """A command with its label and its key (never C or R, which Streamlit keeps)."""

    label: str
    shortcut: str | None
    command: Callable[[], object]
    is_main: bool = False
    is_disabled: bool = False


def set_actor(actor: Actor) -> None:
    """Tell the screens who looks."""
    st.session_state[ACTOR] = actor


def actor() -> Actor:
    """Who looks: `name` for the history, `require(right)` before what not everybody may do."""
    return st.session_state.get(ACTOR) or local_actor()


def pick_set(store: Store, preferred: str | None = None) -> str | None:
    """The set that all screens show, chosen in the sidebar; None, with what to do, where there is none."""
    name = set_picker(store, preferred)
    if name is None:
        st.info("There is no candidate set in this store yet. Import traces and mine one:")
        st.code("forethought import runs/*.jsonl\nforethought mine --name search-v1", language=None)
    return name


def set_picker(store: Store, preferred: str | None = None) -> str | None:
    """The sidebar's choice of a set, in the page's address. It lasts where every page shows it, from the same default."""
    names = store.set_names()
    if not names:
        return None
    with st.sidebar:
        name = st.selectbox(
            "Candidate set",
            names,
            index=names.index(preferred) if preferred in names else 0,
            key="set",
            format_func=legible,
            bind="query-params",
        )
    st.session_state[CHOSEN] = name
    return name


def problem(text: str, said: str = "This page cannot be shown.") -> None:
    """Something that went wrong: `said` in our words, then the error's."""
    st.error(said, icon=":material/error:")
    verbatim(text)


def verbatim(text: str, height: int | None = None) -> None:
    """Untrusted text in full, letter by letter, lines wrapped."""
    st.code(legible(text), language=None, wrap_lines=True, height=height or "content")


def status(candidate: Candidate | ListedCandidate) -> None:
    word = candidate.status.value.replace("_", " ")
    st.badge(word, color=STATUS_COLOURS[candidate.status])  # type: ignore[arg-type]


def origin(candidate: Candidate | ListedCandidate) -> str:
    """In one line what a candidate announces and where it comes from."""
    if isinstance(candidate, Candidate):
        num_support = len(candidate.support)
    else:
        num_support = candidate.num_support
    kinds = ", ".join(candidate.expected_actions) or "any action"
    if not num_support:
        return legible(f"before {kinds} · written, not mined")
    turns = f"{num_support:,} turn{'s' * (num_support != 1)}"
    questions = f"{candidate.questions:,} question{'s' * (candidate.questions != 1)}"
    return legible(f"before {kinds} · mined from {turns} of {questions}")


def candidate_list(
    candidates: Sequence[ListedCandidate], figures: Mapping[str, str] | None = None
) -> None:
    """Candidates in their order, a page at a time; `figures` tell of some of them, by id, what an audit found."""
    first = 0
    if len(candidates) > PAGE:
        first = PAGE * (st.pagination(-(-len(candidates) // PAGE), key="candidates_page") - 1)
    for number, candidate in enumerate(candidates[first : first + PAGE], start=first + 1):
        with st.container(border=True):
            place, text, state = st.columns([0.4, 10, 1.4], vertical_alignment="center")
            place.caption(str(number))
            with text, st.container(gap="xxsmall"):
                st.text(legible(candidate.text))
                told = (figures or {}).get(candidate.id)
                st.text(f"{origin(candidate)} · {told}" if told else origin(candidate))
            with state:
                status(candidate)


def counted(number: int, noun: str) -> str:
    """`1 turn`, `2 turns`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def progress(counts: Mapping[Status, int]) -> None:
    """How much of a set is reviewed, in one bar."""
    total = sum(counts.values())
    reviewed = total - counts[Status.PROPOSED]
    parts = [f"{n} {s.value.replace('_', ' ')}" for s, n in counts.items() if n]
    st.progress(
        reviewed / max(total, 1), text=f"{reviewed} of {total} reviewed: {', '.join(parts)}"
    )


def notice(found: Notice | None) -> None:
    """What came of the last command; a conflict with both sides in full."""
    if found is None:
        return
    if found.theirs is None or found.yours is None:
        (st.warning if found.detail or found.is_problem else st.success)(found.text)
        if found.detail:
            st.text(legible(found.detail))
        return
    st.warning(found.text, icon=":material/group:")
    both_sides((found.theirs, found.theirs.text), (found.yours, found.yours.text))


def both_sides(theirs: tuple[Candidate, str], yours: tuple[Candidate, str]) -> None:
    for column, whose, (candidate, text) in zip(
        st.columns(2), ("Theirs, as stored", "Yours, not stored"), (theirs, yours), strict=True
    ):
        with column, st.container(border=True):
            st.caption(whose)
            st.text(legible(text))
            status(candidate)


def buttons(*row: Button) -> None:
    """Buttons beside each other, keyed by their labels (`save-wording`)."""
    with st.container(horizontal=True):
        for button in row:
            st.button(
                button.label,
                key=button.label.lower().replace(" ", "-"),
                shortcut=button.shortcut,
                type="primary" if button.is_main else "secondary",
                disabled=button.is_disabled,
                on_click=button.command,  # type: ignore[arg-type]  # what it returns is not looked at
            )


def end_of(text: str) -> str:
    """What a card shows of a long text whose end matters."""
    return text if len(text) <= CLIP else f"… {text[-CLIP:]}"
