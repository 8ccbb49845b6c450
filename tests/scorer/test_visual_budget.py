"""A visual budget: against its plain twin, which masks row by row, and in what it may not change, cost or ask the device."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import IMAGE, IMAGE_END, IMAGE_START, VISION, drawn_picture, tiny_model
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from forethought.data.errors import ForethoughtError, PictureMismatch
from forethought.scorer import graphs
from forethought.scorer.attention import attend_part_plainly
from forethought.scorer.context import Context, Stored
from forethought.scorer.generate import Decoding, decode
from forethought.scorer.graphs import Recordings
from forethought.scorer.plain import score_plainly
from forethought.scorer.score import score_sharing_context
from forethought.scorer.trie import compile_tries
from forethought.scorer.vision import Picture
from forethought.scorer.visual_budget import VisualBudget
from forethought.scorer.visual_choice import blocks_of
from forethought.scorer.visual_twin import dropped_by, hidden_plainly, score_plainly_within

every_family = pytest.mark.parametrize("family", VISION)
SEQUENCES = [[4, 5, 6], [4, 9], [8], [8, 8, 8]]
SMALL, WIDE, TALL = drawn_picture(4, 4, 1), drawn_picture(2, 8, 2), drawn_picture(10, 4, 3)
HALF = VisualBudget(anchor=1, low=0.5, high=0.5, block=2)
DYNAMIC = VisualBudget(anchor=0, low=0.05, high=0.6, temperature=0.9, block=2)
PARTS = (
    *range(9),
    TALL,
    2,
    SMALL,
    *range(5, 12),
)  # enough text that pictures do not get all of the attention
EXACT = 1e-11


def ids_of(*parts) -> list[int]:
    """Token ids of a mix of numbers and pictures."""
    ids = []
    for part in parts:
        if isinstance(part, Picture):
            ids += [IMAGE_START, *[IMAGE] * (len(part.patches) // 4), IMAGE_END]
        else:
            ids.append(part)
    return ids


def pictures_of(*parts) -> list[Picture]:
    return [part for part in parts if isinstance(part, Picture)]


def seeing(model, parts, budget=None) -> Context:
    context = Context(model, capacity=1, budget=budget)
    context.extend(ids_of(*parts), pictures_of(*parts))
    return context


def scores(context, sequences=SEQUENCES) -> np.ndarray:
    return np.concatenate(score_sharing_context(context, sequences).log_probs)


budgets = st.builds(
    lambda anchor, shares, temperature, block: VisualBudget(
        anchor, min(shares), max(shares), temperature, block
    ),
    st.integers(0, 1),
    st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)),
    st.floats(0.05, 1),
    st.integers(1, 5),
)
mixes = st.builds(
    lambda text, parts: (*range(text), *parts),
    st.integers(0, 12),
    st.lists(
        st.one_of(st.integers(0, 9), st.sampled_from([SMALL, WIDE, TALL])), min_size=1, max_size=5
    ),
)


@every_family
@given(parts=mixes, budget=budgets)
@settings(max_examples=25, deadline=None)
def test_scores_are_those_of_the_twin(family, parts, budget):
    model = tiny_model(family, "float64")
    ids, pictures = ids_of(*parts), pictures_of(*parts)

    ours = scores(seeing(model, parts, budget))

    plain = score_plainly_within(model, ids, SEQUENCES, budget, pictures)
    assert np.abs(ours - np.concatenate(plain)).max() < EXACT


@every_family
@pytest.mark.parametrize("budget", [HALF, DYNAMIC])
def test_a_budget_changes_scores_else_the_equalities_would_say_nothing(family, budget):
    model, parts = tiny_model(family, "float64"), PARTS

    assert np.abs(scores(seeing(model, parts, budget)) - scores(seeing(model, parts))).max() > 1e-3


def test_how_much_stays_differs_from_context_to_context_within_the_bounds():
    model, budget = tiny_model("qwen3_vl"), replace(DYNAMIC, anchor=1, high=0.8, block=1)
    contexts = [
        seeing(model, (*range(9), drawn_picture(10, 8, seed), *range(9)), budget)
        for seed in range(12)
    ]

    shares = {context.gaze.share() for context in contexts}

    assert all(share.tokens == 20 and 1 <= share.kept <= 16 for share in shares)
    assert len(shares) > 3


@every_family
def test_in_float32_scores_are_those_of_the_twin_to_rounding(family):
    model, parts = tiny_model(family), PARTS

    ours = scores(seeing(model, parts, HALF))

    plain = score_plainly_within(model, ids_of(*parts), SEQUENCES, HALF, [TALL, SMALL])
    assert np.abs(ours - np.concatenate(plain)).max() < 2e-5


@every_family
def test_the_twin_that_keeps_all_is_the_plain_scorer(family):
    model, parts = tiny_model(family, "float64"), (*range(9), TALL, 2)
    everything = VisualBudget(anchor=0, low=1, high=1, block=2)

    twin = score_plainly_within(model, ids_of(*parts), SEQUENCES, everything, [TALL])

    plain = score_plainly(model, ids_of(*parts), SEQUENCES, pictures=[TALL])
    assert np.abs(np.concatenate(twin) - np.concatenate(plain)).max() < EXACT


@every_family
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(
    ("parts", "budget"),
    [
        (PARTS, VisualBudget(anchor=0, low=1, high=1, block=2)),
        ((1, 2, 3), HALF),
        ((1, SMALL, 3), replace(HALF, block=64)),
        ((SMALL,), replace(HALF, block=4)),  # one whole block, which must stay
    ],
    ids=["all of it", "no visual token", "no whole visual block", "a single one"],
)
def test_where_nothing_can_be_dropped_nothing_changes_to_the_bit(family, dtype, parts, budget):
    model = tiny_model(family, dtype)
    with_budget, without = seeing(model, parts, budget), seeing(model, parts)

    assert np.array_equal(scores(with_budget), scores(without))
    decoded = [decode(context, Decoding(6, stop=None)).ids for context in (with_budget, without)]
    assert decoded[0] == decoded[1]
    assert torch.equal(with_budget.logits(), without.logits())


def decode_plainly(model, ids, pictures, choosers, budget, tokens) -> list[int]:
    """Greedily, every step a whole forward in which each decoded token sees through its own choice."""
    ids, choosers = list(ids), list(choosers)
    for _ in range(tokens):
        hidden = hidden_plainly(model, ids, budget, pictures, choosers)
        choosers.append(len(ids))
        ids.append(int(model.logits(hidden[-1:]).argmax()))
    return ids


@every_family
@pytest.mark.parametrize("budget", [HALF, DYNAMIC])
def test_every_decoding_step_makes_its_own_choice(family, budget):
    model, parts = tiny_model(family, "float64"), PARTS
    context = seeing(model, parts, budget)
    before = context.ids

    decode(context, Decoding(tokens=8, stop=None))

    choosers = [None] * len(before)
    expected = decode_plainly(model, before, [TALL, SMALL], choosers, budget, 8)
    assert list(context.ids) == expected
    steps = range(len(before), len(expected))
    hidden = hidden_plainly(model, expected, budget, [TALL, SMALL], [*choosers, *steps])
    assert (context.settle() - hidden[-1:]).abs().max() < EXACT


@every_family
@pytest.mark.parametrize("budget", [HALF, DYNAMIC])
def test_over_turns_each_token_keeps_what_it_was_computed_with(family, budget):
    """A winner saw through the turn's choice, a decoded token through its own, an observation saw everything."""
    model = tiny_model(family, "float64")
    context = seeing(model, (*range(9), TALL, 2), budget)
    end = context.length - 1
    context.commit(score_sharing_context(context, SEQUENCES).continuation(0))
    winner = [
        end,
        end,
        context.length - 1,
    ]  # its last token runs alone, as the decoder's first step
    decode(context, Decoding(tokens=3, stop=None))
    decoded = [context.length - 3, context.length - 2, None]  # the last one runs with what comes
    context.extend(ids_of(7, SMALL, 8), [SMALL])
    choosers = [*[None] * (end + 1), *winner, *decoded, *[None] * len(ids_of(7, SMALL, 8))]

    ours = scores(context)

    plain = score_plainly_within(
        model, context.ids, SEQUENCES, budget, [TALL, SMALL], choosers=choosers
    )
    assert np.abs(ours - np.concatenate(plain)).max() < EXACT
    context.check()


