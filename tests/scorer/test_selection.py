import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import tiny_model

from forethought.scorer.selection import candidate_ids, scores_of, select

score_lists = st.lists(st.floats(-50, 0), min_size=1, max_size=9).map(np.array)


def test_the_delimiters_count_as_tokens():
    (ids,) = candidate_ids(tiny_model(), ["Look."])

    assert bytes(ids) == b"<thinking>Look.</thinking>"


def test_alpha_one_is_the_mean_and_alpha_zero_the_sum():
    sums, tokens = np.array([-6.0, -4.0]), [3, 8]

    assert scores_of(sums, tokens).tolist() == [-2.0, -0.5]
    assert scores_of(sums, tokens, alpha=0).tolist() == [-6.0, -4.0]


@given(score_lists, st.floats(0.01, 5))
def test_probabilities_are_a_distribution_that_is_highest_where_selected(scores, tau):
    selection = select(scores, tau)

    assert selection.probabilities.sum() == pytest.approx(1)
    assert selection.probabilities[selection.selected] == selection.probabilities.max()


@given(score_lists)
def test_at_zero_temperature_all_goes_to_the_first_highest(scores):
    selection = select(scores, tau=0)

    first = int(np.flatnonzero(scores == scores.max())[0])
    assert selection.selected == first
    assert selection.probabilities.tolist() == [float(i == first) for i in range(len(scores))]


def test_a_single_candidate_is_certain():
    assert select(np.array([-700.0])).probabilities.tolist() == [1.0]


def test_a_log_probability_of_exactly_zero_still_counts_in_the_length():
    assert scores_of(np.array([0.0 - 3.0]), [2]).tolist() == [-1.5]


@pytest.mark.parametrize(("scores", "tau"), [([], 1.0), ([-1.0], -0.5)])
def test_nothing_to_select_or_a_negative_temperature_is_refused(scores, tau):
    with pytest.raises(ValueError):
        select(np.array(scores), tau)
