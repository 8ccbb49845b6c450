"""Looking at less: what a visual budget saves behind its anchor, and whether the same candidate is taken.

    python benchmarks/visual_budget.py                  # CPU: a tiny Qwen3-VL of random weights on drawn images, minutes
    python benchmarks/visual_budget.py --shapes 4b      # a GPU: Qwen3-VL-4B's shapes, random weights, 4,096 visual tokens
    python benchmarks/visual_budget.py --shapes tiny    # the second on a CPU, for what it checks; its times mean nothing

Attention is counted by torch's FlopCounterMode. What is timed runs interleaved in one process; a ratio is of
medians, on the CPU of the processor's time. The weights
are random: what they agree on says nothing of a trained model. Prints Markdown.
"""

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import transformers
from gpu_scorer import SETS, device_name, drawn, median, on, random_model
from PIL import Image, ImageDraw
from torch.utils.flop_counter import FlopCounterMode
from transformers import Qwen2VLImageProcessorPil

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

from tiny_models import ByteTokenizer, tiny_network

from forethought.scorer.agent.comparison import rate
from forethought.scorer.context import Context
from forethought.scorer.generate import Decoding, decode
from forethought.scorer.graphs import Recordings
from forethought.scorer.latency import select_and_commit
from forethought.scorer.model import LanguageModel, wrap
from forethought.scorer.plain import totals
from forethought.scorer.score import MOST_NODES, score_sharing_context
from forethought.scorer.trie import compile_tries
from forethought.scorer.vision import Picture
from forethought.scorer.visual_budget import VisualBudget

SHARES = (0.01, 0.05, 0.10, 0.25, 0.50, 1.0)
FULL = 1.0
FLASH = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
LAYERS, ANCHOR = 8, 3
SIDE, PATCH = 160, 4  # pixels: 400 visual tokens of 8 x 8
TEXT = 64  # tokens on both sides of the image together
CANDIDATES, TOKENS = 16, 12
STEPS = 8  # decoded
VISUAL_GRID = (1, 128, 128)  # patches on the GPU: 4,096 visual tokens


class Turn(NamedTuple):
    """A context with a picture, and candidates after it."""

    before: list[int]
    picture: Picture
    after: list[int]
    sequences: list[list[int]]

    def context(self, model: LanguageModel, budget: VisualBudget | None) -> Context:
        assert model.eyes is not None
        ids = [*self.before, *model.eyes.tokens(self.picture), *self.after]
        context = Context(model, capacity=len(ids) + 128, budget=budget)
        context.extend(ids, [self.picture])
        return context


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", choices=("4b", "2b", "tiny"), help="time these on a GPU")
    parser.add_argument("--contexts", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=9, help="of what is timed")
    arguments = parser.parse_args()
    if arguments.shapes:
        print_times_of_shapes(arguments.shapes)
        return
    model = tiny_seeing_model()
    turns = [drawn_turn(model, seed) for seed in range(arguments.contexts)]
    print(f"# {heading(model, turns[0])}\n")
    print_table(model, turns, arguments.rounds)


def heading(model: LanguageModel, turn: Turn) -> str:
    assert model.eyes is not None
    return (
        f"`{' '.join(['python', *sys.argv])}`: torch {torch.__version__}, transformers {transformers.__version__}, Python "
        f"{platform.python_version()}, {torch.get_num_threads()} threads; {LAYERS} layers, anchor {ANCHOR}; "
        f"{model.eyes.count(turn.picture)} visual tokens and {TEXT + 2} others, {CANDIDATES} x {TOKENS} candidate tokens"
    )


def tiny_seeing_model() -> LanguageModel:
    size = {"shortest_edge": 64, "longest_edge": 1 << 20}
    cut = Qwen2VLImageProcessorPil(patch_size=PATCH, merge_size=2, size=size)
    network = tiny_network("qwen3_vl", num_hidden_layers=LAYERS)
    return wrap(network, ByteTokenizer(), "random Qwen3-VL", "0", cut)


