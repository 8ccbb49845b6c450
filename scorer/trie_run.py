"""One trie run by the model after one context: all at once, or deeper block by block.

The context's keys and values are read where they lie, by all nodes at once; a node's own path comes beside them and
attention.py merges the two. Keeps what every layer computed for the nodes, so that a deeper block, or the context
when it takes a winner in, needs no second pass. Letters as in model.py; P paths, L and T nodes as in trie.py.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from .attention import Partial, Seen, attend_part, merge
from .context import Context, Continuation
from .plain import require_numbers
from .trie import Block, Trie

ROWS_AT_ONCE = 128  # of logits, (rows, V) each time


class TrieRun:
    """How far a trie has been run, and what came of it.

    `log_probs` (E,) are float64 natural log-probabilities of the edges priced so far; NaN at the others.
    """

    def __init__(self, context: Context, trie: Trie) -> None:
        self.trie = trie
        self.log_probs = np.full(len(trie.edge_rows), np.nan)
        self.depth = 0  # nodes above it have run, on the paths that were asked for
        self._context = context
        self._state = context.state
        self._slots = np.full(len(trie.tokens), -1)  # where a node's keys and values stand
        self._hidden = _end_of(context)  # (1 + nodes run, H): the context's end, then by slot
        self._keys: list[Tensor] = []  # a layer each: (1, B, nodes run, D)
        self._values: list[Tensor] = []

    @property
    def nodes_run(self) -> int:
        return int((self._slots >= 0).sum())

    def advance(self, depth: int, indices: Iterable[int] | None = None) -> None:
        """Run the nodes down to `depth` on the paths of the sequences `indices` (ascending; None is all of them)."""
        depth = min(depth, self.trie.depth)
        if self.depth == 0 and depth == self.trie.depth and indices is None:
            block = self.trie.whole
        else:
            every = range(len(self.trie.sequences))
            block = self.trie.block(self.depth, depth, every if indices is None else indices)
        if len(block.nodes):
            self._run(block)
        self.depth = depth

    @torch.inference_mode()
    def price(self, edges: np.ndarray) -> None:
        """Fill in `log_probs` of `edges` (ascending numbers), whose predicting rows must have run."""
        rows, row_of_edge = np.unique(self.trie.edge_rows[edges], return_inverse=True)
        slots = np.append(-1, self._slots)[rows] + 1  # row 0, the context's end, stands first
        tokens = self.trie.edge_tokens[edges]
        for first in range(0, len(rows), ROWS_AT_ONCE):
            chunk = self._to_device(slots[first : first + ROWS_AT_ONCE])
            logits = self._context.model.logits(self._hidden[chunk])  # (rows, V)
            low, high = np.searchsorted(row_of_edge, [first, first + ROWS_AT_ONCE])
            local = self._to_device(row_of_edge[low:high] - first)
            own = logits[local, self._to_device(tokens[low:high])] - logits.logsumexp(-1)[local]
            self.log_probs[edges[low:high]] = require_numbers(own.double().cpu().numpy())

    def continuation(self, index: int) -> Continuation:
        """Sequence `index` of the trie as Context.commit takes it; all its nodes must have run."""
        slots = self._to_device(self._slots[self.trie.nodes(index)])
        return continuation_of(self.trie, index, slots, self._keys, self._values, self._state)

    def _run(self, block: Block) -> None:
        context = self._context
        plan = Branches(context.seen, block, context.model.device)
        if self._keys:
            plan.grow_from(_Stem(self._keys, self._values, self._slots[block.stems]))
        depths = self.trie.depths[block.nodes]
        positions = np.tile(context.next_position + depths, (3, 1))
        hidden = context.model.hidden(self.trie.tokens[block.nodes], positions, plan)
        self._hidden = torch.cat([self._hidden, hidden])
        self._slots[block.nodes] = self.nodes_run + np.arange(len(block.nodes))
        self._keys, self._values = plan.keys, plan.values

    def _to_device(self, indices: np.ndarray) -> Tensor:
        return torch.from_numpy(indices).to(self._context.model.device)


class Branches:
    """The plan of a block: each node sees what is seen of the context, its ancestors and itself.

    `keys` and `values` (a layer each) become those of all nodes run so far, the block's last.
    """

    def __init__(self, seen: Seen, block: Block, device: torch.device) -> None:
        self._seen = seen
        self._paths = torch.from_numpy(block.paths.ravel()).to(device)  # (P * L,)
        self._shape = block.paths.shape
        self._places = torch.from_numpy(block.places).to(device)  # (U,)
        self._stem: _Stem | None = None
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []

    def grow_from(self, stem: "_Stem") -> None:
        """Let every path go on from nodes that have run before."""
        self._stem = stem

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        along = self._along_paths(query)  # (P, A, L, D)
        own = attend_part(
            along, self._along_paths(key), self._along_paths(value), scale, causal=True
        )
        parts = [*self._seen.parts(layer, query, scale), self._by_node(own)]
        if self._stem:
            parts.append(self._by_node(self._stem.part(layer, along, scale)))
            key, value = self._stem.joined(layer, key, value)
        self.keys.append(key)
        self.values.append(value)
        return merge(*parts)

    def _by_node(self, part: Partial) -> Partial:
        """Along paths (P, A, L, D) -> by node (1, A, U, D): a node's row is taken where it first stands."""
        output = part.output.transpose(1, 2).flatten(0, 1).index_select(0, self._places)
        log_mass = part.log_mass.transpose(1, 2).flatten(0, 1).index_select(0, self._places)
        return Partial(output.transpose(0, 1).unsqueeze(0), log_mass.T.unsqueeze(0))

    def _along_paths(self, tensor: Tensor) -> Tensor:
        """(1, heads, U, D) -> (P, heads, L, D)"""
        gathered = tensor[0].transpose(0, 1).index_select(0, self._paths)  # (P * L, heads, D)
        return gathered.unflatten(0, self._shape).transpose(1, 2)


