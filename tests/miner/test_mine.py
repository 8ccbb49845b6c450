"""The recipe end to end on runs whose moves are known."""

import random

import numpy as np
import pytest
from embedders import HashingEmbedder
from runs import AGAIN, ANSWER, runs

from forethought.data.errors import NothingToDo
from forethought.data.identity import Split
from forethought.data.library import library_hash
from forethought.data.traces import Action, Trace, Turn
from forethought.miner.mine import MinerSettings, mine

EMBEDDER = HashingEmbedder()


def test_the_known_moves_are_mined_with_what_follows_them():
    mined = mine(runs(120), EMBEDDER, "bridges").candidate_set
    by_text = {candidate.text: candidate for candidate in mined.candidates}

    assert by_text[AGAIN].expected_actions == ("search",)
    assert by_text[ANSWER].expected_actions == ("answer",)


def test_rows_in_any_order_give_the_same_set_to_the_last_byte():
    traces = runs(120)
    shuffled = random.Random(4).sample(traces, len(traces))
    first, second = (mine(t, EMBEDDER, "x").candidate_set for t in (traces, shuffled))

    assert second == first
    assert library_hash(second) == library_hash(first)


def test_only_mine_questions_are_read():
    traces = runs(120)
    only_mine = [trace for trace in traces if trace.split is Split.MINE]

    assert mine(only_mine, EMBEDDER, "x").candidate_set == mine(traces, EMBEDDER, "x").candidate_set


def test_support_names_turns_of_mine_questions_and_no_turn_twice():
    traces = {trace.id: trace for trace in runs(120)}
    mined = mine(traces.values(), EMBEDDER, "x").candidate_set
    support = [turn for candidate in mined.candidates for turn in candidate.support]

    assert len(support) == len(set(support)) > 0
    assert all(traces[turn.split(":")[0]].split is Split.MINE for turn in support)


def test_a_smaller_budget_is_the_beginning_of_a_larger_set():
    large = mine(runs(120), EMBEDDER, "x", MinerSettings(budget=4)).candidate_set
    small = mine(runs(120), EMBEDDER, "x", MinerSettings(budget=2)).candidate_set

    assert [c.id for c in small.candidates] == [c.id for c in large.candidates[:2]]


def test_nothing_imported_is_one_plain_line():
    with pytest.raises(NothingToDo, match="no thoughts to mine in 0 traces"):
        mine([], EMBEDDER, "x")


def one_turn(question: str, thought: str) -> Trace:
    return Trace(question, (Turn((thought,), (Action("search", {"input": "x"}),), ("",)),))


MINE_QUESTIONS = [f"q{i}" for i in range(200) if Trace(f"q{i}", ()).split is Split.MINE]


@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_a_handful_of_turns_gives_the_sentence_they_share(count):
    traces = [one_turn(question, AGAIN) for question in MINE_QUESTIONS[:count]]

    mined = mine(traces, EMBEDDER, "x")

    assert [c.text for c in mined.candidate_set.candidates] == [AGAIN]
    assert mined.candidate_set.candidates[0].questions == count


def test_thoughts_that_all_name_their_instance_are_one_plain_line():
    traces = [one_turn(q, f"I need to find Bonn {q}.") for q in MINE_QUESTIONS[:2]]

    with pytest.raises(NothingToDo, match="can be said of any question"):
        mine(traces, EMBEDDER, "x")


class Drifting:
    """Embeds all texts of a call alike, and each call at right angles to those before."""

    name = "drifting"

    def __init__(self) -> None:
        self.calls = 0

    def embed(self, texts):
        self.calls += 1
        return np.tile(np.eye(64, dtype=np.float32)[self.calls], (len(texts), 1))


def test_moves_that_no_sentence_says_are_one_plain_line():
    with pytest.raises(NothingToDo, match="says what recurs"):
        mine(runs(20), Drifting(), "x")
