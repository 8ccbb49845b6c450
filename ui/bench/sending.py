"""An agent whose turns are sent by a policy: its signal, and cuts calibrated on turns that are not asked.

The only file of a bench that knows proactive routing; imported where a policy is asked for.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...data.errors import ForethoughtError, NothingToDo
from ...scorer.agent.episode import Agent
from ...scorer.agent.session import Session
from ...scorer.agent.thinking import Generating, Library, Thinker
from ...scorer.routing.proactive.probe import read_probe
from ...scorer.routing.proactive.routed import Arm, HandingOver, Routed
from ...scorer.routing.proactive.shares import cuts_at
from ...scorer.routing.proactive.signals import (
    Entropy,
    JointChance,
    LogZ,
    Look,
    Margin,
    OwnChance,
    Probed,
    Random,
    Signal,
)
from .arena import Arena
from .plan import Policy, SignalName
from .routes import Routes

SIGNALS: dict[SignalName, Callable[[], Signal]] = {
    SignalName.RANDOM: Random,
    SignalName.MARGIN: Margin,
    SignalName.LOGZ: LogZ,
    SignalName.ENTROPY: Entropy,
    SignalName.RATING: OwnChance,
    SignalName.JOINT: JointChance,
}


class Sample(NamedTuple):
    """The arena's turns to calibrate on, and how a session for them is opened."""

    arena: Arena
    start: Callable[[Agent], Session]
    seed: int


def sent(
    agent: Agent,
    library: Library,
    policy: Policy,
    free: Generating,
    routes: Routes,
    sample: Sample,
) -> Agent:
    """The agent with the policy's thinker. ForethoughtError where it asks for a probe or an arm that there is not."""
    signal = _signal(policy, routes)
    arms = _arms(policy, free, routes)
    shares = (max(0.0, 1 - sum(policy.shares)), *policy.shares)
    cuts = _cuts(agent, library, signal, shares, sample)
    return replace(agent, thinker=Routed(library, signal, arms, tuple(cuts.tolist())))


def _signal(policy: Policy, routes: Routes) -> Signal:
    if policy.signal is not SignalName.PROBE:
        return SIGNALS[policy.signal]()
    if routes.probe is None:
        raise ForethoughtError(
            "--policy probe needs --probe FILE: a probe fitted to this model's runs (docs/routing.md)"
        )
    return Probed(read_probe(routes.probe))


def _arms(policy: Policy, free: Generating, routes: Routes) -> tuple[tuple[Arm, Thinker], ...]:
    """One share is thought about, or handed over where somebody is there; of two the first is thought about."""
    think = (Arm.THINK, free)
    if routes.second is None:
        return (think,)
    over = (Arm.HAND_OVER, HandingOver(routes.second, free))
    return (over,) if len(policy.shares) == 1 else (think, over)


def _cuts(
    agent: Agent, library: Library, signal: Signal, shares: tuple[float, ...], sample: Sample
) -> np.ndarray:
    if isinstance(signal, Random):
        return np.cumsum(shares)[:-1]  # of draws in 0..1
    if not sample.arena.fitting:
        raise NothingToDo(
            f"{sample.arena.name} has no turns to calibrate a policy on; take --policy random, select or think"
        )
    session = sample.start(agent)
    needs = []
    for history in sample.arena.fitting:
        before = session.length
        session.append_text(session.model.encode(history))
        session.settle()
        needs.append(signal.need(Look(session, library, sample.seed)))
        session.rollback(before)
    return cuts_at(np.array(needs), shares)
