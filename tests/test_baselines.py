"""What the scorer is compared with must itself be right: each baseline against the plain scorer, in float64."""

import numpy as np
import pytest
from baselines import BASELINES, ROWS_AT_ONCE, prefill
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import VOCABULARY, tiny_model

from forethought.scorer.plain import score_plainly

FAMILIES = ("llama", "qwen2", "qwen3")
tokens = st.integers(0, VOCABULARY - 1)
every_baseline = pytest.mark.parametrize("name", BASELINES)
every_family = pytest.mark.parametrize("family", FAMILIES)


def difference(one, other) -> float:
    assert [len(own) for own in one] == [len(own) for own in other]
    return max(float(np.abs(a - b).max()) for a, b in zip(one, other, strict=True))


@every_baseline
@every_family
@given(
    context=st.lists(tokens, min_size=1, max_size=20),
    sequences=st.lists(st.lists(tokens, min_size=1, max_size=7), min_size=1, max_size=6),
)
@settings(max_examples=10, deadline=None)
def test_a_baseline_equals_the_plain_scorer(name, family, context, sequences):
    model = tiny_model(family, "float64")
    expected = score_plainly(model, context, sequences)

    whole = BASELINES[name].whole(model, context, sequences)
    after = BASELINES[name].after(model, prefill(model, context), sequences)

    assert difference(whole, expected) < 1e-9
    assert difference(after, expected) < 1e-9


@every_baseline
def test_a_prefill_is_left_as_it_was_and_serves_again(name):
    model = tiny_model("llama", "float64")
    prefilled = prefill(model, [1, 2, 3, 4])
    before = [tensor.clone() for tensor in (*prefilled.keys, *prefilled.values)]

    first = BASELINES[name].after(model, prefilled, [[5, 6, 7], [5, 8]])
    again = BASELINES[name].after(model, prefilled, [[5, 6, 7], [5, 8]])

    assert difference(first, again) == 0
    for tensor, copy in zip((*prefilled.keys, *prefilled.values), before, strict=True):
        assert tensor.equal(copy)


@every_baseline
def test_more_sequences_than_a_batch_has_rows_are_scored_alike(name):
    model = tiny_model("llama", "float64")
    rng = np.random.default_rng(0)
    sequences = [rng.integers(0, VOCABULARY, 3).tolist() for _ in range(ROWS_AT_ONCE + 3)]

    found = BASELINES[name].whole(model, [9, 8, 7], sequences)

    assert difference(found, score_plainly(model, [9, 8, 7], sequences)) < 1e-9
