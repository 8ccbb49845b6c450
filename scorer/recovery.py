"""Policies and their gains: what a set's thoughts are worth beside the free thought, from an audit's records.

A record is one audited turn (see audit.py for its keys). lp(x) is the log-probability of the turn's action after
thought x, in two parts, kind and arguments. gain(x) = lp(x) - lp(neutral). A policy says which text is injected on each
turn; its recovery is its mean gain over the free thought's. Works on records alone: every figure can be recomputed.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.traces import kind_of

Record = Mapping[str, Any]
Choice = Sequence[str | None]

MIN_ROUTE_TURNS = 10  # kinds with fewer choose turns use the set's best constant
RANDOM_SETS = 200


@dataclass(frozen=True)
class SetView:
    """What an audit needs to know of a set: ids in order, and the kinds that each candidate expects."""

    name: str
    ids: tuple[str, ...]
    expected: Mapping[str, tuple[str, ...]]

    def expects(self, id: str, kind: str) -> bool:
        return kind_of(kind) in {kind_of(name) for name in self.expected.get(id, ())}


@dataclass(frozen=True)
class Gains:
    """Nats over neutral, (turns,) each: of the action's kind, and of its arguments given the kind."""

    kind: np.ndarray
    arguments: np.ndarray

    @property
    def total(self) -> np.ndarray:
        return self.kind + self.arguments


def free_gains(records: Sequence[Record]) -> Gains:
    """What the recorded free thought gains."""
    return _over_neutral(records, [record["lp"]["free"] for record in records])


def gains_of(records: Sequence[Record], choice: Choice) -> Gains:
    """What injecting `choice[i]` on turn i gains; None injects nothing and gains 0."""
    pairs = [
        record["lp"]["candidates"][id] if id is not None else None
        for record, id in zip(records, choice, strict=True)
    ]
    return _over_neutral(records, pairs)


def best_constant(records: Sequence[Record], ids: Sequence[str]) -> str:
    """The one text with the highest mean gain on these (choose) turns; the first of equals."""
    means = [float(gains_of(records, [id] * len(records)).total.mean()) for id in ids]
    return ids[int(np.argmax(np.round(means, 9)))]


def routes(choose: Sequence[Record], ids: Sequence[str]) -> dict[str, str]:
    """For each kind with enough choose turns the candidate that was best on them; others use `best_constant`."""
    by_kind = defaultdict(list)
    for record in choose:
        by_kind[record["kind"]].append(record)
    return {
        kind: best_constant(records, ids)
        for kind, records in sorted(by_kind.items())
        if len(records) >= MIN_ROUTE_TURNS
    }


def routed_choice(
    records: Sequence[Record], choose: Sequence[Record], ids: Sequence[str]
) -> list[str | None]:
    """What knowing only the kind of the next move would inject."""
    if not choose:
        return [None] * len(records)
    table, constant = routes(choose, ids), best_constant(choose, ids)
    return [table.get(record["kind"], constant) for record in records]


def assigned_choice(records: Sequence[Record], name: str) -> list[str | None]:
    """What the assignment rule gives each turn's own free thought."""
    return [record["assignments"][name] for record in records]


def selected_choice(records: Sequence[Record], ids: Sequence[str], calibration: str) -> list[str]:
    """What the audited model selects: the highest score, the first of equals."""
    return [max(ids, key=lambda id: record["scores"][calibration][id]) for record in records]


def oracle_choice(records: Sequence[Record], ids: Sequence[str]) -> list[str]:
    """The best candidate for each turn, chosen by looking at it: an upper bound, never a result."""
    return [max(ids, key=lambda id: sum(record["lp"]["candidates"][id])) for record in records]


def random_oracle_gains(records: Sequence[Record], size: int, seed: int) -> Gains:
    """Mean over RANDOM_SETS of the oracle's gains for sets of `size` out of the pool of *mine* thoughts."""
    pool = np.array([record["lp"]["pool"] for record in records])  # (turns, pool, 2)
    rng = np.random.default_rng(seed)
    neutral = _neutral(records)  # (turns, 2)
    rows = np.arange(len(records))
    picked = np.zeros_like(neutral)
    for _ in range(RANDOM_SETS):
        members = rng.choice(pool.shape[1], size=min(size, pool.shape[1]), replace=False)
        best = members[pool[:, members].sum(axis=2).argmax(axis=1)]
        picked += pool[rows, best]
    gain = picked / RANDOM_SETS - neutral
    return Gains(gain[:, 0], gain[:, 1])


def use_by_kind(records: Sequence[Record], choice: Choice) -> dict[str, dict[str, int]]:
    """How often each candidate is used before each kind of action."""
    table: dict[str, dict[str, int]] = {}
    for record, id in zip(records, choice, strict=True):
        row = table.setdefault(id or "unassigned", {})
        row[record["kind"]] = row.get(record["kind"], 0) + 1
    return table


def _neutral(records: Sequence[Record]) -> np.ndarray:
    """(turns, 2): kind and arguments after a neutral sentence, mean over the neutral sentences."""
    return np.array([np.mean(record["lp"]["neutral"], axis=0) for record in records]).reshape(-1, 2)


def _over_neutral(records: Sequence[Record], pairs: Sequence[Sequence[float] | None]) -> Gains:
    neutral = _neutral(records)
    gain = np.array(
        [base if pair is None else pair for pair, base in zip(pairs, neutral, strict=True)]
    ).reshape(-1, 2)
    gain = gain - neutral
    return Gains(gain[:, 0], gain[:, 1])
