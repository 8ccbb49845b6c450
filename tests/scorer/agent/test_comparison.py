"""Comparisons of two modes, against sums over all splits, Wilson's formula and the arithmetic of small cases."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.scorer.agent.comparison import McNemar, mcnemar, paired, paired_difference, rate

Z = 1.959963984540054  # of 95 %, two-sided
pairs = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40)
some_pairs = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=25)
outcomes = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([True, False, None]))


def chance(only_first, only_second):
    """The share of all 2^n splits that are as uneven, or more."""
    n, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(n, k) for k in range(fewer + 1))
    return min(1, Fraction(2 * tail, 2**n))


def wilson(hits, n):
    share, middle = hits / n, hits / n + Z**2 / (2 * n)
    reach = Z * math.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return (middle - reach) / (1 + Z**2 / n), (middle + reach) / (1 + Z**2 / n)


def columns(rows):
    return [one for one, _ in rows], [other for _, other in rows]


@given(pairs)
def test_mcnemar_is_the_share_of_all_splits_as_uneven(rows):
    found = mcnemar(*columns(rows))

    assert found.only_first == rows.count((True, False))
    assert found.only_second == rows.count((False, True))
    assert found.p == pytest.approx(float(chance(found.only_first, found.only_second)))


@given(pairs)
def test_exchanging_the_modes_changes_the_sides_and_not_the_p(rows):
    first, second = columns(rows)
    found, exchanged = mcnemar(first, second), mcnemar(second, first)

    assert exchanged == McNemar(found.only_second, found.only_first, pytest.approx(found.p))


def test_questions_on_which_both_agree_tell_nothing():
    assert mcnemar([1, 1, 0], [0, 0, 0]) == McNemar(2, 0, 0.5)
    assert mcnemar([1, 1, 0] + [1] * 90, [0, 0, 0] + [1] * 90) == McNemar(2, 0, 0.5)
    assert mcnemar([], []) == mcnemar([True], [True]) == McNemar(0, 0, 1.0)


@given(some_pairs)
def test_the_difference_is_that_of_the_rates_within_its_interval(rows):
    first, second = columns(rows)
    found = paired_difference(first, second)

    assert found.n == len(rows)
    assert found.value == pytest.approx(rate(first).value - rate(second).value)
    if found.low is not None:
        assert -1 <= found.low <= found.value + 1e-9
        assert found.value - 1e-9 <= found.high <= 1


@given(some_pairs)
def test_exchanging_the_modes_mirrors_the_difference(rows):
    first, second = columns(rows)
    found, mirrored = paired_difference(first, second, 3), paired_difference(second, first, 3)

    assert mirrored.value == pytest.approx(-found.value)
    assert (mirrored.low is None) == (found.low is None)
    if found.low is not None:
        assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))


def test_the_interval_is_that_of_the_questions_drawn_anew():
    """90 ties and 10 gains: each resample's mean is a binomial share, of standard deviation 0.03."""
    found = paired_difference([True] * 10 + [False] * 90, [False] * 100)

    assert (found.low, found.high) == (pytest.approx(0.05, abs=0.02), pytest.approx(0.16, abs=0.02))


def test_pairing_takes_out_what_makes_questions_differ():
    seconds = [float(i % 17) for i in range(100)]
    saved = [0.25, 0.75] * 50
    found = paired_difference(
        [one + more for one, more in zip(seconds, saved, strict=True)], seconds
    )

    assert (found.low, found.high) == (pytest.approx(0.45, abs=0.02), pytest.approx(0.55, abs=0.02))


@given(st.integers(1, 90), st.booleans(), st.booleans())
def test_questions_that_all_differ_alike_have_no_interval(count, one, other):
    """Drawn anew they are the same questions: an interval of no width would claim what nobody knows."""
    found = paired_difference([one] * count, [other] * count)

    assert (found.value, found.low, found.high, found.n) == (one - other, None, None, count)


def test_the_same_seed_gives_the_same_interval():
    first, second = [True, False] * 20, [False, True, True, False] * 10

    assert paired_difference(first, second, 1) == paired_difference(first, second, 1)


@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_a_rate_has_wilsons_interval(successes):
    found = rate(successes)
    low, high = wilson(sum(successes), len(successes))

    assert (found.value, found.n) == (sum(successes) / len(successes), len(successes))
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


def test_a_rate_of_all_or_nothing_still_has_an_interval():
    assert rate([True] * 10).low == pytest.approx(0.722, abs=1e-3)
    assert rate([False] * 10).high == pytest.approx(0.278, abs=1e-3)


def test_a_rate_counts_a_failed_question_as_no_success():
    assert rate([True, None, None, True]) == rate([True, False, False, True])


def test_nothing_asked_gives_nothing_told():
    assert rate([]).as_json() == paired_difference([], []).as_json()
    assert rate([]).as_json() == {"value": None, "low": None, "high": None, "n": 0}


@pytest.mark.parametrize("compare", [mcnemar, paired_difference])
def test_modes_of_unequal_length_are_not_compared(compare):
    with pytest.raises(ValueError):
        compare([True], [True, False])


@given(outcomes, outcomes)
def test_a_question_that_failed_stays_in_the_denominator_as_no_success(first, second):
    found = paired(first, second)

    assert set(found.questions) == first.keys() & second.keys()
    assert len(found.questions) == len(found.first) == len(found.second)
    assert len(found.questions) * 2 + found.unpaired == len(first) + len(second)
    for question, one, other in zip(found.questions, found.first, found.second, strict=True):
        assert one is (first[question] is True)
        assert other is (second[question] is True)


def test_failures_are_counted_where_both_modes_were_asked():
    found = paired({"a": None, "b": True, "c": None}, {"b": None, "a": False})

    assert found.questions == ("a", "b")
    assert (found.first, found.second) == ((False, True), (False, False))
    assert (found.first_failed, found.second_failed, found.unpaired) == (1, 1, 1)
