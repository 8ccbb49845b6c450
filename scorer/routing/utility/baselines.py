"""What LatentRouter is compared with: predictors of each arm's quality on the same features, and bounds that need none.

Each gives (Q, A) qualities, which are then chosen by as all are. Settings are chosen on the *choose* questions.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

NEIGHBOURS = (10, 20, 50, 100, 200)
STRENGTHS = (3e-5, 1e-4, 3e-4, 1e-3, 1e-2, 0.1)  # logistic regression's C, on features of spread 1
LEAVES = (4, 8, 15)
TREES = 100
TREE_RATE = 0.05


class Baseline(Protocol):
    """A predictor that was fitted: (Q, E) features to (Q, A) qualities."""

    def __call__(self, vectors: np.ndarray) -> np.ndarray: ...


class Known(NamedTuple):
    """Training questions: `vectors` (Q, E) and `quality` (Q, A), NaN where a cell is missing."""

    vectors: np.ndarray
    quality: np.ndarray


def constant(known: Known) -> Baseline:
    """Each arm its mean: at lambda 0 the best single arm, chosen on training."""
    means = np.nanmean(known.quality, axis=0)
    return lambda vectors: np.tile(means, (len(vectors), 1))


def cheapest(costs: np.ndarray) -> Baseline:
    """Always the arm of least cost, whatever lambda; `costs` (A,)."""
    return lambda vectors: np.tile(-costs, (len(vectors), 1))


def chance(arms: int, seed: int) -> Baseline:
    """Any quality for any arm."""
    return lambda vectors: np.random.default_rng(seed).random((len(vectors), arms))


def nearest(known: Known, neighbours: int) -> Baseline:
    """The mean over the nearest training questions by cosine that the arm was tried on, the arm's mean where on none."""
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=min(neighbours, len(known.vectors)), metric="cosine")
    found.fit(known.vectors)
    tried = ~np.isnan(known.quality)
    known_quality = np.where(tried, known.quality, 0.0)
    means = np.nanmean(known.quality, axis=0)

    def predict(vectors: np.ndarray) -> np.ndarray:
        near = found.kneighbors(vectors, return_distance=False)  # (Q, neighbours)
        counts = tried[near].sum(axis=1)
        hits = known_quality[near].sum(axis=1)
        return np.where(counts > 0, hits / np.maximum(counts, 1), means)

    return predict


def logistic(known: Known, strength: float) -> Baseline:
    """Logistic regression an arm of its quality above a half."""
    from sklearn.linear_model import LogisticRegression

    return _each_arm(known, lambda: LogisticRegression(C=strength, max_iter=500))


def boosted(known: Known, leaves: int) -> Baseline:
    """Gradient boosting an arm of its quality above a half, with trees of so many leaves."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return _each_arm(
        known,
        lambda: HistGradientBoostingClassifier(
            max_iter=TREES, learning_rate=TREE_RATE, max_leaf_nodes=leaves, random_state=0
        ),
    )


def tuned(
    make: Callable[..., Baseline],
    known: Known,
    settings: Sequence[float],
    worth: Callable[[Baseline], float],
) -> Baseline:
    """Of the predictors that `make(known, setting)` gives, the one `worth` most; the first of equals."""
    return max((make(known, setting) for setting in settings), key=worth)


def _each_arm(known: Known, make: Callable) -> Baseline:
    fitted = [_arm(known.vectors, column, make) for column in known.quality.T]
    return lambda vectors: np.stack([one(vectors) for one in fitted], axis=1)


def _arm(vectors: np.ndarray, quality: np.ndarray, make: Callable) -> Callable:
    """An arm that always did the same is predicted to do so again: there is nothing to be told apart."""
    tried = ~np.isnan(quality)
    succeeded = quality[tried] > 0.5
    if succeeded.all() or not succeeded.any():
        mean = float(np.mean(quality[tried]))
        return lambda asked: np.full(len(asked), mean)
    model = make().fit(vectors[tried], succeeded)
    return lambda asked: model.predict_proba(asked)[:, 1]
