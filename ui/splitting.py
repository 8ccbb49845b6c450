"""Splitting as a service: a candidate's turns by what they say, divided into parts with a sentence each, and the command."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from ..data import commands
from ..data.candidates import Candidate
from ..data.commands import Edit, NewCandidate
from ..data.store import Store
from ..miner.abstract import Generalizer
from ..miner.phrase import Phrase, phrases_of
from ..miner.thoughts import Thought, thoughts_of
from . import fitted
from .computations import PROCESS, Computation, Report

LEFT_OUT = -1  # the part of turns that no part takes
AUTO, BY_HAND = "as many as recur", "by hand"


@dataclass(frozen=True)
class Saying:
    """Turns that say the same once what belongs to their questions is taken out; `example` is one as it was written."""

    text: str
    example: str
    turns: tuple[str, ...]
    questions: int


@dataclass(frozen=True)
class Members:
    """Everything that a candidate's turns say, the most frequent first; `vectors` (sayings, d); `unread` turns hold no thought."""

    sayings: tuple[Saying, ...]
    vectors: np.ndarray
    phrases: tuple[Phrase, ...]
    unread: tuple[str, ...]


@dataclass(frozen=True)
class Division:
    """The part of each saying, and a text for each part; the part that `keeps` is the candidate's own from then on."""

    parts: tuple[int, ...]
    texts: tuple[str, ...]
    keeps: int


@dataclass(frozen=True)
class SplitPlan:
    """What is to become of a candidate: parts with their texts and turns, and the turns that are left out."""

    candidate: Candidate
    parts: tuple[NewCandidate, ...]
    left_out: tuple[str, ...]

    @property
    def is_one(self) -> bool:
        """Whether this is no division at all."""
        return len(self.parts) < 2 and not self.left_out

    @property
    def keeps_itself(self) -> bool:
        own = self.candidate.text.casefold()
        return any(part.text.casefold() == own for part in self.parts)


def members_of(store: Store, set_name: str, candidate: Candidate) -> Computation[Members]:
    """What the candidate's turns say: read, masked and embedded."""

    def read(report: Report) -> Members:
        mask = fitted.mask_of(store, set_name)
        while not mask.is_over:
            mask.result(0.2)
            report(mask.stage)
        report(f"reading {len(candidate.support):,} turns")
        thoughts = _thoughts(store, candidate)
        fit = mask.result()
        general = Generalizer.fit(thoughts, fit) if fit else None
        sayings = _sayings(thoughts, general)
        report(f"embedding {len(sayings):,} thoughts")
        import_module("forethought.miner.parts")  # so that the first division need not wait for it
        vectors = fitted.embedder().embed([one.text for one in sayings])
        phrases = phrases_of(thoughts, general) if general else []
        known = {thought.turn for thought in thoughts}
        unread = tuple(turn for turn in candidate.support if turn not in known)
        return Members(tuple(sayings), vectors, tuple(phrases), unread)

    key = ("members", store.database.location, set_name, candidate.id, candidate.support)
    return PROCESS.ask(key, read)


def division(
    members: Members, candidate: Candidate, how: str, others: Sequence[str] = ()
) -> Division:
    """A proposal: `how` many parts as a number, AUTO, or BY_HAND, which leaves all in the first of two; `others` are texts of the set."""
    from ..miner.parts import divide, phrase_for  # brings scikit-learn, which no page waits for

    if not members.sayings:
        return Division((), (candidate.text,), 0)
    weights = [len(one.turns) for one in members.sayings]
    if how == BY_HAND:
        parts, count = np.zeros(len(weights), dtype=int), 2
    else:
        parts = divide(members.vectors, weights, None if how == AUTO else int(how))
        count = int(parts.max()) + 1
    centres = [members.vectors[parts == k] for k in range(count)]
    own = fitted.embedder().embed([candidate.text])[0]
    keeps = int(np.argmax([c.mean(axis=0) @ own if len(c) else -1 for c in centres]))
    taken = {candidate.text.casefold(), *(text.casefold() for text in others)}
    texts = []
    for part, centre in enumerate(centres):
        proposed = phrase_for(centre, members.phrases, fitted.embedder(), taken)
        texts.append(candidate.text if part == keeps else proposed or "")
        taken.add(texts[-1].casefold())
    return Division(tuple(parts.tolist()), tuple(texts), keeps)


def plan(
    candidate: Candidate, members: Members, parts: Sequence[int], texts: Sequence[str]
) -> SplitPlan:
    """`parts` (sayings,) by number or LEFT_OUT; parts without turns are none, and turns that hold no thought go with the
    candidate's own text, or else are left out."""
    part_of = {
        turn: part
        for saying, part in zip(members.sayings, parts, strict=True)
        for turn in saying.turns
    }
    own = next(
        (n for n, t in enumerate(texts) if t.casefold() == candidate.text.casefold()), LEFT_OUT
    )
    turns: Mapping[int, list[str]] = {n: [] for n in (*range(len(texts)), LEFT_OUT)}
    for turn in dict.fromkeys(candidate.support):
        turns[part_of.get(turn, own)].append(turn)
    made = [NewCandidate(text, tuple(turns[n])) for n, text in enumerate(texts) if turns[n]]
    return SplitPlan(candidate, tuple(made), tuple(turns[LEFT_OUT]))


def split(store: Store, set_name: str, actor: str, wanted: SplitPlan) -> tuple[Candidate, ...]:
    """The parts as they are stored; StaleEdit where the candidate is not what the plan was made from."""
    one = wanted.candidate
    edit = Edit(set_name, one.id, one.version, actor)
    return commands.split(store, edit, wanted.parts, wanted.left_out)


def _thoughts(store: Store, candidate: Candidate) -> list[Thought]:
    wanted = set(candidate.support)
    traces = sorted({turn.rpartition(":")[0] for turn in wanted})
    found = (one for trace in store.traces_of(traces) for one in thoughts_of([trace]))
    return sorted((one for one in found if one.turn in wanted), key=lambda one: one.turn)


def _sayings(thoughts: Sequence[Thought], general: Generalizer | None) -> list[Saying]:
    """By what is said in general; as it was written where there is no mask."""
    by_text: dict[str, list[Thought]] = {}
    for thought in thoughts:
        by_text.setdefault(general.say(thought) if general else thought.text, []).append(thought)
    found = [
        Saying(
            text=text,
            example=Counter(one.text for one in same).most_common(1)[0][0],
            turns=tuple(one.turn for one in same),
            questions=len({one.question for one in same}),
        )
        for text, same in by_text.items()
    ]
    return sorted(found, key=lambda one: (-len(one.turns), one.text))
