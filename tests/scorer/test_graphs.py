"""The forward of fixed shapes against the eager one; recording itself needs CUDA, and only skips launches."""

import numpy as np
import pytest
import torch
from tiny_models import IMAGE, IMAGE_END, IMAGE_START, drawn_picture, tiny_model

from forethought.scorer import graphs
from forethought.scorer.context import Context
from forethought.scorer.generate import Decoding, decode
from forethought.scorer.graphs import Recordings
from forethought.scorer.plain import score_plainly
from forethought.scorer.score import score_sharing_context

every_family = pytest.mark.parametrize(
    "family", ["llama", "qwen2", "qwen3", "qwen2_5_vl", "qwen3_vl"]
)
on_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def drawn(seed: int, *lengths: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 256, length).tolist() for length in lengths]


def difference(one, other) -> float:
    return max(np.abs(a - b).max() for a, b in zip(one, other, strict=True))


@pytest.fixture(autouse=True)
def short_steps(monkeypatch):
    monkeypatch.setattr(graphs, "STEP", 8)


@every_family
@pytest.mark.parametrize("length", [1, 7, 8, 9, 16, 17, 40])
def test_replaying_gives_the_scores_of_the_plain_scorer(family, length):
    model = tiny_model(family, "float64")
    ids, *sequences = drawn(length, length, 5, 5, 1, 9)
    context, recordings = Context(model, ids, capacity=1), Recordings()

    first, again = (
        score_sharing_context(context, sequences, recordings=recordings) for _ in range(2)
    )

    assert type(first.runs[0]) is not type(again.runs[0]), "the second time it is replayed"
    for scored in (first, again):
        assert difference(scored.log_probs, score_plainly(model, ids, sequences)) < 1e-11


@every_family
def test_contexts_and_sets_take_turns_on_one_slab(family):
    """ggml-org/llama.cpp#4981, vllm-project/vllm#42245: stale keys and buffers of the request before."""
    model = tiny_model(family, "float64")
    one, other, *sequences = drawn(1, 13, 15, 4, 6, 3, 8)
    context, recordings = Context(model), Recordings()

    for round_ in range(4):
        for ids in (one, other, one[:5]):
            context.rollback(0)
            context.extend(ids)
            for chosen in (sequences[:2], sequences[1:]):
                got = score_sharing_context(context, chosen, recordings=recordings).log_probs
                assert difference(got, score_plainly(model, ids, chosen)) < 1e-11, round_


@every_family
def test_turn_after_turn_of_replaying_and_committing_equals_one_prefill(family):
    model = tiny_model(family, "float64")
    ids, *sequences = drawn(2, 6, 4, 6, 3)
    context, recordings = Context(model, ids, capacity=4), Recordings()

    for turn in range(8):
        scored = score_sharing_context(context, sequences, recordings=recordings)
        context.commit(scored.continuation(turn % 3))
        context.extend([turn])
        ids = [*ids, *sequences[turn % 3], turn]

    assert context.ids == tuple(ids)
    assert (context.logits() - Context(model, ids).logits()).abs().max() < 1e-11


def test_a_replay_keeps_its_winner_while_others_are_replayed():
    model = tiny_model(dtype="float64")
    ids, *sequences = drawn(3, 6, 4, 6)
    context, recordings = Context(model, ids), Recordings()
    for _ in range(2):
        scored = score_sharing_context(context, sequences, recordings=recordings)
    score_sharing_context(context, [[1, 2, 3]], recordings=recordings)
    score_sharing_context(context, sequences, recordings=recordings)

    context.commit(scored.continuation(1))

    expected = Context(model, [*ids, *sequences[1]]).logits()
    assert (context.logits() - expected).abs().max() < 1e-11


@pytest.mark.parametrize("family", ["qwen2_5_vl", "qwen3_vl"])
def test_pictures_shift_the_positions_of_a_replay(family):
    model, picture = tiny_model(family, "float64"), drawn_picture(10, 4)
    ids = [1, IMAGE_START, *[IMAGE] * 10, IMAGE_END, 2]
    sequences = drawn(4, 4, 6)
    context, recordings = Context(model), Recordings()
    context.extend(ids, [picture])

    for _ in range(2):
        got = score_sharing_context(context, sequences, recordings=recordings).log_probs

    assert difference(got, score_plainly(model, ids, sequences, pictures=[picture])) < 1e-11
    eager = Context(model)
    eager.extend(ids, [picture])
    expected = decode(eager, Decoding(tokens=20, stop=None)).ids
    assert recordings.generate(context, 20) == expected


@every_family
@pytest.mark.parametrize("tokens", [1, 2, 30])
def test_recorded_decoding_takes_the_eager_decoders_tokens_and_leaves_its_context(family, tokens):
    model = tiny_model(family, "float64")
    (ids,) = drawn(5, 11)
    context, eager, recordings = Context(model, ids, capacity=1), Context(model, ids), Recordings()

    for length in (11, 5):  # a second time, over what the first has left behind
        context.rollback(length)
        eager.rollback(length)
        got = recordings.generate(context, tokens)
        assert got == decode(eager, Decoding(tokens=tokens, stop=None)).ids
        assert context.ids == eager.ids
        assert context.computed == eager.computed or tokens == 1
        assert (context.logits() - eager.logits()).abs().max() < 1e-11


def test_only_so_many_recordings_are_kept(monkeypatch):
    monkeypatch.setattr(graphs, "MOST_RECORDINGS", 2)
    model = tiny_model(dtype="float64")
    (ids,) = drawn(6, 60)
    context, recordings = Context(model, ids), Recordings()

    for length in (60, 44, 20, 60, 44, 20):
        context.rollback(0)
        context.extend(ids[:length])
        got = score_sharing_context(context, [[1, 2, 3]], recordings=recordings).log_probs
        assert difference(got, score_plainly(model, ids[:length], [[1, 2, 3]])) < 1e-11


@on_cuda
def test_on_a_gpu_a_graph_is_replayed_and_agrees():
    model = tiny_model("qwen3", "bfloat16")
    model.network.to("cuda")
    ids, *sequences = drawn(7, 40, 6, 9)
    context, recordings = Context(model, ids), Recordings()

    first, again = (
        score_sharing_context(context, sequences, recordings=recordings) for _ in range(2)
    )

    assert difference(first.log_probs, again.log_probs) < 0.1
