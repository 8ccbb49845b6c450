"""Takes out of a candidate's score what it would get in any context: pure functions over arrays of scores.

`scores` are S of selection.py, (contexts, candidates) or (candidates,). An untrained model takes the same
sentence nearly everywhere by raw scores; `pmi` compares with a context that says nothing, `batch` with the
candidate's own average, and a `Fit` with choices that were observed. All of them shift a candidate by one
number, so they cost nothing a turn.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..data.errors import NothingToDo

LEAST_CHOICES = 20
FOLDS = 5
STEEPEST = 1e3  # of 1 / tau, in units of the scores' spread: choices that the scores tell apart have no best tau


def raw(scores: np.ndarray) -> np.ndarray:
    """The scores as they are."""
    return scores


def pmi(scores: np.ndarray, premise: np.ndarray) -> np.ndarray:
    """Minus each candidate's score (candidates,) after the premise, of the same normalisation."""
    return scores - premise


def batch(scores: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Minus each candidate's mean score (candidates,) over contexts that are not the ones audited."""
    return scores - means


def batch_means(scores: np.ndarray) -> np.ndarray:
    """Each candidate's mean (candidates,) over contexts, for `batch`: scores (contexts, candidates)."""
    return scores.mean(axis=0)


class Fit(NamedTuple):
    """Offsets and a temperature under which observed choices are likeliest: softmax((S + bias) / tau).

    Log-losses are nats a choice: of softmax(S) as it stands, and of a fit that did not see the choice.
    """

    bias: np.ndarray  # (candidates,) in the score's unit, mean 0
    tau: float
    choices: int
    log_loss_before: float
    log_loss_after: float

    def shift(self, scores: np.ndarray) -> np.ndarray:
        """Scores to select from with temperature `tau`."""
        return scores + self.bias


class _Line(NamedTuple):
    """Logits = slope * S + offsets: a Fit in the form in which its likelihood is convex."""

    slope: float
    offsets: np.ndarray  # (candidates,)


def fit(
    scores: np.ndarray, chosen: np.ndarray, groups: Sequence[object], strength: float = 1.0
) -> Fit:
    """Maximum likelihood of `chosen` (contexts,), places of candidates, given `scores` (contexts, candidates).

    Offsets in nats, bias / tau, are held towards 0 by strength / 2 times their squares. Contexts with the same entry
    of `groups` (contexts,), their question say, are left out together in cross-validation. Use choices that the
    result is not judged by. NothingToDo for fewer than 20 choices or 5 groups.
    """
    scores, chosen = np.asarray(scores, dtype=np.float64), np.asarray(chosen, dtype=np.int64)
    names = {name: number for number, name in enumerate(dict.fromkeys(groups))}
    if len(chosen) < LEAST_CHOICES or len(names) < FOLDS:
        raise NothingToDo(
            f"{len(chosen)} choices on {len(names)} questions are too few to fit a bias and a temperature; "
            f"have at least {LEAST_CHOICES} on {FOLDS}"
        )
    folds = np.array([names[name] % FOLDS for name in groups])
    after = np.empty(len(chosen))
    for fold in range(FOLDS):
        out = folds == fold
        line = _maximise(scores[~out], chosen[~out], strength)
        after[out] = _losses(line, scores[out], chosen[out])
    slope, offsets = _maximise(scores, chosen, strength)
    before = _losses(_Line(1.0, np.zeros(scores.shape[1])), scores, chosen)
    return Fit(offsets / slope, 1 / slope, len(chosen), float(before.mean()), float(after.mean()))


def _maximise(scores: np.ndarray, chosen: np.ndarray, strength: float) -> _Line:
    centred = scores - scores.mean(axis=1, keepdims=True)
    spread = float(centred.std()) or 1.0  # a unit in which the slope is of order 1
    centred = centred / spread
    num, size = centred.shape
    taken = np.zeros_like(centred)
    taken[np.arange(num), chosen] = 1.0

    def loss_and_gradient(x: np.ndarray) -> tuple[float, np.ndarray]:
        logits = x[0] * centred + x[1:]
        log_probs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        wrong = np.exp(log_probs) - taken  # (contexts, candidates)
        loss = -log_probs[taken > 0].sum() + strength / 2 * (x[1:] ** 2).sum()
        slopes = [(wrong * centred).sum()], wrong.sum(axis=0) + strength * x[1:]
        return loss / num, np.concatenate(slopes) / num

    bounds = [(1 / STEEPEST, STEEPEST), *[(None, None)] * size]
    start = np.concatenate([[1.0], np.zeros(size)])
    found = minimize(loss_and_gradient, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return _Line(float(found[0]) / spread, found[1:] - found[1:].mean())


def _losses(line: _Line, scores: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """(contexts,) nats."""
    logits = line.slope * scores + line.offsets
    return np.logaddexp.reduce(logits, axis=1) - logits[np.arange(len(chosen)), chosen]
