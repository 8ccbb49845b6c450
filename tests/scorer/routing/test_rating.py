"""Ratings: scored as any set is, at no second prefill; buckets before probabilities; taught by outcomes."""

import copy
import math

import numpy as np
import pytest
import torch
from counted_rows import Rows
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import tiny_model, tiny_network

from forethought.data.errors import ForethoughtError, InvalidCandidate
from forethought.scorer.agent.session import LocalSession
from forethought.scorer.plain import score_plainly, totals
from forethought.scorer.routing.proactive.rating import JOINT, OWN, Rating, Scale, rate
from forethought.scorer.routing.proactive.rating_lessons import (
    RatingLesson,
    earned,
    rating_lessons,
    rating_log_q,
)
from forethought.scorer.training.lessons import TaughtTurn, selecting_lessons
from forethought.scorer.training.teaching import Schedule, Training

MODEL = tiny_model()
SCALES = (OWN, JOINT, Scale(("Poor.", "Fair.", "Good.")))


def settled(text: str = "Question: Who?\n") -> LocalSession:
    session = LocalSession(MODEL)
    session.append_text(MODEL.encode(text))
    session.settle()
    return session


def test_ratings_are_the_models_own_probabilities_of_the_levels():
    session = settled()
    found = rate(session, SCALES)
    for scale, rating in zip(SCALES, found.ratings, strict=True):
        sums = totals(score_plainly(MODEL, session.ids, scale.compiled(MODEL).ids))
        chances = np.exp(sums - np.logaddexp.reduce(sums))
        assert rating.chances == pytest.approx(chances.tolist(), abs=1e-4)
        assert rating.level == int(np.argmax(rating.chances))


@pytest.mark.parametrize("scales", [SCALES[:1], SCALES[:2], SCALES])
def test_a_rating_forwards_its_own_tokens_at_most_and_prefills_nothing_again(scales):
    session = settled("Question: " + "Who was that? " * 20 + "\n")
    before = session.ids
    with Rows(MODEL.network) as rows:
        found = rate(session, scales)
    tokens = [ids for scale in scales for ids in scale.compiled(MODEL).ids]

    assert rows.number == found.forwarded <= sum(map(len, tokens))
    assert rows.number < len(before)
    assert session.ids == before
    with Rows(MODEL.network) as rows:
        session.settle()
    assert rows.number == 0, "the context's end is still known"


def test_a_rating_before_the_prefill_is_refused():
    session = LocalSession(MODEL)
    session.append_text(MODEL.encode("Question: Who?\n"))
    with pytest.raises(AssertionError, match="computed anyway"):
        rate(session, [OWN])


def test_levels_that_are_alike_are_told():
    with pytest.raises(InvalidCandidate):
        rate(settled(), [Scale(("Good.", "Good."))])


sums_of = st.lists(st.floats(-90, -1), min_size=2, max_size=5, unique=True).map(np.array)


@given(sums_of, sums_of)
def test_a_higher_bucket_is_better_whatever_its_probability(one, other):
    first, second = Rating.of(one), Rating.of(other)
    if first.level < second.level:
        assert first.value < second.value


@given(sums_of, sums_of, sums_of, sums_of)
def test_buckets_of_a_difference_stay_apart_too(one, other, third, fourth):
    """The joint signal: how many levels the stronger arm is rated above the model itself comes first."""
    first, second, less, least = map(Rating.of, (one, other, third, fourth))
    if first.level - second.level > less.level - least.level:
        assert first.value - second.value > less.value - least.value


@given(sums_of)
def test_a_rating_is_the_softmax_and_its_odds(sums):
    found = Rating.of(sums)
    chances = np.exp(sums - np.logaddexp.reduce(sums))
    sure = chances.max()

    assert found.chances == pytest.approx(chances.tolist(), abs=1e-12)
    assert found.level == int(np.argmax(sums))
    assert 1 / (1 + math.exp(-found.log_odds)) == pytest.approx(sure)


