"""What can be told of a set without a language model: semantic coverage, reuse, leakage, redundancy.

Each is `{"value", "low", "high", "n"}`; intervals are over questions where turns are counted, else absent.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.candidates import CandidateSet
from ..miner.coverage import COVERED_AT, nearest
from ..miner.embed import Embedder
from ..miner.mask import Mask, words
from ..miner.thoughts import Thought
from ..scorer.metrics import Estimate, Resampler

REDUNDANT_AT = 0.85
Json = dict[str, Any]


def set_facts(
    candidate_set: CandidateSet,
    thoughts: Sequence[Thought],
    mask: Mask,
    embedder: Embedder,
    covered_at: float = COVERED_AT,
) -> dict[str, Json]:
    """The four facts of a set over held-out `thoughts`, keyed as in an audit's report."""
    texts = [candidate.text for candidate in candidate_set.active]
    candidates = embedder.embed(texts)
    near = nearest(thoughts, texts, mask, embedder)
    return {
        "semantic_coverage": coverage_estimate(near.cosine, thoughts, covered_at),
        "reuse": _reuse(candidate_set),
        "leakage": _leakage(texts, mask),
        "redundancy": _redundancy(candidates @ candidates.T),
    }


def nearest_of_turns(
    sets: Sequence[CandidateSet], thoughts: Sequence[Thought], mask: Mask, embedder: Embedder
) -> list[dict[str, float]]:
    """For each thought the cosine of every set's nearest text, by the set's name."""
    columns = {
        s.name: nearest(thoughts, [c.text for c in s.active], mask, embedder).cosine.tolist()
        for s in sets
    }
    return [{name: column[row] for name, column in columns.items()} for row in range(len(thoughts))]


def coverage_estimate(
    cosine: np.ndarray, thoughts: Sequence[Thought], covered_at: float = COVERED_AT
) -> Json:
    """Share of thoughts whose nearest text is within `covered_at`; `cosine` (turns,)."""
    covered = (cosine >= covered_at).astype(float)
    resampler = Resampler([{"question": thought.question} for thought in thoughts])
    return resampler.mean(covered).as_json() | {"threshold": covered_at}


def _reuse(candidate_set: CandidateSet) -> Json:
    """Distinct questions over support, mean over mined candidates; none for a set that was written."""
    shares = [c.questions / len(c.support) for c in candidate_set.active if c.support]
    return _plain(float(np.mean(shares)) if shares else None, len(shares))


def _leakage(texts: Sequence[str], mask: Mask) -> Json:
    """Share of the candidates' words that belong to an instance."""
    leaked = [len(mask.leaked_words(text)) for text in texts]
    total = sum(len(words(text)) for text in texts)
    return _plain(sum(leaked) / total if total else None, total)


def _redundancy(similarity: np.ndarray) -> Json:
    """Share of pairs closer than REDUNDANT_AT."""
    pairs = similarity[np.triu_indices(len(similarity), k=1)]
    return _plain(float(np.mean(pairs > REDUNDANT_AT)) if len(pairs) else 0.0, len(pairs))


def _plain(value: float | None, n: int) -> Json:
    return Estimate(value, None, None, n).as_json()
