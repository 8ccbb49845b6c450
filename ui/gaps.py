"""Gaps as a service: *mine* turns that no candidate covers, grouped by what they say, and a candidate made out of some of them.

Only turns of *mine* questions are looked at: what becomes a candidate by them is measured on others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from ..data import commands
from ..data.candidates import Candidate
from ..data.commands import NewCandidate
from ..data.listing import ListedCandidate
from ..data.store import Store
from ..miner.coverage import COVERED_AT, Nearest, nearest
from ..miner.phrase import phrases_of
from .computations import PROCESS, Computation, Report
from .fitted import Basis, basis_of, corpus_of
from .roster import Roster

if TYPE_CHECKING:
    from .corpus import Corpus

MOST_GAPS = 40  # groups that are told
MOST_SAYINGS = 60  # thoughts of a group that are told
MIN_ACTION_SHARE = 0.2  # of the turns, for a kind to be what a new candidate announces


class Kind(StrEnum):
    """What counts as not covered."""

    UNASSIGNED = "no candidate is assigned"
    FAR = "no wording is near"


@dataclass(frozen=True)
class GapThought:
    """Turns that say the same in general; `example` as one of them wrote it, `kinds` what followed how often."""

    example: str
    turns: tuple[str, ...]
    questions: int
    kinds: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Gap:
    """A group of uncovered turns, its most frequent thoughts first, with a wording that would say it, "" where none is known.

    `nearest` is the candidate that comes nearest on average, at `cosine`.
    """

    thoughts: tuple[GapThought, ...]
    num_turns: int
    num_questions: int
    wording: str
    nearest: str
    cosine: float


@dataclass(frozen=True)
class Gaps:
    """The largest gaps first; `scattered` of the `uncovered` turns are in none, since nothing like them recurs."""

    gaps: tuple[Gap, ...]
    kind: Kind
    threshold: float
    turns: int
    uncovered: int
    scattered: int
    state: int


def gaps_of(
    store: Store,
    set_name: str,
    roster: Roster,
    kind: Kind = Kind.FAR,
    threshold: float = COVERED_AT,
) -> Computation[Gaps]:
    """The gaps of the set as it is now."""

    def compute(report: Report) -> Gaps:
        corpus = corpus_of(store, set_name)
        while (found := corpus.result(wait=0.2)) is None:
            report(corpus.stage)
        return find_gaps(found, roster, kind, threshold, report)

    return PROCESS.ask(_key(basis_of(store, set_name), roster, kind, threshold), compute)


def gaps_asked_for(
    store: Store, set_name: str, roster: Roster, kind: Kind, threshold: float
) -> Computation[Gaps] | None:
    """The same, but only where someone has asked for them already."""
    return PROCESS.look(_key(basis_of(store, set_name), roster, kind, threshold))


def find_gaps(
    corpus: Corpus,
    roster: Roster,
    kind: Kind,
    threshold: float,
    report: Report = lambda stage: None,
) -> Gaps:
    """Groups of the corpus' *mine* turns that the active candidates do not cover."""
    thoughts, active = corpus.thoughts, roster.active
    texts = [one.text for one in active]
    report(f"comparing {len(thoughts):,} thoughts with {len(texts):,} candidates")
    near = nearest(thoughts, texts or [""], corpus.mask, corpus.embedder)
    if kind is Kind.FAR:
        below = np.flatnonzero(near.cosine < threshold)
    else:
        rows = corpus.assigner.assign(thoughts, texts).rows
        below = np.array([at for at, row in enumerate(rows) if row is None], dtype=int)
    report(f"grouping {len(below):,} turns")
    sayings = _sayings(corpus, below.tolist())
    groups = _grouped(near.vectors, sayings)
    report("wording them")
    return Gaps(
        gaps=tuple(_gap(corpus, group, near, active) for group in groups[:MOST_GAPS]),
        kind=kind,
        threshold=threshold,
        turns=len(thoughts),
        uncovered=len(below),
        scattered=len(below) - sum(len(rows) for group in groups for rows in group),
        state=roster.state,
    )


