"""The numerics contract of the shared-context scorer, over families, dtypes, random tries and context lengths.

float64 and float32 are held to the plain scorer. A half is not: its plain scores are themselves off by its
rounding, so both are held to an oracle in float32 on the same rounded weights.
"""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import (
    DTYPES,
    END,
    FAMILIES,
    HALVES,
    TOLERANCE,
    VOCABULARY,
    rounded_model,
    tiny_model,
)

from forethought.scorer import context as context_module
from forethought.scorer.context import Context
from forethought.scorer.plain import score_plainly, totals
from forethought.scorer.score import score_sharing_context

CHUNK = 8  # in place of the real one, so that its edges are cheap to reach
SUM_TOLERANCE = {"float32": 1e-4, "float64": 1e-10}
SEEDS = range(6)

every_model = pytest.mark.parametrize(
    ("family", "dtype"), [(family, dtype) for family in FAMILIES for dtype in DTYPES]
)
every_dtype = pytest.mark.parametrize("dtype", DTYPES | HALVES)
every_half = pytest.mark.parametrize("dtype", HALVES)

lengths = st.sampled_from([1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 1, 50])
sequence_lists = st.lists(
    st.lists(st.integers(0, 2) | st.just(END), min_size=1, max_size=10), min_size=1, max_size=10
)


@contextmanager
def small_chunks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context_module, "CHUNK", CHUNK)
        yield


def random_ids(seed: int, *sizes: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, VOCABULARY, size).tolist() for size in sizes]


def shared(model, context_ids, sequences):
    return score_sharing_context(Context(model, context_ids), sequences).log_probs


def difference(one, other) -> float:
    return max(np.abs(a - b).max() for a, b in zip(one, other, strict=True))