@every_family
def test_after_a_rollback_scores_and_decoded_tokens_are_as_before_to_the_bit(family):
    model = tiny_model(family, "float64")
    context = seeing(model, PARTS, DYNAMIC)
    length, first = context.length, scores(context)
    tokens = decode(context, Decoding(5, stop=None)).ids
    after = scores(context)

    context.rollback(length + 4)
    context.append_text(tokens[-1:])
    assert np.array_equal(scores(context), after)
    context.rollback(length + 5)
    context.append_text([1])
    context.rollback(
        length + 5
    )  # the last token's state is lost: it runs again, as the step that it was
    assert np.array_equal(scores(context), after)
    context.rollback(length)
    assert np.abs(scores(context) - first).max() < EXACT
    assert decode(context, Decoding(5, stop=None)).ids == tokens


def test_a_context_rolled_back_to_nothing_has_nothing_left_of_its_choice():
    model = tiny_model("qwen3_vl", "float64")
    context = seeing(model, (*range(9), TALL, 2), DYNAMIC)
    context.rollback(0)

    ours = score_sharing_context(context, [[4, 5, 6]], [1]).log_probs[0]

    fresh = score_sharing_context(Context(model), [[4, 5, 6]], [1]).log_probs[0]
    assert np.array_equal(ours, fresh, equal_nan=True)


