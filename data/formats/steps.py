"""Runs as lists of steps that name thought, action and observation: the turns of agents' own files.

Knows how steps make a trace. It does not know what a file calls their fields.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..traces import Action, Outcome, Trace, Turn
from .arguments import arguments_of, is_unparsed
from .conversation import UNPARSED


@dataclass(frozen=True)
class Step:
    """One step with at most one action; `action` is "" where there is none, a string of arguments is its input."""

    thought: str = ""
    action: str = ""
    arguments: Any = None
    observation: str = ""
    images: tuple[str, ...] = ()  # seen before it
    repairs: tuple[str, ...] = ()


def trace_of_steps(
    question: str,
    steps: Iterable[Step],
    outcome: Outcome | None = None,
    model: str = "",
    run: str = "",
) -> Trace:
    """One turn a step; a step with neither thought nor action is none."""
    steps = list(steps)
    repairs = [code for one in steps for code in one.repairs]
    steps = [one for one in steps if one.thought.strip() or one.action]
    repairs += [UNPARSED for one in steps if is_broken(one.arguments)]
    turns = tuple(map(turn_of, steps))
    return Trace(question.strip(), turns, outcome, model=model, run=run, repairs=tuple(repairs))


def turn_of(step: Step) -> Turn:
    thought = step.thought.strip()
    return Turn(
        thoughts=(thought,) if thought else (),
        actions=(action_of(step.action, step.arguments),) if step.action else (),
        observations=(step.observation,) if step.action else (),
        images=step.images,
    )


def action_of(name: str, given: Any) -> Action:
    """The action with its arguments as an object; a plain string is its input."""
    if isinstance(given, str) and not given.lstrip().startswith(("{", "[")):
        return Action(name, {"input": given} if given else {})
    return Action(name, arguments_of(given))


def is_broken(given: Any) -> bool:
    """Whether arguments meant to be JSON are none."""
    return is_unparsed(given) and not (
        isinstance(given, str) and not given.lstrip().startswith("{")
    )
