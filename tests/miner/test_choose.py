"""Facility location against brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forethought.miner.choose import choose

SIMILARITY = arrays(float, (6, 5), elements=st.floats(0, 1, width=32))
WEIGHTS = arrays(float, 6, elements=st.floats(0.125, 4, width=32))


def value(similarity: np.ndarray, weights: np.ndarray, columns: tuple[int, ...]) -> float:
    return float(weights @ similarity[:, list(columns)].max(axis=1)) if columns else 0.0


def test_the_column_that_stands_for_most_comes_first():
    similarity = np.array([[1, 0, 0.6], [1, 0, 0.6], [0, 1, 0.6]])

    assert choose(similarity, np.ones(3), 3).rows == (0, 1)
    assert choose(similarity, np.array([1, 1, 9.0]), 2).rows == (1, 0)


@given(SIMILARITY, WEIGHTS, st.integers(1, 5))
def test_greedy_is_within_its_bound_of_the_best_set(similarity, weights, budget):
    chosen = choose(similarity, weights, budget)
    best = max(value(similarity, weights, c) for c in combinations(range(5), budget))

    assert value(similarity, weights, chosen.rows) >= (1 - 1 / np.e) * best - 1e-6


@given(SIMILARITY, WEIGHTS)
def test_smaller_sets_are_the_beginning_of_larger_ones(similarity, weights):
    whole = choose(similarity, weights, 5)

    for budget in range(1, 5):
        assert choose(similarity, weights, budget).rows == whole.rows[:budget]
    assert list(whole.coverage) == sorted(whole.coverage)
    assert whole.coverage == () or whole.coverage[-1] <= 1 + 1e-9


def test_a_redundant_column_stays_out():
    similarity = np.array([[1, 0.9, 0.1], [0.9, 1, 0.1]])
    redundant = np.eye(3, dtype=bool)
    redundant[0, 1] = redundant[1, 0] = True

    assert 1 not in choose(similarity, np.array([2.0, 1.0]), 3, redundant).rows


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing_to_choose_from_is_nothing_chosen(shape):
    assert choose(np.zeros(shape), np.ones(shape[0]), 3).rows == ()
