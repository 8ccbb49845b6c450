"""Supervised training of a model to select: a run a time, checkpoints that a killed training goes on from, a held-out curve.

For small models on one machine; a trainer for large ones reads an export. What is left in the folder is a model like any other.
"""

import json
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from ...data.errors import ForethoughtError
from ...data.identity import content_id
from ..memory import reporting_memory
from .lessons import Lesson
from .objectives import SftLoss

CURVE, MODEL, CHECKPOINT = "curve.jsonl", "model", "checkpoint"
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Schedule:
    """`weight` is SSR's lambda of the selection against the action; runs of `group` make a step of the optimiser.

    The rate rises over the first tenth of the steps and falls to zero in a line.
    """

    epochs: int = 1
    group: int = 4
    rate: float = 2e-5
    weight: float = 1.0
    alpha: float = 1.0
    tau: float = 1.0
    clip: float = 1.0  # of the gradient's norm
    decay: float = 0.0
    seed: int = 0
    looks: int = 5  # at the held-out runs, the first before any step and the last after all


@dataclass(frozen=True)
class Look:
    """The held-out runs after so many steps: mean losses a turn, and the share of turns whose candidate is taken (None: thoughts are generated)."""

    step: int
    selection: float
    action: float
    taken: float | None


class Training:
    """A network (of transformers, on its device) taught by lessons; `folder` keeps the checkpoint, the curve and the model.

    `facts` say which model, set and lessons these are; ForethoughtError for a folder of another training.
    """

    def __init__(
        self,
        network: Any,
        lessons: Sequence[Lesson],
        held_out: Sequence[Lesson],
        schedule: Schedule,
        folder: Path,
        facts: Any = None,
    ) -> None:
        self._network, self._lessons, self._held_out = network, lessons, held_out
        self._schedule, self._folder = schedule, folder
        self._id = content_id("training", [asdict(schedule), facts, len(lessons), len(held_out)])
        self._batches = _batches(len(lessons), schedule)
        self._optimiser = torch.optim.AdamW(
            network.parameters(), lr=schedule.rate, weight_decay=schedule.decay
        )
        self._step = 0
        self._curve: list[dict[str, Any]] = []

    def run(self, progress: Progress = lambda done, total: None) -> list[dict[str, Any]]:
        """The curve, a look a row. What was done before is not done again."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._resume()
        steps = len(self._batches)
        looks = {
            round(steps * k / max(1, self._schedule.looks - 1)) for k in range(self._schedule.looks)
        }
        if not self._curve:
            self._look()
        while self._step < steps:
            progress(self._step, steps)
            self._take_step()
            if self._step in looks:
                self._look()
        progress(steps, steps)
        self._network.save_pretrained(self._folder / MODEL)
        return self._curve

    def _take_step(self) -> None:
        self._network.train()
        for group in self._optimiser.param_groups:
            group["lr"] = self._schedule.rate * _share_of_rate(self._step, len(self._batches))
        batch = self._batches[self._step]
        decisions = sum(len(self._lessons[place].decisions) for place in batch)
        self._optimiser.zero_grad(set_to_none=True)
        for place in batch:
            with reporting_memory(f"a run of {len(self._lessons[place].trunk)} tokens"):
                (self._loss(self._lessons[place]).loss / decisions).backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), self._schedule.clip)
        self._optimiser.step()
        self._step += 1

    def _loss(self, lesson: Lesson) -> SftLoss:
        plan = self._schedule
        found = lesson.loss(self._network, plan.weight, plan.alpha, plan.tau)
        if not found.loss.isfinite():
            raise ForethoughtError(
                f"after {self._step} steps the loss is no number any more; take a rate below {plan.rate:g} and another --out"
            )
        return found

    @torch.no_grad()
    def _look(self) -> None:
        """At the held-out runs; the checkpoint is of this very step."""
        self._network.eval()
        losses = [self._loss(lesson) for lesson in self._held_out]
        decisions = max(1, sum(len(lesson.decisions) for lesson in self._held_out))
        taken = [one for loss in losses for one in loss.taken]
        look = Look(
            self._step,
            sum(loss.selection.item() for loss in losses) / decisions,
            sum(loss.action.item() for loss in losses) / decisions,
            sum(taken) / len(taken) if taken else None,
        )
        self._curve.append(asdict(look))
        self._keep()

    def _keep(self) -> None:
        """Whole or not at all: the old checkpoint goes when the new one is complete."""
        fresh = self._folder / f"{CHECKPOINT}.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        torch.save(self._network.state_dict(), fresh / "weights.pt")
        torch.save(self._optimiser.state_dict(), fresh / "optimiser.pt")
        told = {"id": self._id, "step": self._step, "curve": self._curve}
        (fresh / "state.json").write_text(json.dumps(told), "utf-8")
        old = self._folder / CHECKPOINT
        shutil.rmtree(old, ignore_errors=True)
        fresh.rename(old)
        lines = "".join(json.dumps(row) + "\n" for row in self._curve)
        (self._folder / CURVE).write_text(lines, "utf-8")

    def _resume(self) -> None:
        for name in (CHECKPOINT, f"{CHECKPOINT}.new"):  # the new one where a kill came between
            folder = self._folder / name
            if not (folder / "state.json").is_file():
                continue
            told = json.loads((folder / "state.json").read_text("utf-8"))
            if told["id"] != self._id:
                raise ForethoughtError(
                    f"{self._folder}: holds a training of another model, set or schedule; name another --out folder"
                )
            weights = torch.load(folder / "weights.pt", weights_only=True)
            self._network.load_state_dict(weights)
            self._optimiser.load_state_dict(torch.load(folder / "optimiser.pt", weights_only=True))
            self._step, self._curve = told["step"], told["curve"]
            return


def _batches(lessons: int, schedule: Schedule) -> list[list[int]]:
    """Places of lessons, a step each; every epoch in another order."""
    return [batch for epoch in range(schedule.epochs) for batch in _epoch(lessons, epoch, schedule)]


def _epoch(lessons: int, epoch: int, schedule: Schedule) -> Iterator[list[int]]:
    order = list(range(lessons))
    random.Random(f"{schedule.seed}:{epoch}").shuffle(order)
    for first in range(0, lessons, schedule.group):
        yield order[first : first + schedule.group]


def _share_of_rate(step: int, steps: int) -> float:
    warm = max(1, steps // 10)
    return min((step + 1) / warm, (steps - step) / max(1, steps - warm))
