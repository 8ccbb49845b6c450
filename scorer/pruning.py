"""The choice out of many candidates, without finishing those that can no longer win.

A log-probability only falls as tokens are added, so a candidate's sum so far bounds its whole sum from above, and its score
with it. The trie runs in blocks of depth; after each, whoever looks best is finished alone, and those that stay
below it are dropped. Branch and bound: the choice is the exact one, and the distribution is off by a returned bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from .context import Context, Continuation
from .plain import checked_starts
from .score import MOST_NODES
from .trie import Ids, compile_tries
from .trie_run import TrieRun

BLOCKS = (8, 16)  # depths at which to look who is left; each costs the time to read the weights
SLACK = 1e-6  # nats a token: a log-probability can round to just above 0


@dataclass(frozen=True, eq=False)
class Rule:
    """How a candidate's summed log-probability becomes its score: sum / weights + offsets, both (candidates,).

    Weights are positive: N**alpha, bytes or ones. Offsets are what a calibration adds.
    """

    weights: np.ndarray
    offsets: np.ndarray

    def scores(self, sums: np.ndarray) -> np.ndarray:
        return sums / self.weights + self.offsets


@dataclass(frozen=True, eq=False)
class Pruned:
    """Arrays (candidates,) in the order given.

    `scores` are exact where `is_finished` and upper bounds elsewhere. Over the finished ones softmax(scores / tau) is each one's
    probability within the factor 1 / (1 + epsilon). `nodes` were run, of `all_nodes` that scoring in full would run.
    """

    scores: np.ndarray
    is_finished: np.ndarray
    selected: int
    epsilon: float
    winner: Continuation
    nodes: int
    all_nodes: int


@torch.inference_mode()
def select_pruning(
    context: Context,
    sequences: Sequence[Sequence[int]],
    rule: Rule,
    *,
    tau: float = 1.0,
    epsilon: float = float("inf"),
) -> Pruned:
    """The highest score's candidate (the first of equals), as scoring in full would choose it.

    Candidates go on until those dropped have together at most `epsilon` of the finished ones' weight exp(score / tau);
    the default finishes only what may still win. ValueError for no sequences or an empty one.
    """
    if not sequences:
        raise ValueError("there is no candidate to select from")
    if not tau >= 0 or not epsilon >= 0:
        raise ValueError(f"tau and epsilon must not be negative, and are {tau} and {epsilon}")
    if not (rule.weights > 0).all() or not np.isfinite(rule.offsets).all():
        raise ValueError("a rule's weights are positive and its offsets finite")
    with context.lock:
        return _select(context, sequences, rule, tau, epsilon)


def _select(
    context: Context, sequences: Sequence[Sequence[int]], rule: Rule, tau: float, epsilon: float
) -> Pruned:
    checked_starts(context.length, sequences, None)
    for ids in sequences:
        context.model.require_known(ids)
    context.require_room(max(map(len, sequences)))
    search = _Search(context, [tuple(map(int, ids)) for ids in sequences], rule)
    for depth in (0, *BLOCKS, max(map(len, sequences))):
        search.deepen(depth)
        search.finish_best()
        search.drop(tau, epsilon)
    return search.result(tau)


class _Search:
    """Which candidates are finished, dropped or open, and the sums of what has been priced of each."""

    def __init__(self, context: Context, sequences: list[Ids], rule: Rule) -> None:
        self._context = context
        self._sequences = sequences
        self._rule = rule
        self._runs = [
            TrieRun(context, trie) for trie in compile_tries(tuple(sequences), MOST_NODES)
        ]
        self._places = {
            ids: (owner, index)
            for owner, run in enumerate(self._runs)
            for index, ids in enumerate(run.trie.sequences)
        }
        self._alone: dict[Ids, TrieRun] = {}  # finished ahead of the others
        self._sums = np.zeros(len(sequences))
        self._left = np.array([len(ids) for ids in sequences])  # tokens not priced
        self._is_open = np.ones(len(sequences), dtype=bool)

    def deepen(self, depth: int) -> None:
        """Run the open candidates' nodes above `depth`, and price the tokens that they predict."""
        wanted = {self._places[self._sequences[i]] for i in np.flatnonzero(self._is_open)}
        for number, run in enumerate(self._runs):
            indices = sorted(index for owner, index in wanted if owner == number)
            if indices:
                run.advance(depth, indices)
                edges = np.concatenate([run.trie.edges[i][: depth + 1] for i in indices])
                run.price(np.unique(edges[np.isnan(run.log_probs[edges])]))
        for i in np.flatnonzero(self._is_open):
            owner, index = self._places[self._sequences[i]]
            run = self._runs[owner]
            priced = run.log_probs[run.trie.edges[index]]
            self._note(int(i), priced[~np.isnan(priced)])

    def finish_best(self) -> None:
        """Score the open candidate with the highest bound to its end, so that there is something to fall below."""
        if not self._is_open.any():
            return
        best = int(np.argmax(np.where(self._is_open, self._bounds(), -np.inf)))
        ids = self._sequences[best]
        (trie,) = compile_tries((ids,), MOST_NODES)
        run = self._alone[ids] = TrieRun(self._context, trie)
        run.advance(trie.depth)
        run.price(np.arange(len(run.log_probs)))
        for i in np.flatnonzero(self._is_open):
            if self._sequences[i] == ids:
                self._note(int(i), run.log_probs[trie.edges[0]])

    def drop(self, tau: float, epsilon: float) -> None:
        """Close the open candidates that cannot win, lowest bounds first, while they weigh at most `epsilon` together."""
        bounds, finished = self._bounds(), self._left == 0
        top = bounds[finished].max()
        weights = np.exp(np.minimum(bounds - top, 0) / tau) if tau else np.zeros(len(bounds))
        most = epsilon * weights[finished].sum() if tau else np.inf
        dropped = ~self._is_open & ~finished
        weight = weights[dropped].sum()
        for i in sorted(np.flatnonzero(self._is_open), key=lambda i: bounds[i]):
            weight += weights[i]
            if bounds[i] >= top or weight > most:
                break
            self._is_open[i] = False

    def result(self, tau: float) -> Pruned:
        bounds, finished = self._bounds(), self._left == 0
        selected = int(np.argmax(np.where(finished, bounds, -np.inf)))
        weights = np.exp((bounds - bounds[selected]) / tau) if tau else np.zeros(len(bounds))
        epsilon = weights[~finished].sum() / weights[finished].sum() if tau else 0.0
        runs = [*self._runs, *self._alone.values()]
        return Pruned(
            scores=bounds,
            is_finished=finished,
            selected=selected,
            epsilon=float(epsilon),
            winner=self._continuation(self._sequences[selected]),
            nodes=sum(run.nodes_run for run in runs),
            all_nodes=sum(len(run.trie.tokens) for run in self._runs),
        )

    def _note(self, i: int, log_probs: np.ndarray) -> None:
        self._sums[i] = log_probs.sum()
        self._left[i] = len(self._sequences[i]) - len(log_probs)
        self._is_open[i] = self._left[i] > 0

    def _bounds(self) -> np.ndarray:
        return self._rule.scores(self._sums + SLACK * self._left)

    def _continuation(self, ids: Ids) -> Continuation:
        if ids in self._alone:
            return self._alone[ids].continuation(0)
        owner, index = self._places[ids]
        return self._runs[owner].continuation(index)
