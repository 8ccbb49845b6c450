"""Turns seen as thoughts: what was thought, in which situation, and which kind of action followed.

The situation is what preceded the thought. The action that followed is kept for mining (expected actions) and is
never read by masking or assignment, which audits must be able to run blind.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from ..data.traces import Outcome, Trace, turn_id
from .split import split


class Stage(IntEnum):
    """How far the run is: before any action, after one, after several."""

    OPENING = 0
    SECOND = 1
    LATER = 2


@dataclass(frozen=True)
class Instance:
    """What belongs to one run only, by where it stands: the question, earlier actions' arguments, earlier observations.

    The texts are the trace's own, so that the instances of a run's turns share them.
    """

    question: str = ""
    actions: tuple[str, ...] = ()
    observations: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join((self.question, *self.actions, *self.observations))


@dataclass(frozen=True)
class Thought:
    """What was thought in one turn.

    `turn` is its id (turn_id), `text` the core of what was thought (split.py) and `whole` all of it; `owned` what belongs
    to this run only, `instance` the same as one text. `kind` is the kind of the action that followed, None where there
    was none.
    """

    turn: str
    question: str
    text: str
    stage: Stage
    owned: Instance | str  # a str counts as the question's
    kind: str | None
    whole: str = ""  # the text, where none is given
    outcome: Outcome | None = (
        None  # of the run; weighs moves in mining, and is never read by masking or assignment
    )

    def __post_init__(self) -> None:
        if not self.whole:
            object.__setattr__(self, "whole", self.text)

    def __hash__(self) -> int:
        return hash(self.turn)  # and not of all that its run has read

    @property
    def instance(self) -> str:
        return str(self.owned)


def thoughts_of(traces: Iterable[Trace]) -> Iterator[Thought]:
    """Every turn with a whole thought and at most one action, in the order of the traces; several thoughts count as one."""
    for trace in traces:
        seen = Instance(trace.question)
        num_actions = 0
        for index, turn in enumerate(trace.turns):
            if turn.thoughts and len(turn.actions) <= 1 and not turn.is_cut:
                whole = "\n\n".join(turn.thoughts)
                yield Thought(
                    turn=turn_id(trace.id, index),
                    question=trace.question,
                    text=split(whole).text,
                    stage=Stage(min(num_actions, Stage.LATER)),
                    owned=seen,
                    kind=turn.actions[0].kind if turn.actions else None,
                    whole=whole,
                    outcome=trace.outcome,
                )
            num_actions += len(turn.actions)
            arguments = (str(v) for action in turn.actions for v in action.arguments.values())
            seen = Instance(
                seen.question, (*seen.actions, *arguments), (*seen.observations, *turn.observations)
            )
