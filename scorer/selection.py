"""From log-probabilities to a choice: scores, the distribution over candidates, the one taken, and how sure that is.

Pure arithmetic; knows no model. Candidate k has N_k tokens and B_k UTF-8 bytes, delimiters counted. Its score is
S_k = (sum of its tokens' log-probabilities) / N_k**alpha, and it is taken with probability softmax(S / tau)_k.
Only with the sum (alpha 0, tau 1) is that the model's own distribution given that it says one of the candidates;
of every other score the softmax is a set of weights, called a probability for short.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..data.errors import ForethoughtError, ModelUnavailable

TOKEN_NOISE = {"bfloat16": 0.0148, "float16": 0.00185, "float32": 2e-5, "float64": 1e-11}  # nats
MOST_LOG_Z = 1e-6


class Unit(StrEnum):
    """What a candidate's length is counted in. Bytes do not depend on the tokenizer."""

    TOKENS = "tokens"
    BYTES = "bytes"


@dataclass(frozen=True)
class Normalisation:
    """S = summed log-probability / length ** alpha. Written sum, mean (SSR's), byte or alpha=X (in tokens).

    The sum favours short candidates, the mean long ones whose tails predict themselves; candidates of equal
    length beat any of them.
    """

    alpha: float = 1.0
    unit: Unit = Unit.TOKENS

    @classmethod
    def parse(cls, text: str) -> "Normalisation":
        """Of its written form; ForethoughtError for anything else."""
        if text in _NAMED:
            return _NAMED[text]
        name, _, number = text.partition("=")
        try:
            if name != "alpha":
                raise ValueError(name)
            return cls(float(number))
        except ValueError as error:
            raise ForethoughtError(
                f"no normalisation {text!r}: write sum, mean, byte or alpha=X with a number X"
            ) from error

    def __str__(self) -> str:
        return next((n for n, known in _NAMED.items() if known == self), f"alpha={self.alpha:g}")

    def divisors(self, num_tokens: ArrayLike, num_bytes: ArrayLike) -> np.ndarray:
        """(candidates,) what each candidate's sum, and its noise, is divided by."""
        lengths = num_bytes if self.unit is Unit.BYTES else num_tokens
        return np.asarray(lengths, dtype=np.float64) ** self.alpha


_NAMED = {
    "sum": Normalisation(0.0),
    "mean": Normalisation(1.0),
    "byte": Normalisation(1.0, Unit.BYTES),
}


class Selection(NamedTuple):
    """Arrays (candidates,) in the set's order; `selected` is the place of the first highest score."""

    scores: np.ndarray
    probabilities: np.ndarray
    selected: int


class Margin(NamedTuple):
    """By how much the best score leads the second best, in the score's unit; no gap where there is one candidate.

    `is_stable` is False where another candidate is so near that rounding may have decided.
    """

    gap: float | None
    is_stable: bool


def scores_of(sums: np.ndarray, lengths: Sequence[int], alpha: float = 1.0) -> np.ndarray:
    """S of each candidate: alpha 1 is the mean log-probability, alpha 0 the sum. (..., candidates)"""
    return np.asarray(sums, dtype=np.float64) / np.asarray(lengths, dtype=np.float64) ** alpha


def select(scores: np.ndarray, tau: float = 1.0) -> Selection:
    """The distribution over candidates with these (calibrated) scores; tau 0 puts all on the first highest."""
    if not len(scores):
        raise ValueError("there is no candidate to select from")
    if not tau >= 0:
        raise ValueError(f"tau must not be negative, and is {tau}")
    if np.isnan(scores).any():
        raise ValueError("a score is no number")
    selected = int(np.argmax(scores))
    if tau == 0:
        probabilities = np.zeros(len(scores))
        probabilities[selected] = 1.0
        return Selection(scores, probabilities, selected)
    weights = np.exp((scores - scores[selected]) / tau)
    return Selection(scores, weights / weights.sum(), selected)


def log_z(sums: np.ndarray, noise: float = 0.0) -> float:
    """Log of the probability, at most 0, that the model says one of the candidates: the signal to abstain by.

    `sums` (candidates,) are summed log-probabilities in nats, whatever the score is. Candidates that end in an end
    marker exclude each other, so more than 1e-6 over 0 (and `noise` of a sum, in nats) is no distribution:
    ModelUnavailable.
    """
    total = float(np.logaddexp.reduce(np.asarray(sums, dtype=np.float64)))
    if total > MOST_LOG_Z + noise:
        raise ModelUnavailable(
            f"the candidates' probabilities add up to {np.exp(total):.6g}, more than 1; "
            "whatever scored them gives no log-probabilities"
        )
    return total


def sum_noise(dtype: str, num_tokens: ArrayLike) -> np.ndarray:
    """Nats (candidates,) by which rounding in `dtype` typically moves a sum of so many log-probabilities.

    Errors of single tokens are of either sign, so they grow with the root of the number. TOKEN_NOISE: bfloat16
    as measured against float32 on the same weights (mean .0148, largest .058 nat a token; mean signed .0006), which
    for two candidates of 24 tokens makes a difference of .1 nat; float16 has three more bits; float32 and
    float64 are what the fast scorer may differ from the plain one (1e-4 on a sum of 24 tokens in float32).
    """
    return TOKEN_NOISE[dtype] * np.sqrt(np.asarray(num_tokens, dtype=np.float64))


def margin(scores: np.ndarray, noise: np.ndarray) -> Margin:
    """How far the best of `scores` (candidates,) leads, given the `noise` (candidates,) of each, in their unit."""
    best = int(np.argmax(scores))
    others = np.arange(len(scores)) != best
    if not others.any():
        return Margin(None, is_stable=True)
    leads = scores[best] - scores[others]
    return Margin(float(leads.min()), bool((leads > np.hypot(noise[best], noise[others])).all()))
