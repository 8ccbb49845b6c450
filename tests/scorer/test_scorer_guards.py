"""What scoring costs, counted without a clock: rows forwarded, operations, the largest tensor, writes.

A number here that grows is a slower or hungrier scorer on every machine.
"""

from contextlib import contextmanager

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import FAMILIES, VISION, VOCABULARY, tiny_model
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from forethought.scorer.context import Context
from forethought.scorer.score import score_sharing_context

FLASH = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
every_family = pytest.mark.parametrize("family", [*FAMILIES, *VISION])
sequence_lists = st.lists(
    st.lists(st.integers(0, 3), min_size=1, max_size=9), min_size=1, max_size=12
)


def random_ids(seed: int, *lengths: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, VOCABULARY, length).tolist() for length in lengths]


def beginnings(sequences, starts=None) -> set[tuple[int, ...]]:
    """What predicts a token that is asked for: the distinct proper beginnings, the empty one included."""
    starts = starts or [0] * len(sequences)
    pairs = zip(sequences, starts, strict=True)
    return {tuple(s[:i]) for s, start in pairs for i in range(start, len(s))}


def nodes(sequences) -> set[tuple[int, ...]]:
    """The trie's nodes, told apart by their paths."""
    return beginnings(sequences) - {()}


def decoder_layers(model) -> list[torch.nn.Module]:
    named = model.network.named_modules()
    return [module for name, module in named if name.rpartition(".")[0].endswith("layers")]


class Rows:
    """How many rows went into each decoder layer, and into the output embeddings."""

    def __init__(self, layers: int) -> None:
        self.by_layer = [0] * layers
        self.head = 0

    @property
    def forwarded(self) -> int:
        assert len(set(self.by_layer)) == 1, f"layers ran on different rows: {self.by_layer}"
        return self.by_layer[0]


@contextmanager
def counted_rows(model):
    layers = decoder_layers(model)
    rows = Rows(len(layers))

    def into_layer(index):
        def add(_module, args, kwargs):
            hidden = args[0] if args else kwargs["hidden_states"]
            rows.by_layer[index] += hidden[..., 0].numel()

        return add

    def into_head(_module, args):
        rows.head += args[0][..., 0].numel()

    handles = [
        layer.register_forward_pre_hook(into_layer(i), with_kwargs=True)
        for i, layer in enumerate(layers)
    ]
    handles.append(model.network.get_output_embeddings().register_forward_pre_hook(into_head))
    try:
        yield rows
    finally:
        for handle in handles:
            handle.remove()


def forwarded(context, act) -> int:
    with counted_rows(context.model) as rows:
        act()
    return rows.forwarded


@every_family
@given(sequences=sequence_lists, random=st.randoms())
@settings(max_examples=10, deadline=None)
def test_scoring_forwards_each_node_once_and_makes_logits_for_each_predicting_node_once(
    family, sequences, random
):
    model = tiny_model(family)
    context = Context(model, random_ids(0, 20)[0])
    starts = [random.randrange(len(sequence)) for sequence in sequences]

    for asked in (None, starts):
        with counted_rows(model) as rows:
            score_sharing_context(context, sequences, asked)

        assert rows.forwarded == len(nodes(sequences))
        assert rows.head == len(beginnings(sequences, _earliest(sequences, asked)))


def _earliest(sequences, starts):
    """Equal sequences are one: the smallest of their starts decides."""
    if starts is None:
        return None
    pairs = list(zip(map(tuple, sequences), starts, strict=True))
    return [min(start for other, start in pairs if other == ids) for ids, _ in pairs]


def test_one_token_candidates_forward_nothing():
    context = Context(tiny_model(), [1, 2, 3])

    with counted_rows(context.model) as rows:
        score_sharing_context(context, [[token] for token in range(100)])

    assert rows.forwarded == 0
    assert rows.head == 1


@every_family
def test_a_turn_forwards_its_new_tokens_and_nothing_else(family):
    context = Context(tiny_model(family), capacity=8)
    first, observed, *sequences = random_ids(1, 30, 7, 6, 6, 9)

    assert forwarded(context, lambda: context.extend(first)) == 30
    assert forwarded(context, context.logits) == 0, "the end is known"
    assert forwarded(context, lambda: context.append(observed)) == 0, "nothing asks for them yet"
    assert forwarded(context, context.settle) == 7

    scored = score_sharing_context(context, sequences)
    assert forwarded(context, lambda: context.commit(scored.continuation(2))) == 0
    assert forwarded(context, lambda: context.extend(observed)) == 1 + 7, "the winner's last token"