@given(others=st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), max_size=4))
@settings(max_examples=20, deadline=None)
def test_what_a_candidate_gets_does_not_depend_on_the_others(others):
    """The context's own end chooses, not a candidate: the choice is the same for every set."""
    context = seeing(tiny_model("qwen3_vl", "float64"), (*range(9), TALL, 2), DYNAMIC)

    alone = score_sharing_context(context, [[4, 5, 6]]).log_probs[0]
    among = score_sharing_context(context, [*others, [4, 5, 6]]).log_probs[-1]

    assert np.abs(alone - among).max() < EXACT


@every_family
@pytest.mark.parametrize("budget", [HALF, DYNAMIC, replace(DYNAMIC, anchor=1, high=0.3, block=1)])
@pytest.mark.parametrize("step", [8, 256])
def test_replays_choose_as_eager_forwards_do(family, budget, step, monkeypatch):
    """One recording serves other contexts with pictures in the same places, and chooses anew for each."""
    monkeypatch.setattr(graphs, "STEP", step)
    model = tiny_model(family, "float64")
    context, recordings = Context(model, budget=budget), Recordings()
    for text in (1, 2, 1):
        context.rollback(0)
        context.extend(ids_of(text, *PARTS, text), [TALL, SMALL])
        eager = scores(seeing(model, (text, *PARTS, text), budget))
        for _ in range(2):
            got = score_sharing_context(context, SEQUENCES, recordings=recordings).log_probs
            assert np.abs(np.concatenate(got) - eager).max() < EXACT

    twin = seeing(model, (1, *PARTS, 1), budget)
    assert recordings.generate(context, 12) == decode(twin, Decoding(12, stop=None)).ids
    assert (context.logits() - twin.logits()).abs().max() < EXACT


