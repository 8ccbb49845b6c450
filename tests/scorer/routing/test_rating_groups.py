"""Group-relative ratings against formulas over plain numbers: when a score is replaced, by what, and what is then the loss."""

import copy
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import tiny_model, tiny_network

from forethought.scorer.routing.proactive.rating import OWN, Scale
from forethought.scorer.routing.proactive.rating_groups import (
    Run,
    TaskWeights,
    group_loss,
    grouped,
    level_scores,
    with_replacement,
)
from forethought.scorer.routing.proactive.rating_lessons import rating_lessons, rating_log_q
from forethought.scorer.training.objectives import Policy, Surrogate, Terms, advantages
from forethought.scorer.training.teaching import Schedule, Training


@st.composite
def groups(draw):
    levels = draw(st.integers(1, 3))
    size = draw(st.integers(1, 5))
    drawn = draw(st.lists(st.integers(0, levels - 1), min_size=size, max_size=size))
    row = st.lists(st.integers(0, 2).map(float), min_size=levels, max_size=levels)
    return drawn, np.array(draw(st.lists(row, min_size=size, max_size=size)))


@given(groups())
def test_one_score_is_replaced_just_where_all_are_the_same_and_another_could_be(group):
    drawn, scores = group
    own = [scores[g, level] for g, level in enumerate(drawn)]
    found = with_replacement(drawn, scores)
    others = {
        (abs(scores[g, level] - own[g]), g, -level)
        for g in range(len(drawn))
        for level in range(scores.shape[1])
    }
    farthest = max(others)

    assert found.scores.tolist() == [scores[g, level] for g, level in enumerate(found.levels)]
    if len(set(own)) > 1 or farthest[0] == 0:
        assert found.levels.tolist() == drawn
        assert not found.is_replaced.any()
        return
    assert found.is_replaced.tolist() == [g == farthest[1] for g in range(len(drawn))]
    assert found.levels[farthest[1]] == -farthest[2]
    if len(drawn) > 1:
        assert advantages(found.scores.tolist()).abs().min() > 0, "now there is something to learn"


def test_a_group_that_is_all_wrong_learns_the_right_level_and_one_that_is_all_right_keeps_it():
    scores = level_scores([1, 1, 1], 2)
    wrong, right = with_replacement([0, 0, 0], scores), with_replacement([1, 1, 1], scores)

    assert (wrong.levels.tolist(), wrong.scores.tolist()) == ([0, 0, 1], [0, 0, 1])
    assert (right.levels.tolist(), right.scores.tolist()) == ([1, 1, 0], [1, 1, 0])


def test_a_rating_scores_by_how_near_it_came():
    assert level_scores([0.0, 0.5, 1.0], 3).tolist() == [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]


def clipped(ratio, advantage, low=0.2, high=0.2):
    return min(ratio * advantage, min(max(ratio, 1 - low), 1 + high) * advantage)


@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.5, 2.0), (1.0, 0.0)])
def test_the_loss_of_a_group_is_the_two_means_with_their_weights(weights):
    rng = np.random.default_rng(0)
    new, old = rng.normal(-1, 0.4, 3), rng.normal(-1, 0.4, 3)
    lengths, rated, played = (2, 5, 1), [1.2, -0.4, -0.8], [0.3, 0.9, -1.2]
    tokens = [(rng.normal(-1, 0.3, n), rng.normal(-1, 0.3, n)) for n in lengths]
    nothing = Terms(torch.zeros(0), torch.zeros(0))
    found = group_loss(
        Policy(),
        Terms(torch.tensor(new), torch.tensor(old)),
        torch.tensor(rated),
        [Run(nothing, Terms(torch.tensor(n), torch.tensor(o))) for n, o in tokens],
        torch.tensor(played),
        TaskWeights(*weights),
    )
    ratings = [clipped(math.exp(n - o), a) for n, o, a in zip(new, old, rated, strict=True)]
    runs = [
        np.mean([clipped(math.exp(n - o), a) for n, o in zip(*pair, strict=True)])
        for pair, a in zip(tokens, played, strict=True)
    ]

    expected = -weights[0] * np.mean(ratings) - weights[1] * np.mean(runs)
    assert float(found) == pytest.approx(expected)


@pytest.mark.parametrize("surrogate", list(Surrogate))
def test_a_step_down_the_loss_raises_the_rating_that_scores(surrogate):
    """From a group in which every rollout drew the wrong level."""
    logits = torch.zeros(2, requires_grad=True)
    found = with_replacement([0, 0, 0, 0], level_scores([1, 1, 1, 1], 2))
    told = logits.log_softmax(0)[found.levels]
    ratings = Terms(told, told.detach())
    loss = group_loss(
        Policy(surrogate), ratings, advantages(found.scores.tolist()), [], torch.zeros(0)
    )
    loss.backward()

    assert logits.grad[1] < 0 < logits.grad[0]


def named(number, successes):
    texts = [f"Question: {'sum' if n % 2 else 'name'} {n}?\n" for n in range(number)]
    told = [successes(n) for n in range(number)]
    return rating_lessons(tiny_model(), [OWN], texts, told), told


@pytest.mark.parametrize("surrogate", list(Surrogate))
def test_ratings_are_learnt_in_groups_from_recorded_outcomes(tmp_path, surrogate):
    """Who asks for a sum succeeds, who asks for a name fails; told of other questions."""
    lessons, told = named(24, lambda n: [float(n % 2)])
    plan = Schedule(epochs=10, group=4, rate=3e-3, looks=2)
    network = copy.deepcopy(tiny_network())
    learnt = grouped(lessons[:16], told[:16], size=6, policy=Policy(surrogate))
    curve = Training(network, learnt, lessons[16:], plan, tmp_path).run()

    assert curve[-1]["taken"] == 1.0
    assert curve[-1]["selection"] < 0.8 * curve[0]["selection"]


def test_outcomes_that_are_nearest_to_no_level_teach_nothing():
    """Half a success scores the same on both levels."""
    (lesson,) = named(1, lambda n: [0.5])[0]
    (group,) = grouped([lesson], [[0.5]])
    network = copy.deepcopy(tiny_network())
    group.loss(network, 1.0, 1.0, 1.0).loss.backward()

    assert all(not parameter.grad.any() for parameter in network.parameters())


def test_the_same_is_drawn_again_and_by_another_seed_something_else():
    scales = [Scale(("It is a.", "It is b.")), Scale(("It is c.", "It is d."))]  # nearly as likely
    (lesson,) = rating_lessons(tiny_model(), scales, ["Question: Who?\n"], [[1, 0]])
    slopes = []
    for seed in (0, 0, 1, 2, 3):
        (group,) = grouped([lesson], [[1.0, 0.0]], size=5, seed=seed)
        network = copy.deepcopy(tiny_network())
        found = group.loss(network, 1.0, 1.0, 1.0)
        found.loss.backward()
        slopes.append(torch.cat([one.grad.flatten() for one in network.parameters()]))
        with torch.no_grad():
            chances = rating_log_q(network, lesson.trunk, lesson.decisions)
        earned = [q[one.earned] for q, one in zip(chances, lesson.decisions, strict=True)]
        assert float(found.selection) == pytest.approx(-float(sum(earned)), abs=1e-5)
        assert found.loss.item() == pytest.approx(0, abs=1e-6), "advantages add up to nothing"

    assert torch.equal(slopes[0], slopes[1])
    assert any(not torch.equal(slopes[0], other) for other in slopes[2:])
