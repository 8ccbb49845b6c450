"""Merging as a service: which candidates may join one, what would come of it, and the command."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..data import commands
from ..data.candidates import Candidate
from ..data.commands import Edit
from ..data.listing import ListedCandidate
from ..data.store import Store
from .evidence import EvidenceTurn, read_turn, spread
from .likeness import alike, word_likeness
from .roster import Roster

OFFERED = 12  # candidates that may join, listed at once
READ, DOUBTFUL = 40, 6  # turns of the others that are read, and of these the ones that are shown


@dataclass(frozen=True)
class MergePlan:
    """`others` join `survivor` under `text`; of their turns the `excluded` (turn_id) stay out."""

    survivor: Candidate
    others: tuple[Candidate, ...]
    text: str
    excluded: frozenset[str] = frozenset()

    @property
    def support(self) -> tuple[str, ...]:
        """The turns of the merged candidate."""
        theirs = (turn for other in self.others for turn in other.support)
        joined = (turn for turn in theirs if turn not in self.excluded)
        return tuple(dict.fromkeys((*self.survivor.support, *joined)))

    @property
    def actions(self) -> tuple[str, ...]:
        each = (self.survivor, *self.others)
        return tuple(dict.fromkeys(name for one in each for name in one.expected_actions))

    @property
    def aliases(self) -> tuple[str, ...]:
        """The texts that the merged candidate is known by besides its own."""
        theirs = (name for other in self.others for name in (other.text, *other.aliases))
        texts = {name.casefold(): name for name in (*self.survivor.aliases, *theirs)}
        return tuple(name for key, name in texts.items() if key != self.text.casefold())


class Member(NamedTuple):
    """A turn that would come with a merge: its id, the turn, and how like the surviving text it is."""

    id: str
    turn: EvidenceTurn
    likeness: float


def offered(
    roster: Roster, candidate: Candidate, words: str, chosen: Collection[str]
) -> list[ListedCandidate]:
    """Who may join: the chosen first, then the most similar that hold every one of `words`."""
    found = alike(candidate.text, roster, candidate.id, least=0.0, most=len(roster.candidates))
    wanted = words.casefold().split()
    near = [
        one.id
        for one in found
        if one.id not in chosen and all(word in one.text.casefold() for word in wanted)
    ]
    ids = [*(one.id for one in found if one.id in chosen), *near[:OFFERED]]
    return [roster.by_id[id] for id in ids]


def doubtful_members(store: Store, plan: MergePlan) -> list[Member]:
    """The turns of the others that are least like the surviving text, one of each thought."""
    own = set(plan.survivor.support)
    turns = [t for other in plan.others for t in other.support if t not in own]
    found: dict[str, Member] = {}
    for id in spread(turns, READ):
        turn = read_turn(store, id)
        if turn is not None:
            member = Member(id, turn, word_likeness(plan.text, turn.thought))
            found.setdefault(turn.thought, member)
    return sorted(found.values(), key=lambda member: member.likeness)[:DOUBTFUL]


def merge(store: Store, set_name: str, actor: str, plan: MergePlan) -> Candidate:
    """The survivor; StaleEdit where one of them is not what the plan was made from."""
    return commands.merge(
        store,
        _edit(set_name, plan.survivor, actor),
        _edits(set_name, plan.others, actor),
        plan.text,
        plan.excluded,
    )


def _edits(set_name: str, candidates: Sequence[Candidate], actor: str) -> list[Edit]:
    return [_edit(set_name, candidate, actor) for candidate in candidates]


def _edit(set_name: str, candidate: Candidate, actor: str) -> Edit:
    return Edit(set_name, candidate.id, candidate.version, actor)