def test_a_committed_last_token_runs_once_whoever_asks_first():
    context = Context(tiny_model(), random_ids(2, 12)[0])
    sequences = [[1, 2, 3], [1, 2, 4, 5]]
    context.commit(score_sharing_context(context, sequences).continuation(0))

    assert forwarded(context, lambda: score_sharing_context(context, sequences)) == 1 + 3
    assert forwarded(context, lambda: score_sharing_context(context, sequences)) == 3
    assert forwarded(context, context.logits) == 0


def test_after_a_rollback_only_what_is_new_runs():
    ids, more = random_ids(3, 40, 9)
    context = Context(tiny_model(), ids)

    context.rollback(25)
    assert forwarded(context, lambda: context.extend(more)) == 9
    context.rollback(30)
    assert forwarded(context, context.logits) == 1, "the end's hidden state was not kept"


class Largest(TorchDispatchMode):
    """Elements of the largest tensor that got memory of its own while this was active."""

    def __init__(self) -> None:
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        with self:  # inference mode hands composite operations over whole
            inner = func.decompose(*args, **kwargs or {})
        if inner is not NotImplemented:
            return inner
        output = func(*args, **kwargs or {})
        known = {tensor.untyped_storage().data_ptr() for tensor in tensors((args, kwargs))}
        for tensor in tensors(output):
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in known:
                self.elements = max(self.elements, storage.nbytes() // tensor.element_size())
        return output


def tensors(tree) -> list[torch.Tensor]:
    leaves = torch.utils._pytree.tree_leaves(tree)
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def largest_tensor(act) -> int:
    with Largest() as largest:
        act()
    return largest.elements


def test_the_watcher_of_memory_sees_copies_and_not_views():
    keys = torch.zeros(1, 2, 700, 8)

    assert largest_tensor(lambda: keys.expand(16, -1, -1, -1)) == 0
    assert largest_tensor(lambda: keys.expand(16, -1, -1, -1).flatten(0, 1)) == 16 * keys.numel()
    with torch.inference_mode():
        assert largest_tensor(lambda: torch.matmul(keys, keys.mT)) == 2 * 700 * 700


@every_family
def test_no_tensor_holds_the_context_once_for_each_candidate_or_node(family):
    context_tokens, candidates, tokens = 700, 16, 24
    ids, *sequences = random_ids(4, context_tokens, *[tokens] * candidates)
    context = Context(tiny_model(family), ids)

    largest = largest_tensor(lambda: score_sharing_context(context, sequences))

    width = context.slab.keys[0].shape[-1]
    num_nodes = len(nodes(sequences))
    assert largest < candidates * context_tokens * width, "keys of one head, for each candidate"
    assert largest < num_nodes * context_tokens, "scores or a mask of one head"


def test_neither_a_mask_of_candidates_by_context_nor_a_copy_of_one_layers_keys_is_made():
    """With short candidates everything else is smaller than that."""
    context_tokens, candidates = 3000, 16
    ids, *sequences = random_ids(5, context_tokens, *[3] * candidates)
    context = Context(tiny_model(), ids, capacity=context_tokens)

    largest = largest_tensor(lambda: score_sharing_context(context, sequences))

    assert largest < candidates * context_tokens
    assert largest < context.slab.keys[0].numel()


class Writes(TorchDispatchMode):
    """Names of the operations that wrote into any of `watched` while this was active."""

    def __init__(self, watched) -> None:
        super().__init__()
        self._watched = {tensor.untyped_storage().data_ptr() for tensor in watched}
        self.seen: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        for place, argument in enumerate(func._schema.arguments):
            if argument.alias_info is None or not argument.alias_info.is_write:
                continue
            value = args[place] if place < len(args) else kwargs.get(argument.name)
            if any(t.untyped_storage().data_ptr() in self._watched for t in tensors(value)):
                self.seen.append(func.name())
        return func(*args, **kwargs)


def buffers(context) -> list[torch.Tensor]:
    return [*context.slab.keys, *context.slab.values]


@every_family
def test_scoring_writes_nothing_into_the_context(family):
    """Inference tensors have no version counter, so the writes themselves are watched.

    transformers' own caches are written to even with use_cache=False:
    huggingface/transformers#37078.
    """
    context = Context(tiny_model(family), random_ids(6, 50)[0], capacity=50)
    before = [(tensor.data_ptr(), tensor.clone()) for tensor in buffers(context)]
    sequences = random_ids(7, *[9] * 12)

    with Writes(buffers(context)) as writes:
        first = score_sharing_context(context, sequences)
        again = score_sharing_context(context, sequences)

    assert writes.seen == []
    for tensor, (place, values) in zip(buffers(context), before, strict=True):
        assert tensor.data_ptr() == place
        assert torch.equal(tensor, values)
    assert all(map(np.array_equal, first.log_probs, again.log_probs))


def test_the_watcher_of_writes_sees_a_commit():
    context = Context(tiny_model(), random_ids(8, 12)[0])
    scored = score_sharing_context(context, [[1, 2, 3]])

    with Writes(buffers(context)) as writes:
        context.commit(scored.continuation(0))

    assert len(writes.seen) == len(buffers(context))


def test_growing_a_context_leaves_what_it_holds_to_the_bit():
    context = Context(tiny_model(), random_ids(9, 40)[0], capacity=100)
    before = [tensor[:, :, :40].clone() for tensor in buffers(context)]

    context.commit(score_sharing_context(context, [[1, 2, 3]]).continuation(0))
    context.extend(random_ids(10, 30)[0])

    after = [tensor[:, :, :40] for tensor in buffers(context)]
    assert all(map(torch.equal, before, after))


def _flash_operations(query, key, value, _dropout=0.0, is_causal=False, **_rest) -> int:  # noqa: FBT002
    """Two products of a multiplication and an addition each; torch's own counter leaves this kernel out."""
    batch, heads, rows, width = query
    seen = rows * (rows + 1) // 2 if is_causal else rows * key[2]
    return 4 * batch * heads * seen * width


def operations(act) -> int:
    with FlopCounterMode(display=False, custom_mapping={FLASH: _flash_operations}) as counter:
        act()
    return counter.get_total_flops()


def linear_weights(model) -> int:
    return sum(
        module.weight.numel()
        for layer in decoder_layers(model)
        for module in layer.modules()
        if isinstance(module, torch.nn.Linear)
    )


def attention_operations(model, pairs: int) -> int:
    """Of all layers, for so many pairs of a query and a key."""
    config = model.config.get_text_config()
    return 4 * pairs * config.num_attention_heads * config.head_dim * config.num_hidden_layers


@every_family
@pytest.mark.parametrize("alike", [0, 10], ids=["nothing shared", "ten tokens shared"])
def test_operations_of_scoring_are_those_of_the_formula(family, alike):
    model = tiny_model(family)
    ids, stem, *tails = random_ids(11, 700, alike, *[24 - alike] * 16)
    sequences = [stem + tail for tail in tails]
    context = Context(model, ids)

    spent = operations(lambda: score_sharing_context(context, sequences))

    num_nodes = len(nodes(sequences))
    own_path = sum(len(s) * (len(s) - 1) // 2 for s in sequences)
    head = 2 * model.network.get_output_embeddings().weight.numel() * len(beginnings(sequences))
    formula = (
        2 * linear_weights(model) * num_nodes
        + attention_operations(model, num_nodes * len(ids) + own_path)
        + head
    )
    assert 0.95 * formula <= spent <= 1.05 * formula, f"{spent / formula = }"


@every_family
def test_operations_of_a_turn_are_those_of_its_new_tokens(family):
    model = tiny_model(family)
    ids, observed = random_ids(12, 700, 60)
    context = Context(model, ids, capacity=800)

    spent = operations(lambda: context.extend(observed))

    pairs = len(observed) * len(ids) + len(observed) * (len(observed) + 1) // 2
    formula = 2 * linear_weights(model) * len(observed) + attention_operations(model, pairs)
    assert 0.95 * formula <= spent <= 1.05 * formula, f"{spent / formula = }"
