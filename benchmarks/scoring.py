"""How exact the scorer is, and what it costs where there is nothing to share. Others than ours: scorer_peers.py.

    python benchmarks/scoring.py            # about five minutes on two quiet cores
    python benchmarks/scoring.py one        # one part: equality or one

Contexts and candidates are cut from the traces that ship with Forethought; the model is the packaged one. What is
compared runs interleaved in one process; a ratio is quoted from medians. Prints Markdown.
"""

import argparse
import gzip
import json
import platform
import statistics
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

import numpy as np
import torch
import transformers

from forethought.data.render import CLOSING, OPENING
from forethought.scorer.context import Context
from forethought.scorer.latency import milliseconds
from forethought.scorer.model import LanguageModel, load_model
from forethought.scorer.plain import score_plainly
from forethought.scorer.score import score_sharing_context

SAMPLE = "fireact-llama-2-13b.json.gz"
CONTEXT_TOKENS = 1500
PARTS = ("equality", "one")


class Texts(NamedTuple):
    """Token ids cut from real traces."""

    contexts: list[list[int]]  # each of CONTEXT_TOKENS
    candidates: list[list[int]]  # 64 of about 24 tokens, delimiters included


class Deviation(NamedTuple):
    """Shared less plain: the largest of a single token, and of a candidate's mean over its tokens."""

    token: float
    mean: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=PARTS, help=f"which of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    arguments = parser.parse_args()
    model = load_model()
    texts = cut_texts(model)
    print(f"# Scoring: {model.name}, {versions()}\n")
    if "equality" in arguments.parts:
        rows = equality(texts, 4 if arguments.quick else 16)
        print_rows("## Equality with the plain scorer", rows)
    size = f"{CONTEXT_TOKENS:,} context tokens, prefill counted"
    if "one" in arguments.parts:
        rows = one(model, texts, 3 if arguments.quick else 12)
        print_rows(f"## A single candidate: {size}", rows)


def cut_texts(model: LanguageModel) -> Texts:
    raw = gzip.decompress(
        resources.files("forethought.data").joinpath(f"samples/{SAMPLE}").read_bytes()
    )
    ids = model.encode(
        json.dumps(json.loads(raw), ensure_ascii=False)[:120_000].replace("\\n", "\n")
    )
    contexts = [ids[i : i + CONTEXT_TOKENS] for i in range(0, 8 * CONTEXT_TOKENS, CONTEXT_TOKENS)]
    opening, closing = model.encode(OPENING), model.encode(CLOSING)
    body, rest = 24 - len(opening) - len(closing), ids[8 * CONTEXT_TOKENS :]
    candidates = [
        [*opening, *rest[i * body : (i + 1) * body + i % 5 - 2], *closing] for i in range(64)
    ]
    return Texts(contexts, candidates)


def equality(texts: Texts, candidates: int) -> list[tuple[str, str, str]]:
    rows = []
    sequences = texts.candidates[:candidates]
    oracle = None
    for dtype, bar in (("float64", 1e-11), ("float32", 2e-5)):
        model = load_model(dtype=dtype)
        context = Context(model, texts.contexts[0])
        shared = score_sharing_context(context, texts.candidates).log_probs
        plain = score_plainly(model, texts.contexts[0], sequences)
        found = deviation(shared, plain)
        rows.append((f"{dtype}: largest difference of a token", f"{found.token:.1e}", f"{bar:.0e}"))
        rows.append(
            (
                f"{dtype}: largest difference of a candidate's mean",
                f"{found.mean:.1e}",
                f"{bar:.0e}",
            )
        )
        if oracle is None:
            oracle = plain
            continue
        for name, scores in (("shared", shared), ("plain", plain)):
            off = deviation(scores, oracle)
            rows.append(
                (f"{dtype} {name} less float64 plain: largest of a token", f"{off.token:.1e}", "")
            )
        rows.append(
            (
                "candidates in another order: bitwise equal",
                is_order_free(context, texts, shared),
                "yes",
            )
        )
    return rows


def is_order_free(context: Context, texts: Texts, straight: Sequence[np.ndarray]) -> str:
    order = np.random.default_rng(0).permutation(len(texts.candidates))
    shuffled = score_sharing_context(context, [texts.candidates[i] for i in order]).log_probs
    equal = all(np.array_equal(shuffled[place], straight[i]) for place, i in enumerate(order))
    return "yes" if equal else "no"


def deviation(one: Sequence[np.ndarray], other: Sequence[np.ndarray]) -> Deviation:
    pairs = list(zip(one, other, strict=False))
    return Deviation(
        max(float(np.abs(a - b).max()) for a, b in pairs),
        max(float(abs(a.mean() - b.mean())) for a, b in pairs),
    )


def one(model: LanguageModel, texts: Texts, rounds: int) -> list[tuple[str, str, str]]:
    """Both scorers on a single candidate, where sharing has nothing to share."""
    ids, candidate = texts.contexts[0], texts.candidates[:1]
    score_sharing(model, ids, candidate)  # warm-up
    plain, shared = [], []
    for _ in range(rounds):
        plain.append(milliseconds(lambda: score_plainly(model, ids, candidate)))
        shared.append(milliseconds(lambda: score_sharing(model, ids, candidate)))
    ratio = statistics.median(s / p for s, p in zip(shared, plain, strict=True))
    return [
        ("plain, 1 candidate, ms", f"{statistics.median(plain):.0f}", ""),
        ("shared, the same, ms", f"{statistics.median(shared):.0f}", ""),
        ("shared over plain, median of neighbours in time", f"{ratio:.2f}", "at most 1.10"),
    ]


def score_sharing(
    model: LanguageModel, ids: Sequence[int], sequences: Sequence[Sequence[int]]
) -> None:
    score_sharing_context(Context(model, ids), sequences)


def print_rows(title: str, rows: Sequence[tuple[str, str, str]]) -> None:
    print(f"{title}\n\n| figure | measured | bar |\n| --- | --- | --- |")
    print("\n".join(f"| {' | '.join(row)} |" for row in rows), end="\n\n", flush=True)


def versions() -> str:
    return (
        f"torch {torch.__version__}, transformers {transformers.__version__}, Python {platform.python_version()}, "
        f"{torch.get_num_threads()} threads"
    )


if __name__ == "__main__":
    main()
