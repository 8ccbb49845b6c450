"""Replay one decision: a held-out turn or a pasted context, every candidate's score, the free thought beside it. Decides nothing."""

import gc
from collections.abc import Callable
from functools import partial

import streamlit as st

from ..data.candidates import CandidateSet
from ..data.errors import ForethoughtError
from ..data.identity import Split
from ..data.store import Store
from ..scorer.model import LanguageModel
from . import cards, playing, plots
from .cards import Button, counted
from .charts import figure, legible, milliseconds, percent, shortened
from .playing import FreeThought, HeldOut, Played, Situation
from .score_options import Calibration, ScoreOptions
from .wiring import make_model

TURN, PASTED = "A held-out turn", "A pasted context"
SHOWN = "play-shown"  # in the session: what was scored last, and on what
THOUGHT = "play-thought"
CHARTED = 25  # candidates in the chart
CALIBRATIONS = {
    Calibration.RAW: "raw: the model's own likelihood",
    Calibration.PMI: "pmi: less what it is after no context",
    Calibration.BATCH: "batch: less its mean over choose turns",
    Calibration.FITTED: "fitted: as the audit learned it",
}


@st.cache_resource(show_spinner="Loading the language model, which takes some seconds …")
def packaged_model() -> LanguageModel:
    """The packaged model, once for all who look."""
    model = make_model(None)
    gc.freeze()  # Streamlit collects garbage after each key press: torch's hundred thousand objects are none
    return model


def show(
    store: Store,
    preferred: str | None = None,
    load: Callable[[], LanguageModel] = packaged_model,
) -> None:
    """`load` gives the model that scores."""
    st.title("Play")
    name = cards.pick_set(store, preferred)
    if name is None:
        return
    candidate_set = store.candidate_set(name)
    if not candidate_set.active:
        st.info("This set has no candidate to choose from: accept some, or mine it again.")
        return
    left, right = st.columns([5, 6], gap="medium")
    with left:
        asked = _asked(store)
        calibration = st.selectbox(
            "Calibration", list(CALIBRATIONS), key="play-by", format_func=CALIBRATIONS.__getitem__
        )
        st.caption(
            f"{counted(len(candidate_set.active), 'candidate')} after one context; the first time the model is loaded, "
            "and batch measures each candidate's mean: some seconds, on a slow machine a minute."
        )
        key = (name, asked, calibration)
        cards.buttons(
            Button(
                "Score the candidates",
                None,
                partial(st.session_state.__setitem__, "play-asked", key),
                is_main=True,
                is_disabled=asked is None,
            )
        )
    with right:
        if asked is not None and st.session_state.get("play-asked") == key:
            _answer(store, candidate_set, asked, ScoreOptions(calibration=calibration), load)
        else:
            st.info("Choose a turn on the left and score: all candidates appear here.")


def _asked(store: Store) -> HeldOut | str | None:
    """The turn that was chosen, or the text that was pasted."""
    way = st.segmented_control(
        "After", [TURN, PASTED], default=TURN, key="play-after", required=True
    )
    if way == PASTED:
        return (
            st.text_area(
                "Context",
                key="play-context",
                height=260,
                placeholder="Question: …\n<thinking>…</thinking>\n… all that precedes the thought",
            )
            or None
        )
    words, split = st.columns([3, 2])
    query = words.text_input("Words", key="play-words", placeholder="every word must occur")
    chosen = split.selectbox(
        "Of",
        [None, Split.CHOOSE, Split.TEST],
        key="play-split",
        format_func=lambda s: f"{s} questions" if s else "any held-out",
    )
    turns = playing.find_turns(store, query or "", chosen)
    if not turns:
        st.info(
            "No held-out turn: fewer words, or import more traces (the store needs choose or test questions)."
        )
        return None
    numbers = {turn: number for number, turn in enumerate(turns, 1)}  # two labels must not be equal
    turn = st.selectbox(
        "Turn",
        turns,
        key=f"play-turn-{query}-{chosen}",
        format_func=lambda t: f"{numbers.get(t, 0)}. {t.split}: {shortened(t.thought, 90)}",
    )
    _recorded(turn)
    return turn


def _recorded(turn: HeldOut) -> None:
    with st.container(border=True, gap="xxsmall"):
        st.caption(f"Turn {turn.turn + 1} of a {turn.split} question")
        st.text(legible(turn.question[: cards.CLIP]))
        st.caption("Thought that was recorded")
        st.text(legible(turn.thought[: cards.CLIP]))


