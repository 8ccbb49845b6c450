"""Play, run with a tiny model: which candidate is taken, on which turns, and what stands beside it."""

import json

import pytest
from curated_store import HOSTILE, curated, mined
from planted import planted
from streamlit.testing.v1 import AppTest
from tiny_models import tiny_model

from forethought.data import commands
from forethought.data.candidates import Status
from forethought.data.commands import Edit
from forethought.data.identity import Split
from forethought.data.store import Store
from forethought.ui import playing
from forethought.ui.playing import Situation
from forethought.ui.score_options import Calibration, ScoreOptions

NAME = "search-v1"


def screen(store):  # AppTest runs the source of this function alone
    from tiny_models import tiny_model

    from forethought.ui import play_screen

    play_screen.show(store, None, tiny_model)


def shown(store: Store) -> AppTest:
    at = AppTest.from_function(screen, kwargs={"store": store}, default_timeout=120).run()
    assert not at.exception
    return at


def scored(at: AppTest) -> list[dict]:
    at.button(key="score-the-candidates").click().run()
    assert not at.exception
    return at.dataframe[0].value.to_dict("records")


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Store:
    store = curated(tmp_path_factory.mktemp("play") / "store.db")
    store.add(planted(40).traces)
    return store


def test_only_turns_of_questions_that_nothing_was_mined_from_can_be_chosen(store):
    turns = playing.find_turns(store, "")
    assert {turn.split for turn in turns} == {Split.CHOOSE, Split.TEST}
    assert {turn.split for turn in playing.find_turns(store, "", Split.TEST)} == {Split.TEST}
    assert all("final" in turn.thought for turn in playing.find_turns(store, "final"))


def test_every_candidate_is_scored_and_the_likeliest_is_taken(store):
    at = shown(store)
    rows = scored(at)

    assert {row["candidate"] for row in rows} == {c.text for c in store.candidate_set(NAME).active}
    assert rows == sorted(rows, key=lambda row: -row["score"])
    assert rows[0]["candidate"] in [text.value for text in at.text]
    assert sum(row["probability"] for row in rows) == pytest.approx(1)
    assert {"Selecting", "Recorded thought"} <= {metric.label for metric in at.metric}
    json.loads(at.get("vega_lite_chart")[0].proto.spec)


def test_the_screen_scores_as_the_score_command_does(store):
    turn = playing.find_turns(store, "")[0]
    situation = playing.situation_of(store, turn, tiny_model())
    played = playing.play(store, store.candidate_set(NAME), situation, tiny_model(), ScoreOptions())

    assert situation.thought == turn.thought
    assert situation.kind == store.trace(turn.trace_id).turns[turn.turn].actions[0].kind
    assert played.context_tokens == len(tiny_model().encode(situation.context))
    assert played.taken == played.candidates[0]
    assert played.select_milliseconds > 0


def test_a_free_thought_is_generated_when_asked_for(store):
    at = shown(store)
    scored(at)
    at.button(key="let-the-model-think").click().run()

    assert not at.exception
    assert any("greedy" in caption.value for caption in at.caption)


def test_another_turn_needs_another_score(store):
    at = shown(store)
    scored(at)
    at.selectbox(key="play-turn--None").select_index(1).run()

    assert not at.dataframe
    assert any("all candidates appear here" in info.value for info in at.info)


def test_pmi_shifts_scores_and_fitted_without_an_audit_says_what_to_do(store):
    at = shown(store)
    raw = {row["candidate"]: row["score"] for row in scored(at)}
    at.selectbox(key="play-by").select(Calibration.PMI).run()
    assert {row["candidate"]: row["score"] for row in scored(at)} != raw

    at.selectbox(key="play-by").select(Calibration.FITTED).run()
    at.button(key="score-the-candidates").click().run()
    assert any("forethought audit" in code.value for code in at.code)


def test_a_pasted_context_is_taken_word_for_word(store):
    at = shown(store)
    at.segmented_control(key="play-after").set_value("A pasted context").run()
    assert at.button(key="score-the-candidates").disabled
    at.text_area(key="play-context").input("Question: <b>$x$</b>?\n").run()
    assert len(scored(at)) == 3

    played = playing.play(
        store,
        store.candidate_set(NAME),
        Situation("Question: <b>$x$</b>?\n"),
        tiny_model(),
        ScoreOptions(),
    )
    assert played.context_tokens == len("Question: <b>$x$</b>?\n")
    assert played.recorded_tokens is None


def test_a_rejected_candidate_is_not_scored(tmp_path):
    store = curated(tmp_path / "store.db")
    store.add(planted(20).traces)
    first = store.candidate_set(NAME).candidates[0]
    commands.reject(store, Edit(NAME, first.id, first.version, "ann"))

    assert first.text not in [row["candidate"] for row in scored(shown(store))]
    assert store.candidate_set(NAME).candidates[0].status is Status.REJECTED


def test_hostile_text_is_text(tmp_path):
    store = curated(tmp_path / "h.db", mined(NAME, tuple((t, (t[:50],)) for t in HOSTILE[:5])))
    at = shown(store)
    at.segmented_control(key="play-after").set_value("A pasted context").run()
    at.text_area(key="play-context").input(HOSTILE[0]).run()
    scored(at)
    kinds = (at.markdown, at.caption, at.title, at.subheader, at.info, at.warning)
    values = [element.value for kind in kinds for element in kind]
    assert not any(text[:12] in value for value in values for text in HOSTILE)


def test_without_turns_or_candidates_the_page_says_what_to_do(tmp_path):
    empty = AppTest.from_function(screen, kwargs={"store": Store.open(tmp_path / "e.db")}).run()
    assert any("no candidate set" in info.value for info in empty.info)
    store = Store.open(tmp_path / "no-turns.db")
    store.save_set(mined())
    at = shown(store)
    assert any("import more traces" in info.value for info in at.info)
    assert at.button(key="score-the-candidates").disabled