def actions_of(thoughts: Sequence[GapThought]) -> tuple[str, ...]:
    """The kinds of action that follow often enough to be announced, the most frequent first."""
    kinds = Counter[str]()
    for one in thoughts:
        kinds.update(dict(one.kinds))
    least = MIN_ACTION_SHARE * sum(len(one.turns) for one in thoughts)
    ordered = sorted(kinds, key=lambda kind: (-kinds[kind], kind))
    return tuple(kind for kind in ordered if kinds[kind] >= least)


def add_candidate(
    store: Store,
    set_name: str,
    actor: str,
    text: str,
    thoughts: Sequence[GapThought],
    actions: Sequence[str],
) -> Candidate:
    """A new candidate at the end of the set, supported by the turns of `thoughts`."""
    support = tuple(turn for one in thoughts for turn in one.turns)
    new = NewCandidate(text, support, tuple(actions))
    return commands.add(store, set_name, new, actor, "fills a gap")


def _sayings(corpus: Corpus, rows: Sequence[int]) -> list[list[int]]:
    """The rows that say the same in general, together."""
    by_text: dict[str, list[int]] = {}
    for row in rows:
        by_text.setdefault(corpus.assigner.general.say(corpus.thoughts[row]), []).append(row)
    return list(by_text.values())


def _grouped(vectors: np.ndarray, sayings: Sequence[list[int]]) -> list[list[list[int]]]:
    """Sayings by what recurs, the largest group first and in each the most frequent; what does not recur is left out."""
    from ..miner.cluster import NOISE  # brings scikit-learn, which no page waits for
    from ..miner.sampling import cluster_many

    if not sayings:
        return []
    weights = [len(rows) for rows in sayings]
    first = vectors[[rows[0] for rows in sayings]]
    labels = cluster_many(first, weights, np.zeros(len(sayings), dtype=int)).labels
    groups: dict[int, list[list[int]]] = {}
    for label, rows in zip(labels.tolist(), sayings, strict=True):
        if label != NOISE:
            groups.setdefault(label, []).append(rows)
    ordered = [sorted(group, key=lambda rows: (-len(rows), rows)) for group in groups.values()]
    return sorted(ordered, key=lambda group: (-sum(map(len, group)), group))


def _gap(
    corpus: Corpus, group: Sequence[Sequence[int]], near: Nearest, active: Sequence[ListedCandidate]
) -> Gap:
    from ..miner.parts import phrase_for

    rows = [row for same in group for row in same]
    thoughts = [corpus.thoughts[row] for row in rows]
    taken = {one.text.casefold() for one in active}
    phrases = phrases_of(thoughts, corpus.assigner.general)
    wording = phrase_for(near.vectors[rows], phrases, corpus.embedder, taken)
    nearest_row = Counter(near.rows[rows].tolist()).most_common(1)[0][0]
    return Gap(
        thoughts=tuple(_thought(corpus, same) for same in group[:MOST_SAYINGS]),
        num_turns=len(rows),
        num_questions=len({thought.question for thought in thoughts}),
        wording=wording or "",
        nearest=active[nearest_row].id if active else "",
        cosine=float(near.cosine[rows].mean()),
    )


def _thought(corpus: Corpus, rows: Sequence[int]) -> GapThought:
    same = [corpus.thoughts[row] for row in rows]
    kinds = Counter(one.kind for one in same if one.kind)
    return GapThought(
        example=Counter(one.text for one in same).most_common(1)[0][0],
        turns=tuple(one.turn for one in same),
        questions=len({one.question for one in same}),
        kinds=tuple(kinds.most_common()),
    )


def _key(basis: Basis, roster: Roster, kind: Kind, threshold: float) -> Hashable:
    texts = tuple(one.text for one in roster.active)
    return "gaps", basis, texts, kind, threshold if kind is Kind.FAR else None
