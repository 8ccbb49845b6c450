"""Bugs that other projects had in scoring many candidates after one context; each docstring names the source.

Not here because they are held elsewhere: test_numerics.py (set size, chunk edges), test_scorer_guards.py (what
scoring may not touch), test_attention.py (the merge against a single softmax).
"""

from itertools import chain

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import (
    END,
    FAMILIES,
    TOLERANCE,
    VOCABULARY,
    ByteTokenizer,
    hybrid_network,
    sliding_network,
    tiny_model,
    tiny_network,
)
from transformers import LlamaModel

from forethought.data.errors import ModelUnavailable
from forethought.scorer import attention
from forethought.scorer.attention import Partial, attend_part_plainly, merge
from forethought.scorer.context import Context
from forethought.scorer.model import wrap
from forethought.scorer.plain import score_plainly
from forethought.scorer.score import score_sharing_context

EXACT = TOLERANCE["float64"]
every_family = pytest.mark.parametrize("family", FAMILIES)
small_sequences = st.lists(st.integers(0, 2), min_size=1, max_size=7)


def random_ids(seed: int, *lengths: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, VOCABULARY, length).tolist() for length in lengths]


def scores(context: Context, sequences) -> tuple[np.ndarray, ...]:
    return score_sharing_context(context, sequences).log_probs


def difference(one, other) -> float:
    return max(np.abs(a - b).max() for a, b in zip(one, other, strict=True))


@every_family
@pytest.mark.parametrize("turns", [0, 1, 3])
def test_the_token_at_the_seam_has_the_log_probability_of_a_full_recompute(family, turns):
    """strands-rl/strands-sglang#34: keys were cached and logits were not, so the first new token had none."""
    model = tiny_model(family, "float64")
    history, *sequences = random_ids(1, 20, 5, 4, 1)
    context = Context(model, history)

    def seam() -> list[float]:
        return [own[0] for own in scores(context, sequences)]

    for turn in range(turns):
        winner, observed = sequences[turn % 3], random_ids(turn, 6)[0]
        context.commit(score_sharing_context(context, sequences).continuation(turn % 3))
        history = [*history, *winner]
        expected = [own[0] for own in score_plainly(model, history, sequences)]
        assert seam() == pytest.approx(expected, abs=EXACT), "right behind the winner"
        context.extend(observed)
        history = [*history, *observed]
    for length in (len(history), len(history) - 1, len(history) - 9, 3):
        context.rollback(length)
        expected = [own[0] for own in score_plainly(model, history[:length], sequences)]
        assert seam() == pytest.approx(expected, abs=EXACT), f"rolled back to {length}"


def in_base_two(query, keys, values, scale, *, causal=False):
    whole = attend_part_plainly(query, keys, values, scale, causal=causal)
    return Partial(whole.output, whole.log_mass / np.log(2))


def with_heads_dealt_out_in_turn(query, keys, values, scale, *, causal=False):
    """Query head a reads key head a % B, where it should be a // (A / B)."""
    times = query.shape[1] // keys.shape[1]
    keys, values = keys.repeat(1, times, 1, 1), values.repeat(1, times, 1, 1)
    return attend_part_plainly(query, keys, values, scale, causal=causal)


def deaf_to_the_mask(query, keys, values, scale, *, causal=False):
    return attend_part_plainly(query, keys, values, scale)


def deaf_to_the_scale(query, keys, values, scale, *, causal=False):
    return attend_part_plainly(query, keys, values, query.shape[-1] ** -0.5, causal=causal)