def _answer(
    store: Store,
    candidate_set: CandidateSet,
    asked: HeldOut | str,
    options: ScoreOptions,
    load: Callable[[], LanguageModel],
) -> None:
    key = (candidate_set, asked, options)
    if st.session_state.get(SHOWN, (None,))[0] != key:
        with st.spinner("Scoring …"):
            try:
                model = load()
                situation = (
                    Situation(asked)
                    if isinstance(asked, str)
                    else playing.situation_of(store, asked, model)
                )
                played = playing.play(store, candidate_set, situation, model, options)
            except ForethoughtError as error:
                cards.problem(str(error), "The candidates cannot be scored.")
                return
        st.session_state[SHOWN] = (key, situation, played)
        st.session_state.pop(THOUGHT, None)
    _, situation, played = st.session_state[SHOWN]
    _taken(played, situation)
    _beside(situation, played, load)
    _all(played, situation)


def _taken(played: Played, situation: Situation) -> None:
    taken = played.taken
    with st.container(border=True, gap="xsmall"):
        st.caption("Taken")
        st.text(legible(taken.text))
        sure = (
            ""
            if played.is_stable
            else " · within the arithmetic's noise, so another machine may choose otherwise"
        )
        margin = "the only one" if played.gap is None else f"margin {figure(played.gap, 3)}"
        st.caption(f"probability {percent(taken.probability)} · {margin}{sure}")
        if situation.kind is not None:
            kinds = ", ".join(taken.announces) or "any action"
            st.text(legible(f"announces {kinds}; the run went on with {situation.kind}"))
    for warning in played.warnings:
        st.warning("Before you trust this:")
        st.text(legible(warning))


def _beside(situation: Situation, played: Played, load: Callable[[], LanguageModel]) -> None:
    """The free thoughts, and what both ways cost."""
    selecting, recorded, generated = st.columns(3)
    with selecting:
        st.metric("Selecting", milliseconds(played.select_milliseconds))
        st.caption(
            f"reads {played.read_tokens:,} tokens of candidates, writes {played.taken.tokens:,}; "
            f"prefill of {played.context_tokens:,} tokens apart: {milliseconds(played.milliseconds.get('prefill', 0.0))}"
        )
    with recorded:
        tokens = played.recorded_tokens
        st.metric("Recorded thought", "none" if tokens is None else f"{tokens:,} tokens")
        st.caption("as the run's own model wrote it; not timed")
    with generated:
        _generated(situation, load)
    thought: FreeThought | None = st.session_state.get(THOUGHT)
    if thought is not None:
        st.caption("Thought that was generated")
        cards.verbatim(thought.text[: cards.CLIP], 120)
    if situation.action:
        st.caption("Action that was recorded")
        cards.verbatim(situation.action[: cards.CLIP])


def _generated(situation: Situation, load: Callable[[], LanguageModel]) -> None:
    if st.session_state.get("play-think") == situation and THOUGHT not in st.session_state:
        with st.spinner("Thinking …"):
            st.session_state[THOUGHT] = playing.think(situation.context, load())
    thought: FreeThought | None = st.session_state.get(THOUGHT)
    if thought is None:
        st.metric("Generated thought", "–")
        cards.buttons(
            Button(
                "Let the model think",
                None,
                partial(st.session_state.__setitem__, "play-think", situation),
            )
        )
        return
    st.metric("Generated thought", milliseconds(thought.milliseconds))
    cut = "" if thought.is_complete else ", cut off"
    st.caption(f"{thought.tokens:,} tokens, greedy{cut}")


def _all(played: Played, situation: Situation) -> None:
    st.subheader("Every candidate")
    bars = [
        plots.Bar(shortened(one.text), one.score, one.is_taken)
        for one in played.candidates[:CHARTED]
    ]
    st.altair_chart(plots.scores_plot(bars), width="stretch")
    told = {True: "yes", False: "no", None: ""}
    st.dataframe(
        [
            {
                "candidate": legible(one.text),
                "score": one.score,
                "probability": one.probability,
                "announces": legible(", ".join(one.announces)),
                "as the run": told[playing.agrees(one, situation.kind)],
                "tokens": one.tokens,
            }
            for one in played.candidates
        ],
        hide_index=True,
        row_height=30,
        height="content" if len(played.candidates) <= CHARTED else 520,
        column_config={
            "candidate": st.column_config.TextColumn(width=220),
            "score": st.column_config.NumberColumn(format="%.3f", width=60),
            "probability": st.column_config.NumberColumn(format="percent", width=75),
            "announces": st.column_config.TextColumn(width=75),
            "as the run": st.column_config.TextColumn(width=70),
            "tokens": st.column_config.NumberColumn(width=55),
        },
    )
    st.caption(f"{played.model}; scores in nats a token")
