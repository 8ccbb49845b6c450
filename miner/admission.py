"""Verified admission: a candidate enters a set only where it surely helps the set, as a reference model measures it.

What is measured is the set's assigned recovery on *choose* turns: the mean gain of the candidate that each turn is
assigned, over the mean gain of its free thought. Candidates are tried in the order they were chosen; each is worth the
recovery of the set admitted so far with it less without it, on the same resamples of questions. Knows no model:
gains come from a function that is handed in, and so does the assignment rule.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from ..data.errors import NothingToDo

RESAMPLES = 2000
LEAST_QUESTIONS = 10  # of fewer, resamples say more of chance than of candidates


@dataclass(frozen=True)
class ChooseGains:
    """What texts gain over neutral, in nats, on *choose* turns.

    `gains` (turns, texts) of the texts asked for, `free` (turns,) of the recorded thoughts; `turns`, `questions` and `sources` (turns,)
    name each turn (turn_id), its question and its source.
    """

    gains: np.ndarray
    free: np.ndarray
    turns: tuple[str, ...]
    questions: tuple[str, ...]
    sources: tuple[str, ...]


GainFunction = Callable[[Sequence[str]], ChooseGains]  # texts -> their gains, a column each
AssignFunction = Callable[[Sequence[str], Sequence[str]], Sequence[int | None]]
"""Turn ids and the texts of a set -> the index of the text that each turn is assigned."""


class Verdict(StrEnum):
    """What became of a candidate."""

    ADMITTED = "admitted"
    PINNED = "pinned"  # in whatever it is worth
    HARMS = "harms"  # the whole interval is below zero
    ADDS_NOTHING = "adds nothing"  # no turn gains or loses by it
    UNPROVEN = "unproven"  # the interval holds zero


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval, by resampling questions."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Trial:
    """One candidate tried: what it adds to the set before it, and on how many turns it was assigned."""

    text: str
    verdict: Verdict
    added: Interval
    num_turns: int


@dataclass(frozen=True)
class Admission:
    """Every trial, in order. `unit` of what candidates add: "recovery", or "nats" where free thoughts do not surely gain."""

    trials: tuple[Trial, ...]
    unit: str
    num_turns: int
    num_questions: int
    seed: int

    @property
    def admitted(self) -> tuple[str, ...]:
        """The texts that are in, in order."""
        return tuple(t.text for t in self.trials if t.verdict in (Verdict.ADMITTED, Verdict.PINNED))

    @property
    def turned_away(self) -> tuple[Trial, ...]:
        return tuple(t for t in self.trials if t.text not in self.admitted)

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return asdict(self)


class QuestionBootstrap:
    """Resamples of questions, drawn once, so that everything estimated with it is paired. Sources count alike."""

    def __init__(self, questions: Sequence[str], sources: Sequence[str], seed: int) -> None:
        names = sorted(set(questions))
        row = {name: i for i, name in enumerate(names)}
        rng = np.random.default_rng(seed)
        drawn = rng.multinomial(len(names), [1 / len(names)] * len(names), RESAMPLES)
        sample = np.ones((1, len(questions)))
        turns = drawn[:, [row[question] for question in questions]]
        self.weights = np.vstack([sample, turns])  # (1 + resamples, turns); row 0 is what was seen
        self.sources = [np.array([s == name for s in sources]) for name in sorted(set(sources))]

    def ratio(self, numerator: np.ndarray, denominator: np.ndarray) -> Interval:
        """Mean of one over mean of the other, (turns,) each, averaged over sources.

        A source that a resample leaves without turns is left out of that resample.
        """
        ratios = []
        for source in self.sources:
            weights = self.weights[:, source]
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios.append(weights @ numerator[source] / (weights @ denominator[source]))
        finite = np.isfinite(ratios)
        with np.errstate(invalid="ignore"):
            pooled = np.where(finite, ratios, 0.0).sum(axis=0) / finite.sum(axis=0)
        resampled = pooled[1:][np.isfinite(pooled[1:])]
        low, high = np.percentile(resampled, [2.5, 97.5]).round(12)
        return Interval(float(pooled[0].round(12)), float(low), float(high))

    def mean(self, values: np.ndarray) -> Interval:
        """The mean of `values` (turns,)."""
        return self.ratio(values, np.ones(len(values)))


def admit(
    order: Sequence[str],
    gain: GainFunction,
    assign: AssignFunction,
    pinned: Collection[str] = (),
    seed: int = 0,
) -> Admission:
    """Tries `order` (distinct texts) one after another; those in `pinned` are measured too, but enter regardless.

    NothingToDo where *choose* has too few questions to tell.
    """
    found = gain(order)
    num_questions = len(set(found.questions))
    if num_questions < LEAST_QUESTIONS:
        raise NothingToDo(
            f"verified admission takes turns of at least {LEAST_QUESTIONS} choose questions and there are {num_questions}; "
            "import more traces or mine without it"
        )
    bootstrap = QuestionBootstrap(found.questions, found.sources, seed)
    surely_gains = bootstrap.mean(found.free).low > 0
    unit = found.free if surely_gains else np.ones(len(found.free))
    within: list[int] = []  # columns admitted so far
    before = np.zeros(len(found.turns))  # gain of the set so far, on each turn
    trials: list[Trial] = []
    for column, text in enumerate(order):
        rows = assign(found.turns, [order[c] for c in [*within, column]])
        after = _gains(found.gains, [*within, column], rows)
        added = bootstrap.ratio(after - before, unit)
        verdict = Verdict.PINNED if text in pinned else _verdict(added, after - before)
        trials.append(Trial(text, verdict, added, sum(row == len(within) for row in rows)))
        if verdict in (Verdict.ADMITTED, Verdict.PINNED):
            within.append(column)
            before = after
    return Admission(
        tuple(trials), "recovery" if surely_gains else "nats", len(found.turns), num_questions, seed
    )


def _gains(gains: np.ndarray, columns: Sequence[int], rows: Sequence[int | None]) -> np.ndarray:
    """(turns,): what each turn gains by the text it is assigned; 0 where by none."""
    return np.array([0.0 if row is None else gains[t, columns[row]] for t, row in enumerate(rows)])


def _verdict(added: Interval, difference: np.ndarray) -> Verdict:
    if not difference.any():
        return Verdict.ADDS_NOTHING
    if added.low > 0:
        return Verdict.ADMITTED
    return Verdict.HARMS if added.high < 0 else Verdict.UNPROVEN
