"""The figures of a frontier against brute force."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from routing_tables import example, outcomes

from forethought.scorer.routing.utility import frontier as front

ONE = np.ones((1, 1))
numbers = st.floats(0, 1).map(lambda x: round(x, 2))


def only(quality, cost):
    return front.Frontier(np.array([quality], dtype=float), np.array([cost], dtype=float))


def span(low, high):
    return front.CostRange(np.array([low], dtype=float), np.array([high], dtype=float))


def best_up_to(quality, cost, budget):
    """By the definition: the monotone envelope of the points, joined by lines, flat past the last."""
    points = sorted(
        {(c, max(q for q, d in zip(quality, cost, strict=True) if d <= c)) for c in cost}
    )
    if budget <= points[0][0]:
        return points[0][1]
    for (c, q), (d, r) in zip(points, points[1:], strict=False):
        if c <= budget <= d:
            return q + (r - q) * (budget - c) / (d - c)
    return points[-1][1]


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6), st.tuples(numbers, numbers))
def test_nauc_is_the_integral_of_the_best_quality_up_to_a_cost(points, ends):
    quality, cost = zip(*points, strict=True)
    low, high = min(ends), max(ends) + 0.1

    found = front.nauc(only(quality, cost), span(low, high))[0]

    middles = low + (np.arange(4000) + 0.5) / 4000 * (high - low)
    assert found == pytest.approx(
        np.mean([best_up_to(quality, cost, b) for b in middles]), abs=1e-3
    )


def test_nauc_of_small_frontiers_worked_out_by_hand():
    line = only([0.2, 0.6], [1.0, 3.0])
    assert front.nauc(line, span(1, 3))[0] == pytest.approx(0.4)
    assert front.nauc(line, span(1, 5))[0] == pytest.approx(0.5)  # flat past 3
    worse = only([0.2, 0.6, 0.4], [1.0, 3.0, 5.0])  # a dearer point that is worse changes nothing
    assert front.nauc(worse, span(1, 5))[0] == pytest.approx(0.5)
    assert front.nauc(only([0.2, 0.6], [2.0, 2.0]), span(2, 2))[0] == 0.6  # all arms cost the same
    assert front.own_range(line) == span(1, 3)


@given(st.integers(0, 30))
def test_every_question_gets_the_best_utility_of_its_available_arms(seed):
    draw = np.random.default_rng(seed)
    predicted, costs = draw.random((20, 3)).round(1), draw.random(3).round(1)
    available = draw.random((20, 3)) < 0.6
    available[:, 0] |= ~available.any(axis=1)

    for weight in (0.0, 0.3, 1e4):
        taken = front.choices(predicted, available, costs, weight)

        for question, arm in enumerate(taken):
            there = [a for a in range(3) if available[question, a]]
            utility = {a: predicted[question, a] - weight * costs[a] for a in there}
            equals = [a for a in there if utility[a] == max(utility.values())]
            assert arm == min(equals, key=lambda a: (costs[a], a))


@given(st.integers(0, 10))
def test_a_frontier_is_the_mean_of_what_was_chosen_at_each_lambda(seed):
    _, table = example(30, seed, holes=0.2)
    costs, predicted = np.array([1.0, 0.4, 0.1]), np.random.default_rng(seed).random((30, 3))
    weights = np.random.default_rng(seed + 1).integers(0, 3, (2, 30)).astype(float)

    found = front.frontier(predicted, table, costs, weights)

    assert len(front.LAMBDAS) == 51
    assert front.LAMBDAS[[0, 1, 50]].tolist() == pytest.approx([0, 1e-4, 1e4])
    for row, weighting in enumerate(weights):
        for place in (0, 20, 50):
            taken = front.choices(predicted, table.available, costs, front.LAMBDAS[place])
            drawn = [q for q in range(30) for _ in range(int(weighting[q]))]
            quality = np.mean([table.quality[q, taken[q]] for q in drawn])
            cost = np.mean([table.cost[q, taken[q]] for q in drawn])
            assert found.quality[row, place] == pytest.approx(quality)
            assert found.cost[row, place] == pytest.approx(cost)


def test_the_range_of_costs_is_from_all_cheapest_to_all_dearest_available_arms():
    table = outcomes([[1, 0, 1], [1, 0, np.nan]])

    found = front.cost_range(table, np.ones((1, 2)))

    assert (found.low[0], found.high[0]) == (2.0, 8.0)  # (1 + 3) / 2; 8 both


@given(st.integers(0, 30))
def test_a_range_of_costs_is_that_of_the_arms_means_over_these_very_questions(seed):
    """Whatever they cost on the questions that a router has learned from, and in every resample alike."""
    draw = np.random.default_rng(seed)
    table = outcomes(np.ones((12, 3)), cost=draw.random((12, 3)).round(2))
    weights = draw.integers(0, 3, (4, 12)) + np.eye(4, 12)

    found = front.cost_range(table, weights)

    for row, weighting in enumerate(weights):
        means = np.average(table.cost, axis=0, weights=weighting)
        assert found.low[row] == pytest.approx(means.min())
        assert found.high[row] == pytest.approx(means.max())


@given(st.integers(0, 30))
def test_a_range_of_costs_never_runs_backwards_whatever_is_missing(seed):
    draw = np.random.default_rng(seed)
    _, holed = example(12, seed, holes=0.5)
    dear = np.where(np.isnan(holed.quality), np.nan, draw.random((12, 3)) * [[100], *[[1]] * 11])
    table = replace(holed, cost=dear)
    weights = draw.integers(0, 3, (4, 12)) + np.eye(4, 12)

    found = front.cost_range(table, weights)
    reached = front.frontier(draw.random((12, 3)), table, np.ones(3), weights)

    assert (found.low <= found.high).all()
    areas = front.nauc(reached, found)
    assert ((areas >= 0) & (areas <= front.peak(reached) + 1e-12)).all()


def test_the_area_is_the_peak_only_where_all_arms_cost_the_same():
    same = front.cost_range(outcomes(np.ones((7, 3)), cost=np.full((7, 3), 0.1)), np.ones((2, 7)))
    other = front.cost_range(outcomes(np.ones((7, 3))), np.ones((2, 7)))

    assert same.is_point.all() and not other.is_point.any()
    turned = front.nauc(only([0.2, 0.6], [4.9, 5.0]), span(4.9, 5.0))[0]
    assert turned == pytest.approx(0.4), "and not .6, though training said otherwise"


def test_peak_and_qnc_and_rank_score_by_their_formulas():
    found = only([0.3, 0.5, 0.6, 0.6], [1.0, 2.0, 3.0, 4.0])

    assert front.peak(found)[0] == 0.6
    assert front.qnc(found, 0.5, 4.0) == 0.5
    assert front.qnc(found, 0.5 + 1e-15, 4.0) == 0.5  # the same mean, added up otherwise
    assert front.qnc(found, 0.55, 4.0) == 0.75
    assert front.qnc(found, 0.7, 4.0) is None
    cheap = np.log(8 / 2) / np.log(8 / 1)
    assert front.rank_score(0.5, 2.0, 1.0, 8.0) == pytest.approx(
        1.1 * 0.5 * cheap / (0.1 * 0.5 + cheap)
    )
    assert front.rank_score(0.5, 8.0, 1.0, 8.0) == 0.0
    assert front.rank_score(0.0, 8.0, 1.0, 8.0) == 0.0
    assert front.rank_score(0.5, 2.0, 2.0, 2.0) == pytest.approx(
        1.1 * 0.5 / 1.05
    )  # nothing to be saved


def test_the_oracle_is_above_every_other_prediction():
    _, table = example(50, 3)
    costs, weights = np.array([1.0, 0.4, 0.1]), np.ones((1, 50))
    within = front.cost_range(table, weights)
    best = front.nauc(front.frontier(table.quality, table, costs, weights), within)[0]

    for seed in range(20):
        predicted = np.random.default_rng(seed).random((50, 3))
        assert front.nauc(front.frontier(predicted, table, costs, weights), within)[0] <= best
