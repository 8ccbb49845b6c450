"""Thoughts and actions written inline as tags: <think>..</think>, <tool_call>{json}</tool_call>, <answer>..</answer>.

Tolerant, since models are not: a thought may lack its opening tag (the prompt ended with it) or its
closing one (the model ran out of tokens, or went on to act). A tag inside a closed thought is part of it.
"""

import re
from dataclasses import dataclass, field

from ..traces import Action
from .arguments import arguments_of
from .window import Damage, parsed

THOUGHT = r"think|thinking|thought|reason|reasoning"
OPENING = re.compile(rf"<(?:{THOUGHT})\b[^<>]*>", re.IGNORECASE)
CLOSING = re.compile(rf"</(?:{THOUGHT})\s*>", re.IGNORECASE)
ACTION = re.compile(r"<(tool_call|answer|search)>", re.IGNORECASE)
ANY_OPENING = re.compile(f"{OPENING.pattern}|{ACTION.pattern}", re.IGNORECASE)


@dataclass
class Tagged:
    """What a text holds: `rest` is what stands outside of all tags."""

    thoughts: list[str] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)


def tagged(text: str) -> Tagged:
    """Thoughts, actions and the rest of an assistant's text, in order."""
    found = Tagged()
    at = _implied_thought(text, found)
    while opening := ANY_OPENING.search(text, at):
        _add(found.rest, text[at : opening.start()])
        if opening[1] is None:
            at = _take_thought(text, opening.end(), found)
        else:
            at = _take_action(text, opening, found)
    _add(found.rest, text[at:])
    return found


def _implied_thought(text: str, found: Tagged) -> int:
    """A closing tag that none opened closes a thought that began with the text."""
    closing = CLOSING.search(text)
    if closing is None or OPENING.search(text, 0, closing.start()):
        return 0
    _add(found.thoughts, text[: closing.start()])
    return closing.end()


def _take_thought(text: str, start: int, found: Tagged) -> int:
    """To the closing tag; without one to the next action; without that to the end."""
    closing = CLOSING.search(text, start)
    action = ACTION.search(text, start)
    if closing:
        _add(found.thoughts, text[start : closing.start()])
        return closing.end()
    end = action.start() if action else len(text)
    _add(found.thoughts, text[start:end])
    return end


def _take_action(text: str, opening: re.Match[str], found: Tagged) -> int:
    closing = re.compile(f"</{opening[1]}>", re.IGNORECASE).search(text, opening.end())
    content = text[opening.end() : closing.start() if closing else len(text)].strip()
    found.actions.append(_action(opening[1].lower(), content))
    return closing.end() if closing else len(text)


def _action(tag: str, content: str) -> Action:
    if tag != "tool_call":
        return Action(tag, {"input": content})
    try:
        call = parsed(content)
    except Damage:
        call = None
    match call:
        case {"name": str(name)}:
            return Action(name, arguments_of(call.get("arguments")))
    return Action(tag, {"raw": content})


def _add(texts: list[str], text: str) -> None:
    if text.strip():
        texts.append(text.strip())
