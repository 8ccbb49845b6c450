"""KnowAgent's runs: HotpotQA (`prompt`: instructions, two worked examples, the run) and ALFWorld (`traj` of `> ` lines).

Knows KnowAgent's labels and ALFWorld's commands. ActionPath lines repeat the actions so far and are dropped; so is the
verdict that follows the answer, since it is no tool's result. One turn a thought.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..traces import Action, Trace
from .outcomes import outcome_of
from .prompt import MOVE, asked
from .react import Piece, Run, action_in, pieces

PATH_LINE = re.compile(r"^ActionPath \d+:.*\n?", re.MULTILINE)
VERDICT = re.compile(r"^Answer is (?:IN)?CORRECT$")

TASK = re.compile(r"^Your task is to:[ \t]*(.*)", re.MULTILINE)
COMMAND = re.compile(r"^>[ \t]*(.*)", re.MULTILINE)
THOUGHT = re.compile(r"think:\s*(.*)", re.IGNORECASE)
PATH = re.compile(r"ActionPath\b")
VERB = re.compile(r"(go to|turn on|turn off|[^\W\d_]+)\b[ \t]*(.*)", re.IGNORECASE)


def is_knowagent_hotpotqa(document: Any) -> bool:
    """Whether a `prompt` ends in a run with labels and says beside it which question it is on, or an `output` is one."""
    match document:
        case {"input": str(prompt), "output": str(run)} if PATH_LINE.match(run):
            return bool(asked(prompt).question)
        case {"question": str(), "prompt": str(prompt)}:
            return (
                PATH_LINE.search(prompt) is not None and MOVE.search(_own_run(prompt)) is not None
            )
    return False


def read_knowagent_hotpotqa(document: Mapping[str, Any]) -> Trace:
    """Names of actions in lower case, as other ReAct runs on HotpotQA write them."""
    run = Run(reads=_lower_action)
    if "output" in document:  # a row of its training files: the question ends the instructions
        question, text = asked(document["input"]).question, PATH_LINE.sub("", document["output"])
    else:
        question, text = document["question"].strip(), _own_run(document["prompt"])
    for piece in pieces(text):
        if piece.label == "Thought":
            run.begin()
        if not (piece.label == "Observation" and VERDICT.match(piece.text)):
            run.take(piece)
    return Trace(question, run.turns, outcome_of(document.get("correct")))


def is_knowagent_alfworld(document: Any) -> bool:
    """Whether a `traj` states a task and then goes on in commands, some of which are thoughts."""
    match document:
        case {"traj": str(text)}:
            commands = (found[1] for found in COMMAND.finditer(text))
            return TASK.search(text) is not None and any(map(THOUGHT.match, commands))
    return False


def read_knowagent_alfworld(document: Mapping[str, Any]) -> Trace:
    text = document["traj"]
    first = COMMAND.search(text)
    start = first.start() if first else len(text)
    run = Run(reads=command_in)
    for piece in _alfworld_pieces(text[start:]):
        if piece.label == "Thought":
            run.begin()
        run.take(piece)
    return Trace(_task(text[:start]), run.turns, outcome_of(document.get("result")))


def command_in(text: str) -> Action | None:
    """`go to shelf 1` as Action("go to", {"input": "shelf 1"}): the verb is the kind, the things are its argument."""
    found = VERB.match(text)
    return Action(found[1].lower(), {"input": found[2].strip()}) if found else None


def _task(intro: str) -> str:
    """The task and then the room: the same task is another question in another room."""
    task = TASK.search(intro)
    if task is None:
        return ""
    room = f"{intro[: task.start()]}{intro[task.end() :]}".strip()
    return f"{task[1].strip()}\n{room}".strip()


def _alfworld_pieces(text: str) -> Iterator[Piece]:
    parts = COMMAND.split(
        text
    )  # what stands before the first command, then command and answer by turns
    for command, answer in zip(parts[1::2], parts[2::2], strict=True):
        if thought := THOUGHT.match(command):
            yield Piece("Thought", thought[1].strip())
        elif not PATH.match(command):
            yield Piece("Action", command.strip())
        if answer.strip():
            yield Piece("Observation", answer.strip())


def _own_run(prompt: str) -> str:
    return asked(PATH_LINE.sub("", prompt)).run


def _lower_action(text: str) -> Action | None:
    action = action_in(text)
    return Action(action.name.lower(), action.arguments) if action else None
