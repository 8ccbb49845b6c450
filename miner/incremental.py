"""A set that grows: new traces are assigned to the candidates there are, and only what is left over is mined.

Existing candidates keep their ids, texts, order and support. New turns that one of them fits join its support; a candidate's
reach is how well it fits the turns it has. What none reaches is clustered and phrased as ever, and a move that recurs
there is proposed behind the candidates there are. Knows no store: which traces are new is told.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..data.candidates import Candidate, CandidateSet, Status
from ..data.identity import candidate_id
from ..data.traces import Trace
from .assign import MIN_AFFINITY, Assigner
from .embed import Embedder
from .escape import escape_id
from .mask import Mask
from .mask_rules import MaskRules
from .mine import MinerSettings, choose_phrases, mineable, supported
from .moves import find_moves, speak
from .phrase import MIN_QUESTIONS, phrases_of
from .sampling import RADIUS_SHARE
from .stages import Stages
from .thoughts import Thought
from .wishes import Wishes

LINEAGE = "lineage"  # in a set's manifest
SPLIT_SHARE = (
    0.5  # of a proposal's turns that one candidate fits best, for it to be split from that one
)


class Lineage(NamedTuple):
    """Where a proposed candidate comes from: `parents` fit most of its turns best, though from too far; none for a new move."""

    id: str
    parents: tuple[str, ...]


class Merged(NamedTuple):
    """A phrase of the leftover that says what the candidate `into` says: no candidate of its own."""

    text: str
    into: str
    similarity: float


@dataclass(frozen=True)
class Growth:
    """The grown set and how it came about.

    Of `num_new` turns of new traces `num_placed` joined an existing candidate; the rest was mined. `added` are the
    proposals in order; `merged` what was found again.
    """

    candidate_set: CandidateSet
    num_new: int
    num_placed: int
    added: tuple[Lineage, ...] = ()
    merged: tuple[Merged, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Counts, proposals and merges as plain values; not the set."""
        plain = asdict(self) | {
            "added": [one._asdict() for one in self.added],
            "merged": [one._asdict() for one in self.merged],
        }
        return {key: value for key, value in plain.items() if key != "candidate_set"}


def grow(
    candidate_set: CandidateSet,
    traces: Iterable[Trace],
    known: Collection[str],
    embedder: Embedder,
    settings: MinerSettings | None = None,
    rules: MaskRules | None = None,
) -> Growth:
    """`candidate_set` after `traces`, old and new ones; `known` are the ids of those that it was mined from.

    At most `settings.budget` candidates are added. Only *mine* questions are read; the order of traces does not matter.
    `rules` are the mask rules that it was mined with, by default the shipped ones.
    """
    settings = settings or MinerSettings()
    thoughts = mineable(traces)
    new = [thought for thought in thoughts if thought.turn.rpartition(":")[0] not in known]
    if not new:
        return Growth(candidate_set, 0, 0)
    standing = _Standing(
        candidate_set, Assigner(thoughts, Mask.fit(thoughts, rules), embedder), thoughts
    )
    placed = standing.place(new)
    left = [thought for thought, row in zip(new, placed.rows, strict=True) if row is None]
    proposed = standing.propose(left, settings) if left else _Proposed((), ())
    added = tuple(standing.lineage(one, new, placed) for one in proposed.candidates)
    return Growth(
        candidate_set=standing.grown(new, placed, proposed.candidates, added),
        num_new=len(new),
        num_placed=len(new) - len(left),
        added=added,
        merged=proposed.merged,
    )


class _Placed(NamedTuple):
    """(new turns,) each: the candidate that reaches it, None for none; and the one that fits best, however far."""

    rows: tuple[int | None, ...]
    nearest: tuple[int | None, ...]


class _Proposed(NamedTuple):
    candidates: tuple[Candidate, ...]
    merged: tuple[Merged, ...]


