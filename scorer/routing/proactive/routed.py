"""A way to think that decides first: by its signal a turn is selected, thought about freely, or handed to a second model.

Calibrated cuts decide, since an agent meets its turns one by one. The signal reads the context that is prefilled anyway; what it
scored of the set is what is put in where the turn is selected.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from ....data.render import render_thought
from ...agent.session import Session
from ...agent.thinking import Generating, Library, Thinker, Thought
from .shares import by_cuts
from .signals import Look, Signal


class Arm(StrEnum):
    """What a turn can be routed to, from the cheapest to the strongest."""

    SELECT = "select"
    THINK = "think"
    HAND_OVER = "hand-over"


@dataclass(frozen=True)
class Routed:
    """`thinkers` are the arms behind `select`, in order of strength; arm i begins above the need `cuts[i - 1]`."""

    library: Library
    signal: Signal
    thinkers: tuple[tuple[Arm, Thinker], ...]
    cuts: tuple[float, ...]

    def think(self, session: Session, seed: int) -> Thought:
        before = session.length, session.computed
        look = Look(session, self.library, seed)
        need = self.signal.need(look)
        assert (session.length, session.computed) == before, "deciding adds nothing"
        place = int(by_cuts(np.array([need]), np.array(self.cuts))[0])
        if place == 0:
            return self._select(session, look)._replace(route=Arm.SELECT.value, signal=need)
        arm, thinker = self.thinkers[place - 1]
        thought = thinker.think(session, seed)._replace(route=arm.value, signal=need)
        if not look.has_taken:
            return thought
        seen = look.taken.thought
        return thought._replace(
            scores=seen.scores, probabilities=seen.probabilities, log_z=seen.log_z
        )

    def _select(self, session: Session, look: Look) -> Thought:
        taken = look.taken
        assert taken.thought.chosen is not None
        session.commit(taken.scored.continuation(taken.thought.chosen))
        return taken.thought


@dataclass
class HandingOver:
    """A second model's free thought after the same text; the first goes on from there.

    `start` opens a session of the second, which is kept: what it has computed of a context is not computed again.
    """

    start: Callable[[], Session]
    free: Generating
    _session: Session | None = field(default=None, repr=False)

    def think(self, session: Session, seed: int) -> Thought:
        if self._session is None:
            self._session = self.start()
        other = self._session
        ids = other.model.encode(session.model.decode(session.ids))
        known = _shared(other.ids, ids)
        other.rollback(known)
        other.append_text(ids[known:])
        other.settle()
        thought = self.free.think(other, seed)
        told = session.model.encode(render_thought(thought.text))
        session.append_text(told)
        return thought._replace(injected=len(told))


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """How many first tokens are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
