"""The scorer's figures: equality with the plain scorer, speed against it, and reasoning latency against generating.

    python benchmarks/scoring.py            # about eight minutes on two quiet cores
    python benchmarks/scoring.py one        # one part: equality, many, one or latency

Contexts and candidates are cut from the traces that ship with Forethought; the model is the packaged one. What is
compared runs interleaved in one process; a ratio is quoted from medians. Prints Markdown.
"""

import argparse
import gzip
import json
import platform
import statistics
from collections.abc import Sequence
from functools import partial
from importlib import resources
from typing import NamedTuple

import numpy as np
import torch
import transformers

from forethought.data.render import CLOSING, OPENING
from forethought.scorer.context import Context
from forethought.scorer.latency import measure_latency, milliseconds
from forethought.scorer.model import LanguageModel, load_model
from forethought.scorer.plain import score_plainly
from forethought.scorer.score import score_sharing_context

SAMPLE = "fireact-llama-2-13b.json.gz"
CONTEXT_TOKENS = 1500
PARTS = ("equality", "many", "one", "latency")
BLOCKS = 4  # the shared scorer is timed once before each quarter of the plain candidates
SIX = (
    "I do not know this yet, so I should search for the main subject first and read what comes back.",
    "The search did not find the right page, so I should try again with a more specific or different name.",
    "I have found the first part of the answer, so I should now search for the second thing to compare it with.",
    "The observation names someone or something new, so I should look that up next before I conclude anything.",
    "The page is right but the detail is missing, so I should look for it with another, more precise query.",
    "I have everything that the question asks for, so I can put it together and give the final answer now.",
)


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
    if "many" in arguments.parts:
        print_rows(f"## Speed against the plain scorer: {size}", many(model, texts))
    if "one" in arguments.parts:
        rows = one(model, texts, 3 if arguments.quick else 12)
        print_rows(f"## A single candidate: {size}", rows)
    if "latency" in arguments.parts:
        rows = latency(model, texts, 2 if arguments.quick else 8)
        print_rows("## Reasoning latency a turn", rows)


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


def many(model: LanguageModel, texts: Texts) -> list[tuple[str, str, str]]:
    """Both scorers on all candidates, the prefill counted on both sides."""
    ids, candidates = texts.contexts[0], texts.candidates
    score_sharing(model, ids, candidates[:1])  # warm-up
    block = len(candidates) // BLOCKS
    shared, plain = [], []
    for first in range(0, len(candidates), block):
        shared.append(milliseconds(lambda: score_sharing(model, ids, candidates)))
        for one in candidates[first : first + block]:
            plain.append(milliseconds(partial(score_plainly, model, ids, [one])))
    all_plain = statistics.median(plain) * len(candidates)
    all_shared = statistics.median(shared)
    tokens = sum(map(len, candidates)) / len(candidates)
    return [
        (f"plain, {len(candidates)} candidates of {tokens:.1f} tokens, ms", f"{all_plain:.0f}", ""),
        ("shared, the same, ms", f"{all_shared:.0f}", ""),
        ("times faster", f"{all_plain / all_shared:.1f}", "at least 20"),
    ]


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


def latency(model: LanguageModel, texts: Texts, turns: int) -> list[tuple[str, str, str]]:
    contexts = texts.contexts[:turns]
    found = measure_latency(model, contexts, [" ".join(SIX[:2])] * len(contexts), SIX)
    rows = [
        (
            "candidates, tokens of all, context tokens",
            f"{found['candidates']}, {found['candidate_tokens']}, {found['context_tokens']:.0f}",
            "",
        )
    ]
    names = {
        "prefill": "shared prefill",
        "select": "select and commit",
        "think_65": "transformers generate, 65 tokens",
        "own_65": "our decoder, 65 tokens",
        "total_select": "turn: prefill, select and commit",
        "total_think_65": "turn: prefill, generate 65 tokens",
    }
    for part, name in names.items():
        rows.append(
            (f"{name}, ms (p50, p95)", f"{found[part]['p50']:.0f}, {found[part]['p95']:.0f}", "")
        )
    for part, bar in (("think_65", "at least 85 %"), ("own_65", "")):
        saved = 1 - found["select"]["p50"] / found[part]["p50"]
        rows.append((f"less reasoning time than {names[part]}", f"{saved:.0%}", bar))
    saved = 1 - found["total_select"]["p50"] / found["total_think_65"]["p50"]
    return [*rows, ("less time a turn, this context prefilled from nothing", f"{saved:.0%}", "")]


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
