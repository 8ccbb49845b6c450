from threading import Thread

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import VOCABULARY, tiny_model

from forethought.data.errors import NothingToDo
from forethought.scorer import context as context_module
from forethought.scorer.context import Context
from forethought.scorer.score import score_sharing_context

CHUNK = context_module.CHUNK


def ids_of(length: int, seed: int = 0) -> list[int]:
    return np.random.default_rng(seed).integers(0, VOCABULARY, length).tolist()


def assert_same(one: Context, other: Context, tolerance: float = 1e-11) -> None:
    assert one.ids == other.ids
    assert (one.logits() - other.logits()).abs().max() < tolerance
    assert one.computed == other.computed
    for layer in range(len(one.slab.keys)):
        pairs = zip(
            one.slab.read(layer, one.length), other.slab.read(layer, other.length), strict=True
        )
        assert all((a - b).abs().max() < tolerance for a, b in pairs)
    one.check()


def fresh(ids) -> Context:
    return Context(tiny_model(dtype="float64"), ids)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 8))
@settings(max_examples=20, deadline=None)
def test_growing_in_pieces_equals_growing_at_once(pieces, capacity):
    ids = ids_of(sum(pieces))
    grown = Context(tiny_model(dtype="float64"), capacity=capacity)

    for piece in pieces:
        grown.extend(ids[grown.length : grown.length + piece])

    assert_same(grown, fresh(ids))


@pytest.mark.parametrize("length", [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 1])
def test_chunked_prefill_gives_the_models_own_logits(length):
    model, ids = tiny_model(dtype="float64"), ids_of(length)

    with torch.inference_mode():
        expected = model.network(torch.tensor([ids]), use_cache=False).logits[0, -1]

    assert (Context(model, ids).logits() - expected).abs().max() < 1e-11


@pytest.mark.parametrize("length", [1, 7, 19, 20])
def test_after_a_rollback_it_is_as_if_the_rest_had_never_been(length):
    ids = ids_of(20)
    context = fresh(ids)

    context.rollback(length)

    assert_same(context, fresh(ids[:length]))
    context.extend(ids[length:])
    assert_same(context, fresh(ids))


def test_scores_after_a_rollback_equal_those_of_a_fresh_context():
    ids, sequences = ids_of(20), [[1, 2, 3], [4]]
    context = fresh(ids)
    context.rollback(11)

    got = score_sharing_context(context, sequences).log_probs

    expected = score_sharing_context(fresh(ids[:11]), sequences).log_probs
    assert max(np.abs(a - b).max() for a, b in zip(got, expected, strict=True)) < 1e-11


def test_a_rollback_to_nothing_starts_anew():
    context = fresh([1, 2, 3])

    context.rollback(0)

    with pytest.raises(NothingToDo, match="empty"):
        context.logits()
    context.extend([4, 5])
    assert_same(context, fresh([4, 5]))


@pytest.mark.parametrize("length", [-1, 4])
def test_a_rollback_to_where_it_never_was_is_refused(length):
    with pytest.raises(ValueError, match="cannot roll back"):
        fresh([1, 2, 3]).rollback(length)


@pytest.mark.parametrize("winner", [0, 1, 2])
def test_committing_the_winner_equals_computing_it(winner):
    ids, sequences = ids_of(12), [[1, 2, 3], [1, 2, 9, 9], [7]]
    context = fresh(ids)

    context.commit(score_sharing_context(context, sequences).continuation(winner))

    assert context.computed == context.length - 1, "only the last token waits"
    assert_same(context, fresh([*ids, *sequences[winner]]))


def test_turn_after_turn_of_committing_and_extending_equals_one_prefill():
    ids, context = ids_of(12), fresh(ids_of(12))

    for turn in range(4):
        scored = score_sharing_context(context, [[1, turn, 3], [1, turn, 4, 5]])
        context.commit(scored.continuation(turn % 2))
        observed = ids_of(5, seed=turn)
        context.extend(observed)
        ids = [*ids, *scored.sequences[turn % 2], *observed]

    assert_same(context, fresh(ids))


def test_a_commit_does_not_compute_what_scoring_computed():
    context = fresh(ids_of(12))
    scored = score_sharing_context(context, [[1, 2, 3]])
    stored = scored.continuation(0).keys[0]

    context.commit(scored.continuation(0))

    assert torch.equal(context.slab.keys[0][:, :, 12:14], stored)


def test_a_continuation_of_another_state_is_refused():
    context = fresh([1, 2, 3])
    scored = score_sharing_context(context, [[4, 5]])
    context.rollback(2)
    context.extend([9])

    with pytest.raises(ValueError, match="another state"):
        context.commit(scored.continuation(0))


def test_a_damaged_key_is_told_by_the_check():
    context = fresh([1, 2, 3])
    with torch.inference_mode():
        context.slab.keys[1][0, 0, 1] = float("nan")

    with pytest.raises(AssertionError, match="layer 1"):
        context.check()


def test_a_continuation_belongs_to_one_context_however_alike_another_is():
    one, other = fresh([1, 2, 3]), fresh([1, 2, 3])
    scored = score_sharing_context(one, [[4, 5]])

    with pytest.raises(ValueError, match="another state"):
        other.commit(scored.continuation(0))
    one.commit(scored.continuation(0))
    assert_same(one, fresh([1, 2, 3, 4, 5]))


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_an_interrupted_commit_changes_nothing(layer, monkeypatch):
    context = fresh(ids_of(9))
    continuation = score_sharing_context(context, [[1, 2, 3]]).continuation(0)
    write = context.slab.write

    def interrupted(at, *arguments):
        if at == layer:
            raise KeyboardInterrupt
        write(at, *arguments)

    monkeypatch.setattr(context.slab, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        context.commit(continuation)
    monkeypatch.undo()

    assert_same(context, fresh(ids_of(9)))
    context.commit(continuation)
    assert_same(context, fresh([*ids_of(9), 1, 2, 3]))


def test_threads_may_share_a_context():
    ids = ids_of(60)
    context, errors = fresh(ids[:20]), []

    def score():
        try:
            for _ in range(20):
                score_sharing_context(context, [[1, 2, 3], [4, 5]])
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    scoring = Thread(target=score)
    scoring.start()
    for _ in range(10):
        context.extend(ids[20:])
        context.rollback(20)
    scoring.join()

    assert not errors
    assert_same(context, fresh(ids[:20]))


@pytest.mark.parametrize("ids", [[-1], [1, 10**6]])
def test_ids_without_an_embedding_are_refused(ids):
    context = fresh([1, 2])

    with pytest.raises(ValueError, match="token ids run from 0"):
        context.extend(ids)
    with pytest.raises(ValueError, match="token ids run from 0"):
        score_sharing_context(context, [[1, *ids]])

    assert_same(context, fresh([1, 2]))
