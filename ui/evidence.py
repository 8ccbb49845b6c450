"""The turns that a candidate was mined from, picked and laid out so that a person can judge it by them.

Picks by shared words, since a screen must not wait for an embedder. All texts are as recorded.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..data.candidates import Candidate
from ..data.errors import NotFound
from ..data.render import render_action, render_trace
from ..data.store import Store
from ..data.traces import Trace, Turn
from ..miner.mask import words

LOOKED_AT = 40  # support turns read for one candidate
TYPICAL, OTHERS = 3, 3


@dataclass(frozen=True)
class EvidenceTurn:
    """One support turn: what came before the thought (the last turn's end), the thought, and what followed."""

    trace: Trace
    index: int

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
    def whole(self) -> str:
        """The run from its question to its end."""
        return render_trace(self.trace)


@dataclass(frozen=True)
class Evidence:
    """Typical turns and, from the other end, ones that share least with the candidate; `looked_at` of `support`."""

    typical: tuple[EvidenceTurn, ...]
    others: tuple[EvidenceTurn, ...]
    looked_at: int
    support: int
    missing: int


def evidence_of(store: Store, candidate: Candidate) -> Evidence:
    """Evidence for a candidate, the same every time; turns whose trace is gone are counted as missing."""
    ids = spread(candidate.support, LOOKED_AT)
    found = [turn for id in ids if (turn := _read(store, id)) is not None]
    distinct = {
        turn.thought: turn for turn in reversed(found)
    }.values()  # the first of equals stays
    ranked = sorted(
        distinct, key=lambda turn: (-likeness(candidate.text, turn.thought), turn.trace.id)
    )
    typical = ranked[:TYPICAL]
    others = ranked[TYPICAL:][-OTHERS:][::-1]
    return Evidence(
        typical=tuple(typical),
        others=tuple(others),
        looked_at=len(found),
        support=len(candidate.support),
        missing=len(ids) - len(found),
    )


def spread(items: Sequence[str], count: int) -> list[str]:
    """`count` of `items` at even distances, or all where there are fewer."""
    if len(items) <= count:
        return list(items)
    return [items[place * len(items) // count] for place in range(count)]


def likeness(first: str, second: str) -> float:
    """Share of the words of either that both have: 1 for the same words, 0 for none in common."""
    a, b = set(words(first)), set(words(second))
    return len(a & b) / len(a | b) if a | b else 0.0


def _read(store: Store, id: str) -> EvidenceTurn | None:
    trace_id, _, index = id.rpartition(":")
    try:
        trace = store.trace(trace_id)
    except NotFound:
        return None
    if not index.isdecimal() or int(index) >= len(trace.turns):
        return None
    return EvidenceTurn(trace, int(index))


def _exchange(turn: Turn) -> str:
    lines = []
    for place, action in enumerate(turn.actions):
        lines.append(render_action(action).text)
        if turn.observations[place : place + 1]:
            lines.append(f"Observation: {turn.observations[place]}")
    return "\n".join(lines)
