"""Selection on a GPU, checked and timed: random weights at the shapes of Qwen3-VL-2B and 4B, bfloat16.

    python benchmarks/gpu_scorer.py                 # one GPU, under 8 minutes
    python benchmarks/gpu_scorer.py --shapes tiny   # the same on a CPU in a minute, for what it checks; its times mean nothing

First the scores are compared with a float32 copy of the same weights, then every way is timed on the same contexts. Latency does
not depend on what the weights are. A time is the median of repeated calls, the device idle before and after each, from known last
logits to the choice made and in the cache. Prints Markdown.
"""

import argparse
import copy
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
import transformers
from baselines import prefill, score_expanded_after, score_naively, score_packed_after
from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration

from forethought.scorer.attention import kernel_for
from forethought.scorer.context import Context
from forethought.scorer.generate import generate_with_transformers, transformers_cache
from forethought.scorer.graphs import Recordings
from forethought.scorer.latency import milliseconds, select_and_commit
from forethought.scorer.model import LanguageModel, wrap
from forethought.scorer.plain import score_plainly
from forethought.scorer.score import MOST_NODES, score_sharing_context
from forethought.scorer.trie import compile_tries
from forethought.scorer.vision import Picture

TEXT = {  # hidden, MLP, layers, query heads, key heads, head width, vocabulary
    "2b": (2048, 6144, 28, 16, 8, 128, 151_936),
    "4b": (2560, 9728, 36, 32, 8, 128, 151_936),
    "tiny": (64, 96, 3, 4, 2, 16, 1000),
}
TOWER = {"2b": (24, 1024, 4096, 16), "4b": (24, 1024, 4096, 16), "tiny": (2, 32, 64, 2)}
SETS = {"a": (6, 31), "b": (64, 24), "c": (512, 24)}  # candidates, tokens of each
CONTEXTS = (1024, 4096, 16_384)
GENERATED = (65, 200)
BARS = {("4b", 4096, "a"): 5.0, ("2b", 4096, "b"): 14.0, ("4b", 4096, "b"): 31.0}  # ms, of one H200
PEAK = 790e12  # bfloat16 operations a second of an H200, as matrix products reach them
BANDWIDTH = 4.3e12  # bytes a second of its memory
SECONDS = 1.0  # at most for the repetitions of one figure
ROOM = 60e9  # bytes; a way that would take more is not run


class Time(NamedTuple):
    """Milliseconds."""

    p50: float
    p90: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="*", default=("2b", "4b"), choices=tuple(TEXT))
    parser.add_argument("--contexts", nargs="*", type=int, default=CONTEXTS)
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print(
        f"# {device_name(device)}, torch {torch.__version__}, transformers {transformers.__version__}\n"
    )
    for shapes in arguments.shapes:
        started = time.perf_counter()
        model = random_model(shapes, device)
        print(f"## {shapes}, {kernel_for(model.dtype, device).__name__}\n", flush=True)
        print_check(model)
        print_times(model, shapes, arguments.contexts)
        print(f"{shapes}: {time.perf_counter() - started:.0f} s in all\n", flush=True)
        del model
        if device.type == "cuda":
            torch.cuda.empty_cache()


def random_model(shapes: str, device: torch.device) -> LanguageModel:
    """A whole Qwen3-VL of these shapes, weights drawn on the device."""
    hidden, inner, layers, heads, key_heads, width, vocabulary = TEXT[shapes]
    depth, tower, tower_inner, tower_heads = TOWER[shapes]
    config = Qwen3VLConfig(
        text_config={
            "hidden_size": hidden,
            "intermediate_size": inner,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "num_key_value_heads": key_heads,
            "head_dim": width,
            "vocab_size": vocabulary,
            "max_position_embeddings": 262_144,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 5e6,
                "mrope_section": [width // 2 - 2 * (width // 6), width // 6, width // 6],
            },
        },
        vision_config={
            "depth": depth,
            "hidden_size": tower,
            "intermediate_size": tower_inner,
            "num_heads": tower_heads,
            "out_hidden_size": hidden,
            "deepstack_visual_indexes": [0, depth // 2, depth - 1],
        },
        image_token_id=vocabulary - 1,
        video_token_id=vocabulary - 2,
        vision_start_token_id=vocabulary - 3,
        vision_end_token_id=vocabulary - 4,
        tie_word_embeddings=True,
    )
    torch.manual_seed(0)
    with device:
        network = Qwen3VLForConditionalGeneration._from_config(config, dtype=torch.bfloat16)
    return wrap(network.to(device), None, f"random Qwen3-VL {shapes}", "0")


def drawn(model: LanguageModel, seed: int, *lengths: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, model.config.vocab_size - 10, length).tolist() for length in lengths]


