"""How a mode's next action agrees with what was done: under a recorded run's own history, the kind of action after its thought.

Where success cannot tell two modes apart this still does: every turn is judged, and no earlier mistake is carried on.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...scorer.agent.comparison import paired, paired_difference, rate
from ...scorer.agent.episode import Agent
from ...scorer.agent.session import Session
from ...scorer.agent.thinking import Mode, Thought
from .arena import RecordedTurn
from .dispatch import EACH_ITS_OWN, Dispatch
from .records import Records

Json = dict[str, Any]


class TurnTask(NamedTuple):
    """A recorded turn to be decided on under a label, by `arm` where a router sent its question there."""

    label: str
    turn: RecordedTurn
    arm: str | None = None


def turn_tasks(
    labels: Iterable[str], turns: Sequence[RecordedTurn], dispatch: Dispatch = EACH_ITS_OWN
) -> list[TurnTask]:
    """Every turn under every label."""
    told = list(labels)
    return [
        TurnTask(label, turn, dispatch.arm(label, turn.question))
        for turn in turns
        for label in told
    ]


def agree_all(
    tasks: Sequence[TurnTask],
    agents: Mapping[str, Agent],
    records: Records,
    seed: int,
    start: Callable[[Agent], Session] = Agent.start,
) -> list[Json]:
    """All of them, but for what `records` holds already."""
    sessions = {label: start(agent) for label, agent in agents.items()}
    found = []
    for label, turn, arm in tasks:
        kept = records.get((label, turn.id), arm)
        if kept is None:
            player = arm or label
            thought, chosen = agents[player].decide(sessions[player], turn.context, seed)
            told = {"recorded": turn.action, "action": chosen, "reasoning": thought.text}
            sent = {"route": arm, "arm": arm} if arm else {}
            kept = records.add((label, turn.id), told | _seen(thought) | sent)
        found.append(kept)
    return found


def _seen(thought: Thought) -> Json:
    """What was known when the turn was decided on, as a turn's record tells it."""
    return {
        "scores": list(thought.scores),
        "log_z": thought.log_z,
        "route": thought.route,
        "signal": thought.signal,
    }


def agreement(records: Sequence[Json], seed: int) -> Json:
    """Share of turns that agree by mode, beside the share that the most frequent action alone would; each mode less `select`."""
    modes = dict.fromkeys(one["mode"] for one in records)
    hits = {
        mode: {
            one["id"]: one["action"] == one["recorded"] for one in records if one["mode"] == mode
        }
        for mode in modes
    }
    recorded = {one["id"]: one["recorded"] for one in records}
    frequent = Counter(recorded.values()).most_common(1)
    constant = [place == frequent[0][0] for place in recorded.values()] if frequent else []
    routes = {
        mode: Counter(one["route"] for one in records if one["mode"] == mode and one.get("route"))
        for mode in modes
    }
    against = {}
    for mode in modes:
        if mode != Mode.SELECT and Mode.SELECT in hits:
            both = paired(hits[Mode.SELECT], hits[mode])
            against[mode] = paired_difference(both.first, both.second, seed).as_json()
    return {
        "turns": len(recorded),
        "modes": {mode: rate(list(found.values())).as_json() for mode, found in hits.items()},
        "constant": float(np.mean(constant)) if constant else None,
        "select_against": against,
        "routes": {mode: dict(count.most_common()) for mode, count in routes.items() if count},
        "decisions": _decisions(records) if any(routes.values()) else [],
    }


def _decisions(records: Sequence[Json]) -> list[Json]:
    """Turn by turn where each policy sent it, and which modes then acted as recorded."""
    by_turn: dict[str, Json] = {}
    for one in records:
        told = by_turn.setdefault(one["id"], {"turn": one["id"], "routes": {}, "agrees": {}})
        told["agrees"][one["mode"]] = one["action"] == one["recorded"]
        if one.get("route"):
            told["routes"][one["mode"]] = one["route"]
    return list(by_turn.values())
