"""Turns seen as thoughts: what was thought, in which situation, and which kind of action followed.

The situation is what preceded the thought. The action that followed is kept for mining (expected actions) and is
never read by masking or assignment, which audits must be able to run blind.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from ..data.traces import Trace, turn_id


class Stage(IntEnum):
    """How far the run is: before any action, after one, after several."""

    OPENING = 0
    SECOND = 1
    LATER = 2


@dataclass(frozen=True)
class Thought:
    """One free-form thought.

    `turn` is its id (turn_id), `instance` the text that belongs to this run only: question, earlier actions and
    observations. `kind` is the kind of the action that followed, None where there was none.
    """

    turn: str
    question: str
    text: str
    stage: Stage
    instance: str
    kind: str | None


def thoughts_of(traces: Iterable[Trace]) -> Iterator[Thought]:
    """Every turn with exactly one thought and at most one action, in the order of the traces."""
    for trace in traces:
        seen = [trace.question]
        num_actions = 0
        for index, turn in enumerate(trace.turns):
            if len(turn.thoughts) == 1 and len(turn.actions) <= 1:
                yield Thought(
                    turn=turn_id(trace.id, index),
                    question=trace.question,
                    text=turn.thoughts[0],
                    stage=Stage(min(num_actions, Stage.LATER)),
                    instance="\n".join(seen),
                    kind=turn.actions[0].kind if turn.actions else None,
                )
            num_actions += len(turn.actions)
            seen += [str(value) for action in turn.actions for value in action.arguments.values()]
            seen += turn.observations