def print_check(model: LanguageModel) -> None:
    """Both scorers in bfloat16 against the plain one in float32, with a picture in the context."""
    rng = torch.Generator().manual_seed(0)
    picture = Picture(torch.randn(16 * 16, 3 * 2 * 16 * 16, generator=rng), (1, 16, 16))
    assert model.eyes is not None
    (text, *sequences) = drawn(model, 1, 700, *[24] * 8)
    ids = [*text[:300], *model.eyes.tokens(picture), *text[300:]]
    context, recordings = Context(model), Recordings()
    context.extend(ids, [picture])
    ours = [
        score_sharing_context(context, sequences, recordings=recordings).log_probs for _ in range(2)
    ]
    naive = score_plainly(model, ids, sequences, pictures=[picture])
    wide = wrap(copy.deepcopy(model.network).float(), None, "float32", "0")
    oracle = np.concatenate(score_plainly(wide, ids, sequences, pictures=[picture]))
    print(
        "| error a token against float32, nats | mean | max | signed mean |\n| --- | --- | --- | --- |"
    )
    for name, scores in (("plain", naive), ("ours", ours[0]), ("ours, replayed", ours[1])):
        off = np.concatenate(scores) - oracle
        print(
            f"| {name} | {np.abs(off).mean():.4f} | {np.abs(off).max():.4f} | {off.mean():+.5f} |"
        )
    print(flush=True)


def print_times(model: LanguageModel, shapes: str, contexts: Sequence[int]) -> None:
    header = ["context", "set", "way", "p50 ms", "p90 ms", "of the roofline", "bar"]
    print(f"| {' | '.join(header)} |\n|{' --- |' * len(header)}")
    for length in contexts:
        (ids,) = drawn(model, length, length)
        context, recordings = Context(model, capacity=length + 512), Recordings()
        thinking = print_thinking(context, ids, recordings)
        for name, (count, tokens) in SETS.items():
            sequences = drawn(model, count, *[tokens] * count)
            floor = roofline(model, length, sequences)
            for way, act in ways(context, ids, sequences, recordings).items():
                is_best = way == "ours, replayed"
                bar = BARS.get((shapes, length, name)) if is_best else None
                spent = on(context, length, act)
                row(
                    length, f"{count} x {tokens}", way, spent, floor if "ours" in way else None, bar
                )
                if is_best:
                    saved = f"{1 - spent.p50 / thinking.p50:.1%}"
                    print(
                        f"| {length} | {count} x {tokens} | less than generate 65, replayed | {saved} | | | |"
                    )
    print(flush=True)


def print_thinking(context: Context, ids: list[int], recordings: Recordings) -> Time:
    """Rows of the prefill and of generating; returns the time of 65 tokens replayed."""
    length = len(ids)

    def start_anew() -> None:
        context.rollback(0)
        context.extend(ids)

    row(length, "", "prefill from nothing", median(start_anew, 3))
    found = [
        on(context, length, partial(recordings.generate, context, tokens)) for tokens in GENERATED
    ]
    for tokens, spent in zip(GENERATED, found, strict=True):
        row(length, "", f"generate {tokens}, replayed", spent)
    row(length, "", "generate 65, transformers", eager_generation(context, length))
    return found[0]


