"""Moves that were planted are found, topics that were planted are not, with the packaged embedder."""

import pytest
from planted import MOVES, planted
from sklearn.metrics import adjusted_rand_score

from forethought.miner.assign import Assigner
from forethought.miner.embed import SentenceEmbedder
from forethought.miner.mask import Mask
from forethought.miner.mine import MinerSettings, mine, mineable

CORPUS = planted(240)


@pytest.fixture(scope="module")
def embedder():
    return SentenceEmbedder()


@pytest.fixture(scope="module")
def mined(embedder):
    return mine(CORPUS.traces, embedder, "planted", MinerSettings(budget=8)).candidate_set


@pytest.fixture(scope="module")
def rows(mined, embedder):
    """What the rule assigns each mine turn, and the turns."""
    thoughts = mineable(CORPUS.traces)
    assigner = Assigner(thoughts, Mask.fit(thoughts), embedder)
    found = assigner.assign(thoughts, [c.text for c in mined.candidates]).rows
    return [-1 if row is None else row for row in found], [t.turn for t in thoughts]


def test_planted_moves_are_recovered(rows):
    assigned, turns = rows

    assert adjusted_rand_score([CORPUS.moves[turn] for turn in turns], assigned) >= 0.8


def test_planted_topics_are_not(rows):
    assigned, turns = rows

    assert adjusted_rand_score([CORPUS.topics[turn] for turn in turns], assigned) <= 0.1


def test_each_move_has_a_sentence_and_no_sentence_names_a_topic(mined):
    kinds = {kind for candidate in mined.candidates for kind in candidate.expected_actions}

    assert kinds == {kind for kind, _ in MOVES.values()}
    assert len(mined.candidates) <= len(MOVES) + 2


def test_a_move_that_no_sentence_may_say_is_told_and_not_given_to_another(embedder, monkeypatch):
    unsayable = ("open", ("The page of N looks right. I will open it and read it and compare it.",))
    monkeypatch.setitem(MOVES, "examine", unsayable)

    result = mine(planted(240).traces, embedder, "planted", MinerSettings(budget=8))

    assert {str(left.reason) for left in result.left_out} == {"no phrase"}
