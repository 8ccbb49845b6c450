"""Takes out of a candidate's score what it would get in any context: pure functions over arrays of scores.

`scores` are S of selection.py, (contexts, candidates) or (candidates,). An untrained model takes the same
sentence nearly everywhere by raw scores; `pmi` compares with a context that says nothing, `batch` with the
candidate's own average. Both subtract one number a candidate, so they cost nothing a turn.
"""

import numpy as np

from .context import Context
from .model import LanguageModel
from .plain import totals
from .score import score_sharing_context

PREMISE = "Question:\n"  # says nothing, and ends as a rendered context does


def premise_sums(model: LanguageModel, candidates: tuple[tuple[int, ...], ...]) -> np.ndarray:
    """Summed log-probability (candidates,) of each after the premise: compute once a candidate set."""
    premise = Context(model, model.encode(PREMISE), capacity=64)
    return totals(score_sharing_context(premise, candidates).log_probs)


def raw(scores: np.ndarray) -> np.ndarray:
    """The scores as they are."""
    return scores


def pmi(scores: np.ndarray, premise: np.ndarray) -> np.ndarray:
    """Minus each candidate's score (candidates,) after the premise, of the same alpha."""
    return scores - premise


def batch(scores: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Minus each candidate's mean score (candidates,) over contexts that are not the ones audited."""
    return scores - means


def batch_means(scores: np.ndarray) -> np.ndarray:
    """Each candidate's mean (candidates,) over contexts, for `batch`: scores (contexts, candidates)."""
    return scores.mean(axis=0)
