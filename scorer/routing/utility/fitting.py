"""Teaches LatentRouter's network; when to stop is decided on other questions than it learns from."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from .losses import terms, total
from .network import LatentNetwork, Query


@dataclass(frozen=True)
class Schedule:
    """`weight` is that of normalised cost in the utilities that are learned: 0 for quality alone, so that a price is set when asking."""

    rate: float = 1e-3
    decay: float = 1e-4
    batch: int = 256
    epochs: int = 16
    patience: int = 4  # epochs that are no better on the questions that it does not learn from
    clip: float = 5.0  # of the gradient's norm
    weight: float = 0.0
    seed: int = 0


class Lessons(NamedTuple):
    """B questions with what A arms did: `quality` (B, A), 0 where not `available` (B, A) bool; `cost` (A,), normalised."""

    query: Query
    quality: Tensor
    available: Tensor
    cost: Tensor

    def rows(self, chosen: Tensor) -> "Lessons":
        return Lessons(
            self.query.rows(chosen), self.quality[chosen], self.available[chosen], self.cost
        )


def teach(
    network: LatentNetwork,
    profiles: Tensor,
    train: Lessons,
    schedule: Schedule,
    worth: Callable[[LatentNetwork], float],
) -> list[float]:
    """What the network is `worth` on other questions after each epoch; it is left as it was after the best of them."""
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=schedule.rate, weight_decay=schedule.decay
    )
    curve: list[float] = []
    best = copy.deepcopy(network.state_dict())
    for batches in _epochs(len(train.quality), schedule):
        network.train()
        for batch in batches:
            _step(network, profiles, train.rows(batch), schedule, optimiser)
        network.eval()
        curve.append(worth(network))
        since = len(curve) - 1 - curve.index(max(curve))
        if since == 0:
            best = copy.deepcopy(network.state_dict())
        if since >= schedule.patience:
            break
    network.load_state_dict(best)
    return curve


def _step(
    network: LatentNetwork,
    profiles: Tensor,
    lesson: Lessons,
    schedule: Schedule,
    optimiser: torch.optim.Optimizer,
) -> None:
    predicted = network(lesson.query, profiles, lesson.available)
    found = terms(predicted, lesson.quality, lesson.cost, lesson.available, schedule.weight)
    optimiser.zero_grad(set_to_none=True)
    total(found).backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), schedule.clip)
    optimiser.step()


def _epochs(questions: int, schedule: Schedule) -> Iterator[list[Tensor]]:
    """Batches of places, every epoch in another order."""
    draw = np.random.default_rng(schedule.seed)
    for _ in range(schedule.epochs):
        order = torch.from_numpy(draw.permutation(questions))
        yield list(order.split(schedule.batch))
