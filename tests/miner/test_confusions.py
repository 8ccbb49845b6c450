"""Texts that are easily taken for each other."""

import numpy as np

from forethought.miner.confusions import (
    ALIKE_AT,
    Confusion,
    Contest,
    confusions,
    contest,
    suggestion,
)

ALIKE = np.array([[1.0, 0.0], [0.96, 0.28], [0.0, 1.0]])
KINDS = [("search",), ("search",), ("answer",)]


def test_texts_that_read_alike_come_first_and_are_merged():
    first = confusions(ALIKE, np.zeros((0, 3)))[0]

    assert (first.first, first.second) == (0, 1)
    assert first.reads_alike
    assert suggestion(first, KINDS, [5, 3, 1]) == "merge"


def test_texts_that_read_alike_but_lead_elsewhere_are_reworded_the_less_supported_one():
    pair = Confusion(0, 2, ALIKE_AT, Contest(0, 0))

    assert suggestion(pair, KINDS, [5, 3, 1]) == "reword second"
    assert suggestion(pair, KINDS, [1, 3, 5]) == "reword first"


def test_every_turn_that_takes_either_counts_and_those_where_the_other_is_near_are_close():
    affinity = np.array([[0.50, 0.48, 0.1], [0.5, 0.1, 0.0], [0.1, 0.2, 0.9], [0.0, 0.0, 0.0]])

    assert contest(affinity, 0, 1) == Contest(turns=2, close=1)
    assert contest(affinity, 1, 2) == Contest(turns=1, close=0)


def test_a_share_over_few_turns_does_not_tell():
    assert not Contest(5, 5).tells
    assert Contest(10, 5).tells
    assert not Contest(100, 5).tells


def test_one_text_has_no_pair():
    assert confusions(ALIKE[:1], np.ones((4, 1))) == []
    assert contest(np.ones((4, 1)), 0, 0) == Contest(0, 0)