@pytest.mark.parametrize(
    "kernel",
    [in_base_two, with_heads_dealt_out_in_turn, deaf_to_the_mask, deaf_to_the_scale],
)
def test_a_kernel_that_means_something_else_is_found_out_before_anything_is_scored(
    kernel, monkeypatch
):
    """sgl-project/sglang#40903, #35045: a log-sum-exp in base 2 merged as natural.

    flashinfer-ai/flashinfer#3434: mask arguments accepted and not obeyed.
    """
    unremembered = attention.kernel_for.__wrapped__
    here = (torch.float32, torch.device("cpu"))

    monkeypatch.setitem(attention.KERNELS, "cpu", (kernel,))
    with pytest.raises(ModelUnavailable, match="off by") as told:
        unremembered(*here)
    assert "\n" not in str(told.value)
    monkeypatch.setitem(attention.KERNELS, "cpu", (kernel, attend_part_plainly))
    assert unremembered(*here) is attend_part_plainly


@given(strided=st.tuples(*[st.booleans()] * 4), seed=st.integers(0, 9))
@settings(max_examples=20, deadline=None)
def test_however_parts_lie_in_memory_they_merge_to_the_same(strided, seed):
    """vllm-project/vllm#22003: a log-sum-exp that was not contiguous corrupted the merged attention."""
    generator = torch.Generator().manual_seed(seed)
    query, keys, values = torch.randn(3, 1, 4, 9, 8, generator=generator)
    one = attend_part_plainly(query, keys[:, :, :5], values[:, :, :5], 0.5)
    other = attend_part_plainly(query, keys[:, :, 5:], values[:, :, 5:], 0.5)

    laid_out = [
        tensor.transpose(1, 2).contiguous().transpose(1, 2) if turned else tensor
        for tensor, turned in zip((*one, *other), strided, strict=True)
    ]

    assert torch.equal(merge(one, other), merge(Partial(*laid_out[:2]), Partial(*laid_out[2:])))


@every_family
@pytest.mark.parametrize("length", [0, 1, 2, 30])
def test_what_is_empty_or_alone_is_scored_like_anything_else(family, length):
    """flashinfer-ai/flashinfer#4054: merging nothing with nothing gave NaN.

    torch's CPU flash attention gives a row that sees nothing a log-sum-exp of 0, as if it saw something.
    """
    model = tiny_model(family, "float64")
    context_ids = random_ids(2, length)[0]
    first = 0 if length else 1  # nothing predicts the first token of all

    for sequences in ([[7, 8]], [[7, 8], [9, 8]], [[7, 8, 9, 1], [7, 8], [7, 5]], [[3, END, 3]]):
        starts = [first] * len(sequences)
        got = score_sharing_context(Context(model, context_ids), sequences, starts).log_probs
        expected = score_plainly(model, context_ids, sequences, starts)
        assert difference([g[first:] for g in got], [e[first:] for e in expected]) < EXACT
    if length:
        single_tokens = [[token] for token in range(9)]
        got = scores(Context(model, context_ids), single_tokens)
        assert difference(got, score_plainly(model, context_ids, single_tokens)) < EXACT


def packed(network, context_ids, sequences, mask) -> list[np.ndarray]:
    """Log-probabilities by one row of context and all candidates, each at positions right behind the context."""
    length = len(context_ids)
    positions = [*range(length), *(length + j for s in sequences for j in range(len(s)))]
    ids = torch.tensor([[*context_ids, *chain(*sequences)]])
    with torch.inference_mode():
        output = network(
            ids, attention_mask=mask, position_ids=torch.tensor([positions]), use_cache=False
        )
    log_probs = output.logits[0].double().log_softmax(-1).numpy()
    found, start = [], length
    for sequence in sequences:
        rows = [length - 1, *range(start, start + len(sequence) - 1)]
        found.append(log_probs[rows, sequence])
        start += len(sequence)
    return found


def packed_mask(length: int, sequences) -> torch.Tensor:
    """(1, 1, T, T), true where a token sees another: the context, and its own candidate up to itself."""
    owners = [-1] * length + [k for k, sequence in enumerate(sequences) for _ in sequence]
    owner = torch.tensor(owners)
    visible = (owner == -1) | (owner[:, None] == owner)
    return visible.tril()[None, None]


