"""HotpotQA over recorded runs: which questions of which split are asked, and with what before them."""

from dataclasses import replace

import pytest
from tiny_models import tiny_model

from forethought.data.errors import NothingToDo
from forethought.data.formats import read_traces
from forethought.data.identity import Split, split_of
from forethought.data.store import Store
from forethought.data.traces import Action, Trace, Turn
from forethought.ui.bench.replaying import BEGINNINGS, SAMPLES, replay_of

THINKING = Turn(("I think of something else.",), (Action("reflect", {"input": "it"}),), ("Done.",))


@pytest.fixture(scope="module")
def traces():
    read = read_traces([SAMPLES / "fireact-llama-2-7b.json.gz"])
    found = [one for one in read if isinstance(one, Trace)]
    return [replace(one, turns=(THINKING, *one.turns)) for one in found[::2]] + found[1::2]


@pytest.fixture(scope="module")
def store(traces, tmp_path_factory):
    opened = Store.open(tmp_path_factory.mktemp("store") / "filled.db")
    opened.add(traces)
    return opened


@pytest.mark.parametrize("split", Split)
def test_questions_and_turns_are_of_one_split_and_turns_have_an_action_that_is_known(store, split):
    arena = replay_of(store, None, [], split)

    assert arena.questions
    assert {split_of(one.text) for one in arena.questions} == {split}
    assert arena.turns
    for turn in arena.turns:
        assert turn.action in range(len(BEGINNINGS))
        assert split_of(turn.question) is split
        assert turn.question in turn.context


def test_no_question_is_asked_whose_answer_stands_in_the_worked_examples(store):
    arena = replay_of(store, None, [], Split.MINE)
    (opening,) = arena.dialogue(tiny_model(), ()).opening()

    shown = opening.text.count("Question: ")
    assert shown
    assert not [one.text for one in arena.questions if one.text in opening.text]


def test_without_a_known_answer_there_is_nothing_to_ask(tmp_path):
    with pytest.raises(NothingToDo, match="no choose question of this store"):
        replay_of(Store.open(tmp_path / "a.db"), None, [], Split.CHOOSE)
