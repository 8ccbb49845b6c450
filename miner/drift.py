"""Drift: whether a new corpus makes the moves of an old one, as a set of texts sees them.

Four things may change: the share of thoughts that some text is assigned to, the share that one comes near, which texts are assigned, and
what groups of thoughts recur that no text comes near. Each is tested by permuting which corpus a question came from, since the
turns of a question are one draw; together they raise a false alarm in at most ALARM of cases (Holm).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .assign import Assigner
from .coverage import COVERED_AT, nearest, typicality
from .thoughts import Thought

ALARM = 0.05
PERMUTATIONS = 999
PERMUTED_AT_ONCE = 100
GROUP_AT = 0.7  # cosine to a group's most typical thought
LEAST_QUESTIONS = 5  # a group recurs when so many questions of the new corpus have it
MOST_GROUPS = 40
MOST_GROUPED = 5000  # uncovered thoughts that groups are looked for among


@dataclass(frozen=True)
class Placed:
    """Thoughts as a set sees them. (turns,) each: `rows` the assigned text, or `size` for none; `cosine` to the nearest."""

    thoughts: Sequence[Thought]
    rows: np.ndarray
    cosine: np.ndarray
    vectors: np.ndarray  # (turns, d)
    size: int

    def subset(self, keep: np.ndarray) -> "Placed":
        """The turns at the places `keep`."""
        thoughts = [self.thoughts[row] for row in keep]
        return Placed(thoughts, self.rows[keep], self.cosine[keep], self.vectors[keep], self.size)


class Change(NamedTuple):
    """A share or a distance in both corpora; `p`: how often chance alone makes it so large; `drifts` after Holm."""

    name: str
    old: float
    new: float
    p: float
    drifts: bool


@dataclass(frozen=True)
class Group:
    """Uncovered thoughts that recur, by their most typical one: the questions of either corpus that have them."""

    thought: Thought
    old_questions: int
    new_questions: int
    gain: float  # of the share of questions, in standard errors


@dataclass(frozen=True)
class Drift:
    """`changes` by name: assigned, covered, distribution (Jensen-Shannon, bits; `old` is 0), groups (share of the most grown).

    `old_shares` and `new_shares` (texts + 1,): how often each text is assigned, last none.
    """

    changes: tuple[Change, ...]
    groups: tuple[Group, ...]
    old_shares: np.ndarray
    new_shares: np.ndarray
    old_questions: int
    new_questions: int

    @property
    def found(self) -> bool:
        return any(change.drifts for change in self.changes)


def place(thoughts: Sequence[Thought], assigner: Assigner, texts: Sequence[str]) -> Placed:
    """`thoughts` as the rule and the cosine see them; embeds them once."""
    near = nearest(thoughts, texts, assigner.mask, assigner.embedder)
    rows = assigner.assign(thoughts, texts).rows
    placed = np.array([len(texts) if row is None else row for row in rows], dtype=int)
    return Placed(thoughts, placed, near.cosine, near.vectors, len(texts))


def drift(old: Placed, new: Placed, threshold: float = COVERED_AT, seed: int = 0) -> Drift:
    """Compares two corpora placed by one rule and one set."""
    units = _Units.of(old, new, threshold)
    groups = _groups(old, new, threshold, units)
    observed = units.statistics(units.is_new[None, :], groups.has)
    exceeded = np.zeros(len(STATISTICS))
    for labels in _permutations(units.is_new, seed):
        exceeded += (units.statistics(labels, groups.has) >= observed - 1e-9).sum(axis=0)
    p = (1 + exceeded) / (1 + PERMUTATIONS)
    drifts = _holm(p)
    values = units.values(groups)
    return Drift(
        changes=tuple(
            Change(name, *values[name], float(p[i]), bool(drifts[i]))
            for i, name in enumerate(STATISTICS)
        ),
        groups=groups.recurring(),
        old_shares=units.shares(~units.is_new),
        new_shares=units.shares(units.is_new),
        old_questions=int((~units.is_new).sum()),
        new_questions=int(units.is_new.sum()),
    )


STATISTICS = ("assigned", "covered", "distribution", "groups")


class _Groups(NamedTuple):
    """`has` (units, groups): whether a question's thoughts are in the group; `found` names each."""

    has: np.ndarray
    found: tuple[Group, ...]

    def recurring(self) -> tuple[Group, ...]:
        kept = [group for group in self.found if group.new_questions >= LEAST_QUESTIONS]
        return tuple(sorted(kept, key=lambda group: (-group.gain, group.thought.turn)))


