import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tiny_models import tiny_model

from forethought.scorer import calibrate
from forethought.scorer.plain import score_plainly, totals

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


def test_the_premise_is_scored_like_any_context():
    model = tiny_model(dtype="float64")
    candidates = ((1, 2, 3), (1, 9))

    expected = totals(score_plainly(model, list(calibrate.PREMISE.encode()), candidates))

    assert np.allclose(calibrate.premise_sums(model, candidates), expected, atol=1e-10)
