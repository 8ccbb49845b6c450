"""What tells that a turn should be thought about: one number, its need, which is the higher the more should be spent on it.

The numbers are functions of what is there once the context is computed: a rating, the set's scores, the last hidden state, a draw. What
a signal does not ask for is not computed.
"""

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Protocol

import numpy as np

from ....data.errors import ForethoughtError
from ...agent.session import Scores, Session
from ...agent.thinking import Library, Thought, take
from ...selection import select
from .probe import Probe
from .rating import JOINT, OWN, Scale, rate


class Taken:
    """A selection that was looked at, and not yet put in."""

    def __init__(self, scored: Scores, thought: Thought) -> None:
        self.scored, self.thought = scored, thought


@dataclass
class Look:
    """A turn before its thought: a settled session, the set, and what is worked out about them, once."""

    session: Session
    library: Library
    seed: int = 0
    has_taken: bool = field(default=False, init=False)

    @cached_property
    def taken(self) -> Taken:
        """The set's scores; whoever selects afterwards goes on from them."""
        self.has_taken = True
        return Taken(*take(self.session, self.library, self.seed))

    @property
    def scores(self) -> np.ndarray:
        """(candidates,)"""
        return np.array(self.taken.thought.scores)

    @cached_property
    def hidden(self) -> np.ndarray:
        return hidden_state(self.session)


class Signal(Protocol):
    """One way to tell what a turn needs."""

    def need(self, look: Look) -> float: ...


@dataclass(frozen=True)
class OwnChance:
    """The model's rating of itself."""

    scale: Scale = OWN

    def need(self, look: Look) -> float:
        return -rate(look.session, [self.scale]).ratings[0].value


@dataclass(frozen=True)
class JointChance:
    """How much better the stronger arm is rated than the model itself: it gets what it is good at, not all that is hard."""

    own: Scale = OWN
    stronger: Scale = JOINT

    def need(self, look: Look) -> float:
        own, stronger = rate(look.session, [self.own, self.stronger]).ratings
        return stronger.value - own.value


class Margin:
    """By how little the best candidate leads."""

    def need(self, look: Look) -> float:
        return margin_need(look.scores)


class LogZ:
    """How unlikely the set is as a whole."""

    def need(self, look: Look) -> float:
        found = look.taken.thought.log_z
        assert found is not None, "whatever is taken has one"
        return -found


class Entropy:
    """How evenly the set's probabilities lie."""

    def need(self, look: Look) -> float:
        return entropy_need(look.scores)


@dataclass(frozen=True)
class Probed:
    """What a linear probe reads off the last hidden state."""

    probe: Probe

    def need(self, look: Look) -> float:
        self.probe.require_fits(look.session.model)
        return float(self.probe.chances(look.hidden[None])[0])


class Random:
    """A draw in 0..1, the same for the same context and seed."""

    def need(self, look: Look) -> float:
        told = f"{look.seed}:{look.session.ids}".encode()
        return int.from_bytes(blake2b(told, digest_size=8).digest()) / 2**64


def hidden_state(session: Session) -> np.ndarray:
    """(H,) of the session's end. ForethoughtError where the model is elsewhere."""
    found = session.settle()
    if found is None:
        raise ForethoughtError(
            "an engine tells no hidden state, so nothing can be probed; take another policy, or leave out --engine"
        )
    return found[0].double().cpu().numpy()


def margin_need(scores: np.ndarray) -> float:
    """Minus the lead of the best of `scores` (candidates,); 0 where there is no other."""
    if len(scores) < 2:
        return 0.0
    second, best = np.sort(scores)[-2:]
    return float(second - best)


def entropy_need(scores: np.ndarray) -> float:
    """In nats, of the probabilities softmax(scores) (candidates,)."""
    chances = select(np.asarray(scores, dtype=np.float64)).probabilities
    return float(-(chances * np.log(np.where(chances > 0, chances, 1.0))).sum())
