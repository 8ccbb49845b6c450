import pytest
import torch
from tiny_models import END, FAMILIES, ByteTokenizer, tiny_model, tiny_network

from forethought.scorer.context import Context
from forethought.scorer.generate import (
    Decoding,
    decode,
    generate_with_transformers,
    transformers_cache,
)
from forethought.scorer.latency import measure_latency, select_and_commit
from forethought.scorer.model import wrap


def insistent_model(token: int):
    """Puts all probability on one token, whatever came before."""
    network = tiny_network(tie_word_embeddings=False)
    with torch.no_grad():
        head = network.get_output_embeddings()
        head.bias = torch.nn.Parameter(torch.zeros(head.out_features))
        head.bias[token] = 1e4
    return wrap(network, ByteTokenizer(), "insistent", "0")


@pytest.mark.parametrize("family", FAMILIES)
def test_both_decoders_take_the_same_tokens(family):
    context = Context(tiny_model(family, "float64"), list(b"Question: where?\n"))

    theirs = generate_with_transformers(context, transformers_cache(context), 20)
    ours = decode(context, Decoding(tokens=20, stop=None))

    assert ours.ids == theirs
    assert context.ids[-20:] == theirs
    context.check()


@pytest.mark.parametrize("tokens", [1, 2, 65])
def test_generate_is_forced_to_a_length_and_leaves_the_context_alone(tokens):
    context = Context(tiny_model(), [1, 2, 3])
    before = context.slab.keys[0][:, :, :3].clone()

    assert len(generate_with_transformers(context, transformers_cache(context), tokens)) == tokens
    assert context.ids == (1, 2, 3)
    assert torch.equal(before, context.slab.keys[0][:, :, :3])


def test_decoding_stops_at_the_stop_string():
    decoded = decode(Context(insistent_model(ord(">")), [1]), Decoding(tokens=50, stop=">>>"))

    assert decoded.text == ">>>"
    assert decoded.is_complete


def test_decoding_stops_when_the_model_ends():
    decoded = decode(Context(insistent_model(END), [1]), Decoding(tokens=50))

    assert decoded.ids == (END,)
    assert decoded.is_complete


def test_a_thought_that_never_closes_is_cut_and_told():
    decoded = decode(Context(insistent_model(ord("a")), [1]), Decoding(tokens=7))

    assert decoded.text == "aaaaaaa"
    assert not decoded.is_complete


def test_sampling_repeats_with_its_seed_and_varies_with_another():
    def sampled(seed: int):
        context = Context(tiny_model(), [1, 2, 3])
        return decode(context, Decoding(tokens=12, stop=None, temperature=1.0, seed=seed)).ids

    assert sampled(1) == sampled(1)
    assert sampled(1) != sampled(2)


def test_selecting_puts_the_likeliest_candidate_into_the_context():
    context = Context(insistent_model(7), [1, 2, 3])

    selected = select_and_commit(context, [[5, 5], [7, 7], [5, 7]])

    assert selected == 1
    assert context.ids == (1, 2, 3, 7, 7)


def test_latency_tells_every_mode_and_its_total():
    model = tiny_model()
    contexts = [list(b"Question: a?\n"), list(b"Question: b, and longer?\n")]

    found = measure_latency(model, contexts, ["short", "x" * 300], ["Look.", "Answer."])

    assert found["turns"] == 2
    assert found["capped"] == 0.5
    for mode in ("select", "think", "think_65", "own_65", "total_select", "total_think_65"):
        assert 0 < found[mode]["p50"] <= found[mode]["p95"]
    assert found["total_select"]["p95"] >= found["select"]["p50"]


def test_latency_of_no_turns_is_empty():
    assert measure_latency(tiny_model(), [], [], ["Look."])["turns"] == 0
