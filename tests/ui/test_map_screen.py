"""The map, run: alike thoughts lie together, the same map each time, and what a lasso holds becomes a candidate."""

import json

import numpy as np
import pytest
from curated_store import HOSTILE, curated, mined, trace
from embedders import HashingEmbedder
from hypothesis import given
from hypothesis import strategies as st
from planted import planted
from streamlit.testing.v1 import AppTest

from forethought.data.candidates import CandidateSet
from forethought.data.store import Store
from forethought.ui import landscape
from forethought.ui.landscape import Landscape
from forethought.ui.roster import roster_of

NAME = "search-v1"


def screen(store):  # AppTest runs the source of this function alone
    from embedders import HashingEmbedder

    from forethought.ui import map_screen

    map_screen.show(store, None, HashingEmbedder)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def store(tmp_path) -> Store:
    store = curated(tmp_path / "store.db")
    store.add(planted(40).traces)
    return store


def shown(store: Store) -> AppTest:
    at = AppTest.from_function(screen, kwargs={"store": store}, default_timeout=120).run()
    assert not at.exception
    return at


def drawn(store: Store) -> AppTest:
    at = shown(store)
    at.button(key="draw-the-map").click().run()
    landscape_of(store)
    at.run()
    assert not at.exception
    return at


def landscape_of(store: Store) -> Landscape:
    asked = landscape.landscape_of(store, NAME, roster_of(store, NAME), HashingEmbedder)
    found = asked.result(None)
    assert found is not None
    return found


def chart_of(at: AppTest):
    return at.get("plotly_chart")[0].proto


def lassoed(at: AppTest, turns: list[str]) -> AppTest:
    """Draw a line around the dots of these turns, as a browser says it."""
    states = at._tree.get_widget_states()
    state = states.widgets.add()
    state.id = chart_of(at).id
    points = [{"customdata": [turn]} for turn in turns]
    state.string_value = json.dumps({"selection": {"points": points}})
    return at._run(states)


def turns_of(store: Store) -> list[str]:
    return [point.turn for point in landscape_of(store).points]


def test_every_mine_turn_is_a_point_with_its_facts(store):
    found = landscape_of(store)
    turns = {point.turn for point in found.points}

    assert len(turns) == len(found.points) == found.num_turns
    for point in found.points[:10]:
        trace_id, _, turn = point.turn.rpartition(":")
        of = store.trace(trace_id)
        assert point.source == of.source
        assert point.action == of.turns[int(turn)].actions[0].kind
        assert point.candidate in {"", *roster_of(store, NAME).by_id}


def test_thoughts_that_say_one_thing_lie_nearer_than_others(store):
    moves = planted(40).moves
    points = [p for p in landscape_of(store).points if p.turn in moves]
    places = np.array([[p.x, p.y] for p in points])
    same = np.array([[moves[a.turn] == moves[b.turn] for b in points] for a in points])
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)

    assert distance[same].mean() < distance[~same].mean()


def test_the_map_is_the_same_each_time_and_kept_on_disk(store, tmp_path):
    first = landscape_of(store)
    kept = list((tmp_path / "cache" / "map").iterdir())
    landscape.PROCESS._all.clear()

    assert len(kept) == 1
    assert landscape_of(store) == first
    kept[0].unlink()
    landscape.PROCESS._all.clear()
    assert landscape_of(store) == first


@given(st.integers(0, 12), st.integers(1, 6))
def test_any_number_of_vectors_has_a_place_each(count, dimensions):
    vectors = np.random.default_rng(count).normal(size=(count, dimensions)).astype(np.float32)
    plane = landscape.laid_out(vectors)

    assert plane.shape == (count, 2)
    assert np.isfinite(plane).all()


def test_what_the_lasso_holds_becomes_a_candidate_with_its_turns(store):
    at = drawn(store)
    some = turns_of(store)[3:9]
    at = lassoed(at, some)
    assert not at.exception
    assert at.button(key="make-a-candidate").disabled
    at.text_area(key=f"map-wording-{NAME}").input("I should look this up first.").run()
    at.button(key="make-a-candidate").click().run()

    made = store.candidate_set(NAME).candidates[-1]
    assert made.text == "I should look this up first."
    assert set(made.support) == set(some)
    assert any("new candidate stands" in success.value for success in at.success)
    assert any("last changes" in caption.value for caption in at.caption)


def test_a_wording_that_the_set_has_is_refused_and_stays_typed(store):
    at = lassoed(drawn(store), turns_of(store))
    text = store.candidate_set(NAME).candidates[0].text
    at.text_area(key=f"map-wording-{NAME}").input(text).run()
    at.button(key="make-a-candidate").click().run()

    assert len(store.candidate_set(NAME).candidates) == 3
    assert any("Nothing was written" in warning.value for warning in at.warning)
    assert at.text_area(key=f"map-wording-{NAME}").value == text


@pytest.mark.parametrize("colour", ["candidate", "action", "outcome", "source"])
def test_it_is_coloured_by_what_is_chosen(store, colour):
    at = drawn(store)
    at.segmented_control(key="map-colour").set_value(colour).run()

    assert not at.exception
    figure = json.loads(chart_of(at).spec)
    named = [group["name"] for group in figure["data"]]
    assert named
    assert len(set(named)) == len(named)
    told = [row[0] for group in figure["data"] for row in group["customdata"]]
    assert sorted(told) == sorted(turns_of(store)), "every thought is one dot"


def test_hostile_text_is_text(tmp_path):
    runs = tuple(trace(text, text, tool=text[:50]) for text in HOSTILE * 3)
    store = curated(tmp_path / "hostile.db", mined(NAME, tuple((t, ()) for t in HOSTILE)))
    store.add(runs)
    at = drawn(store)
    at = lassoed(at, turns_of(store))

    assert not at.exception
    kinds = (at.markdown, at.caption, at.title, at.subheader, at.info, at.warning)
    values = [element.value for kind in kinds for element in kind]
    assert not any(text[:12] in value for value in values for text in HOSTILE)
    shown = [
        *(group["name"] for group in json.loads(chart_of(at).spec)["data"]),
        *(text for group in json.loads(chart_of(at).spec)["data"] for text in group["text"]),
    ]
    assert not any("<" in text.replace("<br>", "") for text in shown)


def test_without_thoughts_or_a_set_the_page_says_what_to_do(tmp_path):
    empty = AppTest.from_function(screen, kwargs={"store": Store.open(tmp_path / "e.db")}).run()
    assert any("no candidate set" in info.value for info in empty.info)
    store = Store.open(tmp_path / "no-turns.db")
    store.save_set(CandidateSet(NAME, ()))
    at = shown(store)
    at.button(key="draw-the-map").click().run()
    asked = landscape.landscape_asked_for(store, NAME, roster_of(store, NAME))
    assert asked is not None
    while not asked.is_over:
        asked._ended.wait(1)
    at.run()
    assert any("import more traces" in code.value for code in at.code)