@dataclass(frozen=True)
class _Units:
    """Questions of a corpus, the unit that is drawn. `used` (units, texts + 1) and `covered` (units,) count turns."""

    is_new: np.ndarray
    used: np.ndarray
    covered: np.ndarray
    rows: np.ndarray  # (turns of both,): each turn's unit

    @classmethod
    def of(cls, old: Placed, new: Placed, threshold: float) -> "_Units":
        names = [(0, t.question) for t in old.thoughts] + [(1, t.question) for t in new.thoughts]
        number = {name: i for i, name in enumerate(sorted(set(names)))}
        rows = np.array([number[name] for name in names], dtype=int)
        used = np.zeros((len(number), old.size + 1))
        np.add.at(used, (rows, np.concatenate([old.rows, new.rows])), 1.0)
        near = np.concatenate([old.cosine, new.cosine]) >= threshold
        covered = np.bincount(rows, weights=near, minlength=len(number))
        return cls(np.array([corpus == 1 for corpus, _ in sorted(number)]), used, covered, rows)

    def shares(self, chosen: np.ndarray) -> np.ndarray:
        """(texts + 1,): how often each text is assigned over the chosen units' turns."""
        return _divided(self.used[chosen].sum(axis=0), self.used[chosen].sum())

    def statistics(self, labels: np.ndarray, has: np.ndarray) -> np.ndarray:
        """(labellings, 4): how far apart the corpora are under each of `labels` (labellings, units; bool: new)."""
        new, old = labels.astype(float), (~labels).astype(float)
        turns = self.used.sum(axis=1)
        new_turns, old_turns = new @ turns, old @ turns
        new_used = _divided(new @ self.used, new_turns[:, None])
        old_used = _divided(old @ self.used, old_turns[:, None])
        covered = _divided(new @ self.covered, new_turns) - _divided(old @ self.covered, old_turns)
        gains = _gains(new, old, has)
        return np.stack(
            [
                np.abs(new_used[:, -1] - old_used[:, -1]),
                np.abs(covered),
                _jensen_shannon(old_used, new_used),
                gains.max(axis=1, initial=0.0),
            ],
            axis=1,
        )

    def values(self, groups: _Groups) -> dict[str, tuple[float, float]]:
        """Each statistic's figure in the old and the new corpus."""
        old, new = self.shares(~self.is_new), self.shares(self.is_new)
        turns = self.used.sum(axis=1)
        covered = [
            float(_divided(self.covered[c].sum(), turns[c].sum()))
            for c in (~self.is_new, self.is_new)
        ]
        most = max(groups.found, key=lambda group: group.gain, default=None)
        counts = ((~self.is_new).sum(), self.is_new.sum())
        grown = (most.old_questions, most.new_questions) if most else (0, 0)
        return {
            "assigned": (float(1 - old[-1]), float(1 - new[-1])),
            "covered": (covered[0], covered[1]),
            "distribution": (0.0, float(_jensen_shannon(old[None], new[None])[0])),
            "groups": (grown[0] / max(counts[0], 1), grown[1] / max(counts[1], 1)),
        }


def _groups(old: Placed, new: Placed, threshold: float, units: _Units) -> _Groups:
    """Groups among both corpora's uncovered thoughts, found without looking at which corpus each is from."""
    thoughts = [*old.thoughts, *new.thoughts]
    below = np.flatnonzero(np.concatenate([old.cosine, new.cosine]) < threshold)
    below = np.array(sorted(below, key=lambda row: thoughts[row].turn), dtype=int)
    below = below[:: max(1, -(-len(below) // MOST_GROUPED))]
    vectors = np.concatenate([old.vectors, new.vectors])[below]
    typical = typicality(vectors, [thoughts[row].question for row in below])
    left = np.ones(len(below), dtype=bool)
    members: list[np.ndarray] = []  # (units,) each
    leaders: list[Thought] = []
    while left.any() and len(members) < MOST_GROUPS:
        leader = int(np.where(left, typical, -np.inf).argmax())
        near = left & (vectors @ vectors[leader] >= GROUP_AT)
        near[leader] = True
        left &= ~near
        own = np.zeros(len(units.is_new), dtype=bool)
        own[units.rows[below[near]]] = True
        members.append(own)
        leaders.append(thoughts[below[leader]])
    has = np.array(members, dtype=float).reshape(len(members), len(units.is_new)).T
    label = units.is_new[None, :]
    gains = _gains(label.astype(float), (~label).astype(float), has)[0]
    found = tuple(
        Group(thought, int((own & ~units.is_new).sum()), int((own & units.is_new).sum()), float(g))
        for thought, own, g in zip(leaders, members, gains, strict=True)
    )
    return _Groups(has, found)


def _gains(new: np.ndarray, old: np.ndarray, has: np.ndarray) -> np.ndarray:
    """(labellings, groups): how much larger a group's share of questions is in the new corpus, in standard errors."""
    num_new, num_old = new.sum(axis=1, keepdims=True), old.sum(axis=1, keepdims=True)
    gain = _divided(new @ has, num_new) - _divided(old @ has, num_old)
    share = has.mean(axis=0)
    variance = share * (1 - share) * (_divided(1.0, num_new) + _divided(1.0, num_old))
    return gain / np.sqrt(np.maximum(variance, 1e-12))


def _permutations(is_new: np.ndarray, seed: int) -> Iterator[np.ndarray]:
    """PERMUTATIONS shuffles of `is_new`, some (shuffles, units) at a time."""
    rng = np.random.default_rng(seed)
    for start in range(0, PERMUTATIONS, PERMUTED_AT_ONCE):
        count = min(PERMUTED_AT_ONCE, PERMUTATIONS - start)
        yield rng.permuted(np.tile(is_new, (count, 1)), axis=1)


def _holm(p: np.ndarray) -> np.ndarray:
    """(tests,): which are below ALARM when all are looked at together."""
    order = np.argsort(p, kind="stable")
    passed = np.cumprod(p[order] * np.arange(len(p), 0, -1) <= ALARM).astype(bool)
    drifts = np.zeros(len(p), dtype=bool)
    drifts[order] = passed
    return drifts


def _jensen_shannon(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(rows,): divergence in bits of each row of two distributions (rows, outcomes); 0 equal, 1 apart."""
    middle = (first + second) / 2
    return (_entropy(middle) - (_entropy(first) + _entropy(second)) / 2).clip(0.0)


def _entropy(shares: np.ndarray) -> np.ndarray:
    return -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)


def _divided(above: np.ndarray | float, below: np.ndarray | float) -> np.ndarray:
    """Zero where there is nothing to divide by."""
    return np.asarray(above) / np.maximum(below, 1e-12)
