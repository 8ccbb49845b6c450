"""The turns that a candidate was mined from, picked and laid out so that a person can judge it by them.

Picks by shared words, since a screen must not wait for an embedder. All texts are as recorded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..data.candidates import Candidate
from ..data.errors import NotFound
from ..data.listing import ListedCandidate
from ..data.render import render_action, render_trace
from ..data.store import Store
from ..data.traces import Trace, Turn
from .browsing import Picture, picture
from .importing import pictures_beside
from .likeness import nearest_by_words, word_likeness

LOOKED_AT = 24  # support turns read for one candidate
RIVALS, LOOKED_AT_OF_RIVAL = 3, 6  # candidates that say the most alike, and turns read of each
SHOWN = 3  # turns of each kind


@dataclass(frozen=True)
class EvidenceTurn:
    """One support turn: what came before the thought (the last turn's end), the thought, and what followed."""

    trace: Trace
    index: int
    kept: Path | None = None  # the folder of the store's pictures

    @property
    def turn(self) -> Turn:
        return self.trace.turns[self.index]

    @property
    def thought(self) -> str:
        return "\n".join(self.turn.thoughts)

    @property
    def before(self) -> str:
        """The preceding actions and observations, or nothing at the start of the run."""
        return _exchange(self.trace.turns[self.index - 1]) if self.index else ""

    @property
    def after(self) -> str:
        """The actions that followed, and what came back."""
        return _exchange(self.turn)

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """What the turn names as its pictures."""
        return tuple(picture(self.trace, name, self.kept) for name in self.turn.images)

    @property
    def pictures_of_trace(self) -> tuple[Picture, ...]:
        """Those of all turns, in their order."""
        names = (name for turn in self.trace.turns for name in turn.images)
        return tuple(picture(self.trace, name, self.kept) for name in names)

    @property
    def whole(self) -> str:
        """The run from its question to its end."""
        return render_trace(self.trace)


class Outsider(NamedTuple):
    """A turn that another candidate stands for, and that candidate's text."""

    turn: EvidenceTurn
    of: str


@dataclass(frozen=True)
class Evidence:
    """Turns to judge a candidate by; `looked_at` of `support` were compared, `missing` of those are in no stored trace.

    `boundary`: turns of its own that read more like a rival; `outside`: turns of rivals that read most like it.
    """

    typical: tuple[EvidenceTurn, ...]
    boundary: tuple[EvidenceTurn, ...]
    outside: tuple[Outsider, ...]
    looked_at: int
    support: int
    missing: int


def evidence_of(
    store: Store, candidate: Candidate, others: Sequence[ListedCandidate] = (), set_name: str = ""
) -> Evidence:
    """Evidence for a candidate among `others` of its set, the same every time."""
    places = nearest_by_words(candidate.text, [one.text for one in others], RIVALS)
    rivals = [others[place] for place in places]
    ids = spread(candidate.support, LOOKED_AT)
    found = [turn for id in ids if (turn := read_turn(store, id)) is not None]
    ranked = sorted(
        _distinct(found), key=lambda t: (-word_likeness(candidate.text, t.thought), t.trace.id)
    )
    typical = ranked[:SHOWN]
    boundary = sorted(
        ranked[SHOWN:],
        key=lambda t: (_margin(t.thought, candidate.text, [r.text for r in rivals]), t.trace.id),
    )
    return Evidence(
        typical=tuple(typical),
        boundary=tuple(boundary[:SHOWN]),
        outside=_outside(store, candidate, rivals, set_name),
        looked_at=len(found),
        support=len(candidate.support),
        missing=len(ids) - len(found),
    )


def _outside(
    store: Store, candidate: Candidate, rivals: Sequence[ListedCandidate], set_name: str
) -> tuple[Outsider, ...]:
    own = set(candidate.support)
    found = []
    for rival in rivals:
        whole = store.candidate(set_name, rival.id)
        turns = [turn for turn in whole.support if turn not in own] if whole else []
        for id in spread(turns, LOOKED_AT_OF_RIVAL):
            if (turn := read_turn(store, id)) is not None:
                found.append(Outsider(turn, rival.text))
    found.sort(key=lambda one: -word_likeness(candidate.text, one.turn.thought))
    distinct = {one.turn.thought: one for one in reversed(found)}
    return tuple(reversed(distinct.values()))[:SHOWN]


def _margin(thought: str, text: str, rivals: Sequence[str]) -> float:
    """How much more the thought is like the text than like any rival."""
    rival = max((word_likeness(thought, other) for other in rivals), default=0.0)
    return word_likeness(thought, text) - rival


def _distinct(turns: Sequence[EvidenceTurn]) -> list[EvidenceTurn]:
    """One turn of each thought, the first."""
    return list({turn.thought: turn for turn in reversed(turns)}.values())


def spread(items: Sequence[str], count: int) -> list[str]:
    """`count` of `items` at even distances, or all where there are fewer."""
    if len(items) <= count:
        return list(items)
    return [items[place * len(items) // count] for place in range(count)]


def read_turn(store: Store, id: str) -> EvidenceTurn | None:
    """The turn of this id (turn_id), None where the store lacks it."""
    trace_id, _, index = id.rpartition(":")
    try:
        trace = store.trace(trace_id)
    except NotFound:
        return None
    if not index.isdecimal() or int(index) >= len(trace.turns):
        return None
    return EvidenceTurn(trace, int(index), pictures_beside(store.database.location))


def _exchange(turn: Turn) -> str:
    lines = []
    for place, action in enumerate(turn.actions):
        lines.append(render_action(action).text)
        if turn.observations[place : place + 1]:
            lines.append(f"Observation: {turn.observations[place]}")
    return "\n".join(lines)
