"""Facility location against brute force, its plain twin, and what it promises of budgets, pins and groups."""

import time
import tracemalloc
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import coo_array, csr_array

from forethought.miner.choose import (
    Group,
    Reason,
    Terms,
    TokenLimit,
    choose,
    choose_plainly,
    frequent_groups,
    redundant_pairs,
)

SIMILARITY = arrays(float, (6, 5), elements=st.floats(0, 1, width=32))
WEIGHTS = arrays(float, 6, elements=st.floats(0.125, 4, width=32))
COSTS = arrays(float, 5, elements=st.integers(1, 9))
REDUNDANT = arrays(bool, (5, 5)).map(lambda pairs: pairs | pairs.T)


@st.composite
def terms(draw):
    """Terms over five phrases that contradict nothing."""
    order = draw(st.permutations(range(5)))
    num_pins = draw(st.integers(0, 2))
    banned = order[num_pins : num_pins + draw(st.integers(0, 2))]
    tokens = TokenLimit(draw(COSTS), draw(st.integers(18, 40))) if draw(st.booleans()) else None
    members = draw(st.lists(st.lists(st.integers(0, 4), max_size=3), max_size=3))
    groups = tuple(Group(number, 0.2, tuple(columns)) for number, columns in enumerate(members))
    return Terms(tuple(order[:num_pins]), frozenset(banned), tokens, groups)


def drawn(seed: int, turns: int = 40, phrases: int = 12) -> np.ndarray:
    """A similarity without ties."""
    return np.random.default_rng(seed).random((turns, phrases)) ** 3


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


@given(SIMILARITY, WEIGHTS, st.none() | st.integers(2, 5), st.none() | REDUNDANT, terms())
def test_looking_lazily_chooses_exactly_what_looking_at_everything_does(
    similarity, weights, budget, redundant, given_terms
):
    problem = (similarity, weights, budget, redundant, given_terms)

    assert choose(*problem) == choose_plainly(*problem)


@given(st.integers(0, 50))
def test_lazy_and_plain_agree_on_larger_problems(seed):
    similarity, weights = drawn(seed, 300, 60), np.random.default_rng(seed).random(300)

    assert choose(similarity, weights, None) == choose_plainly(similarity, weights, None)


@given(SIMILARITY, WEIGHTS)
def test_smaller_sets_are_the_beginning_of_larger_ones(similarity, weights):
    whole = choose(similarity, weights, 5)

    for budget in range(1, 5):
        assert choose(similarity, weights, budget).rows == whole.rows[:budget]
    assert list(whole.coverage) == sorted(whole.coverage)
    assert whole.coverage == () or whole.coverage[-1] <= 1 + 1e-9


@given(SIMILARITY, WEIGHTS, REDUNDANT, terms())
def test_sets_are_nested_with_pins_bans_and_groups_while_no_token_limit_binds(
    similarity, weights, redundant, given_terms
):
    free = replace(given_terms, tokens=TokenLimit(np.full(5, 3.0), 15))
    whole = choose(similarity, weights, 5, redundant, free)

    for budget in range(len(free.pinned), 5):
        assert choose(similarity, weights, budget, redundant, free).rows == whole.rows[:budget]
    assert whole == choose(similarity, weights, 5, redundant, replace(free, tokens=None))


@given(st.integers(0, 50), st.permutations(range(12)))
def test_the_order_of_phrases_does_not_matter_where_nothing_ties(seed, order):
    similarity = drawn(seed)
    permuted = choose(similarity[:, order], np.ones(40), 6)

    assert tuple(order[row] for row in permuted.rows) == choose(similarity, np.ones(40), 6).rows


@given(SIMILARITY, WEIGHTS, st.integers(0, 4))
def test_a_phrase_that_stands_for_nothing_new_changes_nothing(similarity, weights, twin):
    nothing = np.zeros((6, 1))
    more = np.hstack([similarity, nothing, similarity[:, [twin]]])

    assert choose(more, weights, 7) == choose(similarity, weights, 7)


@given(SIMILARITY, WEIGHTS)
def test_the_curve_adds_up_to_what_is_covered_and_never_rises(similarity, weights):
    chosen = choose(similarity, weights, 5)
    curve = chosen.curve

    assert [point.size for point in curve] == list(range(1, len(chosen.rows) + 1))
    covered = value(similarity, weights, chosen.rows)
    assert sum(p.gain for p in curve) == pytest.approx(
        covered, abs=1e-8
    )  # gains have nine decimals
    gains = [point.gain for point in curve]
    assert gains == sorted(gains, reverse=True)
    assert [point.coverage for point in curve] == list(chosen.coverage)


