"""Small made-up tables of outcomes, in which the vectors of a question tell who answers it."""

import numpy as np

from forethought.scorer.routing.outcomes import Outcomes, outcomes_of
from forethought.scorer.routing.utility.features import Asked
from forethought.scorer.routing.utility.latent_router import Example

ARMS = ("large", "middle", "small")
COSTS = (8.0, 3.0, 1.0)
SIZE = 6


def outcomes(quality, cost=None, arms=None, questions=None) -> Outcomes:
    """A table of these qualities (Q, A), None a missing cell."""
    quality = np.array(quality, dtype=float)
    number, width = quality.shape
    names = tuple(arms or ARMS[:width])
    paid = np.tile(COSTS[:width], (number, 1)) if cost is None else np.array(cost, dtype=float)
    asked = tuple(
        questions or ("Who was it" + " now" * (i % 7) + "?" * (i // 7) for i in range(number))
    )
    ids = tuple(f"q{i}" for i in range(number))
    slices = tuple("even" if i % 2 == 0 else "odd" for i in range(number))
    return outcomes_of(Outcomes(names, ids, asked, slices, (None,) * number, quality, paid), "made")


def example(number: int = 200, seed: int = 0, holes: float = 0.0, image: int = 0) -> Example:
    """The first number of a question's vector says whether `small` answers it, the second whether `large` does."""
    draw = np.random.default_rng(seed)
    vectors = draw.standard_normal((number, SIZE)).astype(np.float32)
    chance = 1 / (1 + np.exp(-4 * np.stack([vectors[:, 1], vectors[:, 2], vectors[:, 0]], axis=1)))
    quality = (draw.random((number, 3)) < chance).astype(float)
    quality[draw.random((number, 3)) < holes] = np.nan
    quality[np.isnan(quality).all(axis=1), 0] = 1.0
    table = outcomes(quality)
    asked = Asked(table.questions, vectors)
    if image:
        has = draw.random(number) < 0.5
        pictures = draw.standard_normal((number, image)).astype(np.float32)
        asked = Asked(table.questions, vectors, np.where(has[:, None], pictures, 0.0), has)
    return Example(asked, table)
