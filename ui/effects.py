"""What a set would lose without one of its candidates: which turns the assignment rule gives it, and who would take them else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.listing import ListedCandidate
from ..data.store import Store
from ..miner.confusions import CONTEST_MARGIN
from ..miner.similarity import MILLION
from .computations import PROCESS, Computation, Report
from .fitted import basis_of, corpus_of
from .roster import Roster

if TYPE_CHECKING:
    from .corpus import Corpus

MOST_HEIRS = 3


class Heir(NamedTuple):
    """A candidate that would take `turns` of another's."""

    id: str
    turns: int


class Effect(NamedTuple):
    """`turns` that a candidate takes; `lost` of them fit no other; `contested` fit another nearly as well."""

    turns: int
    lost: int
    contested: int
    heirs: tuple[Heir, ...]


@dataclass(frozen=True)
class Effects:
    """Of every active candidate, by id, over `turns` *mine* turns; `texts` are the set as it was measured."""

    by_id: Mapping[str, Effect]
    texts: Mapping[str, str]
    turns: int

    @property
    def contested(self) -> dict[str, float]:
        """By id, the share of its turns that another would take nearly as well."""
        return {id: e.contested / e.turns if e.turns else 0.0 for id, e in self.by_id.items()}

    def is_of(self, roster: Roster) -> bool:
        """Whether the set has not changed since."""
        return self.texts == _texts(roster.active)


def effects_of(store: Store, set_name: str, roster: Roster) -> Computation[Effects]:
    """The effects of the set as it is now."""

    def compute(report: Report) -> Effects:
        corpus = corpus_of(store, set_name)
        while (found := corpus.result(wait=0.2)) is None:
            report(corpus.stage)
        report(f"assigning {len(found.thoughts):,} turns")
        return effects(found, roster.active)

    return PROCESS.ask(_key(store, set_name, roster), compute)


def effects_asked_for(store: Store, set_name: str, roster: Roster) -> Computation[Effects] | None:
    """The same, but only where someone has asked for them already."""
    return PROCESS.look(_key(store, set_name, roster))


def effects(corpus: Corpus, candidates: Sequence[ListedCandidate]) -> Effects:
    """Worked out for all candidates at once."""
    from ..miner.assign import MIN_AFFINITY  # brings scikit-learn, which no page waits for

    texts = [one.text for one in candidates]
    turns = len(corpus.thoughts)
    if not texts:
        return Effects({}, {}, turns)
    rows = corpus.assigner.rows(corpus.thoughts)
    affinity = corpus.assigner.millionths_of(rows, texts)  # (rows, texts)
    counts = rows.total(np.ones(turns)).astype(int)
    best = _take_best(affinity)
    other = _take_best(affinity)
    least = MIN_AFFINITY * MILLION
    found = {}
    for column, one in enumerate(candidates):
        mine = (best.column == column) & (best.value >= least)
        inherited = mine & (other.value >= least)
        close = inherited & (best.value - other.value <= CONTEST_MARGIN * best.value)
        heirs = Counter[int]()
        for heir, count in zip(
            other.column[inherited].tolist(), counts[inherited].tolist(), strict=True
        ):
            heirs[heir] += count
        total = int(counts[mine].sum())
        found[one.id] = Effect(
            turns=total,
            lost=total - heirs.total(),
            contested=int(counts[close].sum()),
            heirs=tuple(
                Heir(candidates[heir].id, count) for heir, count in heirs.most_common(MOST_HEIRS)
            ),
        )
    return Effects(found, _texts(candidates), turns)


class _Best(NamedTuple):
    """(rows,): the column of the largest affinity, and that affinity in millionths."""

    column: np.ndarray
    value: np.ndarray


def _take_best(affinity: np.ndarray) -> _Best:
    """The best of each row, which is then crossed out in `affinity`."""
    column = affinity.argmax(axis=1)
    value = np.take_along_axis(affinity, column[:, None], axis=1)[:, 0].astype(float)
    np.put_along_axis(affinity, column[:, None], 0, axis=1)
    return _Best(column, value)


def _key(store: Store, set_name: str, roster: Roster) -> Hashable:
    return "effects", basis_of(store, set_name), tuple(_texts(roster.active).items())


def _texts(candidates: Sequence[ListedCandidate]) -> dict[str, str]:
    return {one.id: one.text for one in candidates}
