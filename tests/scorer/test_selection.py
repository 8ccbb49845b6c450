import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scripted_models import scripted_model
from tiny_models import tiny_model

from forethought.data.errors import ForethoughtError, ModelUnavailable
from forethought.scorer.compiled_set import compile_set
from forethought.scorer.context import Context
from forethought.scorer.model import load_model
from forethought.scorer.plain import totals
from forethought.scorer.premise import premise_sums
from forethought.scorer.score import score_sharing_context
from forethought.scorer.selection import (
    TOKEN_NOISE,
    Normalisation,
    Unit,
    log_z,
    margin,
    scores_of,
    select,
    sum_noise,
)

score_lists = st.lists(st.floats(-50, 0), min_size=1, max_size=9).map(np.array)


def test_alpha_one_is_the_mean_and_alpha_zero_the_sum():
    sums, tokens = np.array([-6.0, -4.0]), [3, 8]

    assert scores_of(sums, tokens).tolist() == [-2.0, -0.5]
    assert scores_of(sums, tokens, alpha=0).tolist() == [-6.0, -4.0]


@pytest.mark.parametrize(
    ("written", "alpha", "unit"),
    [
        ("sum", 0, Unit.TOKENS),
        ("mean", 1, Unit.TOKENS),
        ("byte", 1, Unit.BYTES),
        ("alpha=0.5", 0.5, Unit.TOKENS),
    ],
)
def test_a_normalisation_is_written_as_it_is_read(written, alpha, unit):
    normalisation = Normalisation.parse(written)

    assert normalisation == Normalisation(alpha, unit)
    assert str(normalisation) == written
    expected = np.array([8.0, 30.0] if unit is Unit.BYTES else [3.0, 9.0]) ** alpha
    assert normalisation.divisors([3, 9], [8, 30]).tolist() == expected.tolist()


def test_alpha_of_zero_and_one_have_names():
    assert str(Normalisation.parse("alpha=1")) == "mean"
    assert str(Normalisation.parse("alpha=0")) == "sum"


@pytest.mark.parametrize("written", ["", "median", "alpha", "alpha=", "alpha=x", "beta=1"])
def test_a_normalisation_that_does_not_exist_is_refused(written):
    with pytest.raises(ForethoughtError, match="sum, mean, byte"):
        Normalisation.parse(written)


@pytest.fixture(scope="module")
def words():
    """Sums after a question and after the premise, with lengths, of a short and a long answer."""
    model = load_model()
    compiled = compile_set(model, ["Paris", "Antidisestablishmentarianism"])
    question = Context(model, model.encode("Question: What is the capital of France?\n"))
    sums = totals(score_sharing_context(question, compiled.ids).log_probs)
    return compiled, sums, premise_sums(model, compiled.ids)


@pytest.mark.parametrize(
    ("normalisation", "raw", "pmi"),
    [
        ("sum", "Paris", "Paris"),
        ("mean", "Antidisestablishmentarianism", "Paris"),  # its later tokens predict themselves
        ("byte", "Antidisestablishmentarianism", "Paris"),
    ],
)
def test_what_a_long_word_that_predicts_itself_gains_by_each_score(words, normalisation, raw, pmi):
    compiled, sums, premise = words
    divisors = compiled.divisors(Normalisation.parse(normalisation))

    assert compiled.texts[int(np.argmax(sums / divisors))] == raw
    assert compiled.texts[int(np.argmax((sums - premise) / divisors))] == pmi


def test_a_token_of_probability_one_counts_in_the_length():
    """Token 1 is always followed by 2: log-probability exactly 0. 0 is followed by 1 or 3 alike."""
    logits = torch.full((4, 4), -1000.0)
    logits[0, 1] = logits[0, 3] = 0.0
    logits[1, 2] = logits[2, 2] = logits[3, 3] = 0.0
    context = Context(scripted_model(logits), [0])

    (log_probs,) = score_sharing_context(context, [[1, 2]]).log_probs

    assert log_probs.tolist() == [pytest.approx(-np.log(2)), 0.0]
    assert scores_of(totals([log_probs]), [len(log_probs)]) == pytest.approx([-np.log(2) / 2])


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


def test_a_single_candidate_is_certain_and_has_no_gap():
    assert select(np.array([-700.0])).probabilities.tolist() == [1.0]
    assert margin(np.array([-700.0]), np.array([0.1])) == (None, True)


@pytest.mark.parametrize(("scores", "tau"), [([], 1.0), ([-1.0], -0.5)])
def test_nothing_to_select_or_a_negative_temperature_is_refused(scores, tau):
    with pytest.raises(ValueError):
        select(np.array(scores), tau)


def test_log_z_is_the_probability_of_saying_any_candidate():
    assert log_z(np.log([0.2, 0.3])) == pytest.approx(np.log(0.5))
    assert log_z(np.array([-1000.0, -1000.0])) == pytest.approx(-1000 + np.log(2))
    assert log_z(np.array([0.0])) == 0.0


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sequences_of_which_none_begins_another_add_up_to_one_at_most(dtype):
    context = Context(tiny_model(dtype=dtype), [1, 2])
    ends = [(256,), *((byte, 256) for byte in range(256))]
    all_there_are = [(256,), *((byte,) for byte in range(255)), *((255, b) for b in range(257))]

    assert log_z(totals(score_sharing_context(context, ends).log_probs)) < 0
    assert log_z(totals(score_sharing_context(context, all_there_are).log_probs)) == pytest.approx(
        0, abs=1e-6
    )


def test_sums_that_are_no_log_probabilities_are_refused():
    with pytest.raises(ModelUnavailable, match="more than 1"):
        log_z(np.array([-0.5, -0.5]))
    assert log_z(np.array([1e-5]), noise=1e-4) == pytest.approx(1e-5)
    with pytest.raises(ModelUnavailable, match="more than 1"):
        log_z(np.array([2e-6]))


def test_noise_is_what_the_numerics_contract_says():
    assert sum_noise("float32", [24])[0] == pytest.approx(1e-4, rel=0.05)
    two = sum_noise("bfloat16", [24, 24])
    assert np.hypot(*two) == pytest.approx(0.1, rel=0.05)
    assert sum_noise("bfloat16", [96])[0] == pytest.approx(2 * two[0])
    finest_last = [TOKEN_NOISE[d] for d in ("bfloat16", "float16", "float32", "float64")]
    assert finest_last == sorted(finest_last, reverse=True)


@pytest.mark.parametrize(("gap", "is_stable"), [(0.05, False), (0.2, True)])
def test_a_lead_inside_the_noise_is_not_stable(gap, is_stable):
    sums, noise = np.array([-40.0, -40.0 - gap, -60.0]), sum_noise("bfloat16", [24] * 3)

    assert margin(sums, noise) == (pytest.approx(gap), is_stable)
    assert margin(sums / 24, noise / 24) == (pytest.approx(gap / 24), is_stable)
    assert margin(sums, sum_noise("float32", [24] * 3)).is_stable


def test_a_far_longer_third_candidate_may_be_inside_its_own_noise():
    noise = np.array([0.01, 0.01, 5.0])

    assert margin(np.array([-1.0, -2.0, -3.0]), noise) == (1.0, False)


@given(score_lists, st.floats(0, 3))
def test_equal_best_scores_are_never_stable(scores, noise):
    both = np.append(scores, scores.max())

    assert margin(both, np.full(len(both), noise)) == (0.0, False)