class NoQuestion(TorchDispatchMode):
    """Refuses what makes the host wait for the device: reading a number, and shapes that depend on numbers."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        masks = [one for own in args if isinstance(own, list | tuple) for one in own]
        by_mask = name.startswith("index") and any(
            isinstance(one, torch.Tensor) and one.dtype is torch.bool for one in masks
        )
        if by_mask or name in {"_local_scalar_dense", "nonzero", "masked_select", "equal"}:
            raise PermissionError(name)
        return function(*args, **(kwargs or {}))


@every_family
def test_nothing_is_asked_of_the_device_while_choosing_and_scoring_and_decoding(family):
    model = tiny_model(family)
    context = seeing(model, PARTS, DYNAMIC)
    (trie,) = compile_tries(((1, 2, 3), (1, 4)), 100)
    scoring, decoding = graphs.TrieRecording(context, trie), graphs.DecodeRecording(context)

    with torch.inference_mode(), NoQuestion():
        scoring.score(context)
        decoding.set(context, 0, 5)
        for _ in range(3):
            decoding.step()
        choosing = context.gaze_over(context.length, Stored(context.slab, context.length))
        choosing.choose(0, torch.ones(1, 6, 1, 8), 0.5)
        choosing.parts(1, torch.ones(1, 6, 4, 8), 0.5)


def flash_operations(query, key, *_rest, is_causal=False, **_options):
    """Two products of a multiplication and an addition each; torch's own counter leaves this kernel out."""
    batch, heads, rows, width = query
    return 4 * batch * heads * rows * width * (1 if is_causal else key[2])


def operations(context) -> int:
    flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    with FlopCounterMode(display=False, custom_mapping={flash: flash_operations}) as counter:
        score_sharing_context(context, SEQUENCES)
    return counter.get_total_flops()


@every_family
@pytest.mark.parametrize("anchor", [0, 1])
@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
def test_layers_behind_the_anchor_spend_nothing_on_what_is_dropped(family, anchor, share):
    model, parts = tiny_model(family), (1, drawn_picture(20, 20), 2)
    context = seeing(model, parts, VisualBudget(anchor, share, share, block=1))

    saved = operations(seeing(model, parts)) - operations(context)

    dropped, nodes = round(100 * (1 - share)), 4  # 4, 4 5, 8, 8 8
    heads, width = model.config.num_attention_heads, model.head_width
    assert saved == (2 - anchor) * 4 * nodes * heads * width * dropped


def test_a_question_to_the_device_would_be_noticed():
    for ask in (bool, float, torch.nonzero, lambda one: one[one > 0]):
        with pytest.raises(PermissionError), NoQuestion():
            ask(torch.ones(1))


