"""From log-probabilities to a choice: SSR's score, the distribution over candidates, the one taken.

Works on token ids and arrays. Candidate k has the ids of `<thinking>TEXT</thinking>` tokenised alone, joined to the
context as ids (no merge across the seam), and as many tokens N_k, delimiters counted. Its score is
S_k = (sum of its tokens' log-probabilities) / N_k**alpha, and it is taken with probability softmax(S / tau)_k.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..data.render import render_thought
from .model import LanguageModel


class Selection(NamedTuple):
    """Arrays (candidates,) in the set's order; `selected` is the place of the first highest score."""

    scores: np.ndarray
    probabilities: np.ndarray
    selected: int


def candidate_ids(model: LanguageModel, texts: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The tokens of each candidate, delimiters included."""
    return tuple(tuple(model.encode(render_thought(text))) for text in texts)


def scores_of(sums: np.ndarray, tokens: Sequence[int], alpha: float = 1.0) -> np.ndarray:
    """S of each candidate: alpha 1 is the mean log-probability, alpha 0 the sum. (..., candidates)"""
    return np.asarray(sums, dtype=np.float64) / np.asarray(tokens, dtype=np.float64) ** alpha


def select(scores: np.ndarray, tau: float = 1.0) -> Selection:
    """The distribution over candidates with these (calibrated) scores; tau 0 puts all on the first highest."""
    if not len(scores):
        raise ValueError("there is no candidate to select from")
    if tau < 0:
        raise ValueError(f"tau must not be negative, and is {tau}")
    selected = int(np.argmax(scores))
    if tau == 0:
        probabilities = np.zeros(len(scores))
        probabilities[selected] = 1.0
        return Selection(scores, probabilities, selected)
    weights = np.exp((scores - scores[selected]) / tau)
    return Selection(scores, weights / weights.sum(), selected)