def ways(
    context: Context, ids: Sequence[int], sequences: list[list[int]], recordings: Recordings
) -> dict[str, Callable[[], object]]:
    """What is timed after the shared prefill, where there is room for it; naive for one sequence of the set."""
    model, count = context.model, len(sequences)
    found: dict[str, Callable[[], object]] = {
        "ours, eager": lambda: select_and_commit(context, sequences),
        "ours, replayed": lambda: select_and_commit(context, sequences, recordings),
        f"naive, one of {count}": lambda: score_naively(model, ids, sequences[:1]),
    }
    shared = prefill(model, ids)
    tokens = sum(map(len, sequences))
    logits = tokens * model.config.vocab_size * 8
    rows = min(count, 64)  # as many as score_expanded_after runs at once
    if 3 * rows * len(ids) * bytes_a_token(model) + logits * rows // count < ROOM:
        found["batch-expanded cache"] = lambda: score_expanded_after(model, shared, sequences)
    if tokens * (len(ids) + tokens) * (4 + 2 * model.config.num_attention_heads) + logits < ROOM:
        found["packed 4-D mask"] = lambda: score_packed_after(model, shared, sequences)
    return found


def on(context: Context, length: int, act: Callable[[], object]) -> Time:
    """Time of `act` on the context with its logits known; it is put back each time."""

    def ready() -> None:
        context.rollback(length)
        context.logits()

    spent = median(act, 30, ready)
    context.rollback(length)
    return spent


def eager_generation(context: Context, length: int) -> Time:
    """transformers' own, on a copy of the cache that each call uses up; the copy is not timed."""
    caches = []

    def ready() -> None:
        context.rollback(length)
        context.logits()
        caches[:] = [transformers_cache(context)]

    return median(lambda: generate_with_transformers(context, caches[0], GENERATED[0]), 3, ready)


def median(act: Callable[[], object], most: int, ready: Callable[[], None] | None = None) -> Time:
    """Over at most `most` calls, or SECONDS of them, after two that are not counted."""
    spent: list[float] = []
    started = time.perf_counter()
    for number in range(most + 2):
        if ready:
            ready()
        one = milliseconds(act)
        if number >= 2:
            spent.append(one)
        if len(spent) > 2 and time.perf_counter() - started > SECONDS:
            break
    return Time(float(np.percentile(spent, 50)), float(np.percentile(spent, 90)))


def roofline(model: LanguageModel, length: int, sequences: list[list[int]]) -> float:
    """Milliseconds that the arithmetic, or the reading of weights and context, takes at the least."""
    config = model.config
    tries = compile_tries(tuple(map(tuple, sequences)), MOST_NODES)
    nodes = sum(len(trie.tokens) for trie in tries)
    rows = sum(len(np.unique(trie.edge_rows)) for trie in tries)
    weights = sum(
        parameter.numel()
        for name, parameter in model.network.model.language_model.named_parameters()
        if "embed" not in name
    )
    head = config.vocab_size * config.hidden_size
    attention = (
        4 * length * config.num_attention_heads * model.head_width * config.num_hidden_layers
    )
    operations = nodes * (2 * weights + attention) + 2 * rows * head
    memory = 2 * (weights + head) + length * bytes_a_token(model)
    return 1000 * max(operations / PEAK, memory / BANDWIDTH)


def bytes_a_token(model: LanguageModel) -> int:
    """Of keys and values, in bfloat16."""
    return 4 * model.num_layers * model.num_key_heads * model.head_width


def row(
    length: int,
    name: str,
    way: str,
    spent: Time,
    floor: float | None = None,
    bar: float | None = None,
) -> None:
    share = f"{floor / spent.p50:.0%}" if floor else ""
    cells = [length, name, way, f"{spent.p50:.2f}", f"{spent.p90:.2f}", share, bar or ""]
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name() if device.type == "cuda" else "CPU"


if __name__ == "__main__":
    main()
