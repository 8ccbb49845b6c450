"""What a grammar engine would choose: probabilities renormalised at every branching of the candidates' trie.

Constrained decoding masks the tokens that no candidate goes on with and renormalises at each step, so a shared first
token decides before the rest is seen. It is a distribution over the candidates, but not the model's: with two-token
candidates AB, AC, DE and p(A) = .9, p(D) = .1, p(B|A) = p(C|A) = .01, p(E|D) = .9 it says .45, .45, .10, where the
whole texts' probabilities say .083, .083, .833. Never the default, and always under its own name: trie-local.

Only tokens at *forks*, where candidates part, are priced: nothing behind the last fork is run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .context import Context
from .score import score_sharing_context
from .trie import Ids


@dataclass(frozen=True, eq=False)
class Forks:
    """Where candidates part. Branch j is a beginning shared by some, with the token after which they part from others.

    Scoring branch j from `starts[j]` prices that one token. `members` (branches, candidates) says who goes that way.
    """

    branches: tuple[Ids, ...]
    starts: tuple[int, ...]  # (branches,)
    fork: np.ndarray  # (branches,) branches of one fork have its number
    members: np.ndarray  # (branches, candidates) bool


@dataclass(frozen=True, eq=False)
class TrieLocal:
    """Log-probability (candidates,) of each under constrained decoding, in nats; they sum to probability 1.

    `greedy` is the candidate that a decoder ends at when it takes the likeliest branch at each fork.
    """

    log_probs: np.ndarray
    greedy: int

    @property
    def likeliest(self) -> int:
        return int(np.argmax(self.log_probs))


class Disagreement(NamedTuple):
    """Shares of contexts on which constrained decoding takes another candidate than the exact choice."""

    contexts: int
    likeliest: float  # the candidate with the highest trie-local probability differs
    greedy: float  # the candidate that greedy decoding ends at differs


@lru_cache(maxsize=32)
def forks_of(candidates: tuple[Ids, ...]) -> Forks:
    """The forks of candidates of which none is, or begins, another (compiled_set.py sees to that)."""
    followers: dict[Ids, dict[int, list[int]]] = {}  # beginning -> next token -> candidates
    for place, ids in enumerate(candidates):
        for length, token in enumerate(ids):
            followers.setdefault(ids[:length], {}).setdefault(token, []).append(place)
    forks = [(start, tokens) for start, tokens in sorted(followers.items()) if len(tokens) > 1]
    branches = [
        (number, (*start, token), members)
        for number, (start, tokens) in enumerate(forks)
        for token, members in sorted(tokens.items())
    ]
    taken = np.zeros((len(branches), len(candidates)), dtype=bool)
    for branch, (_, _, members) in enumerate(branches):
        taken[branch, members] = True
    return Forks(
        branches=tuple(ids for _, ids, _ in branches),
        starts=tuple(len(ids) - 1 for _, ids, _ in branches),
        fork=np.array([number for number, _, _ in branches], dtype=np.int64),
        members=taken,
    )


def trie_local(forks: Forks, log_probs: np.ndarray) -> TrieLocal:
    """The distribution, from the log-probability (branches,) of each branch's own token after what precedes it."""
    local = np.array(log_probs, dtype=np.float64)
    best = np.zeros(len(local), dtype=bool)
    for number in range(forks.fork.max(initial=-1) + 1):
        here = np.flatnonzero(forks.fork == number)
        local[here] -= np.logaddexp.reduce(local[here])
        best[here[np.argmax(local[here])]] = True
    refused = forks.members[~best].any(
        axis=0
    )  # a candidate stays if its branch is best at all its forks
    return TrieLocal(local @ forks.members, int(np.flatnonzero(~refused)[0]))


def score_constrained(context: Context, candidates: tuple[Ids, ...]) -> TrieLocal:
    """Trie-local probabilities of `candidates` after `context`."""
    forks = forks_of(candidates)
    if not forks.branches:  # a single candidate: nothing is decided
        return TrieLocal(np.zeros(1), 0)
    scored = score_sharing_context(context, forks.branches, forks.starts).log_probs
    return trie_local(forks, np.array([own[-1] for own in scored]))


def disagreement(selected: Sequence[int], found: Sequence[TrieLocal]) -> Disagreement:
    """How often the exact choice, one a context, is not what constrained decoding takes there."""
    if not selected:
        raise ValueError("there is no context to compare on")
    likeliest = [one.likeliest != choice for one, choice in zip(found, selected, strict=True)]
    greedy = [one.greedy != choice for one, choice in zip(found, selected, strict=True)]
    return Disagreement(len(selected), float(np.mean(likeliest)), float(np.mean(greedy)))
