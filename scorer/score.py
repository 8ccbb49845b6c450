"""Likelihoods of many sequences after one context: the context computed once, all sequences in one forward.

The fast twin of plain.py, equal to rounding. The sequences' trie runs as one batch of nodes (trie_run.py). Logits are made
only for nodes that predict a token somebody asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from .context import Context, Continuation
from .graphs import Recordings, Replayed
from .plain import checked_starts
from .trie import Ids, Trie, compile_tries
from .trie_run import TrieRun

MOST_NODES = 2048  # in one forward; bounds its memory


@dataclass(frozen=True, eq=False)
class Scored:
    """What scoring gave, in the order of the sequences; `log_probs` as from score_plainly."""

    sequences: tuple[Ids, ...]
    log_probs: tuple[np.ndarray, ...]
    runs: tuple[TrieRun | Replayed, ...]

    def continuation(self, index: int) -> Continuation:
        """Sequence `index` as Context.commit takes it, with the keys and values that scoring computed."""
        ids = self.sequences[index]
        run = next(run for run in self.runs if ids in run.trie.sequences)
        return run.continuation(run.trie.sequences.index(ids))


@torch.inference_mode()
def score_sharing_context(
    context: Context,
    sequences: Sequence[Sequence[int]],
    starts: Sequence[int] | None = None,
    recordings: Recordings | None = None,
) -> Scored:
    """The same as score_plainly(context.model, context.ids, sequences, starts), many times faster.

    The context's tokens, keys and values stay as they are. To the bit, the result does not depend on the
    order of the sequences, and equal sequences get equal numbers. With the context's own `recordings`, sequences that
    come back turn after turn are replayed, which saves a GPU's launches.
    """
    with context.lock:
        return _score(context, sequences, starts, recordings)


def _score(
    context: Context,
    sequences: Sequence[Sequence[int]],
    starts: Sequence[int] | None,
    recordings: Recordings | None,
) -> Scored:
    starts = checked_starts(context.length, sequences, starts)
    ordered = tuple(tuple(map(int, sequence)) for sequence in sequences)
    for ids in ordered:
        context.model.require_known(ids)
    earliest: dict[Ids, int] = {}
    for ids, start in zip(ordered, starts, strict=True):
        earliest[ids] = min(start, earliest.get(ids, start))
    context.require_room(max(map(len, ordered), default=0))
    found: dict[Ids, np.ndarray] = {}
    runs: list[TrieRun | Replayed] = []
    for trie in compile_tries(tuple(sorted(earliest)), MOST_NODES):
        pairs = tuple(zip(trie.sequences, trie.edges, strict=True))
        run: TrieRun | Replayed | None = recordings.score(context, trie) if recordings else None
        if run is None:
            run = _run(context, trie, [edges[earliest[ids] :] for ids, edges in pairs])
        found.update((ids, run.log_probs[edges]) for ids, edges in pairs)
        runs.append(run)
    own = tuple(_from(found[ids], start) for ids, start in zip(ordered, starts, strict=True))
    return Scored(ordered, own, tuple(runs))


def _run(context: Context, trie: Trie, wanted: Sequence[np.ndarray]) -> TrieRun:
    run = TrieRun(context, trie)
    run.advance(trie.depth)
    run.price(np.unique(np.concatenate(wanted)))
    return run


def _from(log_probs: np.ndarray, start: int) -> np.ndarray:
    """A copy with NaN before `start`: an equal sequence may have asked for more."""
    return np.concatenate([np.full(start, np.nan), log_probs[start:]])
