"""One trie run by the model after one context: all at once, or deeper block by block.

The context's keys and values are read where they lie, by all nodes at once; a node's own path comes beside them and
attention.py merges the two. Keeps what every layer computed for the nodes, so that a deeper block, or the context
when it takes a winner in, needs no second pass. Letters as in model.py; P paths, L and T nodes as in trie.py.
"""

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from .attention import Partial, attend_part, merge
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
        return Continuation(
            ids=self.trie.sequences[index],
            keys=tuple(keys[:, :, slots] for keys in self._keys),
            values=tuple(values[:, :, slots] for values in self._values),
            state=self._state,
        )

    def _run(self, block: Block) -> None:
        plan = _Branches(self, block)
        depths = self.trie.depths[block.nodes]
        positions = np.tile(self._context.next_position + depths, (3, 1))
        hidden = self._context.model.hidden(self.trie.tokens[block.nodes], positions, plan)
        self._hidden = torch.cat([self._hidden, hidden])
        self._slots[block.nodes] = self.nodes_run + np.arange(len(block.nodes))
        self._keys, self._values = plan.keys, plan.values

    def _to_device(self, indices: np.ndarray) -> Tensor:
        return torch.from_numpy(indices).to(self._context.model.device)


class _Branches:
    """The plan of a block: each node sees the whole context, its ancestors and itself.

    `keys` and `values` become those of all nodes run so far, the block's last.
    """

    def __init__(self, run: TrieRun, block: Block) -> None:
        self._context = run._context
        self._paths = run._to_device(block.paths.ravel())  # (P * L,)
        self._shape = block.paths.shape
        self._places = run._to_device(block.places)  # (U,)
        self._stems = run._to_device(run._slots[block.stems].ravel())  # (P * T,)
        self._stem_shape = block.stems.shape
        self._earlier = (run._keys, run._values)
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        along = self._along_paths(query)  # (P, A, L, D)
        parts = [
            self._by_node(
                attend_part(
                    along, self._along_paths(key), self._along_paths(value), scale, causal=True
                )
            )
        ]
        if self._stem_shape[1]:
            keys, values = (tensors[layer] for tensors in self._earlier)
            stem = attend_part(along, self._along_stems(keys), self._along_stems(values), scale)
            parts.append(self._by_node(stem))
            key, value = torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)
        self.keys.append(key)
        self.values.append(value)
        if self._context.length:  # attention over no keys has no log-sum-exp to merge
            stored = self._context.slab.read(layer, self._context.length)
            parts.append(attend_part(query, *stored, scale))
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

    def _along_stems(self, tensor: Tensor) -> Tensor:
        """(1, heads, nodes run, D) -> (P, heads, T, D)"""
        gathered = tensor[0].transpose(0, 1).index_select(0, self._stems)  # (P * T, heads, D)
        return gathered.unflatten(0, self._stem_shape).transpose(1, 2)


def _end_of(context: Context) -> Tensor:
    """Hidden state (1, H) at the context's end; zeros where there is none, which nothing may ask for."""
    if context.length:
        return context.settle()
    model = context.model
    return torch.zeros(1, model.width, dtype=model.dtype, device=model.device)
