"""Ratings taught by reinforcement: a group of rollouts a question, each with a rating that was drawn and a run after it.

PRP's equations were not at hand; its "dynamic score replacement against vanishing group advantages" is read so: where all ratings of a
group score the same, their advantages are nothing and nothing is learnt. A rating's score depends on its level and on the outcome
alone, so what another level would have scored is known without playing. One rollout's rating is then replaced by the level whose score differs
most, and its score with it; all q are known, so its ratio is too. Runs cannot be replaced so: where they all end alike, they teach nothing.
Ratings and runs are apart: a mean and a weight each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ...training.objectives import Policy, SftLoss, Terms, advantages, gains, policy_loss
from .rating_lessons import RatedPlace, RatingLesson, rating_log_q

SAME = 1e-9  # by which scores of a group may differ and be the same


class DrawnRatings(NamedTuple):
    """(rollouts,) each: the levels that are learnt from, what they score, and whether one stands in for a drawn one."""

    levels: np.ndarray
    scores: np.ndarray
    is_replaced: np.ndarray


class Run(NamedTuple):
    """A rollout's own terms: a log q each selection, a log p each generated token."""

    selections: Terms
    actions: Terms


@dataclass(frozen=True)
class TaskWeights:
    """Of the two tasks' means."""

    rating: float = 1.0
    reasoning: float = 1.0


def level_scores(successes: Sequence[float], levels: int) -> np.ndarray:
    """(rollouts, levels): 1 less the distance of the level's place, 0 the worst and 1 the best, from the success in 0..1."""
    places = np.arange(levels) / max(1, levels - 1)
    return 1 - np.abs(np.asarray(successes, dtype=np.float64)[:, None] - places[None])


def with_replacement(drawn: Sequence[int], scores: np.ndarray) -> DrawnRatings:
    """The drawn levels (rollouts,) and their scores out of `scores` (rollouts, levels), one replaced where all are the same.

    The last rollout in which some level scores most otherwise is replaced; nothing where no level would.
    """
    levels = np.array(drawn, dtype=int)
    own = scores[np.arange(len(levels)), levels]
    replaced = np.zeros(len(levels), dtype=bool)
    if not len(levels) or np.ptp(own) > SAME:
        return DrawnRatings(levels, own, replaced)
    away = np.abs(scores - own[:, None])  # (rollouts, levels)
    if away.max() <= SAME:
        return DrawnRatings(levels, own, replaced)
    rollout = int(np.flatnonzero(away.max(axis=1) >= away.max() - SAME)[-1])
    levels[rollout] = int(away[rollout].argmax())
    own[rollout] = scores[rollout, levels[rollout]]
    replaced[rollout] = True
    return DrawnRatings(levels, own, replaced)


def group_loss(
    policy: Policy,
    ratings: Terms,
    rating_advantages: Tensor,
    runs: Sequence[Run],
    run_advantages: Tensor,
    weights: TaskWeights = TaskWeights(),
) -> Tensor:
    """The loss of a group: `ratings` a log q of the level learnt from each rollout (rollouts,), `runs` what each did then.

    weights.rating * mean over ratings + weights.reasoning * mean over runs, each with advantages of its own.
    """
    rated = [
        gains(policy, ratio, float(advantage))
        for ratio, advantage in zip(ratings.log_ratio, rating_advantages, strict=True)
    ]
    reasoned = [
        policy_loss(policy, run.selections, run.actions, float(advantage))
        for run, advantage in zip(runs, run_advantages, strict=True)
    ]
    loss = -weights.rating * torch.stack(rated).mean()
    return loss + weights.reasoning * torch.stack(reasoned).mean() if reasoned else loss


class RatingGroup(NamedTuple):
    """A context whose outcome is recorded, so that ratings are learnt without playing: a group is drawn from what the network says now.

    `successes` (decisions,) in 0..1 are what came of it. What is drawn depends on the network, the context and `seed` alone, so a training that
    goes on draws what an unbroken one would.
    """

    trunk: tuple[int, ...]
    decisions: tuple[RatedPlace, ...]
    successes: tuple[float, ...]
    size: int = 8
    policy: Policy = Policy()
    seed: int = 0

    def loss(self, network: Any, weight: float, alpha: float, tau: float) -> SftLoss:
        """As any lesson's, a sum over its decisions; `selection` and `taken` are of the levels that were earned."""
        del weight, alpha, tau
        chances = rating_log_q(network, self.trunk, self.decisions)
        draws = self._draws()
        losses = [
            self._group_loss(*own) for own in zip(chances, draws, self.successes, strict=True)
        ]
        told = list(zip(chances, self.decisions, strict=True))
        return SftLoss(
            torch.stack(losses).sum(),
            -torch.stack([q[one.earned] for q, one in told]).sum().detach(),
            torch.zeros(()),
            tuple(int(q.argmax()) == one.earned for q, one in told),
        )

    def _group_loss(self, log_q: Tensor, draws: np.ndarray, success: float) -> Tensor:
        """Of one decision's `log_q` (levels,), at `draws` (size,) in 0..1."""
        limits = log_q.detach().double().exp().cumsum(0).numpy(force=True)
        drawn = np.minimum(np.searchsorted(limits, draws, side="right"), len(limits) - 1)
        found = with_replacement(drawn.tolist(), level_scores([success] * self.size, len(limits)))
        new = log_q[torch.as_tensor(found.levels, device=log_q.device)]
        ratings = Terms(new, new.detach())
        return group_loss(self.policy, ratings, advantages(found.scores.tolist()), [], new[:0])

    def _draws(self) -> np.ndarray:
        """(decisions, size) in 0..1."""
        told = blake2b(f"{self.seed}:{self.trunk}".encode(), digest_size=8).digest()
        draw = np.random.default_rng(int.from_bytes(told, "big"))
        return draw.random((len(self.decisions), self.size))


def grouped(
    lessons: Sequence[RatingLesson], successes: Sequence[Sequence[float]], **options: Any
) -> list[RatingGroup]:
    """The same contexts, learnt in groups; `successes` are those that the lessons were made of."""
    return [
        RatingGroup(lesson.trunk, lesson.decisions, tuple(found), **options)
        for lesson, found in zip(lessons, successes, strict=True)
    ]
