"""Growing a stored set: what people did stays, what was imported since is told."""

from dataclasses import replace

import pytest
from embedders import HashingEmbedder
from runs import run, runs

from forethought.data import commands
from forethought.data.candidates import Status
from forethought.data.errors import NotFound
from forethought.data.identity import Split
from forethought.data.store import Store
from forethought.data.traces import Action, Trace, Turn
from forethought.ui.growing import grow_set
from forethought.ui.mining import MiningRequest, mine_set

EMBEDDER = HashingEmbedder()
LONG = "The page is too long to read, so I should look at a smaller part of it."


def with_long_page(number: int) -> Trace:
    page = Turn((LONG,), (Action("examine", {"input": "part"}),), ("A part.",))
    made = run(number)
    return replace(made, turns=(made.turns[0], page, *made.turns[1:]))


@pytest.fixture
def store(tmp_path):
    store = Store.open(tmp_path / "runs.db")
    store.add(runs(120))
    mine_set(store, "moves", EMBEDDER, MiningRequest(6))
    return store


def test_a_new_move_is_stored_behind_what_there_is(store):
    before = store.candidate_set("moves").candidates
    store.add(with_long_page(number) for number in range(2000, 2040))

    growth = grow_set(store, "moves", EMBEDDER, budget=4)

    after = store.candidate_set("moves")
    assert [c.id for c in after.candidates[: len(before)]] == [c.id for c in before]
    assert [c.text for c in after.candidates] == [*(c.text for c in before), LONG]
    assert after.manifest["growth"]["num_new"] == growth.num_new > 0
    assert after.manifest["lineage"] == [{"id": after.candidates[-1].id, "parents": []}]
    assert store.check() == []


def test_a_persons_texts_and_decisions_stay(store):
    first, second, *_ = store.candidate_set("moves").candidates
    edit = commands.Edit("moves", first.id, first.version, "ada")
    commands.reword(store, edit, "Now I need to search for what comes next.")
    commands.reject(store, commands.Edit("moves", second.id, second.version, "ada"))
    store.add(with_long_page(number) for number in range(2000, 2040))

    grow_set(store, "moves", EMBEDDER, budget=4)

    after = store.candidate_set("moves")
    assert after.get(first.id).text == "Now I need to search for what comes next."
    assert after.get(second.id).status is Status.REJECTED
    assert after.candidates[-1].text == LONG


def test_growing_again_without_new_traces_changes_nothing(store):
    store.add(with_long_page(number) for number in range(2000, 2040))
    grow_set(store, "moves", EMBEDDER, budget=4)
    before = store.candidate_set("moves")
    revisions = {c.id: len(store.revisions("moves", c.id)) for c in before.candidates}

    assert grow_set(store, "moves", EMBEDDER, budget=4).num_new == 0

    assert store.candidate_set("moves") == before
    assert revisions == {c.id: len(store.revisions("moves", c.id)) for c in before.candidates}


def test_traces_of_other_questions_than_mine_ones_do_not_count(store):
    store.add(t for n in range(3000, 3040) if (t := with_long_page(n)).split is not Split.MINE)

    assert grow_set(store, "moves", EMBEDDER, budget=4).num_new == 0


def test_a_set_that_is_not_there_is_one_plain_line(store):
    with pytest.raises(NotFound, match="no candidate set 'other'"):
        grow_set(store, "other", EMBEDDER, budget=4)
