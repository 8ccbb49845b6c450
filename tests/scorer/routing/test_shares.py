"""From needs to arms: against plain loops, exact shares, ties by place, and the ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.errors import ForethoughtError
from forethought.scorer.routing.proactive.shares import (
    by_budget,
    by_cuts,
    by_shares,
    counts_of,
    cuts_at,
)

needs_of = st.lists(st.integers(-3, 3).map(float), max_size=12).map(np.array)


@st.composite
def shares_of(draw):
    parts = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any))
    return [part / sum(parts) for part in parts]


def plainly_by_shares(needs, counts) -> list[int]:
    """One question after the other takes the strongest arm with room, the neediest first."""
    left, arms = list(counts), [None] * len(needs)
    for place in sorted(range(len(needs)), key=lambda place: (-needs[place], place)):
        arm = max(arm for arm, room in enumerate(left) if room)
        left[arm] -= 1
        arms[place] = arm
    return arms


@given(needs_of, shares_of())
def test_a_batch_is_cut_at_its_shares_as_by_hand(needs, shares):
    counts = counts_of(len(needs), shares)
    arms = by_shares(needs, shares)

    assert arms.tolist() == plainly_by_shares(needs, counts)
    assert np.bincount(arms, minlength=len(shares)).tolist() == counts.tolist()


@given(st.integers(0, 40), shares_of())
def test_counts_are_the_shares_to_less_than_one_question(size, shares):
    counts = counts_of(size, shares)

    assert counts.sum() == size
    assert (np.abs(counts - size * np.array(shares)) < 1).all()


def test_a_share_that_is_exact_is_not_rounded():
    assert counts_of(10, [0.7, 0.3]).tolist() == [7, 3]
    assert counts_of(3, [0.5, 0.5]).tolist() == [1, 2], "half a question goes to the stronger arm"
    assert counts_of(4, [1.0]).tolist() == [4]


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_all_or_none_are_handed_over(share):
    needs = np.array([1.0, 1.0, -2.0])

    assert by_shares(needs, [1 - share, share]).tolist() == [int(share)] * 3
    cuts = cuts_at(needs, [1 - share, share])
    assert by_cuts(np.array([-9e9, 0.0, 9e9]), cuts).tolist() == [int(share)] * 3


def test_equal_needs_go_by_their_place():
    assert by_shares(np.zeros(4), [0.5, 0.5]).tolist() == [1, 1, 0, 0]


def test_an_empty_batch_is_no_error():
    assert by_shares(np.array([]), [0.5, 0.5]).tolist() == []
    assert by_budget(np.array([]), np.empty((0, 2)), 1.0).tolist() == []
    assert by_cuts(np.array([]), cuts_at(np.array([]), [0.5, 0.5])).tolist() == []


@pytest.mark.parametrize("shares", [[], [0.5], [0.5, 0.6], [-0.1, 1.1], [float("nan"), 1.0]])
def test_shares_that_are_none_are_told(shares):
    with pytest.raises(ForethoughtError, match="add up to 1"):
        by_shares(np.array([1.0]), shares)


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=12, unique=True).map(np.array), shares_of())
def test_cuts_give_the_batch_that_they_were_calibrated_on_its_shares(needs, shares):
    cuts = cuts_at(needs, shares)

    assert (np.diff(cuts[np.isfinite(cuts)]) >= 0).all()
    assert by_cuts(needs, cuts).tolist() == by_shares(needs, shares).tolist()


@given(needs_of, shares_of())
def test_cuts_never_part_equal_needs_and_never_turn_the_order(needs, shares):
    arms = by_cuts(needs, cuts_at(needs, shares))

    for one in range(len(needs)):
        for other in range(len(needs)):
            if needs[one] == needs[other]:
                assert arms[one] == arms[other]
            elif needs[one] > needs[other]:
                assert arms[one] >= arms[other]


@given(st.data(), st.integers(1, 3))
def test_a_budget_is_spent_as_by_hand_and_never_exceeded(data, arms):
    needs = data.draw(needs_of)
    row = st.lists(st.integers(0, 9), min_size=arms, max_size=arms)
    rows = data.draw(st.lists(row, min_size=len(needs), max_size=len(needs)))
    seconds = np.array(rows, dtype=float).reshape(len(needs), arms)
    budget = float(data.draw(st.integers(0, 60)))
    found = by_budget(needs, seconds, budget)

    chosen = [0] * len(needs)
    pays = seconds[:, 0].sum() <= budget
    for place in sorted(range(len(needs)), key=lambda place: (-needs[place], place)):
        for arm in range(arms if pays else 1):
            trial = [*chosen]
            trial[place] = arm
            if sum(seconds[i, a] for i, a in enumerate(trial)) <= budget:
                chosen = trial
    assert found.tolist() == chosen
    spent = seconds[np.arange(len(needs)), found].sum() if len(needs) else 0.0
    assert spent <= max(budget, seconds[:, 0].sum())
