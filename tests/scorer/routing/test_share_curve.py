"""The worth of a signal: against routing every batch by hand, and what must be so of any curve."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forethought.data.errors import ForethoughtError, NothingToDo
from forethought.scorer.routing.proactive.share_curve import Resampled, TwoArms, curve
from forethought.scorer.routing.proactive.shares import by_shares


@st.composite
def arms_of(draw):
    n = draw(st.integers(1, 9))
    pair = st.tuples(st.integers(0, 1), st.integers(0, 1))
    success = draw(st.lists(pair, min_size=n, max_size=n))
    cost = draw(st.lists(pair, min_size=n, max_size=n))
    return TwoArms(np.array(success, dtype=float), np.array(cost, dtype=float))


def needs_for(arms, draw, **options):
    n = len(arms.success)
    return np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n, **options)), float)


@given(st.data())
def test_the_curve_is_that_of_routing_the_batch_at_every_share(data):
    arms = data.draw(arms_of())
    n = len(arms.success)
    needs = np.array(data.draw(st.permutations(range(n))), dtype=float)
    shares = [k / n for k in range(n + 1)]
    found = curve(arms, needs, shares)
    for k, share in enumerate(shares):
        routed = by_shares(needs, [1 - share, share])
        assert found.success[k] == pytest.approx(arms.success[np.arange(n), routed].mean())
        assert found.cost[k] == pytest.approx(arms.cost[np.arange(n), routed].mean())


@given(st.data())
def test_among_equal_needs_it_is_the_mean_over_all_orders(data):
    arms = data.draw(arms_of())
    n = len(arms.success)
    needs = needs_for(arms, data.draw)
    k = data.draw(st.integers(0, n))
    rng = np.random.default_rng(0)
    told = []
    for _ in range(400):
        order = rng.permutation(n)
        routed = np.empty(n, dtype=int)
        routed[order] = by_shares(needs[order], [1 - k / n, k / n])
        told.append(arms.success[np.arange(n), routed].mean())
    found = curve(arms, needs, [k / n]).success[0]

    assert abs(found - np.mean(told)) < 5 * max(np.std(told), 1e-9) / 20 + 1e-9


@given(st.data())
def test_the_oracle_bounds_every_signal_and_no_signal_is_a_line(data):
    arms = data.draw(arms_of())
    needs = needs_for(arms, data.draw)
    oracle, own = curve(arms, arms.gain), curve(arms, needs)
    line = curve(arms, np.zeros(len(needs)))

    assert (own.success <= oracle.success + 1e-12).all()
    assert own.success[[0, -1]] == pytest.approx(arms.success.mean(axis=0))
    assert np.diff(line.success, 2) == pytest.approx(0, abs=1e-12)
    assert line.area == pytest.approx(arms.success.mean())


@given(st.data())
@settings(max_examples=20)
def test_a_resample_is_the_curve_of_the_questions_that_were_drawn(data):
    arms = data.draw(arms_of())
    needs = needs_for(arms, data.draw)
    bench = Resampled(arms, resamples=3)
    found = bench.successes(needs)
    for row, weights in zip(found, bench._weights, strict=True):
        drawn = np.repeat(np.arange(len(needs)), weights.astype(int))
        own = TwoArms(arms.success[drawn], arms.cost[drawn])
        assert row == pytest.approx(curve(own, needs[drawn]).success)


def test_a_signal_less_itself_is_nothing_and_sides_mirror():
    rng = np.random.default_rng(1)
    arms = TwoArms(rng.integers(0, 2, (60, 2)).astype(float), np.ones((60, 2)))
    bench = Resampled(arms, resamples=200)
    one, other = rng.normal(size=60), arms.gain
    same = bench.compared(one, one)
    there, back = bench.compared(other, one), bench.compared(one, other)

    assert (same.area.value, same.area.low, same.area.high) == (0, 0, 0)
    assert there.area.value == pytest.approx(-back.area.value)
    assert there.area.low == pytest.approx(-back.area.high)
    assert there.area.low > 0, "the oracle is surely above noise"
    assert set(there.at) == {0.25, 0.5, 0.75}
    assert bench.area(other).value == pytest.approx(curve(arms, other).area)


def test_what_cannot_be_routed_is_told():
    with pytest.raises(NothingToDo, match="both arms"):
        TwoArms(np.empty((0, 2)), np.empty((0, 2)))
    with pytest.raises(ForethoughtError, match="two arms"):
        TwoArms(np.ones((3, 1)), np.ones((3, 1)))
    with pytest.raises(ForethoughtError, match="missing"):
        TwoArms(np.array([[1.0, np.nan]]), np.ones((1, 2)))
    arms = TwoArms(np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(ForethoughtError, match="a number each"):
        curve(arms, np.array([1.0]))
    with pytest.raises(ForethoughtError, match="1 of them none"):
        curve(arms, np.array([1.0, np.nan]))
