"""Which turns are looked at to judge a set: plain ones of a split, spread over its questions. Knows no model."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from ..data.identity import Split
from ..data.traces import Outcome, Trace

LONGEST_THOUGHT = 20_000  # characters; a longer one fits no context beside the turn's own


@dataclass(frozen=True)
class PickedTurn:
    """A turn to audit, by its trace and its index."""

    trace: Trace
    index: int


def held_out(
    traces: Sequence[Trace], split: Split, limit: int | None, seed: int = 0
) -> list[PickedTurn]:
    """At most `limit` plain turns of a split, of traces that did not fail, in an order fixed by hash.

    Turns whose thought is longer than LONGEST_THOUGHT are left out.
    """
    eligible = [
        PickedTurn(trace, index)
        for trace in traces
        if trace.split is split and trace.outcome is not Outcome.FAILURE
        for index, turn in enumerate(trace.turns)
        if turn.is_plain and len(turn.thoughts[0]) <= LONGEST_THOUGHT
    ]
    return spread(eligible, seed)[:limit]


def hashed(traces: Sequence[Trace], seed: int = 0) -> list[Trace]:
    """`traces` in an order fixed by hash."""
    return sorted(
        traces, key=lambda trace: blake2b(f"{seed}:{trace.id}".encode(), digest_size=8).digest()
    )


def spread(turns: Sequence[PickedTurn], seed: int) -> list[PickedTurn]:
    """`turns` in hash order, every question's first before any question's second."""

    def order(turn: PickedTurn) -> bytes:
        key = f"{seed}:{turn.trace.id}:{turn.index}"
        return blake2b(key.encode(), digest_size=8).digest()

    seen: dict[str, int] = {}
    ranked = []
    for turn in sorted(turns, key=order):
        rank = seen[turn.trace.question] = seen.get(turn.trace.question, 0) + 1
        ranked.append((rank, turn))
    return [turn for _, turn in sorted(ranked, key=lambda pair: pair[0])]
