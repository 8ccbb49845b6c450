"""Token sequences that follow one context, as a trie: what they share is computed once.

Works on ids alone; knows no model. Sequences are sorted and made distinct first, so a trie, and every number
computed from it, does not depend on their order. A sequence's last token predicts nothing that is asked
for, so only the tokens before it become *nodes* (what the model runs). Each token of a sequence is an *edge*:
a predicting row and the token it must predict. Row 0 is the context's end, row n + 1 is node n. A model may run
the nodes at once or *block* by block of depth, of all sequences or of those still in question.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

Ids = tuple[int, ...]


class Block(NamedTuple):
    """Nodes of neighbouring depths that run together: U of them, on P paths of at most L nodes.

    A path's *stem* is what comes before the block: T nodes, the same number for every path.
    """

    nodes: np.ndarray  # (U,) ascending
    paths: np.ndarray  # (P, L) places in `nodes`, downwards; a short path repeats its last one
    stems: np.ndarray  # (P, T) nodes
    places: (
        np.ndarray
    )  # (U,) where in paths.ravel() a node stands; shared nodes: on their first path


@dataclass(frozen=True, eq=False)
class Trie:
    """U nodes depth first, E edges by ascending row.

    For [7 8 9] and [7 8 5 6]: nodes 7, 8, 5; edges 0->7, 1->8, 2->5, 2->9, 3->6; one path 7 8 5.
    """

    sequences: tuple[Ids, ...]  # distinct, sorted
    tokens: np.ndarray  # (U,)
    depths: np.ndarray  # (U,) 0 for a token right after the context
    edge_rows: np.ndarray  # (E,) ascending
    edge_tokens: np.ndarray  # (E,)
    edges: tuple[np.ndarray, ...]  # for each sequence: the edge of each of its tokens

    def nodes(self, index: int) -> np.ndarray:
        """The nodes of sequence `index`: one for each token but the last."""
        return self.edge_rows[self.edges[index]][1:] - 1

    @cached_property
    def depth(self) -> int:
        """Nodes on the longest path."""
        return max((len(ids) - 1 for ids in self.sequences), default=0)

    @cached_property
    def whole(self) -> Block:
        """All nodes as one block."""
        return self.block(0, self.depth, range(len(self.sequences)))

    def block(self, low: int, high: int, indices: Iterable[int]) -> Block:
        """The nodes of depths [low, high) on the paths of the sequences `indices` (ascending)."""
        paths = _leading([path for i in indices if len(path := self.nodes(i)[:high]) > low])
        longest = max((len(path) for path in paths), default=low) - low
        own = np.array([_padded(path[low:], longest) for path in paths], dtype=np.int64)
        own = own.reshape(len(paths), longest)
        nodes, first, places = np.unique(own, return_index=True, return_inverse=True)
        stems = np.array([path[:low] for path in paths], dtype=np.int64).reshape(len(paths), low)
        return Block(nodes, places.reshape(own.shape), stems, first)


@lru_cache(maxsize=32)
def compile_tries(sequences: tuple[Ids, ...], most_nodes: int) -> tuple[Trie, ...]:
    """The tries of all distinct sequences, in sorted order, each of at most `most_nodes` nodes.

    A sequence longer than that is alone in its trie. An empty one is refused.
    """
    distinct = sorted(set(sequences))
    if distinct and not distinct[0]:
        raise ValueError("a sequence without tokens cannot be scored")
    return tuple(_compile(group) for group in _groups(distinct, most_nodes))


def _groups(distinct: Sequence[Ids], most_nodes: int) -> list[list[Ids]]:
    groups: list[list[Ids]] = []
    nodes = 0
    for sequence in distinct:
        added = len(sequence) - 1 - (_shared(groups[-1][-1], sequence) if groups else 0)
        if not groups or nodes + added > most_nodes:
            groups.append([])
            nodes, added = 0, len(sequence) - 1
        groups[-1].append(sequence)
        nodes += added
    return groups


def _shared(one: Ids, other: Ids) -> int:
    """How many leading nodes two sequences share."""
    most = min(len(one), len(other)) - 1
    return next((i for i in range(most) if one[i] != other[i]), most)


def _compile(sequences: Sequence[Ids]) -> Trie:
    rows: dict[tuple[int, int], int] = {}  # (row, token) -> the row of the node it leads to
    tokens: list[int] = []
    parents: list[int] = []
    steps: list[list[tuple[int, int]]] = []
    for sequence in sequences:
        row, steps_here = 0, []
        for position, token in enumerate(sequence):
            steps_here.append((row, token))
            if position == len(sequence) - 1:
                break
            if (row, token) not in rows:
                tokens.append(token)
                parents.append(row)
                rows[row, token] = len(tokens)
            row = rows[row, token]
        steps.append(steps_here)
    edges = sorted({step for steps_here in steps for step in steps_here})
    number = {edge: i for i, edge in enumerate(edges)}
    return Trie(
        sequences=tuple(sequences),
        tokens=np.array(tokens, dtype=np.int64),
        depths=_depths(parents),
        edge_rows=np.array([row for row, _ in edges], dtype=np.int64),
        edge_tokens=np.array([token for _, token in edges], dtype=np.int64),
        edges=tuple(np.array([number[step] for step in steps_here]) for steps_here in steps),
    )


def _depths(parents: Iterable[int]) -> np.ndarray:
    depths: list[int] = []
    for parent in parents:
        depths.append(depths[parent - 1] + 1 if parent else 0)
    return np.array(depths, dtype=np.int64)


def _leading(paths: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The paths that begin no other one; those of sorted sequences are given, so that only neighbours can."""
    kept: list[np.ndarray] = []
    for i, path in enumerate(paths):
        neighbours = [*paths[i + 1 : i + 2], *kept[-1:]]
        if not any(np.array_equal(path, other[: len(path)]) for other in neighbours):
            kept.append(path)
    return kept


def _padded(path: np.ndarray, length: int) -> np.ndarray:
    return np.pad(path, (0, length - len(path)), mode="edge")