def as_float(mask: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, torch.finfo(dtype).min)


@every_family
@pytest.mark.parametrize(
    ("implementation", "dtype", "is_bool"),
    [("sdpa", "float64", True), ("sdpa", "float64", False), ("eager", "float32", False)],
)
def test_a_packed_row_with_a_mask_gives_the_same_scores(family, implementation, dtype, is_bool):
    """huggingface/transformers#29525, #32195: what a 4-D mask means changed between releases.

    #41443, vllm-project/speculators#691: eager attention *adds* the mask, so a bool one counts as +1 and is
    ignored; there the mask is a float one (and eager computes its softmax in float32).
    """
    context_ids, *sequences = random_ids(3, 40, 6, 1, 9, 6)
    network = wrap(tiny_network(family).to(getattr(torch, dtype)), None, family, "0").network
    network.set_attn_implementation(implementation)
    mask = packed_mask(len(context_ids), sequences)

    oracle = packed(
        network, context_ids, sequences, mask if is_bool else as_float(mask, network.dtype)
    )

    got = scores(Context(tiny_model(family, dtype), context_ids), sequences)
    assert difference(got, oracle) < TOLERANCE[dtype]
    causal = torch.ones_like(mask).tril()
    blind = packed(network, context_ids, sequences, as_float(causal, network.dtype))
    assert difference(got, blind) > 0.1, "a mask that is ignored would be seen"


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_a_network_that_was_set_to_another_attention_is_switched_to_ours(implementation):
    """huggingface/transformers#41443: which attention runs decides what a mask means."""
    context_ids, *sequences = random_ids(4, 30, 5, 6)
    network = tiny_network()
    network.set_attn_implementation(implementation)
    model = wrap(network, None, "switched", "0")

    assert (
        difference(
            scores(Context(model, context_ids), sequences),
            scores(Context(tiny_model(), context_ids), sequences),
        )
        == 0
    )
    assert (
        difference(
            score_plainly(model, context_ids, sequences),
            score_plainly(tiny_model(), context_ids, sequences),
        )
        == 0
    )


@pytest.mark.parametrize("network", [sliding_network, hybrid_network])
def test_models_whose_context_cannot_be_shared_are_refused_in_one_line(network):
    """huggingface/transformers#46629: a sliding window rolled back wrongly. Ignoring one costs a nat a token."""
    with pytest.raises(ModelUnavailable, match="made-up") as told:
        wrap(network(), ByteTokenizer(), "made-up", "0")
    assert "\n" not in str(told.value)


def test_a_network_that_gives_no_logits_is_refused_in_one_line():
    """ggml-org/llama.cpp#27174: a backend that could not score gave 0.0 to all, exact chance."""
    bare = LlamaModel(tiny_network().config)

    with pytest.raises(ModelUnavailable, match="bare") as told:
        score_sharing_context(Context(wrap(bare, None, "bare", "0"), [1, 2]), [[3, 4]])
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("ending", ["it is", "it is ", "it is\n", "it i", "Answer:", ""])
def test_every_candidate_token_is_scored_wherever_context_and_candidate_meet(ending):
    """EleutherAI/lm-evaluation-harness#1053, #337: a token across the seam left nothing to score; rows off by one."""
    model = tiny_model(dtype="float64")
    context_ids = model.encode("Question\n" + ending)
    sequences = [model.encode(text) for text in (" C", "\nC", "s", ": C", "C", " ", "\n\n")]

    got = scores(Context(model, context_ids), sequences)

    assert [len(own) for own in got] == [len(sequence) for sequence in sequences]
    assert difference(got, score_plainly(model, context_ids, sequences)) < EXACT


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_contexts_and_sets_in_turn_score_as_if_each_were_the_first(dtype):
    """ggml-org/llama.cpp#4981: keys of the previous request. vllm-project/vllm#42245: buffers of it."""
    model = tiny_model("qwen3", dtype)
    texts = random_ids(5, 40, 23)
    sets = [random_ids(6, *[9] * 8), random_ids(7, 3, 14, 1)]
    contexts = [Context(model, ids) for ids in texts]

    for one, other in [(0, 0), (1, 1), (0, 1), (1, 0), (0, 0), (1, 1)]:
        got = scores(contexts[one], sets[other])
        fresh = scores(Context(model, texts[one]), sets[other])
        assert all(map(np.array_equal, got, fresh))


