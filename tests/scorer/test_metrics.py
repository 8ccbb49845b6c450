"""Estimates and their intervals."""

import numpy as np
import pytest
from audit_records import record
from hypothesis import given, settings
from hypothesis import strategies as st

from forethought.scorer.metrics import Resampler, recovery
from forethought.scorer.recovery import Gains


def questions(*names: str, source: str = "s") -> list[dict]:
    return [{"question": name, "source": source} for name in names]


def halves(total: list[float]) -> Gains:
    return Gains(np.array(total) / 2, np.array(total) / 2)


def test_the_value_is_the_plain_ratio_of_means():
    estimate = Resampler(questions("a", "b", "c")).ratio(
        np.array([1.0, 2, 3]), np.array([2.0, 4, 6])
    )

    assert estimate.value == pytest.approx(0.5)
    assert (estimate.low, estimate.high) == (pytest.approx(0.5), pytest.approx(0.5))
    assert estimate.n == 3


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(-5, 5), min_size=2, max_size=12))
def test_the_interval_holds_the_value_and_shrinks_to_it_for_equal_turns(values):
    resampler = Resampler(questions(*(f"q{i}" for i in range(len(values)))))
    estimate = resampler.mean(np.array(values))

    assert estimate.low - 1e-9 <= estimate.value <= estimate.high + 1e-9
    assert min(values) - 1e-9 <= estimate.low


def test_turns_of_one_question_are_drawn_together():
    """Ten copies of one question tell no more than one: the interval does not shrink."""
    values = np.array([0.0, 1.0])
    once = Resampler(questions("a", "b")).mean(values)
    copies = Resampler(questions(*"a" * 10, *"b" * 10)).mean(np.repeat(values, 10))

    assert (copies.low, copies.high) == (once.low, once.high)


def test_a_bootstrap_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(60):
        sample = rng.normal(1.0, 1.0, 60)
        estimate = Resampler(questions(*map(str, range(60)))).mean(sample)
        hits += estimate.low <= 1.0 <= estimate.high

    assert 50 <= hits <= 60


def test_sources_count_equally_whatever_their_size():
    records = [*questions("a", "b", "c", "d", source="big"), *questions("e", source="small")]

    assert Resampler(records).mean(np.array([0.0, 0, 0, 0, 1])).value == pytest.approx(0.5)


def test_a_paired_difference_is_narrower_than_two_intervals_suggest():
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 3, 40)
    first, second, free = noise + 1.1, noise + 1.0, np.full(40, 4.0)
    resampler = Resampler(questions(*map(str, range(40))))
    difference = resampler.difference(first, second, free)

    assert difference.value == pytest.approx(0.025)
    assert difference.high - difference.low < 1e-9
    assert resampler.ratio(first, free).high - resampler.ratio(first, free).low > 0.2


def test_no_difference_is_told_where_no_recovery_is():
    resampler = Resampler(questions("a", "b"))
    first, second, free = np.array([1.0, 1.0]), np.array([0.0, 0.0]), np.array([4.0, -5.0])

    assert resampler.difference(first, second, free).value is None


def test_recovery_has_its_parts_beside_it():
    found = recovery(halves([1.0, 3.0]), halves([4.0, 4.0]), Resampler(questions("a", "b")))

    assert found["value"] == pytest.approx(0.5)
    assert found["nats"] == pytest.approx(2.0)
    assert found["kind_nats"] == pytest.approx(1.0)
    assert found["arguments"] == pytest.approx(0.5)


def test_no_recovery_is_told_where_the_free_thought_gains_nothing():
    found = recovery(halves([1.0, 1.0]), halves([4.0, -4.0]), Resampler(questions("a", "b")))

    assert (found["value"], found["low"], found["high"]) == (None, None, None)
    assert found["nats"] == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_interval_and_another_a_near_one():
    records = [record(f"q{i}") for i in range(30)]
    values = np.random.default_rng(2).normal(size=30)
    first, again, other = (Resampler(records, seed).mean(values) for seed in (0, 0, 1))

    assert first == again
    assert first.low == pytest.approx(other.low, abs=0.1)


def test_collapse_tells_one_sentence_from_even_use():
    resampler = Resampler(questions("a", "b", "c", "d"))
    one = resampler.collapse(["x"] * 4, ["x", "y"])
    even = resampler.collapse(["x", "y", "x", "y"], ["x", "y"])

    assert (one["top_share"].value, one["entropy"].value) == (1.0, 0.0)
    assert (even["top_share"].value, even["entropy"].value) == (0.5, pytest.approx(1.0))
