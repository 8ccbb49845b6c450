"""Which thoughts a set comes near, which it does not, and from which cosine."""

from dataclasses import replace

import numpy as np
import pytest
from embedders import HashingEmbedder
from hypothesis import given
from hypothesis import strategies as st
from runs import AGAIN, ANSWER, runs

from forethought.miner import coverage
from forethought.miner.coverage import (
    LEAST_ABOVE,
    fit_at,
    in_train_half,
    nearest,
    pick_threshold,
    typicality,
    uncovered,
)
from forethought.miner.mask import Mask
from forethought.miner.thoughts import thoughts_of

THOUGHTS = sorted(thoughts_of(runs(60)), key=lambda thought: thought.turn)
MASK, EMBEDDER = Mask.fit(THOUGHTS), HashingEmbedder()
NEAR = nearest(THOUGHTS, [AGAIN, ANSWER], MASK, EMBEDDER)
JUDGED = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def test_a_thought_that_is_a_text_is_covered_by_it():
    for thought, row, cosine in zip(THOUGHTS, NEAR.rows, NEAR.cosine, strict=True):
        if thought.text == AGAIN:
            assert (row, cosine) == (0, pytest.approx(1.0))


def test_blocks_change_nothing(monkeypatch):
    monkeypatch.setattr(coverage, "BLOCK", 7)
    small = nearest(THOUGHTS, [AGAIN, ANSWER], MASK, EMBEDDER)
    questions = [thought.question for thought in THOUGHTS]

    assert (small.rows == NEAR.rows).all()
    blocks = typicality(NEAR.vectors, questions)
    monkeypatch.undo()
    assert blocks == pytest.approx(typicality(NEAR.vectors, questions))


def test_uncovered_are_exactly_those_below_the_threshold_most_typical_first():
    found = uncovered(THOUGHTS, NEAR, 0.9)

    below = {t.turn for t, cosine in zip(THOUGHTS, NEAR.cosine, strict=True) if cosine < 0.9}
    assert {one.thought.turn for one in found} == below
    assert [one.typicality for one in found] == sorted(
        (one.typicality for one in found), reverse=True
    )
    assert uncovered(THOUGHTS, NEAR, 0.0) == []


def test_what_many_questions_say_is_more_typical_than_what_one_says_often():
    vectors = np.repeat(np.eye(2), [12, 12], axis=0)
    found = typicality(vectors, [f"q{i}" for i in range(12)] + ["same"] * 12)

    assert (found[:12] == 1.0).all()
    assert (found[12:] == 0.0).all()


def test_the_order_of_thoughts_changes_nothing_that_is_listed():
    backwards = THOUGHTS[::-1]
    again = uncovered(backwards, nearest(backwards, [AGAIN, ANSWER], MASK, EMBEDDER))

    assert again == uncovered(THOUGHTS, NEAR)


def test_coverage_is_blind_to_the_action_that_followed():
    blind = [replace(thought, kind=None) for thought in THOUGHTS]

    assert (nearest(blind, [AGAIN, ANSWER], MASK, EMBEDDER).cosine == NEAR.cosine).all()


@given(JUDGED, st.floats(0.1, 1.0))
def test_a_picked_threshold_keeps_its_promise_and_no_lower_one_does(judged, target):
    cosine = np.array([cosine for cosine, _ in judged])
    fits = np.array([fit for _, fit in judged])
    picked = pick_threshold(cosine, fits, target)

    for value in np.unique(np.floor(cosine * 100) / 100):
        found = fit_at(cosine, fits, value)
        keeps = found.above >= LEAST_ABOVE and found.right >= target * found.above
        if picked is None or value < picked:
            assert not keeps
        elif value == picked:
            assert keeps


def test_a_question_is_always_in_the_same_half_and_both_halves_have_some():
    halves = [in_train_half(f"q{i}") for i in range(100)]

    assert halves == [in_train_half(f"q{i}") for i in range(100)]
    assert 30 < sum(halves) < 70