@pytest.mark.parametrize("kind", [csr_array, coo_array, np.asfortranarray, np.float32])
@given(seed=st.integers(0, 20))
def test_dense_and_sparse_similarities_choose_the_same(kind, seed):
    similarity = np.where(drawn(seed) > 0.3, drawn(seed), 0).astype(np.float32)
    dense, other = choose(similarity, np.ones(40), 8), choose(kind(similarity), np.ones(40), 8)

    assert other.rows == dense.rows
    assert other.gains == dense.gains
    assert other.coverage == pytest.approx(dense.coverage)


def test_a_caller_s_sparse_similarity_is_left_as_it_is():
    entries = ([0.25, 0.5, 1.0], ([0, 0, 1], [0, 0, 1]))  # (0, 0) is there twice
    similarity = coo_array(entries, shape=(2, 2)).tocsc(copy=True)
    doubled = coo_array(entries, shape=(2, 2))

    assert choose(doubled, np.array([2.0, 1.0]), 2).rows == (0, 1)
    assert choose(similarity, np.array([2.0, 1.0]), 2).gains == (1.5, 1.0)
    assert doubled.nnz == 3


def test_a_redundant_column_stays_out():
    similarity = np.array([[1, 0.9, 0.1], [0.9, 1, 0.1]])
    redundant = np.eye(3, dtype=bool)
    redundant[0, 1] = redundant[1, 0] = True

    assert 1 not in choose(similarity, np.array([2.0, 1.0]), 3, redundant).rows


def test_redundant_pairs_say_which_of_them_stayed_the_nearest_first():
    closeness = np.array([[1, 0.9, 0.85, 0], [0.9, 1, 0.95, 0], [0.85, 0.95, 1, 0], [0, 0, 0, 1]])
    pairs = redundant_pairs((2, 0), closeness > 0.8, closeness)

    assert [tuple(pair) for pair in pairs] == [
        (1, 2, 0.95, (2,)),
        (0, 1, 0.9, (0,)),
        (0, 2, 0.85, (0, 2)),
    ]
    assert redundant_pairs((3,), closeness > 0.8, closeness) == ()


@given(SIMILARITY, WEIGHTS, COSTS, st.integers(1, 30))
def test_a_token_limit_is_kept_and_the_choice_within_its_bound(similarity, weights, costs, most):
    chosen = choose(similarity, weights, None, terms=Terms(tokens=TokenLimit(costs, most)))
    sets = (c for size in range(6) for c in combinations(range(5), size))
    best = max(value(similarity, weights, c) for c in sets if costs[list(c)].sum() <= most)

    assert costs[list(chosen.rows)].sum() <= most
    assert value(similarity, weights, chosen.rows) >= (1 - 1 / np.e) / 2 * best - 1e-6


def test_many_cheap_phrases_beat_a_dear_one_and_a_good_dear_one_beats_a_cheap_one():
    similarity = np.array([[1.0, 0.9, 0, 0], [1.0, 0, 0.9, 0], [0.1, 0, 0, 0.9]])
    cheap = TokenLimit(np.array([6, 2, 2, 2]), 6)
    single = TokenLimit(np.array([10.0, 1, 50, 50]), 10)

    assert choose(similarity, np.ones(3), None, terms=Terms(tokens=cheap)).rows == (1, 2, 3)
    # a token buys most of column 1, which then leaves no room for the better column 0
    assert choose(similarity, np.ones(3), None, terms=Terms(tokens=single)).rows == (0,)


@given(SIMILARITY, WEIGHTS, st.none() | REDUNDANT, terms())
def test_pins_come_first_in_order_and_bans_never(similarity, weights, redundant, given_terms):
    chosen = choose(similarity, weights, 5, redundant, given_terms)

    assert chosen.rows[: len(given_terms.pinned)] == given_terms.pinned
    assert not given_terms.banned & {*chosen.rows}
    assert len({*chosen.rows}) == len(chosen.rows)


def test_the_rest_is_chosen_around_a_pin():
    similarity = np.array([[1, 0, 0.9], [1, 0, 0.9], [0, 0.5, 0]])

    assert choose(similarity, np.ones(3), 2).rows == (0, 1)
    assert choose(similarity, np.ones(3), 2, terms=Terms(pinned=(2,))).rows == (2, 1)


