"""Weighted facility location: the few phrases that together stand for as many turns as possible.

Greedy: after the pinned phrases, each next one is the phrase that gains most, of the groups that must be represented
as long as any is missing, then of all. What is nested: where no token limit turned a phrase away, the first k of a longer
result are the result for k. Where one did, gain and gain per token are both tried and the better of the two sets is
taken, and sets of different limits need not hold each other.

Without pins, groups and redundancy greedy is within 1 - 1/e of the optimum of that size (Nemhauser, Wolsey and Fisher 1978),
and the better of the two within (1 - 1/e) / 2 under a token limit alone (Leskovec et al. 2007).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from .similarity import Columns, Similarity


class Reason(StrEnum):
    """Why a group that should be represented is not."""

    NO_PHRASE = "no phrase"
    BANNED = "banned"
    REDUNDANT = "redundant"
    NO_GAIN = "no gain"
    BUDGET = "budget"


@dataclass(frozen=True)
class Group:
    """Turns that make one move: its number, its share of all weight, and the columns of the phrases that say it."""

    number: int
    share: float
    columns: tuple[int, ...]


@dataclass(frozen=True)
class LeftOut:
    """A group that no chosen phrase says, and why; `by` is the chosen column that a redundant phrase is too near to."""

    group: Group
    reason: Reason
    by: int | None = None


@dataclass(frozen=True)
class TokenLimit:
    """`costs` (phrases,): tokens of each, above zero; `most`: what all chosen may cost together."""

    costs: np.ndarray
    most: float


@dataclass(frozen=True)
class Terms:
    """What a choice must keep to besides its size; columns throughout.

    `pinned` come first, in their order, whatever they gain and however near they are to each other; `banned` never
    come; each of `groups` gets a phrase if it can have one.
    """

    pinned: tuple[int, ...] = ()
    banned: frozenset[int] = frozenset()
    tokens: TokenLimit | None = None
    groups: tuple[Group, ...] = ()


class CurvePoint(NamedTuple):
    """What the set of this `size` covers, and what its last candidate added: `gain` is weight times similarity."""

    size: int
    gain: float
    coverage: float


@dataclass(frozen=True)
class Chosen:
    """`rows`: chosen columns of the similarity in order; `coverage`: share of the reachable total after each.

    `gains`: what each added when it came; `left_out`: the groups that got no phrase.
    """

    rows: tuple[int, ...]
    coverage: tuple[float, ...]
    gains: tuple[float, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def curve(self) -> tuple[CurvePoint, ...]:
        """The marginal-gain curve, a point for every size."""
        sizes = range(1, len(self.rows) + 1)
        return tuple(map(CurvePoint, sizes, self.gains, self.coverage))


class RedundantPair(NamedTuple):
    """Two phrases that say one thing, how near they are, and which of them is in the set: one, or two where pinned."""

    first: int
    second: int
    similarity: float
    stayed: tuple[int, ...]


def choose(
    similarity: Similarity,
    weights: np.ndarray,
    budget: int | None,
    redundant: np.ndarray | None = None,
    terms: Terms | None = None,
) -> Chosen:
    """Picks at most `budget` columns of `similarity` (turns, phrases; >= 0) that maximise sum_t w_t max_c s_tc.

    `redundant` (phrases, phrases; bool) forbids a column once a redundant one is in. Stops when nothing is gained.
    Ties go to the lower column, so the caller's order decides them. `similarity` may be sparse. Lazy: a gain never
    grows, so a column is looked at again only when its last known gain would win.
    """
    return _choose(_Problem.of(similarity, weights, redundant, terms), budget, _best_lazily)


def choose_plainly(
    similarity: Similarity,
    weights: np.ndarray,
    budget: int | None,
    redundant: np.ndarray | None = None,
    terms: Terms | None = None,
) -> Chosen:
    """What `choose` gives, to the bit, by looking at every column every time: the definition."""
    return _choose(_Problem.of(similarity, weights, redundant, terms), budget, _best_plainly)


def frequent_groups(
    labels: np.ndarray,
    weights: np.ndarray,
    columns: Mapping[int, Iterable[int]],
    least_share: float,
) -> tuple[Group, ...]:
    """The groups with at least `least_share` of all weight, the heaviest first.

    `labels` (turns,) are numbers of groups, negative where a turn is in none; `columns` the phrases of a group.
    """
    inside = labels >= 0
    total = float(weights.sum())
    shares = np.bincount(labels[inside], weights[inside]) / (total or 1.0)
    groups = (
        Group(number, float(share), tuple(columns.get(number, ())))
        for number, share in enumerate(shares.round(9))
        if share > 0 and share >= least_share
    )
    return tuple(sorted(groups, key=lambda group: -group.share))


def redundant_pairs(
    rows: Sequence[int], redundant: np.ndarray, similarity: np.ndarray
) -> tuple[RedundantPair, ...]:
    """Every pair of redundant phrases of which at least one of `rows` (chosen columns) is part, the nearest first.

    `redundant` and `similarity` are (phrases, phrases) and symmetric.
    """
    chosen = set(rows)
    pairs = [
        RedundantPair(int(a), int(b), float(similarity[a, b]), tuple(sorted({a, b} & chosen)))
        for a, b in np.argwhere(np.triu(redundant, 1)).tolist()
        if {a, b} & chosen
    ]
    return tuple(sorted(pairs, key=lambda pair: -pair.similarity))


@dataclass(frozen=True)
class _Problem:
    columns: Columns
    weights: np.ndarray
    redundant: np.ndarray | None
    terms: Terms

    @classmethod
    def of(
        cls,
        similarity: Similarity,
        weights: np.ndarray,
        redundant: np.ndarray | None,
        terms: Terms | None,
    ) -> "_Problem":
        terms = terms or Terms()
        assert not terms.banned & {*terms.pinned}, "pinned and banned at once; terms_of refuses it"
        return cls(Columns(similarity), np.asarray(weights, float), redundant, terms)

    @property
    def costs(self) -> np.ndarray:
        """(phrases,); nothing where tokens do not matter."""
        tokens = self.terms.tokens
        return np.zeros(self.columns.num_phrases) if tokens is None else tokens.costs


class _Greedy:
    """A choice under way: what is covered, which columns are still open, and the last known gain of each."""

    def __init__(self, problem: _Problem, prices: np.ndarray) -> None:
        self.problem = problem
        self.prices = prices  # (phrases,): a gain is divided by it before gains are compared
        self.covered = np.zeros(problem.columns.num_turns)
        self.room = np.empty(problem.columns.num_turns)
        self.bounds = np.full(problem.columns.num_phrases, np.inf)  # no gain is above its bound
        self.is_fresh = np.zeros(problem.columns.num_phrases, dtype=bool)  # the bound is the gain
        self.is_open = np.ones(problem.columns.num_phrases, dtype=bool)
        self.is_open[list(problem.terms.banned)] = False
        self.too_dear: list[int] = []
        self.rows: list[int] = []
        self.gains: list[float] = []
        self.totals: list[float] = []  # sum_t w_t max_c s_tc after each

    def gain(self, column: int) -> float:
        """Summed over all turns of the column in one order, so that it never grows, not even by rounding."""
        rows, values = self.problem.columns.column(column)
        more = self.room[: len(values)]  # fresh memory for every gain would take most of the time
        np.subtract(values, self.covered[rows], out=more)
        np.maximum(more, 0.0, out=more)
        np.multiply(more, self.problem.weights[rows], out=more)
        return round(float(more.sum()), 9)

    def refresh(self, column: int) -> None:
        self.bounds[column] = self.gain(column)
        self.is_fresh[column] = True

    def take(self, column: int) -> None:
        self.refresh(column)
        rows, values = self.problem.columns.column(column)
        self.covered[rows] = np.maximum(self.covered[rows], values)
        self.rows.append(column)
        self.gains.append(float(self.bounds[column]))
        self.totals.append(float(self.problem.weights @ self.covered))
        self.is_open[column] = False
        if self.problem.redundant is not None:
            self.is_open &= ~self.problem.redundant[column]
        self.is_fresh[:] = False

    def fits(self, column: int) -> bool:
        tokens = self.problem.terms.tokens
        return tokens is None or float(tokens.costs[[*self.rows, column]].sum()) <= tokens.most

    def refuse(self, column: int) -> None:
        """Never again: what is left to spend only shrinks."""
        self.is_open[column] = False
        self.too_dear.append(column)

    def is_represented(self, group: Group) -> bool:
        return not set(self.rows).isdisjoint(group.columns)

    def wanted(self) -> np.ndarray:
        """(phrases,): open columns of the groups that are not represented yet."""
        missing = [g for g in self.problem.terms.groups if not self.is_represented(g)]
        wanted = np.zeros_like(self.is_open)
        wanted[[column for group in missing for column in group.columns]] = True
        return wanted & self.is_open


Best = Callable[[_Greedy, np.ndarray], int | None]


def _best_plainly(greedy: _Greedy, among: np.ndarray) -> int | None:
    for column in np.flatnonzero(among).tolist():
        greedy.refresh(column)
    return _top(greedy, among)


def _best_lazily(greedy: _Greedy, among: np.ndarray) -> int | None:
    while (column := _top(greedy, among)) is not None and not greedy.is_fresh[column]:
        greedy.refresh(column)
    return column


def _top(greedy: _Greedy, among: np.ndarray) -> int | None:
    """The column whose bound a price is highest, the lowest of equals; None where none gains."""
    keys = np.where(among, greedy.bounds / greedy.prices, 0.0)
    top = int(keys.argmax()) if len(keys) else 0
    return top if len(keys) and keys[top] > 0 else None


def _choose(problem: _Problem, budget: int | None, best: Best) -> Chosen:
    found = _run(_Greedy(problem, np.ones(problem.columns.num_phrases)), budget, best)
    if found.too_dear:
        by_token = _run(_Greedy(problem, problem.costs), budget, best)
        found = max(found, by_token, key=lambda one: round(max(one.totals, default=0.0), 9))
    reachable = float(problem.weights @ problem.columns.nearest())
    return Chosen(
        rows=tuple(found.rows),
        coverage=tuple(total / reachable if reachable else 0.0 for total in found.totals),
        gains=tuple(found.gains),
        left_out=tuple(
            _left_out(found, group)
            for group in problem.terms.groups
            if not found.is_represented(group)
        ),
    )


def _run(greedy: _Greedy, budget: int | None, best: Best) -> _Greedy:
    most = greedy.problem.columns.num_phrases if budget is None else budget
    for pin in greedy.problem.terms.pinned:
        greedy.take(pin)
    while len(greedy.rows) < most:
        wanted = best(greedy, greedy.wanted())
        column = best(greedy, greedy.is_open) if wanted is None else wanted
        if column is None:
            break
        if greedy.fits(column):
            greedy.take(column)
        else:
            greedy.refuse(column)
    return greedy


def _left_out(greedy: _Greedy, group: Group) -> LeftOut:
    """What kept the group's phrases out; of several reasons the one that a user can do most about."""
    columns = [c for c in group.columns if c not in greedy.problem.terms.banned]
    if not columns:
        return LeftOut(group, Reason.BANNED if group.columns else Reason.NO_PHRASE)
    nearest = {c: by for c in columns if (by := _redundant_with(greedy, c)) is not None}
    if any(c not in nearest and greedy.gain(c) > 0 for c in columns):
        return LeftOut(group, Reason.BUDGET)
    if nearest:
        return LeftOut(group, Reason.REDUNDANT, next(iter(nearest.values())))
    return LeftOut(group, Reason.NO_GAIN)


def _redundant_with(greedy: _Greedy, column: int) -> int | None:
    """The first chosen column that forbids this one."""
    redundant = greedy.problem.redundant
    if redundant is None:
        return None
    return next((row for row in greedy.rows if redundant[row, column]), None)
