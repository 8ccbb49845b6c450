"""Group-relative ratings against formulas over plain numbers: when a score is replaced, by what, and what is then the loss."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from forethought.scorer.routing.proactive.rating_groups import (
    Run,
    TaskWeights,
    group_loss,
    level_scores,
    with_replacement,
)
from forethought.scorer.training.objectives import Policy, Surrogate, Terms, advantages


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
