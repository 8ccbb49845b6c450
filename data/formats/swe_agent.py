"""SWE-agent's trajectories (.traj): steps of thought, shell command and observation, and the messages they came from.

An action is a command line: its first word is the name, the rest its input. Whether the issue was resolved stands in an
evaluation report: `--outcomes` joins it by the run's name.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..traces import Action, Trace
from .conversation import Conversation, question_of
from .dialects import said_of, words_of
from .parts import Said
from .steps import Step, trace_of_steps

WORD = re.compile(r"\S+")


def is_swe_agent(document: Any) -> bool:
    if not isinstance(document, dict):
        return False
    match document.get("trajectory"):
        case [{"action": str(), "observation": _}, *_]:
            return True
    match document.get("history"):
        case [{"role": str(), "agent": str()}, *_]:
            return True
    return False


def read_swe_agent(document: Mapping[str, Any]) -> Trace:
    """From the steps; from the messages where a file has no steps."""
    messages = _own(document.get("history"))
    run = _run(document)
    steps = document.get("trajectory")
    if not steps:
        return Conversation(messages).trace(run=run)
    asked = messages or _own(steps[0].get("query") or steps[0].get("messages"))
    return trace_of_steps(question_of(asked), map(_step, steps), model=_model(document), run=run)


def _own(history: Any) -> Sequence[Said]:
    """The run's messages, without those that demonstrate."""
    listed = history if isinstance(history, list) else []
    return [said_of(one) for one in listed if isinstance(one, dict) and not one.get("is_demo")]


def command_in(command: str) -> Action:
    """A command line as an action: the first word is its name, all else its input."""
    command = command.strip()
    first = WORD.match(command)
    name = first[0] if first else "shell"
    rest = command[len(first[0]) :].strip() if first else command
    return Action(name, {"input": rest})


def _step(step: Mapping[str, Any]) -> Step:
    command = words_of(step.get("action")).strip()
    action = command_in(command) if command else None
    return Step(
        thought=words_of(step.get("thought")),
        action=action.name if action else "",
        arguments=action.arguments if action else None,
        observation=words_of(step.get("observation")),
    )


def _run(document: Mapping[str, Any]) -> str:
    environment = document.get("environment")
    id = document.get("instance_id") or document.get("problem_statement_id")
    return (
        str(id)
        if id
        else environment
        if isinstance(environment, str) and "__" in environment
        else ""
    )


def _model(document: Mapping[str, Any]) -> str:
    config = document.get("replay_config")
    match config:
        case {"agent": {"model": {"name": str(name)}}}:
            return name
    return ""
