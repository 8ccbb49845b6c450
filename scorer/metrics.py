"""Estimates with intervals: means and recoveries over turns, resampled by question.

Two policies are compared by the difference on the same resamples (paired), never by two intervals side by side.
Several sources are pooled by the unweighted mean of their figures. 95 % percentile intervals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .recovery import Gains, Record

RESAMPLES = 2000
Json = dict[str, Any]


@dataclass(frozen=True)
class Estimate:
    """`value` with its interval over `n` turns; all None where it cannot be told."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    def as_json(self) -> Json:
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n}


class Resampler:
    """Bootstrap weights by question over the turns of `records`; the same for every figure of an audit."""

    def __init__(self, records: Sequence[Record], seed: int = 0) -> None:
        questions = sorted({record["question"] for record in records})
        row = {question: i for i, question in enumerate(questions)}
        rng = np.random.default_rng(seed)
        drawn = rng.multinomial(len(questions), [1 / len(questions)] * len(questions), RESAMPLES)
        weights = drawn[:, [row[record["question"]] for record in records]]  # (resamples, turns)
        self.weights = np.vstack([np.ones(len(records)), weights])  # row 0: the sample itself
        names = [record.get("source", "") for record in records]
        self.sources = [np.array([n == name for n in names]) for name in sorted(set(names))]
        self.n = len(records)

    def mean(self, values: np.ndarray) -> Estimate:
        """The mean of `values` (turns,)."""
        return self.estimate(self._pooled(values, np.ones(self.n)))

    def ratio(self, numerator: np.ndarray, denominator: np.ndarray) -> Estimate:
        """Mean of one over mean of the other, (turns,) each."""
        return self.estimate(self._pooled(numerator, denominator))

    def difference(
        self, first: np.ndarray, second: np.ndarray, denominator: np.ndarray
    ) -> Estimate:
        """Paired difference of two ratios over the same denominator; none where it does not tell."""
        if not self.tells(denominator):
            return Estimate(None, None, None, self.n)
        return self.ratio(first - second, denominator)

    def collapse(self, choice: Sequence[str], ids: Sequence[str]) -> dict[str, Estimate]:
        """`top_share` of the most used candidate; `entropy` of use over log(size): 0 one candidate, 1 all equally."""
        used = np.array([[id == chosen for id in ids] for chosen in choice], dtype=float)
        shares = (
            self.weights @ used / self.weights.sum(axis=1, keepdims=True)
        )  # (1 + resamples, ids)
        logs = np.log(np.where(shares > 0, shares, 1.0))
        entropy = -(shares * logs).sum(axis=1) / np.log(max(len(ids), 2))
        return {
            "top_share": self.estimate(shares.max(axis=1)),
            "entropy": self.estimate(np.maximum(entropy, 0.0)),
        }

    def tells(self, denominator: np.ndarray) -> bool:
        """Whether the mean of `denominator` (turns,) is surely above zero, so that a ratio over it means something."""
        low = self.mean(denominator).low
        return low is not None and low > 0

    def _pooled(self, numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
        """(1 + resamples,): the ratio of weighted sums, averaged over sources."""
        ratios = []
        for source in self.sources:
            weights = self.weights[:, source]
            below = weights @ denominator[source]
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios.append(weights @ numerator[source] / below)
        return _mean_of_finite(np.array(ratios))

    def estimate(self, values: np.ndarray) -> Estimate:
        """Of a figure worked out on each row of `weights` (1 + resamples,), the sample itself first."""
        value, resampled = float(values[0]), values[1:][np.isfinite(values[1:])]
        if not np.isfinite(value) or not len(resampled):
            return Estimate(None, None, None, self.n)
        low, high = np.percentile(resampled, [2.5, 97.5])
        return Estimate(value, float(low), float(high), self.n)


def recovery(gains: Gains, free: Gains, resampler: Resampler) -> Json:
    """Recovery with its parts. Where the free gain's lower bound is not above zero, nats stand alone."""
    nats = resampler.mean(gains.total)
    nothing = np.zeros(resampler.n)
    estimate = resampler.difference(gains.total, nothing, free.total)
    kind = resampler.mean(gains.kind)
    arguments = resampler.ratio(gains.arguments, free.arguments)
    return {
        **estimate.as_json(),
        "nats": nats.value,
        "kind_nats": kind.value,
        "kind_nats_low": kind.low,
        "kind_nats_high": kind.high,
        "arguments": arguments.value,
        "arguments_low": arguments.low,
        "arguments_high": arguments.high,
    }


def _mean_of_finite(ratios: np.ndarray) -> np.ndarray:
    """(columns,): mean over rows, of those that are finite; NaN where none is."""
    finite = np.isfinite(ratios)
    counts = finite.sum(axis=0)
    total = np.where(finite, ratios, 0.0).sum(axis=0)
    return np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
