"""Ratings taught from outcomes: after a context, the level that what happened earned; beside it, where there is one, the run's own lesson.

A rating is a decision over a scale with no action after it, and is not written into the run. So its levels are branches of the run, where a
chosen candidate is part of it. Ratings and reasoning are two tasks with a mean and a weight each, so that neither the number of ratings
nor the length of a run shifts what is taught (PRP: reasoning must not degrade).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ....data.errors import ForethoughtError
from ...model import LanguageModel
from ...training.lessons import Lesson
from ...training.objectives import SftLoss
from ...training.packing import Branch, LogProbs, log_probs
from ...training.selector import log_q, scores
from ...trie import Ids
from .rating import Scale

SUM = 0.0  # alpha of a rating: the model's own probability of a level


class RatedPlace(NamedTuple):
    """After `start` tokens of a run: the levels of a scale, and the one that the outcome earned."""

    start: int
    levels: tuple[Ids, ...]
    earned: int


class RatingLesson(NamedTuple):
    """A run with ratings at places of it; `reasoning` is the lesson of what it thought and did, if that is taught, too."""

    trunk: tuple[int, ...]
    decisions: tuple[RatedPlace, ...]
    reasoning: Lesson | None = None
    weight: float = 1.0  # of the reasoning's mean loss, against the ratings' mean

    def loss(self, network: Any, weight: float, alpha: float, tau: float) -> SftLoss:
        """As any lesson's, a sum over its decisions: of the ratings, and of the reasoning's mean as often.

        `weight` and `alpha` are those of the reasoning. `selection` and `taken` are of the ratings.
        """
        del tau
        chances = rating_log_q(network, self.trunk, self.decisions)
        rated = -torch.stack(
            [q[one.earned] for q, one in zip(chances, self.decisions, strict=True)]
        ).sum()
        taken = tuple(
            int(q.argmax()) == one.earned for q, one in zip(chances, self.decisions, strict=True)
        )
        if self.reasoning is None:
            return SftLoss(rated, rated.detach(), torch.zeros(()), taken)
        count = len(self.decisions) / max(1, len(self.reasoning.decisions))
        reasoned = self.weight * count * self.reasoning.loss(network, weight, alpha, 1.0).loss
        return SftLoss(rated + reasoned, rated.detach(), reasoned.detach(), taken)


def rating_log_q(network: Any, trunk: Sequence[int], places: Sequence[RatedPlace]) -> list[Tensor]:
    """(levels,) for each place: log q of every level, all places in one forward, with gradients."""
    branches = [Branch(one.start, ids) for one in places for ids in one.levels]
    found: LogProbs = log_probs(network, trunk, branches, asked=())
    own = iter(found.branches)
    return [log_q(scores([next(own) for _ in one.levels], SUM)) for one in places]


def rating_lessons(
    model: LanguageModel,
    scales: Sequence[Scale],
    contexts: Sequence[str],
    successes: Sequence[Sequence[float]],
) -> list[RatingLesson]:
    """A lesson a context; `successes` (contexts, scales) in 0..1 earn the nearest level of each scale.

    ForethoughtError for an empty context, which nothing can be rated after.
    """
    trunks = [model.encode(context) for context in contexts]
    return lessons_after(model, scales, trunks, successes)


def lessons_after(
    model: LanguageModel,
    scales: Sequence[Scale],
    trunks: Sequence[Sequence[int]],
    successes: Sequence[Sequence[float]],
) -> list[RatingLesson]:
    """The same after the tokens of contexts."""
    sets = [scale.compiled(model).ids for scale in scales]
    return [
        _lesson(tuple(trunk), sets, found) for trunk, found in zip(trunks, successes, strict=True)
    ]


def earned(success: float, levels: int) -> int:
    """The place of the level that a success in 0..1 earns; half-way between two it is the better one."""
    if not 0 <= success <= 1:
        raise ForethoughtError(f"a success is 0 to 1, and one is {success}; scale them")
    return int(success * (levels - 1) + 0.5)


def _lesson(trunk: Ids, sets: Sequence[tuple[Ids, ...]], found: Sequence[float]) -> RatingLesson:
    if not trunk:
        raise ForethoughtError("an empty context cannot be rated; give each at least a question")
    places = tuple(
        RatedPlace(len(trunk), levels, earned(success, len(levels)))
        for levels, success in zip(sets, found, strict=True)
    )
    return RatingLesson(trunk, places)
