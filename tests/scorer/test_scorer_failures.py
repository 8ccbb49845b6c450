"""What goes wrong in mid-turn (no memory left, weights that give no numbers) leaves a context as it was.

After each failure the same call is made again, and must give what it gives where nothing ever failed.
"""

from contextlib import contextmanager

import numpy as np
import pytest
import torch
from tiny_models import VOCABULARY, tiny_model, tiny_network
from torch.utils._python_dispatch import TorchDispatchMode

from forethought.data.errors import ForethoughtError, ModelUnavailable
from forethought.scorer import context as context_module
from forethought.scorer.context import Context
from forethought.scorer.model import wrap
from forethought.scorer.score import score_sharing_context

EXACT = 1e-11
SEQUENCES = ((1, 2, 3), (1, 2, 9, 9), (7,))


def random_ids(seed: int, length: int) -> list[int]:
    return np.random.default_rng(seed).integers(0, VOCABULARY, length).tolist()


IDS, OBSERVED = random_ids(0, 12), random_ids(1, 9)


def tiny() -> Context:
    """Full to the brim, so that whatever adds to it needs memory."""
    return Context(tiny_model(dtype="float64"), IDS, capacity=len(IDS))


def assert_scores_as_fresh(context: Context, ids, tolerance: float = EXACT) -> None:
    assert context.ids == tuple(ids)
    context.check()
    got = score_sharing_context(context, SEQUENCES).log_probs
    expected = score_sharing_context(Context(context.model, ids), SEQUENCES).log_probs
    assert max(np.abs(a - b).max() for a, b in zip(got, expected, strict=True)) < tolerance


class Exhausted(TorchDispatchMode):
    """Memory that ends at the operation with number `last`, of those that need any."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.left = last

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if not func.is_view and not func._schema.is_mutable:
            if self.left == 0:
                raise torch.OutOfMemoryError("out of memory: a test took it all")
            self.left -= 1
        return func(*args, **kwargs or {})


def fails_wherever_memory_ends(make, act):
    """Contexts in which `act` failed: at every fifth operation, wherever in a layer that is, until it comes through."""
    for last in range(0, 10_000, 5):
        context = make()
        try:
            with Exhausted(last):
                act(context)
        except (torch.OutOfMemoryError, ForethoughtError):
            yield context
        else:
            assert last > 0, "nothing was run"
            return


ON_CUDA = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nMore lines.")
ON_CPU = RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to.\n")


@contextmanager
def one_failure(module: torch.nn.Module, error: RuntimeError = ON_CUDA):
    """The module fails once, then works."""

    def fail(*_args, **_kwargs):
        handle.remove()
        raise error

    handle = module.register_forward_pre_hook(fail)
    try:
        yield
    finally:
        handle.remove()


@pytest.mark.parametrize("chunk", [2048, 4])
def test_a_context_that_could_not_be_extended_is_the_one_before(chunk, monkeypatch):
    monkeypatch.setattr(context_module, "CHUNK", chunk)

    for context in fails_wherever_memory_ends(tiny, lambda context: context.extend(OBSERVED)):
        assert context.ids == tuple(IDS)
        context.check()
        context.extend(OBSERVED)
        assert_scores_as_fresh(context, [*IDS, *OBSERVED])


def test_a_context_that_could_not_be_extended_scores_what_it_holds():
    context = tiny()

    with (
        one_failure(context.model.network.base_model.layers[1]),
        pytest.raises(ForethoughtError, match="memory") as told,
    ):
        context.extend(OBSERVED)

    assert "\n" not in str(told.value)
    assert_scores_as_fresh(context, IDS)


def test_tokens_that_wait_go_on_waiting_when_they_cannot_be_computed():
    def waiting() -> Context:
        context = tiny()
        context.append(OBSERVED)
        return context

    for context in fails_wherever_memory_ends(waiting, Context.settle):
        assert_scores_as_fresh(context, [*IDS, *OBSERVED])


def test_a_context_survives_that_scoring_it_failed():
    def waiting() -> Context:
        context = tiny()
        context.append(OBSERVED[:2])
        return context

    def score(context: Context) -> None:
        score_sharing_context(context, SEQUENCES)

    for context in fails_wherever_memory_ends(waiting, score):
        assert_scores_as_fresh(context, [*IDS, *OBSERVED[:2]])


def test_a_winner_that_could_not_be_committed_can_be_committed_later():
    scored = {}

    def decided() -> Context:
        context = tiny()
        scored[context] = score_sharing_context(context, SEQUENCES)
        return context

    def commit(context: Context) -> None:
        context.commit(scored[context].continuation(1))

    for context in fails_wherever_memory_ends(decided, commit):
        assert context.ids == tuple(IDS)
        context.check()
        commit(context)
        assert_scores_as_fresh(context, [*IDS, *SEQUENCES[1]])


ACTS = {
    "score": lambda context: score_sharing_context(context, SEQUENCES),
    "logits": Context.logits,
}


@pytest.mark.parametrize("place", ["first", "last", "head"])
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("error", [ON_CUDA, ON_CPU], ids=["cuda", "cpu"])
def test_a_layer_that_runs_out_of_memory_is_told_in_one_line(error, act, place):
    model = wrap(tiny_network().double(), None, "hungry", "0")
    context = Context(model, IDS)
    context.rollback(len(IDS) - 1)  # so that logits have something to compute
    layers = model.network.base_model.layers
    head = model.network.get_output_embeddings()
    module = {"first": layers[0], "last": layers[-1], "head": head}[place]

    with one_failure(module, error), pytest.raises(ForethoughtError, match="memory") as told:
        ACTS[act](context)

    assert "\n" not in str(told.value)
    assert_scores_as_fresh(context, IDS[:-1])


@contextmanager
def damage(weight: torch.Tensor, number: float):
    """One row of the weight holds `number`, for a while."""
    kept = weight.detach().clone()
    with torch.no_grad():
        weight[3] = number
    try:
        yield
    finally:
        with torch.no_grad():
            weight.copy_(kept)


WEIGHTS = (
    "lm_head",
    "model.layers.1.mlp.down_proj",
    "model.layers.0.self_attn.v_proj",
    "model.norm",
)


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_weights_that_give_no_numbers_are_an_error_and_the_context_outlives_it(name, number):
    model = wrap(tiny_network().double(), None, "damaged", "0")
    context = Context(model, IDS)
    weight = model.network.get_submodule(name).weight

    with damage(weight, number), pytest.raises(ModelUnavailable, match="no number") as told:
        score_sharing_context(context, SEQUENCES)

    assert "\n" not in str(told.value)
    assert_scores_as_fresh(context, IDS)


@pytest.mark.parametrize("name", WEIGHTS)
def test_a_turn_that_was_computed_without_numbers_is_never_scored_and_can_be_rolled_back(name):
    model = wrap(tiny_network().double(), None, "damaged", "0")
    context = Context(model, IDS)

    with (
        damage(model.network.get_submodule(name).weight, float("nan")),
        pytest.raises(ModelUnavailable, match="no number"),
    ):
        context.extend(OBSERVED)
        score_sharing_context(context, SEQUENCES)

    context.rollback(len(IDS))
    assert_scores_as_fresh(context, IDS)
    context.extend(OBSERVED)
    assert_scores_as_fresh(context, [*IDS, *OBSERVED])