@every_model
@given(length=lengths, sequences=sequence_lists, seed=st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_scores_hold_the_contract_at_every_context_length(family, dtype, length, sequences, seed):
    """Also at the edges of prefill's chunks, where others lost their positions: Blaizzy/mlx-vlm#1755."""
    model, context_ids = tiny_model(family, dtype), random_ids(seed, length)[0]

    with small_chunks():
        got = shared(model, context_ids, sequences)
    expected = score_plainly(model, context_ids, sequences)

    assert difference(got, expected) < TOLERANCE[dtype]
    sums, exact = totals(got), totals(expected)
    assert np.abs(sums - exact).max() < SUM_TOLERANCE[dtype]
    clear = np.abs(np.subtract.outer(exact, exact)) > 2e-4
    assert (np.sign(np.subtract.outer(sums, sums)) == np.sign(np.subtract.outer(exact, exact)))[
        clear
    ].all(), "clearly different candidates keep their order"


@every_model
@given(sequences=sequence_lists, turns=st.lists(lengths, min_size=1, max_size=4), data=st.data())
@settings(max_examples=10, deadline=None)
def test_scores_hold_the_contract_turn_after_turn(family, dtype, sequences, turns, data):
    model = tiny_model(family, dtype)
    history = random_ids(9, 5)[0]
    context = Context(model, history, capacity=1)

    for turn, length in enumerate(turns):
        observed = random_ids(turn, length)[0]
        winner = data.draw(st.integers(0, len(sequences) - 1))
        with small_chunks():
            scored = score_sharing_context(context, sequences)
            context.commit(scored.continuation(winner))
            context.extend(observed)
        expected = score_plainly(model, history, sequences)
        assert difference(scored.log_probs, expected) < TOLERANCE[dtype]
        history = [*history, *sequences[winner], *observed]

    assert context.ids == tuple(history)
    context.check()


@every_half
def test_a_half_is_as_near_to_its_oracle_as_the_plain_scorer_in_that_half(dtype):
    """Pooled over families and weights: a single model's errors are one draw, and no verdict."""
    ours, plain = [], []
    for family in FAMILIES:
        for seed in SEEDS:
            context_ids, *sequences = random_ids(seed, 150, *[12] * 12)
            oracle = score_plainly(rounded_model(family, dtype, seed), context_ids, sequences)
            model = tiny_model(family, dtype, seed)
            exact = np.concatenate(oracle)
            ours.append(np.concatenate(shared(model, context_ids, sequences)) - exact)
            plain.append(np.concatenate(score_plainly(model, context_ids, sequences)) - exact)

    error, allowed = np.concatenate(ours), np.concatenate(plain)
    assert np.abs(error).mean() <= 1.15 * np.abs(allowed).mean()
    assert np.abs(error).max() <= 1.5 * np.abs(allowed).max()
    assert abs(error.mean()) < 0.005, "rounding leans to neither side"


@every_half
def test_a_half_loses_nothing_over_three_turns(dtype):
    """The winners' keys and values are those that scoring computed; later turns stand on them."""
    ours, plain = [], []
    for family in FAMILIES:
        for seed in SEEDS:
            model, oracle = tiny_model(family, dtype, seed), rounded_model(family, dtype, seed)
            history, *sequences = random_ids(seed, 60, *[10] * 6)
            context = Context(model, history)
            for turn in range(3):
                scored = score_sharing_context(context, sequences)
                context.commit(scored.continuation(turn))
                context.extend(observed := random_ids(turn, 20)[0])
                history = [*history, *sequences[turn], *observed]
            exact = np.concatenate(score_plainly(oracle, history, sequences))
            last = score_sharing_context(context, sequences).log_probs
            ours.append(np.concatenate(last) - exact)
            plain.append(np.concatenate(score_plainly(model, history, sequences)) - exact)

    error, allowed = np.concatenate(ours), np.concatenate(plain)
    assert np.abs(error).mean() <= 1.15 * np.abs(allowed).mean()
    assert np.abs(error).max() <= 1.5 * np.abs(allowed).max()


@every_half
def test_a_half_gives_log_probabilities_wider_than_itself(dtype):
    """A half holds three digits: stored in it, -6.0 would be a multiple of 1/32."""
    context_ids, *sequences = random_ids(1, 30, *[8] * 8)

    found = np.concatenate(shared(tiny_model("llama", dtype), context_ids, sequences))

    assert found.dtype == np.float64
    assert (found.astype(np.float16) != found).mean() > 0.9


@every_dtype
@given(sequences=sequence_lists, random=st.randoms())
@settings(max_examples=10, deadline=None)
def test_order_and_duplicates_change_no_bit_in_any_dtype(dtype, sequences, random):
    context = Context(tiny_model("qwen3", dtype), random_ids(1, 50)[0])
    order = [*range(len(sequences)), *range(len(sequences))]
    random.shuffle(order)

    straight = score_sharing_context(context, sequences).log_probs
    shuffled = score_sharing_context(context, [sequences[i] for i in order]).log_probs

    for place, i in enumerate(order):
        assert np.array_equal(shuffled[place], straight[i])


@every_dtype
def test_probabilities_of_candidates_that_do_not_begin_each_other_sum_to_at_most_one(dtype):
    """All that can be said in two tokens: the sum is then one itself."""
    tokens = range(0, VOCABULARY, 16)
    context = Context(tiny_model("llama", dtype), random_ids(2, 20)[0])
    ended = [[token, END] for token in tokens] + [[token, 3, END] for token in tokens]

    assert np.exp(totals(score_sharing_context(context, ended).log_probs)).sum() <= 1 + 1e-6
    whole = [[first] for first in range(VOCABULARY) if first != 7]
    whole += [[7, second] for second in range(VOCABULARY)]
    sums = totals(score_sharing_context(context, whole).log_probs)
    assert np.exp(sums).sum() == pytest.approx(1, abs=1e-6)


@given(st.integers(0, 5), st.sets(st.lists(st.integers(0, 2), max_size=4).map(tuple), max_size=12))
@settings(max_examples=20, deadline=None)
def test_an_end_marker_makes_any_set_a_part_of_a_distribution(seed, thoughts):
    context = Context(tiny_model(seed=seed), [1, 2, 3])
    sequences = [[*thought, END] for thought in thoughts]

    sums = totals(score_sharing_context(context, sequences).log_probs)

    assert np.exp(sums).sum() <= 1 + 1e-6


@every_dtype
@pytest.mark.parametrize("family", FAMILIES)
def test_a_candidates_score_does_not_depend_on_the_company_it_is_in(family, dtype):
    """Real scorers drift with the batch (verl-project/verl#6280). A half may, within its own rounding."""
    model = tiny_model(family, dtype)
    context_ids, *sequences = random_ids(3, 40, *[12] * 64)
    alone, *others = [shared(model, context_ids, sequences[:size])[0] for size in (1, 4, 5, 64)]

    if dtype in HALVES:
        exact = score_plainly(rounded_model(family, dtype), context_ids, sequences[:4])
        allowed = difference(score_plainly(model, context_ids, sequences[:4]), exact)
    else:
        allowed = TOLERANCE[dtype]
    assert max(np.abs(other - alone).max() for other in others) <= allowed


def test_five_hundred_candidates_score_as_they_do_alone():
    model = tiny_model(dtype="float64")
    context_ids, *sequences = random_ids(12, 25, *range(1, 17), *[9] * 496)

    together = shared(model, context_ids, sequences)

    expected = score_plainly(model, context_ids, sequences[::37])
    assert difference(together[::37], expected) < TOLERANCE["float64"]
