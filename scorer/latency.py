"""Reasoning latency a turn: selecting a candidate against generating a thought, on the same context in one run.

The interval starts when the shared prefill's last logits are there, and ends when the thought is known and in the
cache (its last token's keys and values are left to the next forward, on all sides). Wall clock, milliseconds.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from .compiled_set import candidate_ids, compile_set
from .context import Context
from .generate import Decoding, decode, generate_with_transformers, transformers_cache
from .graphs import Recordings
from .model import LanguageModel
from .plain import totals
from .score import Scored, score_sharing_context
from .selection import scores_of, select

PAPER_TOKENS = 65  # mean length of a free-form thought in SSR's experiments
MOST_TOKENS = 256  # a longer recorded thought is cut here, and counted


def measure_latency(
    model: LanguageModel,
    contexts: Sequence[Sequence[int]],
    thoughts: Sequence[str],
    texts: Sequence[str],
) -> dict[str, Any]:
    """p50 and p95 of each way to think, over turns: token ids of a context, and the thought recorded there.

    `select` scores `texts`, takes one and commits it: `score` and `commit` are its parts, and `act` goes on to the logits of
    the action's first token. `think` is transformers' generate forced to the recorded
    thought's length, `think_65` to 65 tokens, `own_65` our own decoder's 65 tokens. `prefill` is the context's,
    paid by all of them; `total_...` is the sum a turn.
    """
    candidates = compile_set(model, texts).ids
    lengths = [recorded_length(model, thought) for thought in thoughts]
    if contexts:
        _turn(model, contexts[0], 2, candidates)  # warm-up, not counted
    turns = [
        _turn(model, ids, min(length, MOST_TOKENS), candidates)
        for ids, length in zip(contexts, lengths, strict=True)
    ]
    for turn in turns:
        for mode in ("select", "think", "think_65", "own_65"):
            turn[f"total_{mode}"] = turn["prefill"] + turn[mode]
    found: dict[str, Any] = (
        {part: _percentiles([t[part] for t in turns]) for part in turns[0]} if turns else {}
    )
    return found | {
        "turns": len(turns),
        "candidates": len(candidates),
        "candidate_tokens": sum(map(len, candidates)),
        "context_tokens": _mean([len(ids) for ids in contexts]),
        "thought_tokens": _mean(lengths),
        "capped": _mean([length > MOST_TOKENS for length in lengths]),
    }


def recorded_length(model: LanguageModel, thought: str) -> int:
    """Tokens of a thought, delimiters included."""
    return len(candidate_ids(model, [thought])[0])


def select_and_commit(
    context: Context,
    candidates: Sequence[Sequence[int]],
    recordings: Recordings | None = None,
) -> int:
    """What a selecting agent does after the prefill: score, take the best, put it into the cache."""
    scored, selected = _select(context, candidates, recordings)
    context.commit(scored.continuation(selected))
    return selected


def _select(
    context: Context, candidates: Sequence[Sequence[int]], recordings: Recordings | None
) -> tuple[Scored, int]:
    scored = score_sharing_context(context, candidates, recordings=recordings)
    scores = scores_of(totals(scored.log_probs), [len(ids) for ids in candidates])
    return scored, select(scores).selected


def _turn(
    model: LanguageModel, ids: Sequence[int], length: int, candidates: Sequence[Sequence[int]]
) -> dict[str, float]:
    """Milliseconds of every mode on one context, which is put back between them."""
    context = Context(model, capacity=len(ids) + MOST_TOKENS)
    spent = {"prefill": milliseconds(lambda: context.extend(ids))}
    recordings = Recordings() if model.device.type == "cuda" else None
    if recordings:  # recorded at the second time; an agent does it once for many turns
        for _ in range(2):
            select_and_commit(context, candidates, recordings)
            context.rollback(len(ids))

    def measure(mode: str, think: Callable[[], object]) -> None:
        context.logits()
        spent[mode] = milliseconds(think)
        context.rollback(len(ids))

    context.logits()
    found: list[tuple[Scored, int]] = []
    spent["score"] = milliseconds(lambda: found.append(_select(context, candidates, recordings)))
    scored, selected = found[0]
    spent["commit"] = milliseconds(lambda: context.commit(scored.continuation(selected)))
    spent["select"] = spent["score"] + spent["commit"]
    spent["act"] = spent["select"] + milliseconds(context.logits)
    context.rollback(len(ids))
    for mode, tokens in (("think", length), ("think_65", PAPER_TOKENS)):
        cache = transformers_cache(context)
        measure(mode, partial(generate_with_transformers, context, cache, tokens))
    forced = Decoding(tokens=PAPER_TOKENS, stop=None)
    measure("own_65", lambda: decode(context, forced))
    return spent


def milliseconds(act: Callable[[], object]) -> float:
    """Wall-clock time of one call, and of what it left to a GPU."""
    _wait()
    started = time.perf_counter()
    act()
    _wait()
    return 1000 * (time.perf_counter() - started)


def _wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    return {"p50": float(np.percentile(values, 50)), "p95": float(np.percentile(values, 95))}


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
