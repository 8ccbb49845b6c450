"""Likelihoods of many sequences after one context: the context computed once, all sequences in one forward.

The fast twin of plain.py, equal to rounding. The sequences' trie runs as one batch of nodes: every node sees the
whole context (whose keys and values are read where they lie, by all nodes at once) and its own path in the
trie; attention.py merges the two. Logits are made only for nodes that predict a token somebody asked for.
Letters as in model.py; P paths of L nodes, E edges as in trie.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .attention import Partial, attend_part, merge
from .context import Context, Continuation
from .model import LanguageModel
from .plain import checked_starts, require_numbers
from .trie import Ids, Trie, compile_tries

MOST_NODES = 2048  # in one forward; bounds its memory
ROWS_AT_ONCE = 128  # of logits, (rows, V) each time


@dataclass(frozen=True, eq=False)
class Forward:
    """One run of the model over a trie's nodes, and what each layer computed: (1, B, U, D)."""

    trie: Trie
    keys: tuple[Tensor, ...]
    values: tuple[Tensor, ...]


@dataclass(frozen=True, eq=False)
class Scored:
    """What scoring gave, in the order of the sequences; `log_probs` as from score_plainly."""

    sequences: tuple[Ids, ...]
    log_probs: tuple[np.ndarray, ...]
    forwards: tuple[Forward, ...]
    state: int

    def continuation(self, index: int) -> Continuation:
        """Sequence `index` as Context.commit takes it, with the keys and values that scoring computed."""
        ids = self.sequences[index]
        forward = next(f for f in self.forwards if ids in f.trie.sequences)
        nodes = torch.from_numpy(forward.trie.nodes(forward.trie.sequences.index(ids)))
        return Continuation(
            ids=ids,
            keys=tuple(keys[:, :, nodes] for keys in forward.keys),
            values=tuple(values[:, :, nodes] for values in forward.values),
            state=self.state,
        )


@torch.inference_mode()
def score_sharing_context(
    context: Context, sequences: Sequence[Sequence[int]], starts: Sequence[int] | None = None
) -> Scored:
    """The same as score_plainly(context.model, context.ids, sequences, starts), many times faster.

    The context's tokens, keys and values stay as they are. To the bit, the result does not depend on the
    order of the sequences, and equal sequences get equal numbers.
    """
    starts = checked_starts(context.length, sequences, starts)
    ordered = tuple(tuple(map(int, sequence)) for sequence in sequences)
    earliest: dict[Ids, int] = {}
    for ids, start in zip(ordered, starts, strict=True):
        earliest[ids] = min(start, earliest.get(ids, start))
    found: dict[Ids, np.ndarray] = {}
    forwards = []
    for trie in compile_tries(tuple(sorted(earliest)), MOST_NODES):
        pairs = tuple(zip(trie.sequences, trie.edges, strict=True))
        wanted = np.unique(np.concatenate([edges[earliest[ids] :] for ids, edges in pairs]))
        forward, hidden = _run(context, trie)
        log_probs = _edge_log_probs(context.model, hidden, trie, wanted)
        found.update((ids, log_probs[edges]) for ids, edges in pairs)
        forwards.append(forward)
    own = tuple(_from(found[ids], start) for ids, start in zip(ordered, starts, strict=True))
    return Scored(ordered, own, tuple(forwards), context.state)


class _Branches:
    """The plan of a trie's nodes: each sees the whole context, its ancestors and itself."""

    def __init__(self, context: Context, trie: Trie) -> None:
        device = context.model.device
        self._context = context
        self._shape = trie.paths.shape
        self._paths = torch.from_numpy(trie.paths.ravel()).to(device)  # (P * L,)
        self._places = torch.from_numpy(trie.places).to(device)  # (U,)
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        self.keys.append(key)
        self.values.append(value)
        own = self._attend_paths(query, key, value, scale)
        if self._context.length == 0:  # attention over no keys has no log-sum-exp to merge
            return own.output
        stored = self._context.slab.read(layer, self._context.length)
        return merge(attend_part(query, *stored, scale), own)

    def _attend_paths(self, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Partial:
        """Each path as a little causal sequence; a node's row is taken where it first stands."""
        output, log_mass = attend_part(  # (P, A, L, D), (P, A, L)
            self._along_paths(query),
            self._along_paths(key),
            self._along_paths(value),
            scale,
            causal=True,
        )
        own = output.transpose(1, 2).flatten(0, 1).index_select(0, self._places)  # (U, A, D)
        mass = log_mass.transpose(1, 2).flatten(0, 1).index_select(0, self._places)  # (U, A)
        return Partial(own.transpose(0, 1).unsqueeze(0), mass.T.unsqueeze(0))

    def _along_paths(self, tensor: Tensor) -> Tensor:
        """(1, heads, U, D) -> (P, heads, L, D)"""
        gathered = tensor[0].transpose(0, 1).index_select(0, self._paths)  # (P * L, heads, D)
        return gathered.unflatten(0, self._shape).transpose(1, 2)


def _run(context: Context, trie: Trie) -> tuple[Forward, Tensor]:
    """The forward, and hidden states (1 + U, H) by the trie's rows: the context's end, then the nodes."""
    model = context.model
    if context.length:
        end = context.settle()
    else:  # nothing asks for this row: see checked_starts
        end = torch.zeros(1, model.config.hidden_size, dtype=model.dtype, device=model.device)
    if not len(trie.tokens):
        return Forward(trie, (), ()), end
    plan = _Branches(context, trie)
    nodes = model.hidden(trie.tokens.tolist(), (context.length + trie.depths).tolist(), plan)
    return Forward(trie, tuple(plan.keys), tuple(plan.values)), torch.cat([end, nodes])


def _edge_log_probs(
    model: LanguageModel, hidden: Tensor, trie: Trie, wanted: np.ndarray
) -> np.ndarray:
    """Log-probability (E,) of each wanted edge (ascending numbers), float64; NaN at the others."""
    edge_rows, edge_tokens = trie.edge_rows[wanted], torch.from_numpy(trie.edge_tokens[wanted])
    rows, row_of_edge = np.unique(edge_rows, return_inverse=True)
    found = np.full(len(trie.edge_rows), np.nan)
    for first in range(0, len(rows), ROWS_AT_ONCE):
        chunk = torch.from_numpy(rows[first : first + ROWS_AT_ONCE]).to(hidden.device)
        logits = model.logits(hidden[chunk])  # (rows, V)
        low, high = np.searchsorted(row_of_edge, [first, first + ROWS_AT_ONCE])
        local = torch.from_numpy(row_of_edge[low:high] - first)
        targets = logits[local, edge_tokens[low:high]] - logits.logsumexp(-1)[local]
        found[wanted[low:high]] = require_numbers(targets.double().cpu().numpy())
    return found


def _from(log_probs: np.ndarray, start: int) -> np.ndarray:
    """A copy with NaN before `start`: an equal sequence may have asked for more."""
    return np.concatenate([np.full(start, np.nan), log_probs[start:]])