@given(st.floats(-60, 60), st.floats(-60, 60))
def test_of_two_levels_the_order_is_that_of_the_better_ones_probability(one, other):
    """Even where that is 0 or 1 to rounding."""
    first, second = (Rating.of(np.array([0.0, odds])) for odds in (one, other))
    if one + 1e-6 < other:
        assert first.value < second.value


def test_inside_a_bucket_the_probability_counts_for_it_above_and_against_it_below():
    def value(level, sure):
        rest = math.log((1 - sure) / 2)
        return Rating.of(np.array([math.log(sure) if i == level else rest for i in range(3)])).value

    assert value(2, 0.9) > value(2, 0.6) > value(1, 0.9) > value(1, 0.6)
    assert value(1, 0.6) > value(0, 0.6) > value(0, 0.9)


@pytest.mark.parametrize(
    ("success", "levels", "level"),
    [(0, 2, 0), (1, 2, 1), (0.5, 2, 1), (0.5, 3, 1), (0.2, 3, 0), (0.75, 5, 3)],
)
def test_an_outcome_earns_the_nearest_level(success, levels, level):
    assert earned(success, levels) == level


@pytest.mark.parametrize("success", [-0.1, 1.1, math.nan])
def test_an_outcome_that_is_no_share_is_told(success):
    with pytest.raises(ForethoughtError, match="0 to 1"):
        earned(success, 2)


def test_what_is_taught_is_what_is_scored_later():
    """log q of the lesson's forward is the rating that a session gives."""
    (lesson,) = rating_lessons(MODEL, SCALES, ["Question: Who?\n"], [[1, 0, 0.5]])
    network = tiny_network()
    with torch.no_grad():
        taught = rating_log_q(network, lesson.trunk, lesson.decisions)
    found = rate(settled(), SCALES).ratings
    for own, rating in zip(taught, found, strict=True):
        assert own.exp().tolist() == pytest.approx(rating.chances, abs=1e-4)
    loss = lesson.loss(network, 1.0, 1.0, 1.0)
    expected = -sum(q[one.earned] for q, one in zip(taught, lesson.decisions, strict=True))
    assert loss.loss.item() == pytest.approx(float(expected), abs=1e-5)
    assert loss.loss.requires_grad


@pytest.mark.parametrize("repeats", [1, 3])
def test_ratings_and_reasoning_are_weighted_apart_whatever_their_numbers(repeats):
    """A mean and a weight each: more reasoning turns do not outweigh the ratings, nor more ratings the reasoning."""
    network = tiny_network()
    turns = [TaughtTurn(f"Question: {n}?\n", n % 2, "<act>") for n in range(repeats)]
    (reasoning,) = selecting_lessons(MODEL, ("Look.", "Answer."), [turns])
    (alone,) = rating_lessons(MODEL, [OWN, JOINT], ["Question: Who?\n"], [[1, 0]])
    both = RatingLesson(alone.trunk, alone.decisions, reasoning, weight=0.3)
    with torch.no_grad():
        rated = alone.loss(network, 0.7, 1.0, 1.0).loss
        reasoned = reasoning.loss(network, 0.7, 1.0, 1.0).loss
        found = both.loss(network, 0.7, 1.0, 1.0)

    mean = found.loss / len(both.decisions)
    assert float(mean) == pytest.approx(float(rated / 2 + 0.3 * reasoned / repeats), rel=1e-5)


def test_an_empty_context_cannot_be_rated():
    with pytest.raises(ForethoughtError, match="empty"):
        rating_lessons(MODEL, [OWN], [""], [[1]])


def test_ratings_are_learnt_from_outcomes(tmp_path):
    """Who asks for a sum succeeds, who asks for a name fails; told of other questions."""
    texts = [f"Question: {'sum' if n % 2 else 'name'} {n}?\n" for n in range(24)]
    lessons = rating_lessons(MODEL, [OWN], texts, [[n % 2] for n in range(24)])
    plan = Schedule(epochs=10, group=4, rate=3e-3, looks=2)
    network = copy.deepcopy(tiny_network())
    curve = Training(network, lessons[:16], lessons[16:], plan, tmp_path).run()

    assert curve[-1]["taken"] == 1.0
    assert curve[-1]["selection"] < 0.5 * curve[0]["selection"]
