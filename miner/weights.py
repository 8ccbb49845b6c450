"""What a turn weighs when phrases are chosen: by how many there are of its question, and by what its move is worth.

Pure functions of labels, questions and outcomes: no text is read. A move is the number of a turn's group; NOISE, or any
other negative number, is no move.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..data.traces import Outcome

BETWEEN = 0.5  # neither every turn counts one nor every question
PRIOR_QUESTIONS = 10.0  # as many questions' worth of "no difference" are added to either side
MOST_LIFT = float(np.log(2))  # a move weighs at most double, at least half


@dataclass(frozen=True)
class TurnOrigin:
    """Where a turn comes from: its question, its run (the trace's id) and how that ended, None where unknown."""

    question: str
    run: str
    outcome: Outcome | None


def question_weights(questions: Sequence[str], power: float = BETWEEN) -> np.ndarray:
    """(turns,): n ** -power for a turn of a question with n turns.

    Power 0 weighs by support, each turn one; power 1 by distinct questions, each question one in all; between them,
    each question the square root of its turns, so that one long run is not many habits.
    """
    counts = Counter(questions)
    return np.array([counts[question] for question in questions], dtype=float) ** -power


def outcome_lift(
    moves: Sequence[int], origins: Sequence[TurnOrigin], prior: float = PRIOR_QUESTIONS
) -> np.ndarray:
    """(number of moves,): log-odds of a move in successful runs less those in failed ones, shrunk towards 0.

    The share of a run's turns that make the move is averaged over the successful runs of a question, then over questions, and
    the same for failed runs: a question counts once on either side, however many runs it has, and a run once,
    however long. Either side is then joined by `prior` questions in which the move has its share of both sides together.
    Runs of unknown outcome are left out. Without questions on both sides there is no contrast, and all lifts are 0.

    It is a contrast, not a cause: a move of hard questions has a low lift.
    """
    num_moves = max(moves, default=-1) + 1
    success = _side(moves, origins, Outcome.SUCCESS, num_moves)
    failure = _side(moves, origins, Outcome.FAILURE, num_moves)
    if not success.questions or not failure.questions:
        return np.zeros(num_moves)
    pooled = (success.shares + failure.shares) / (success.questions + failure.questions)
    odds = [(side.shares + prior * pooled, side.questions + prior) for side in (success, failure)]
    seen = (pooled > 0) & (pooled < 1)  # a move that all turns make, or none, tells nothing
    lift = np.zeros(num_moves)
    lift[seen] = np.subtract(*(_logit(made[seen] / total) for made, total in odds))
    return lift.round(9)


def lifted(
    weights: np.ndarray, moves: Sequence[int], lift: np.ndarray, most: float = MOST_LIFT
) -> np.ndarray:
    """`weights` (turns,) times e to the lift of each turn's move, at most `most` either way; turns of no move stay."""
    factors = np.append(np.exp(np.clip(lift, -most, most)), 1.0)
    places = np.array([move if move >= 0 else len(lift) for move in moves], dtype=int)
    return weights * factors[places]


class _Side(NamedTuple):
    """`questions` with runs of one outcome; `shares` (moves,): summed over them the mean, over a question's runs, of each
    move's share of the run."""

    questions: int
    shares: np.ndarray


def _side(
    moves: Sequence[int], origins: Sequence[TurnOrigin], outcome: Outcome, num_moves: int
) -> _Side:
    """A question at a time, and of it only the moves it has: questions and moves may both be very many."""
    runs: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for move, origin in zip(moves, origins, strict=True):
        if origin.outcome is outcome:
            runs[origin.question][origin.run].append(move)
    total = np.zeros(num_moves)
    for question in sorted(runs):
        found: defaultdict[int, float] = defaultdict(float)
        for made in runs[question].values():
            for move, count in Counter(made).items():
                found[move] += count / len(made)
        for move, share in found.items():
            if move >= 0:
                total[move] += share / len(runs[question])
    return _Side(len(runs), total)


def _logit(share: np.ndarray) -> np.ndarray:
    return np.log(share) - np.log1p(-share)
