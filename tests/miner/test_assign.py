"""The assignment rule: one for every set, blind to what followed."""

import random
from dataclasses import replace

import numpy as np
from embedders import HashingEmbedder
from runs import AGAIN, ANSWER, NEXT, runs

from forethought.miner import assign
from forethought.miner.assign import Assigner
from forethought.miner.mask import Mask
from forethought.miner.thoughts import thoughts_of

THOUGHTS = sorted(thoughts_of(runs(60)), key=lambda thought: thought.turn)
ASSIGNER = Assigner(THOUGHTS, Mask.fit(THOUGHTS), HashingEmbedder())
TEXTS = [AGAIN, ANSWER, NEXT]


def test_a_thought_gets_the_text_that_says_its_move():
    rows = ASSIGNER.assign(THOUGHTS, TEXTS).rows

    for thought, row in zip(THOUGHTS, rows, strict=True):
        if thought.text in TEXTS:
            assert row is not None
            assert TEXTS[row] == thought.text


def test_the_rule_is_blind_to_the_action_that_followed():
    blind = [replace(thought, kind=None) for thought in THOUGHTS]

    assert ASSIGNER.assign(blind, TEXTS).rows == ASSIGNER.assign(THOUGHTS, TEXTS).rows


def test_the_order_of_the_set_changes_no_assignment():
    order = [2, 0, 1]
    rows = ASSIGNER.assign(THOUGHTS, TEXTS).rows
    shuffled = ASSIGNER.assign(THOUGHTS, [TEXTS[i] for i in order]).rows

    assert [None if row is None else order[row] for row in shuffled] == list(rows)


def test_the_order_of_the_fitted_thoughts_hardly_matters():
    mixed = random.Random(0).sample(THOUGHTS, len(THOUGHTS))
    other = Assigner(mixed, Mask.fit(mixed), HashingEmbedder())

    assert other.assign(THOUGHTS, TEXTS).rows == ASSIGNER.assign(THOUGHTS, TEXTS).rows


def test_equal_turns_fitted_once_by_their_number_make_the_rule_of_turns_fitted_singly(monkeypatch):
    monkeypatch.setattr(assign, "MOST_SINGLY", 0)
    merged = Assigner(THOUGHTS, Mask.fit(THOUGHTS), HashingEmbedder())

    assert merged.assign(THOUGHTS, TEXTS).rows == ASSIGNER.assign(THOUGHTS, TEXTS).rows
    both = (one.affinity(THOUGHTS, TEXTS) for one in (merged, ASSIGNER))
    assert np.allclose(*both, atol=0.01)


def test_turns_that_were_fitted_are_the_rows_that_any_turns_would_be():
    again = [replace(thought) for thought in THOUGHTS]
    fitted, other = ASSIGNER.rows(THOUGHTS), ASSIGNER.rows(again)

    assert fitted.texts == other.texts
    assert fitted.of.tolist() == other.of.tolist()
    assert fitted.stages.tolist() == other.stages.tolist()


def test_a_set_about_something_else_leaves_thoughts_unassigned():
    rows = ASSIGNER.assign(THOUGHTS, ["Zebras graze quietly beside distant rivers."]).rows

    assert rows.count(None) > len(rows) / 2


def test_no_texts_and_no_thoughts_are_no_error():
    assert ASSIGNER.assign(THOUGHTS[:2], []).rows == (None, None)
    assert ASSIGNER.assign([], TEXTS).rows == ()