def test_a_context_that_lived_through_other_turns_scores_like_a_fresh_one():
    """ggml-org/llama.cpp#4981, with what a rolled-back turn leaves in the buffers."""
    model = tiny_model(dtype="float64")
    ids, other, observed, *sequences = random_ids(8, 30, 25, 12, 6, 9)
    context, rival = Context(model, ids, capacity=1), Context(model, other)

    for turn in range(3):
        context.commit(score_sharing_context(context, sequences).continuation(turn % 2))
        rival.extend(observed)
        context.extend(observed)
        scores(rival, sequences)
        context.rollback(30)

    assert difference(scores(context, sequences), scores(Context(model, ids), sequences)) < EXACT


@every_family
def test_room_that_is_not_used_yet_is_never_read(family):
    """vllm-project/vllm#42245 (an uninitialised buffer), huggingface/trl#6800 (padding that counted)."""
    model = tiny_model(family)
    ids, observed, *sequences = random_ids(9, 30, 7, 6, 9)
    tight, roomy = Context(model, ids, capacity=30), Context(model, ids, capacity=500)
    with torch.inference_mode():
        for tensor in (*roomy.slab.keys, *roomy.slab.values):
            tensor[:, :, 30:] = float("nan")

    for context in (tight, roomy):
        context.commit(score_sharing_context(context, sequences).continuation(1))
        context.extend(observed)

    assert all(map(np.array_equal, scores(tight, sequences), scores(roomy, sequences)))
    roomy.check()


@every_family
@given(sequences=st.lists(small_sequences, min_size=2, max_size=6), data=st.data())
@settings(max_examples=15, deadline=None)
def test_changing_one_token_changes_what_comes_after_it_in_its_candidate_and_nothing_else(
    family, sequences, data
):
    """flashinfer-ai/flashinfer#3434: the mask was dropped, and candidates saw each other."""
    context = Context(tiny_model(family, "float64"), random_ids(10, 20)[0])
    changed = data.draw(st.integers(0, len(sequences) - 1))
    place = data.draw(st.integers(0, len(sequences[changed]) - 1))
    mutant = [*sequences[changed]]
    mutant[place] = 200

    before = scores(context, sequences)
    after = scores(context, [mutant if k == changed else s for k, s in enumerate(sequences)])

    for k in range(len(sequences)):
        kept = place if k == changed else len(sequences[k])
        assert np.abs(before[k][:kept] - after[k][:kept]).max(initial=0) < EXACT
    assert (np.abs(before[changed][place:] - after[changed][place:]) > 1e-9).all()


@every_family
def test_a_candidate_among_longer_ones_scores_as_it_does_alone_even_with_pad_tokens_in_it(family):
    """sgl-project/sglang#22427: padding was taken for a delimiter that candidates may hold themselves."""
    model = tiny_model(family, "float64")
    pad = model.network.config.pad_token_id
    context_ids, long, longer = random_ids(11, 25, 30, 60)
    sequences = [[pad], [pad, pad], [5, pad], [5, pad, pad, 6], [5], long, [*longer, pad, pad]]

    together = scores(Context(model, context_ids), sequences)

    alone = [scores(Context(model, context_ids), [sequence])[0] for sequence in sequences]
    assert difference(together, alone) < EXACT
    assert difference(together, score_plainly(model, context_ids, sequences)) < EXACT