def test_a_frequent_group_gets_a_phrase_before_better_phrases_of_groups_that_have_one():
    similarity = np.array([[1, 0.1, 0], [0, 0.1, 0.9], [0, 0.3, 0.1]])
    groups = (Group(0, 0.6, (0, 2)), Group(1, 0.4, (1,)))

    assert choose(similarity, np.ones(3), 2).rows == (0, 2)
    assert choose(similarity, np.ones(3), 2, terms=Terms(groups=groups)).rows == (0, 1)


def left_out(groups, budget=5, redundant=None, banned=()):
    """Why groups are left out where columns 0 and 1 are near each other, 2 apart, 3 nothing."""
    similarity = np.array([[1, 0.9, 0, 0], [0.9, 0.95, 0, 0], [0, 0, 0.5, 0]])
    given_terms = Terms(banned=frozenset(banned), groups=groups)
    found = choose(similarity, np.ones(3), budget, redundant, given_terms).left_out
    return [(one.group.number, one.reason, one.by) for one in found]


def test_a_group_that_is_left_out_is_told_with_the_reason():
    near = np.zeros((4, 4), dtype=bool)
    near[0, 1] = near[1, 0] = True
    first, second, third = Group(0, 0.5, (0,)), Group(1, 0.3, (1,)), Group(2, 0.1, (2,))

    assert left_out((first, second, third)) == []
    assert left_out((first, Group(7, 0.1, ()))) == [(7, Reason.NO_PHRASE, None)]
    assert left_out((first, third), banned=[2]) == [(2, Reason.BANNED, None)]
    assert left_out((first, second, third), redundant=near) == [(1, Reason.REDUNDANT, 0)]
    assert left_out((first, third), budget=1) == [(2, Reason.BUDGET, None)]
    assert left_out((first, Group(3, 0.1, (3,)))) == [(3, Reason.NO_GAIN, None)]


@given(SIMILARITY, WEIGHTS, st.none() | REDUNDANT, terms())
def test_every_group_is_in_or_told(similarity, weights, redundant, given_terms):
    chosen = choose(similarity, weights, 4, redundant, given_terms)
    out = {one.group for one in chosen.left_out}

    for group in given_terms.groups:
        assert (group in out) == ({*group.columns}.isdisjoint(chosen.rows))


def test_frequent_groups_are_those_with_enough_of_all_weight():
    labels, weights = np.array([0, 0, 1, 2, -1, -1]), np.array([1, 1, 3, 0.5, 2, 2.5])
    groups = frequent_groups(labels, weights, {0: [4], 1: [2, 3]}, least_share=0.2)

    assert groups == (Group(1, 0.3, (2, 3)), Group(0, 0.2, (4,)))
    assert frequent_groups(np.array([-1, -1]), np.ones(2), {}, 0.1) == ()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_nothing_to_choose_from_is_nothing_chosen(shape, kind):
    assert choose(kind(np.zeros(shape)), np.ones(shape[0]), 3).rows == ()


def clustered(num_turns: int, num_phrases: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors of turns around 200 centres, and of phrases near some of them."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((200, 32))[rng.integers(200, size=num_turns)]
    turns = centres + 0.7 * rng.standard_normal((num_turns, 32))
    phrases = turns[rng.permutation(num_turns)[:num_phrases]]
    phrases = phrases + 0.3 * rng.standard_normal((num_phrases, 32))
    pair = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in (turns, phrases)]
    return pair[0].astype(np.float32), pair[1].astype(np.float32)


@pytest.mark.slow
def test_two_thousand_phrases_for_fifty_thousand_turns():
    """Memory beside the similarity; `-s` prints it and the time of one choice."""
    turns, phrases = clustered(50_000, 2_000)
    similarity = np.maximum(turns @ phrases.T, 0)
    tracemalloc.start()
    try:
        traced = choose(similarity, np.ones(50_000), 64, phrases @ phrases.T > 0.8)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()  # it makes everything slower
    start = time.perf_counter()
    chosen = choose(similarity, np.ones(50_000), 64, phrases @ phrases.T > 0.8)
    print(f"{time.perf_counter() - start:.1f} s, {peak:.0f} MB")

    assert chosen == traced
    assert len(chosen.rows) == 64
    assert peak < 450
