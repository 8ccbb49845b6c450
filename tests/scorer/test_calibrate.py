import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forethought.data.errors import NothingToDo
from forethought.scorer import calibrate
from forethought.scorer.selection import select

matrices = arrays(np.float64, (4, 3), elements=st.floats(-9, 0))


@given(matrices)
def test_batch_calibration_leaves_every_candidate_with_mean_zero(scores):
    calibrated = calibrate.batch(scores, calibrate.batch_means(scores))

    assert np.allclose(calibrated.mean(axis=0), 0)


@given(matrices, arrays(np.float64, 3, elements=st.floats(-9, 0)))
def test_an_offset_of_a_candidate_is_calibrated_away(scores, offset):
    shifted = scores + offset

    assert np.allclose(
        calibrate.batch(shifted, calibrate.batch_means(shifted)),
        calibrate.batch(scores, calibrate.batch_means(scores)),
    )
    assert np.allclose(calibrate.pmi(shifted, offset), scores)


def test_raw_is_raw():
    assert calibrate.raw(np.array([-1.0])).tolist() == [-1.0]


def choices(num: int, bias, tau: float, seed: int = 0):
    """Random scores, and choices drawn from softmax((S + bias) / tau)."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(-30, 1.5, (num, len(bias)))
    drawn = [rng.choice(len(bias), p=select(row + bias, tau).probabilities) for row in scores]
    return scores, np.array(drawn), [str(i // 2) for i in range(num)]


def test_bias_and_temperature_are_found_again():
    bias = np.array([2.0, -1.0, 0.5, -1.5])

    found = calibrate.fit(*choices(4000, bias, tau=0.5))

    assert found.tau == pytest.approx(0.5, rel=0.1)
    assert found.bias == pytest.approx(bias - bias.mean(), abs=0.15)
    assert found.choices == 4000
    assert found.log_loss_after < found.log_loss_before / 2


@given(st.integers(0, 50), st.floats(0.1, 5))
@settings(max_examples=15, deadline=None)
def test_a_fit_does_not_depend_on_the_scores_unit_or_on_what_all_share(seed, unit):
    scores, chosen, groups = choices(60, np.array([1.0, 0.0, -1.0]), 1.0, seed)
    found = calibrate.fit(scores, chosen, groups)

    scaled = calibrate.fit(unit * scores + 7, chosen, groups)

    assert scaled.tau == pytest.approx(unit * found.tau, rel=1e-2)
    one = select(found.shift(scores[0]), found.tau).probabilities
    other = select(scaled.shift(unit * scores[0] + 7), scaled.tau).probabilities
    assert one == pytest.approx(other, abs=1e-2)


def test_a_fit_to_noise_is_no_better_on_choices_it_did_not_see():
    rng = np.random.default_rng(0)
    scores, chosen = rng.normal(size=(200, 5)), rng.integers(0, 5, 200)

    found = calibrate.fit(scores, chosen, range(200))

    assert found.log_loss_after == pytest.approx(np.log(5), abs=0.1)
    assert found.tau > 2


def test_scores_that_tell_the_choices_apart_give_a_finite_fit():
    scores = np.tile(np.eye(3), (10, 1))

    found = calibrate.fit(scores, scores.argmax(axis=1), range(30))

    assert np.isfinite(found.bias).all()
    assert found.tau > 0
    assert found.log_loss_after < 0.05


def test_equal_scores_fit_how_often_each_is_chosen():
    chosen = np.array([0] * 30 + [1] * 10)

    found = calibrate.fit(np.zeros((40, 2)), chosen, range(40), strength=1e-6)

    probabilities = select(found.shift(np.zeros(2)), found.tau).probabilities
    assert probabilities == pytest.approx([0.75, 0.25], abs=0.01)


def test_a_candidate_that_is_never_chosen_keeps_a_finite_bias():
    scores, chosen, groups = choices(40, np.array([0.0, 0.0, -50.0]), 1.0)

    assert np.abs(calibrate.fit(scores, chosen, groups).bias).max() < 30


@pytest.mark.parametrize(("num", "questions"), [(19, 19), (40, 4), (0, 0)])
def test_too_few_choices_or_questions_are_refused(num, questions):
    groups = [i % max(questions, 1) for i in range(num)]
    with pytest.raises(NothingToDo, match="too few"):
        calibrate.fit(np.zeros((num, 2)), np.zeros(num, int), groups)
