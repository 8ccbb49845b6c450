"""The definition of a visual budget: whole forwards with plain attention in float64, a row at a time.

Slow on purpose, and shares nothing with visual_choice.py. Which row chooses for which is handed in: `choosers` names
for each token the one (itself or an earlier one) whose choice it sees the pictures through; None sees all of them.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from .layout import Layout
from .model import LanguageModel, Sight
from .plain import checked_starts, require_numbers
from .vision import Picture
from .visual_budget import VisualBudget

Choosers = Sequence[int | None]


@torch.inference_mode()
def score_plainly_within(
    model: LanguageModel,
    context_ids: Sequence[int],
    sequences: Sequence[Sequence[int]],
    budget: VisualBudget,
    pictures: Sequence[Picture] = (),
    choosers: Choosers = (),
) -> tuple[np.ndarray, ...]:
    """As score_plainly, where every sequence sees the context's pictures through the choice of the context's last token.

    `choosers` are those of the context's tokens; by default they see everything.
    """
    checked_starts(len(context_ids), sequences, None)
    end = len(context_ids)
    scored = []
    for sequence in sequences:
        ids = [*context_ids, *sequence]
        who = [*(choosers or [None] * end), *[end - 1] * len(sequence)]
        hidden = hidden_plainly(model, ids, budget, pictures, who)
        log_probs = model.logits(hidden[end - 1 : -1]).double().log_softmax(-1)  # (tokens, V)
        targets = torch.tensor(sequence, device=model.device)[:, None]
        scored.append(require_numbers(log_probs.gather(-1, targets)[:, 0].cpu().numpy()))
    return tuple(scored)


def hidden_plainly(
    model: LanguageModel,
    ids: Sequence[int],
    budget: VisualBudget,
    pictures: Sequence[Picture],
    choosers: Choosers,
) -> Tensor:
    """Last hidden states (S, H) of `ids`, whose picture tokens `pictures` stand for, in order."""
    budget.require_fits(model.name, model.num_layers, sees=model.eyes is not None)
    model.require_known(ids)
    layout = Layout(model.eyes)
    layout.add(ids, pictures)
    sights = [Sight(placed.start, model.look(placed.picture)) for placed in layout.pictures]
    visual = [token for placed in layout.pictures for token in range(placed.start, placed.stop)]
    plan = _Masked(budget, visual, choosers)
    return model.hidden(ids, layout.positions(0, len(ids)), plan, sights)


def dropped_by(
    weights: Sequence[Sequence[float]], visual: Sequence[int], budget: VisualBudget
) -> set[int]:
    """The tokens that a row drops whose heads spend `weights` on the tokens up to itself."""
    chooser = len(weights[0]) - 1
    seen = {token for token in visual if token < chooser}
    size = budget.block
    starts = [s for s in range(0, chooser, size) if all(s + i in seen for i in range(size))]
    mass = max(sum(head[token] for token in seen) for head in weights)
    share = min(max(mass, budget.low), budget.high)
    kept = max(1, math.ceil(math.ceil(round(share * len(seen), 9)) / size))
    attention = {s: sum(sum(head[s : s + size]) for head in weights) for s in starts}
    ranked = sorted(starts, key=lambda start: -attention[start])
    return {start + i for start in ranked[kept:] for i in range(size)}


class _Masked:
    """The plan of all tokens at once, each of which sees those up to itself less what its chooser has dropped."""

    def __init__(self, budget: VisualBudget, visual: Sequence[int], choosers: Choosers) -> None:
        self._budget = budget
        self._visual = visual
        self._choosers = choosers
        self._dropped: dict[int, set[int]] = {}

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        rows = query[0].unflatten(0, (key.shape[1], -1)).double()  # (B, A / B, S, D)
        keys, values = key[0].double(), value[0].double()  # (B, S, D)
        if layer == self._budget.anchor:
            self._choose(rows, keys, scale / self._budget.temperature)
        output = torch.empty_like(rows)
        for row, chooser in enumerate(self._choosers):
            dropped: set[int] = set()
            if chooser is not None and layer > self._budget.anchor:
                dropped = self._dropped[chooser]
            seen = [token for token in range(row + 1) if token not in dropped]
            scores = rows[:, :, row] @ keys[:, seen].transpose(1, 2) * scale  # (B, A / B, seen)
            output[:, :, row] = scores.softmax(-1) @ values[:, seen]
        return output.flatten(0, 1)[None].to(query.dtype)

    def _choose(self, rows: Tensor, keys: Tensor, scale: float) -> None:
        for row in {row for row in self._choosers if row is not None}:
            scores = rows[:, :, row] @ keys[:, : row + 1].transpose(1, 2) * scale
            weights = scores.softmax(-1).flatten(0, 1).tolist()  # (A, row + 1)
            self._dropped[row] = dropped_by(weights, self._visual, self._budget)
