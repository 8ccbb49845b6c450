"""Weighted facility location: the few phrases that together stand for as many turns as possible.

Greedy, so the first k of a longer result are the result for k: sets are nested. Greedy is within 1 - 1/e of the
optimum (Nemhauser, Wolsey and Fisher 1978).
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Chosen:
    """`rows`: chosen columns of the similarity in order; `coverage`: share of the reachable total after each."""

    rows: tuple[int, ...]
    coverage: tuple[float, ...]


def choose(
    similarity: np.ndarray,
    weights: np.ndarray,
    budget: int,
    redundant: np.ndarray | None = None,
) -> Chosen:
    """Picks at most `budget` columns of `similarity` (turns, phrases; >= 0) that maximise sum_t w_t max_c s_tc.

    `redundant` (phrases, phrases; bool) forbids a column once a redundant one is in. Stops when nothing is gained.
    Ties go to the lower column, so the caller's order decides them.
    """
    covered = np.zeros(len(similarity))
    reachable = float(weights @ similarity.max(axis=1, initial=0.0))
    allowed = np.ones(similarity.shape[1], dtype=bool)
    rows: list[int] = []
    coverage: list[float] = []
    while len(rows) < budget and allowed.any():
        gains = weights @ np.maximum(similarity - covered[:, None], 0.0)
        gains = np.where(allowed, gains.round(9), -1.0)
        best = int(gains.argmax())
        if gains[best] <= 0:
            break
        rows.append(best)
        covered = np.maximum(covered, similarity[:, best])
        allowed[best] = False
        if redundant is not None:
            allowed &= ~redundant[best]
        coverage.append(float(weights @ covered) / reachable)
    return Chosen(tuple(rows), tuple(coverage))