class _Stem:
    """The nodes before a block on its paths, with what the layers computed for them."""

    def __init__(self, keys: list[Tensor], values: list[Tensor], slots: np.ndarray) -> None:
        self._keys, self._values = keys, values
        self._shape = slots.shape  # (P, T)
        self._slots = torch.from_numpy(slots.ravel()).to(keys[0].device)

    def part(self, layer: int, along: Tensor, scale: float) -> Partial:
        """Attention of queries along paths (P, A, L, D) over each path's own stem."""
        keys, values = self._along(self._keys[layer]), self._along(self._values[layer])
        return attend_part(along, keys, values, scale)

    def joined(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        keys, values = self._keys[layer], self._values[layer]
        return torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)

    def _along(self, tensor: Tensor) -> Tensor:
        """(1, heads, nodes run, D) -> (P, heads, T, D)"""
        gathered = tensor[0].transpose(0, 1).index_select(0, self._slots)  # (P * T, heads, D)
        return gathered.unflatten(0, self._shape).transpose(1, 2)


def continuation_of(
    trie: Trie,
    index: int,
    slots: Tensor,
    keys: Sequence[Tensor],
    values: Sequence[Tensor],
    state: int,
) -> Continuation:
    """Sequence `index` with the keys and values that stand at `slots`; a layer each: (1, B, nodes run, D)."""
    return Continuation(
        ids=trie.sequences[index],
        keys=tuple(tensor[:, :, slots] for tensor in keys),
        values=tuple(tensor[:, :, slots] for tensor in values),
        state=state,
    )


def _end_of(context: Context) -> Tensor:
    """Hidden state (1, H) at the context's end; zeros where there is none, which nothing may ask for."""
    if context.length:
        return context.settle()
    model = context.model
    return torch.zeros(1, model.width, dtype=model.dtype, device=model.device)
