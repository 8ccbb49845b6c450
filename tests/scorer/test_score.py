"""The shared-context scorer against the plain one, which is the definition."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import DTYPES, FAMILIES, TOLERANCE, VOCABULARY, tiny_model, tiny_network

from forethought.data.errors import ModelUnavailable, NothingToDo
from forethought.scorer.context import Context
from forethought.scorer.model import wrap
from forethought.scorer.plain import score_plainly, totals
from forethought.scorer.score import score_sharing_context

every_model = pytest.mark.parametrize(
    ("family", "dtype"), [(family, dtype) for family in FAMILIES for dtype in DTYPES]
)
contexts = st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=40)
sequence_lists = st.lists(
    st.lists(st.integers(0, 3), min_size=1, max_size=9), min_size=1, max_size=8
)


def difference(one, other) -> float:
    return max(np.abs(a - b).max() for a, b in zip(one, other, strict=True))


def random_ids(seed: int, *lengths: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, VOCABULARY, length).tolist() for length in lengths]


@every_model
@given(context=contexts, sequences=sequence_lists)
@settings(max_examples=15, deadline=None)
def test_sharing_the_context_changes_no_likelihood(family, dtype, context, sequences):
    model = tiny_model(family, dtype)

    shared = score_sharing_context(Context(model, context, capacity=1), sequences).log_probs

    assert difference(shared, score_plainly(model, context, sequences)) < TOLERANCE[dtype]


@every_model
def test_long_contexts_and_candidates_agree(family, dtype):
    model = tiny_model(family, dtype)
    context, *sequences = random_ids(0, 1100, *[24] * 16, 60, 1, 2)

    shared = score_sharing_context(Context(model, context), sequences).log_probs

    assert difference(shared, score_plainly(model, context, sequences)) < TOLERANCE[dtype]


@given(sequences=sequence_lists, random=st.randoms())
@settings(max_examples=25, deadline=None)
def test_scores_do_not_depend_on_the_order_of_candidates_to_the_bit(sequences, random):
    context = Context(tiny_model(), random_ids(1, 50)[0])
    order = list(range(len(sequences)))
    random.shuffle(order)

    straight = score_sharing_context(context, sequences).log_probs
    shuffled = score_sharing_context(context, [sequences[i] for i in order]).log_probs

    for place, i in enumerate(order):
        assert np.array_equal(shuffled[place], straight[i])


def test_equal_candidates_get_equal_scores():
    context = Context(tiny_model(), [1, 2, 3])

    one, _, other = score_sharing_context(context, [[4, 5, 6], [4, 7], [4, 5, 6]]).log_probs

    assert np.array_equal(one, other)


def test_a_candidate_that_begins_another_agrees_with_it():
    model = tiny_model(dtype="float64")
    context = [9, 8, 7]

    short, long = score_sharing_context(Context(model, context), [[1, 2], [1, 2, 3, 4]]).log_probs

    assert np.array_equal(short, long[:2])
    assert difference([short, long], score_plainly(model, context, [[1, 2], [1, 2, 3, 4]])) < 1e-11


def test_changing_one_candidate_leaves_the_others_alone():
    context = Context(tiny_model(dtype="float64"), random_ids(2, 30)[0])

    before = score_sharing_context(context, [[1, 2, 3], [4, 5, 6, 7]]).log_probs[0]
    after = score_sharing_context(context, [[1, 2, 3], [4, 9, 9, 9, 9, 9]]).log_probs[0]

    assert np.abs(before - after).max() < 1e-11


def test_the_same_candidate_scores_the_same_in_sets_of_any_size():
    model = tiny_model()
    context, *sequences = random_ids(3, 200, *[20] * 64)

    by_size = [
        score_sharing_context(Context(model, context), sequences[:size]).log_probs[0]
        for size in (1, 4, 5, 64)
    ]

    assert max(np.abs(one - by_size[0]).max() for one in by_size) < 2e-5


def test_thousands_of_nodes_run_in_several_forwards_with_the_same_result():
    model = tiny_model(dtype="float64")
    context, *sequences = random_ids(4, 20, *[12] * 300)

    scored = score_sharing_context(Context(model, context), sequences)

    assert len(scored.runs) > 1
    some = [0, 150, 299]
    plain = score_plainly(model, context, [sequences[i] for i in some])
    assert difference([scored.log_probs[i] for i in some], plain) < 1e-11


@every_model
def test_tokens_before_the_start_are_given_not_scored(family, dtype):
    model = tiny_model(family, dtype)
    context, *sequences = random_ids(5, 20, 6, 6, 9)
    starts = [0, 5, 3]

    shared = score_sharing_context(Context(model, context), sequences, starts).log_probs
    plain = score_plainly(model, context, sequences, starts)
    whole = score_plainly(model, context, sequences)

    for got, expected, full, start in zip(shared, plain, whole, starts, strict=True):
        assert np.isnan(got[:start]).all()
        assert np.isnan(expected[:start]).all()
        assert np.abs(got[start:] - full[start:]).max() < TOLERANCE[dtype]
    assert np.abs(totals(shared) - totals(plain)).max() < 1e-4


def test_an_equal_sequence_may_start_elsewhere():
    context = Context(tiny_model(), [1, 2])

    early, late = score_sharing_context(context, [[3, 4, 5], [3, 4, 5]], [0, 2]).log_probs

    assert np.isnan(late[:2]).all()
    assert late[2] == early[2]


def test_an_empty_context_predicts_no_first_token_but_the_later_ones():
    model = tiny_model(dtype="float64")
    sequences = [[1, 2, 3], [1, 5, 6]]

    with pytest.raises(NothingToDo, match="empty"):
        score_sharing_context(Context(model), sequences)
    with pytest.raises(NothingToDo, match="empty"):
        score_plainly(model, [], sequences)
    shared = score_sharing_context(Context(model), sequences, [1, 1]).log_probs
    plain = score_plainly(model, [], sequences, [1, 1])
    assert difference([one[1:] for one in shared], [one[1:] for one in plain]) < 1e-11


@pytest.mark.parametrize("start", [-1, 3])
def test_a_start_outside_the_sequence_is_refused(start):
    with pytest.raises(ValueError, match="cannot score from token"):
        score_sharing_context(Context(tiny_model(), [1]), [[1, 2, 3]], [start])


def test_scoring_leaves_the_context_as_it_was():
    context = Context(tiny_model(), random_ids(6, 30)[0], capacity=30)
    places = [tensor.data_ptr() for tensor in context.slab.keys]
    before = [tensor.clone() for tensor in (*context.slab.keys, *context.slab.values)]

    first = score_sharing_context(context, random_ids(7, *[9] * 12)).log_probs
    again = score_sharing_context(context, random_ids(7, *[9] * 12)).log_probs

    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    after = (*context.slab.keys, *context.slab.values)
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert places == [tensor.data_ptr() for tensor in context.slab.keys]
    assert context.length == 30
    context.check()


def test_two_contexts_on_one_model_do_not_see_each_other():
    model = tiny_model(dtype="float64")
    first_ids, second_ids, *sequences = random_ids(8, 30, 17, 5, 5)
    first, second = Context(model, first_ids), Context(model, second_ids)

    for _ in range(2):
        for context, ids in ((first, first_ids), (second, second_ids)):
            shared = score_sharing_context(context, sequences).log_probs
            assert difference(shared, score_plainly(model, ids, sequences)) < 1e-11


def test_log_probabilities_of_all_next_tokens_sum_to_one():
    context = Context(tiny_model(dtype="float64"), [5, 6])

    log_probs = score_sharing_context(context, [[token] for token in range(VOCABULARY)]).log_probs

    assert np.exp(np.concatenate(log_probs)).sum() == pytest.approx(1, abs=1e-12)


def test_damaged_weights_are_an_error_not_a_score():
    network = tiny_network()
    with torch.no_grad():
        network.get_output_embeddings().weight[3, 0] = float("nan")
    model = wrap(network, None, "damaged", "0")

    with pytest.raises(ModelUnavailable, match="no number"):
        score_sharing_context(Context(model, [1, 2]), [[1, 2, 3]])
    with pytest.raises(ModelUnavailable, match="no number"):
        score_plainly(model, [1, 2], [[1, 2, 3]])