class Slices:
    """Random keys and values of one layer, as a slab holds them."""

    def __init__(self, tokens: int, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.keys, self.values = (
            [torch.randn(1, 2, tokens, 8, generator=generator, dtype=torch.float64)] * 2
            for _ in range(2)
        )


@given(
    spans=st.lists(st.tuples(st.integers(0, 4), st.integers(1, 12)), max_size=4),
    budget=budgets,
    seed=st.integers(0, 99),
)
@settings(max_examples=80, deadline=None)
def test_behind_the_anchor_attention_is_that_over_what_the_twin_keeps(spans, budget, seed):
    """Any places of pictures; the row's weights are worked out here, and what they drop by the twin."""
    placed, visual, at = [], [], 0
    for gap, size in spans:
        at += gap + 1
        placed.append((at, at + size))
        visual += range(at, at + size)
        at += size
    length, budget = at + 2, replace(budget, anchor=0)
    store = Slices(length, seed)
    row = torch.randn(
        1, 4, 1, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )
    blocks = blocks_of(budget, tuple(placed), torch.device("cpu"))
    scaled = row.reshape(1, 2, 2, 8) @ store.keys[0].transpose(-1, -2) * 0.5 / budget.temperature
    dropped = dropped_by(scaled.softmax(-1).reshape(4, length).tolist(), visual, budget)
    if blocks is None:
        assert not dropped
        return

    gaze = blocks.gaze(store, _Whole(store))
    gaze.choose(0, row, 0.5)
    found = graphs.merge(*gaze.parts(1, row, 0.5))

    seen = [token for token in range(length) if token not in dropped]
    expected = attend_part_plainly(row, store.keys[1][:, :, seen], store.values[1][:, :, seen], 0.5)
    assert (found - expected.output).abs().max() < 1e-12


class _Whole:
    def __init__(self, store: Slices) -> None:
        self._store = store

    def parts(self, layer, query, scale, start=0):
        keys, values = self._store.keys[layer], self._store.values[layer]
        return [attend_part_plainly(query, keys[:, :, start:], values[:, :, start:], scale)]


def test_the_twin_drops_by_mass_of_the_highest_head_and_mean_over_heads():
    """Tokens 2 to 7 are visual, in three blocks; one head spends .45 on them, the other .2.

    .45 of six tokens are three, so two blocks stay: 2-3 (mean .15) and 6-7 (.125), not 4-5 (.05).
    """
    one = [0.3, 0.25, 0.2, 0.05, 0.05, 0.0, 0.1, 0.05, 0.0]
    two = [0.7, 0.1, 0.0, 0.05, 0.0, 0.05, 0.0, 0.1, 0.0]
    budget = VisualBudget(anchor=0, low=0.1, high=0.9, block=2)

    assert dropped_by([one, two], range(2, 8), budget) == {4, 5}
    assert dropped_by([one, two], range(2, 8), replace(budget, high=0.2)) == {4, 5, 6, 7}
    assert dropped_by([one, two], range(2, 8), replace(budget, low=0.7)) == set()


def test_of_ten_thousand_shares_the_number_of_blocks_is_a_ceiling_within_its_bounds():
    for share in np.linspace(0.0001, 1, 10_000):
        for block in (1, 3, 64):
            budget = VisualBudget(low=share, high=share, block=block)
            blocks = budget.blocks(share, 100, 100 // block)
            assert blocks >= 1
            assert blocks == 100 // block or blocks * block >= share * 100 - 1e-6
    assert VisualBudget(block=1).blocks(0.07, 100, 100) == 7


@pytest.mark.parametrize(
    "wrong",
    [
        {"low": 0.0, "high": 0.0},
        {"low": -0.1},
        {"low": 0.2, "high": 0.1},
        {"high": 1.1},
        {"low": float("nan")},
        {"temperature": 0.0},
        {"temperature": 1.5},
        {"block": 0},
    ],
)
def test_a_budget_of_nothing_or_without_sense_is_refused_in_one_line(wrong):
    with pytest.raises(ForethoughtError) as refused:
        VisualBudget(**wrong)

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("anchor", [-1, 2, 17])
def test_an_anchor_without_layers_behind_it_is_refused(anchor):
    budget = VisualBudget(anchor=anchor)

    with pytest.raises(ForethoughtError, match="0 to 1 in qwen3_vl"):
        Context(tiny_model("qwen3_vl"), budget=budget)


def test_a_model_without_eyes_refuses_a_budget():
    with pytest.raises(PictureMismatch, match="reads text alone"):
        Context(tiny_model("llama"), budget=HALF)


@given(
    shares=st.tuples(st.integers(1, 100), st.integers(1, 100)),
    anchor=st.integers(0, 99),
    tenths=st.integers(1, 10),
    block=st.integers(1, 999),
)
def test_a_written_budget_is_read_as_what_it_was(shares, anchor, tenths, block):
    low, high = sorted(shares)
    budget = VisualBudget(anchor, low / 100, high / 100, tenths / 10, block)

    assert VisualBudget.parse(str(budget)) == budget


@pytest.mark.parametrize(
    "text", ["", "x", "5-", "-5", "0", "10-5", "200", "5,anchor", "5,K=3", "5,block=.5"]
)
def test_a_budget_written_otherwise_is_refused(text):
    with pytest.raises(ForethoughtError):
        VisualBudget.parse(text)


def test_written_budgets_mean_percents():
    assert VisualBudget.parse("10") == VisualBudget(low=0.1, high=0.1)
    assert VisualBudget.parse("1-5, temperature=0.1, anchor=20") == VisualBudget(
        20, 0.01, 0.05, 0.1
    )


def test_who_only_selects_imports_nothing_of_it():
    program = (
        "import sys, forethought.scorer.score\n"
        "print([name for name in sys.modules if 'visual_' in name and 'forethought' in name])"
    )

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert found.stdout.strip() == "[]"