def drawn_turn(model: LanguageModel, seed: int) -> Turn:
    """Text, a drawing of a dozen coloured shapes, text; candidates of random tokens."""
    assert model.eyes is not None
    rng = np.random.default_rng(seed)

    def text(length: int) -> list[int]:
        return rng.integers(0, 256, length).tolist()

    return Turn(
        text(TEXT // 2),
        model.eyes.prepare(drawing(rng)),
        text(TEXT // 2),
        [text(TOKENS) for _ in range(CANDIDATES)],
    )


def drawing(rng: np.random.Generator) -> Image.Image:
    image = Image.new("RGB", (SIDE, SIDE), tuple(rng.integers(0, 256, 3).tolist()))
    pen = ImageDraw.Draw(image)
    for number in range(12):
        corners = np.sort(rng.integers(0, SIDE, (2, 2)), axis=0)
        box = [tuple(corner) for corner in corners.tolist()]
        shape = (pen.rectangle, pen.ellipse, pen.line)[number % 3]
        shape(box, fill=tuple(rng.integers(0, 256, 3).tolist()))
    return image


def budget_of(share: float) -> VisualBudget:
    """Always this share; blocks of single tokens, so that 1 % of some hundreds is 1 %."""
    return VisualBudget(anchor=ANCHOR, low=share, high=share, block=1)


def print_table(model: LanguageModel, turns: Sequence[Turn], rounds: int) -> None:
    saved = {share: visual_operations(model, turns[0], share) for share in SHARES}
    agreed, at_random = agreements(model, turns)
    scoring, step = times(model, turns[0], rounds)
    header = [
        "visual tokens kept",
        "attention to them behind the anchor",
        "all attention behind it",
        "scoring, time of full",
        "a decoding step, time of full",
        f"same candidate as full, of {len(turns)}",
        "with as many tokens at random",
        "a score moved by, nats a token (at random)",
    ]
    print(f"| {' | '.join(header)} |\n|{' --- |' * len(header)}")
    for share in SHARES:
        cells = [
            f"{share:.0%}",
            f"{saved[share].visual:.3f}",
            f"{saved[share].all:.3f}",
            f"{scoring[share] / scoring[FULL]:.2f}",
            f"{step[share] / step[FULL]:.2f}",
            interval(agreed[share].same),
            interval(at_random[share].same) if share < FULL else "",
            moved(agreed[share], at_random[share]),
        ]
        print(f"| {' | '.join(cells)} |")
    print(
        f"\nFull: scoring {scoring[FULL]:.1f} ms, a decoding step {step[FULL]:.2f} ms; medians of {rounds} rounds. "
        f"By chance the same of {CANDIDATES} is taken in {1 / CANDIDATES:.0%}."
    )


class Operations(NamedTuple):
    """Of attention in the layers behind the anchor, as a share of what all tokens cost."""

    visual: float
    all: float


def visual_operations(model: LanguageModel, turn: Turn, share: float) -> Operations:
    assert model.eyes is not None
    full, less = (attention_behind(turn.context(model, budget_of(s)), turn) for s in (FULL, share))
    tries = compile_tries(tuple(map(tuple, turn.sequences)), MOST_NODES)
    nodes = sum(len(trie.tokens) for trie in tries)
    heads = model.config.num_attention_heads * model.head_width
    tokens = model.eyes.count(turn.picture)
    visual = 4 * nodes * heads * tokens * (LAYERS - 1 - ANCHOR)
    return Operations(1 - (full - less) / visual, less / full)


def attention_behind(context: Context, turn: Turn) -> int:
    """Counted operations of attention behind the anchor while the candidates are scored."""
    with FlopCounterMode(display=False, custom_mapping={FLASH: flash_operations}) as counter:
        score_sharing_context(context, turn.sequences)
    found = 0
    for name, by_operation in counter.get_flop_counts().items():
        owner, _, part = name.rpartition(".layers.")
        if owner and part.partition(".")[2] == "self_attn" and int(part.split(".")[0]) > ANCHOR:
            found += by_operation.get(FLASH, 0)
    return found


def flash_operations(
    query: Sequence[int],
    key: Sequence[int],
    *_rest: object,
    is_causal: bool = False,
    **_options: object,
) -> int:
    """Two products of a multiplication and an addition each; torch's own counter leaves this kernel out."""
    batch, heads, rows, width = query
    seen = rows * (rows + 1) // 2 if is_causal else rows * key[2]
    return 4 * batch * heads * seen * width


class Agreement:
    """By turn: whether the full result's candidate was taken, and how far a score moved on average, in nats a token."""

    def __init__(self) -> None:
        self.same: list[bool] = []
        self.moved: list[float] = []

    def add(self, full: np.ndarray, scores: np.ndarray) -> None:
        self.same.append(int(scores.argmax()) == int(full.argmax()))
        self.moved.append(float(np.abs(scores - full).mean()))


def agreements(
    model: LanguageModel, turns: Sequence[Turn]
) -> tuple[dict[float, Agreement], dict[float, Agreement]]:
    """By share: what was chosen, and as much chosen at random. All but the last token is prefilled once a turn."""
    agreed, at_random = ({share: Agreement() for share in SHARES} for _ in range(2))
    for seed, turn in enumerate(turns):
        context = turn.context(model, None)
        full, last = means(context, turn), turn.after[-1:]
        for share in SHARES:
            context.rollback(context.length - 1)
            context.budget = budget_of(share)
            context.extend(last)
            agreed[share].add(full, means(context, turn))
            if context.gaze is not None:
                choose_at_random(context, seed)
                at_random[share].add(full, means(context, turn))
    return agreed, at_random


def choose_at_random(context: Context, seed: int) -> None:
    """As many visual tokens as were chosen, drawn."""
    gaze = context.gaze
    assert gaze is not None and gaze.kept is not None
    visual = gaze.blocks.visual
    order = torch.randperm(len(visual), generator=torch.Generator().manual_seed(seed))
    drawn_tokens = visual[order[: gaze.blocks.most]]
    gaze.kept = gaze.kept._replace(sure=torch.cat([gaze.blocks.others, drawn_tokens]))


def means(context: Context, turn: Turn) -> np.ndarray:
    return totals(score_sharing_context(context, turn.sequences).log_probs) / TOKENS


class Times(NamedTuple):
    """Median milliseconds of the processor for each share: a thread's own time, whatever else runs."""

    scoring: dict[float, float]
    step: dict[float, float]


def times(model: LanguageModel, turn: Turn, rounds: int) -> Times:
    contexts = {share: turn.context(model, budget_of(share)) for share in SHARES}
    scoring: dict[float, list[float]] = {share: [] for share in SHARES}
    steps: dict[float, list[float]] = {share: [] for share in SHARES}
    for _ in range(rounds + 1):  # the first is not counted
        for share, context in contexts.items():
            length = context.length
            context.logits()
            scoring[share].append(processor_ms(partial(means, context, turn)))
            forced = Decoding(STEPS + 1, stop=None)
            steps[share].append(processor_ms(partial(decode, context, forced)) / STEPS)
            context.rollback(length)
    return Times(medians(scoring), medians(steps))


def processor_ms(act: Callable[[], object]) -> float:
    started = time.process_time()
    act()
    return 1000 * (time.process_time() - started)


def medians(found: dict[float, list[float]]) -> dict[float, float]:
    return {share: statistics.median(spent[1:]) for share, spent in found.items()}


def moved(chosen: Agreement, at_random: Agreement) -> str:
    told = f"{statistics.fmean(chosen.moved):.3f}"
    return f"{told} ({statistics.fmean(at_random.moved):.3f})" if at_random.moved else told


def interval(same: Sequence[bool]) -> str:
    found = rate(same)
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"


def print_times_of_shapes(shapes: str) -> None:
    """Every set at every share, replayed where there are CUDA graphs; the same contexts and candidates."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = random_model(shapes, device)
    assert model.eyes is not None
    grid = VISUAL_GRID if shapes != "tiny" else (1, 32, 32)
    patches = torch.randn(
        grid[1] * grid[2], 3 * 2 * 16 * 16, generator=torch.Generator().manual_seed(0)
    )
    (text,) = drawn(model, 0, 512)
    published = VisualBudget(anchor=min(17, model.num_layers - 2))
    budgets: dict[str, VisualBudget | None] = {"none": None, "5-10 %": published}
    for share in SHARES[:-1]:
        budgets[f"{share:.0%}"] = replace(published, low=share, high=share)
    print(
        f"# {device_name(device)}, torch {torch.__version__}, transformers {transformers.__version__}, {shapes}\n"
    )
    print(
        "| set | budget | kept of the visual tokens | select ms, p50 | p90 | replay off eager, nats a token | 64 tokens ms, p50 |"
    )
    print(f"|{' --- |' * 7}")
    for name, (count, tokens) in SETS.items():
        sequences = drawn(model, count, *[tokens] * count)
        turn = Turn(text[:256], Picture(patches, grid), text[256:], sequences)
        for label, budget in budgets.items():
            row(name, label, turn.context(model, budget), sequences)


def row(name: str, label: str, context: Context, sequences: list[list[int]]) -> None:
    recordings, length = Recordings(), context.length
    eager, *_, replayed = (
        np.concatenate(score_sharing_context(context, sequences, recordings=recordings).log_probs)
        for _ in range(3)
    )
    share = context.gaze.share() if context.gaze else None
    kept = f"{share.kept / share.tokens:.1%}" if share else "100 %"
    selecting = on(context, length, lambda: select_and_commit(context, sequences, recordings))
    decoding = median(lambda: generate(context, recordings, length), 5)
    off = np.abs(eager - replayed).max()
    cells = [
        name,
        label,
        kept,
        f"{selecting.p50:.2f}",
        f"{selecting.p90:.2f}",
        f"{off:.3f}",
        f"{decoding.p50:.1f}",
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


def generate(context: Context, recordings: Recordings, length: int) -> None:
    context.rollback(length)
    recordings.generate(context, 64)


if __name__ == "__main__":
    main()
