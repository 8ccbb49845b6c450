"""A visual budget kept: one row chooses at the anchor, on the device, and layers behind it see what it chose.

Knows where the keys lie; nothing of candidates, models or decoding. How many blocks stay depends on the row, so only bounds
are known without asking the device, which nothing here does: `fewest` blocks stay in any case and are seen without a mask,
those from there up to `most` stand in a buffer of fixed width with a bias. At least one block stays, so the buffer is
never without a key. N visual tokens, V visual blocks; other letters as in model.py. Of a context's tokens

    [0, start)   are all visual blocks, and between them F tokens of text and of blocks that hold some: copied, what stays of them
    [start, S)   is no visual block: read where it lies
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from .attention import Partial, Seen, attend_biased, attend_part
from .visual_budget import VisualBudget

Spans = tuple[tuple[int, int], ...]


class Keys(Protocol):
    """A layer each: (1, B, at least S, D)."""

    keys: list[Tensor]
    values: list[Tensor]


@dataclass(frozen=True, eq=False)
class Blocks:
    """Where a context's visual tokens stand, and how many of their blocks stay: all that no device need be asked for."""

    budget: VisualBudget
    start: int
    fewest: int
    most: int
    visual: Tensor  # (N,) tokens
    inside: Tensor  # (V, block) places in `visual`
    others: Tensor  # (F,) tokens

    def gaze(self, store: Keys, whole: Seen) -> "Gaze":
        """One that is to choose."""
        return Gaze(self, store, whole)


class Kept(NamedTuple):
    """Tokens of [0, start) that stay: `sure` ones, and `perhaps` those that the bias lets through."""

    sure: Tensor
    perhaps: Tensor
    bias: Tensor  # 0 or -inf for each of `perhaps`


class Share(NamedTuple):
    """Of so many visual tokens so many stay visible behind the anchor."""

    tokens: int
    kept: int


@lru_cache(maxsize=64)
def blocks_of(budget: VisualBudget, spans: Spans, device: torch.device) -> Blocks | None:
    """Of a context whose pictures stand on `spans` (ascending); None where the budget drops nothing.

    So it is without a whole visual block, and with a budget of all.
    """
    size = budget.block
    visual = _joined(np.arange(*span) for span in spans)
    starts = _joined(np.arange(-(-low // size), high // size) * size for low, high in spans)
    fewest, most = (
        budget.blocks(share, len(visual), len(starts)) for share in (budget.low, budget.high)
    )
    if fewest == len(starts):
        return None
    blocks = starts[:, None] + np.arange(size)  # (V, block)
    start = int(blocks[-1, -1]) + 1
    others = np.setdiff1d(np.arange(start), blocks)
    arrays = (visual, np.searchsorted(visual, blocks), others)
    return Blocks(
        budget, start, fewest, most, *(torch.from_numpy(own).to(device) for own in arrays)
    )


class Gaze:
    """What is seen of a context through a choice: made by one row on its way through the layers, or handed in.

    As attention.Seen of the whole, which is what the layers up to the anchor see.
    """

    def __init__(self, blocks: Blocks, store: Keys, whole: Seen, kept: Kept | None = None) -> None:
        self.blocks = blocks
        self.kept = kept
        self._store = store
        self._whole = whole

    def choose(self, layer: int, query: Tensor, scale: float) -> None:
        """Let the row with this query (1, A, 1, D) decide, in the anchor layer; in others nothing is done."""
        if layer == self.blocks.budget.anchor:
            self.kept = self._chosen(self._weights(layer, query, scale))

    def parts(self, layer: int, query: Tensor, scale: float, start: int = 0) -> list[Partial]:
        if layer <= self.blocks.budget.anchor:
            return self._whole.parts(layer, query, scale, start)
        assert self.kept is not None and start == 0, "nothing was chosen at the anchor"
        sure, perhaps, bias = self.kept
        found = self._whole.parts(layer, query, scale, self.blocks.start)
        if len(sure):
            found.append(attend_part(query, *self._at(layer, sure), scale))
        if len(perhaps):
            found.append(attend_biased(query, *self._at(layer, perhaps), scale, bias))
        return found

    def through(self, whole: Seen) -> "Gaze":
        """A copy of the choice, over another view of the same context."""
        assert self.kept is not None, "nothing was chosen at the anchor"
        kept = Kept(*(tensor.clone() for tensor in self.kept))
        return Gaze(self.blocks, self._store, whole, kept)

    def take_over(self, other: "Gaze") -> None:
        """Write another choice among the same blocks over this one, where this one lies."""
        assert self.kept is not None and other.kept is not None, "nothing was chosen at the anchor"
        for mine, theirs in zip(self.kept, other.kept, strict=True):
            mine.copy_(theirs)

    def share(self) -> Share:
        """What was chosen, counted; waits for the device."""
        assert self.kept is not None, "nothing was chosen at the anchor"
        blocks, (sure, _, bias) = self.blocks, self.kept
        stays = len(sure) - len(blocks.others) + int((bias == 0).sum())
        num_visual = len(blocks.visual)
        return Share(num_visual, num_visual - blocks.inside.numel() + stays)

    def _at(self, layer: int, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Copies of their keys and values, (1, B, tokens, D) each."""
        keys, values = self._store.keys[layer], self._store.values[layer]
        return keys.index_select(2, tokens), values.index_select(2, tokens)

    def _weights(self, layer: int, query: Tensor, scale: float) -> Tensor:
        """(A, N) of the row's softmax over the whole context, sharpened by the temperature, in float32 or better."""
        sharp = scale / self.blocks.budget.temperature
        masses = [part.log_mass for part in self._whole.parts(layer, query, sharp)]
        log_mass = torch.stack(masses).logsumexp(0)  # (1, A, 1)
        keys = self._store.keys[layer].index_select(2, self.blocks.visual).to(log_mass.dtype)
        grouped = query.reshape(1, keys.shape[1], -1, query.shape[3]).to(log_mass.dtype)
        scores = grouped @ keys.transpose(-1, -2) * sharp  # (1, B, A / B, N)
        return (scores.flatten(0, 2) - log_mass[0]).exp()

    def _chosen(self, weights: Tensor) -> Kept:
        blocks, budget = self.blocks, self.blocks.budget
        mass = weights.sum(1).amax()
        count = (mass * weights.shape[1] / budget.block).ceil().clamp(blocks.fewest, blocks.most)
        ranks = weights.mean(0)[blocks.inside].sum(1)  # (V,)
        order = ranks.sort(descending=True, stable=True).indices[: blocks.most]
        tokens = blocks.visual[blocks.inside[order]]  # (most, block)
        varies = blocks.fewest < blocks.most
        sure = blocks.fewest - 1 if varies else blocks.fewest  # one at least is left for the buffer
        places = torch.arange(sure, blocks.most, device=weights.device)
        bias = torch.zeros_like(places, dtype=torch.float32).masked_fill(
            places >= count, float("-inf")
        )
        return Kept(
            torch.cat([blocks.others, tokens[:sure].flatten()]),
            tokens[sure:].flatten(),
            bias[:, None].expand(-1, budget.block).flatten(),
        )


def _joined(parts: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