class _Standing:
    """The candidates that there are, and how far each reaches. Rows are places among them; the escape is none of them."""

    def __init__(
        self, candidate_set: CandidateSet, assigner: Assigner, thoughts: Sequence[Thought]
    ) -> None:
        self.set, self.assigner = candidate_set, assigner
        self.escape = escape_id(candidate_set)
        self.candidates = [c for c in candidate_set.active if c.id != self.escape]
        self.texts = [candidate.text for candidate in self.candidates]
        self.by_turn = {thought.turn: thought for thought in thoughts}

    def place(self, new: Sequence[Thought]) -> _Placed:
        """The one rule; a turn that its candidate fits less than nearly all turns it has is out of reach."""
        found = self.assigner.assign(new, self.texts)
        reach = [self._reach(candidate) for candidate in self.candidates]
        rows = (
            row if row is not None and affinity >= reach[row] else None
            for row, affinity in zip(found.rows, found.affinity, strict=True)
        )
        return _Placed(tuple(rows), found.rows)

    def propose(self, left: Sequence[Thought], settings: MinerSettings) -> _Proposed:
        """What recurs among `left`, over MIN_QUESTIONS questions at least, and is said by no candidate yet."""
        ids = {candidate.id for candidate in self.set.candidates}
        found = phrases_of(left, self.assigner.general)
        phrases = [phrase for phrase in found if candidate_id(phrase.text) not in ids]
        if not phrases:
            return _Proposed((), ())
        moves = find_moves(left, self.assigner, Stages("growth"))
        spoken = speak(moves, phrases, self.assigner.embedder)
        beside = replace(
            settings, budget=len(self.texts) + settings.budget, wishes=self._wishes(settings)
        )
        choice = choose_phrases(left, moves, spoken, self.assigner, beside)
        fresh = self._supported(choice.texts[len(self.texts) :], left, settings)
        recurring = [one.text for one in fresh if one.questions >= MIN_QUESTIONS]
        return _Proposed(self._supported(recurring, left, settings), self._merged(choice.twins))

    def lineage(self, proposal: Candidate, new: Sequence[Thought], placed: _Placed) -> Lineage:
        support = set(proposal.support)
        near = Counter(
            row for one, row in zip(new, placed.nearest, strict=True) if one.turn in support
        )
        row, count = near.most_common(1)[0]
        if row is None or count < SPLIT_SHARE * len(support):
            return Lineage(proposal.id, ())
        return Lineage(proposal.id, (self.candidates[row].id,))

    def grown(
        self,
        new: Sequence[Thought],
        placed: _Placed,
        proposals: Sequence[Candidate],
        added: Sequence[Lineage],
    ) -> CandidateSet:
        """The set with the new turns among its support and the proposals at its end, before an escape."""
        joined: defaultdict[str, list[str]] = defaultdict(list)
        for thought, row in zip(new, placed.rows, strict=True):
            if row is not None:
                joined[self.candidates[row].id].append(thought.turn)
        old = [self._widened(one, joined[one.id]) for one in self.set.candidates]
        first = [one for one in old if one.id != self.escape]
        last = [one for one in old if one.id == self.escape]
        before: Any = self.set.manifest.get(LINEAGE, ())
        told = [*before, *(one._asdict() for one in added)]
        return replace(
            self.set,
            candidates=(*first, *proposals, *last),
            manifest={**self.set.manifest, LINEAGE: told},
        )

    def _reach(self, candidate: Candidate) -> float:
        members = [self.by_turn[turn] for turn in candidate.support if turn in self.by_turn]
        if not members:
            return MIN_AFFINITY
        affinity = self.assigner.affinity(members, [candidate.text])
        return max(MIN_AFFINITY, float(np.quantile(affinity, 1 - RADIUS_SHARE)))

    def _wishes(self, settings: MinerSettings) -> Wishes:
        """The candidates pinned; what a person rejected or banned stays out."""
        kept = {text.casefold() for text in self.texts}
        rejected = (one.text for one in self.set.candidates if one.status is Status.REJECTED)
        banned = (*settings.wishes.banned, *rejected)
        return Wishes(tuple(self.texts), tuple(t for t in banned if t.casefold() not in kept))

    def _supported(
        self, texts: Sequence[str], left: Sequence[Thought], settings: MinerSettings
    ) -> tuple[Candidate, ...]:
        """`texts` as candidates, each with the turns of `left` that it fits better than any other and any standing one."""
        return supported([*self.texts, *texts], left, self.assigner, settings)[len(self.texts) :]

    def _merged(self, twins: Iterable[tuple[str, str, float]]) -> tuple[Merged, ...]:
        ids = {candidate.text: candidate.id for candidate in self.candidates}
        found: dict[str, Merged] = {}
        for first, second, similarity in twins:  # the nearest first
            if (first in ids) != (second in ids):
                text, into = (second, first) if first in ids else (first, second)
                found.setdefault(text, Merged(text, ids[into], similarity))
        return tuple(found.values())

    def _widened(self, candidate: Candidate, turns: Sequence[str]) -> Candidate:
        support = (*candidate.support, *turns)
        questions = {self.by_turn[turn].question for turn in support if turn in self.by_turn}
        return replace(
            candidate, support=support, questions=max(candidate.questions, len(questions))
        )
