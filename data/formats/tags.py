"""Thoughts and actions written inline as tags: <think>..</think>, <tool_call>{json}</tool_call>, <answer>..</answer>.

Tolerant, since models are not: a thought may lack its opening tag (the prompt ended with it) or its
closing one (the model ran out of tokens, or went on to act). A tag inside a closed thought is part of it.
What was mended is told by codes: `implied_open`, `stray_close`, `implied_close`, `unclosed_action`, `call_unparsed`.
"""

import re
from dataclasses import dataclass, field

from ..traces import Action
from .arguments import arguments_of
from .window import Damage, parsed

THOUGHT = r"think|thinking|thought|reason|reasoning"
OPENING = re.compile(rf"<(?:{THOUGHT})\b[^<>]*>", re.IGNORECASE)
CLOSING = re.compile(rf"</(?:{THOUGHT})\s*>", re.IGNORECASE)
ACTION = re.compile(r"<(tool_call|answer|search|text_search)>", re.IGNORECASE)
ANY_OPENING = re.compile(f"{OPENING.pattern}|{ACTION.pattern}", re.IGNORECASE)
FUNCTION = re.compile(r"<function=([^>\s]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
PARAMETER = re.compile(r"<parameter=([^>\s]+)>\n?(.*?)\n?(?:</parameter>|\Z)", re.DOTALL)
REVERSE_IMAGE = re.compile(
    r"<img\s*/?>(?:\s*</img>)?", re.IGNORECASE
)  # MMSearch-R1: search by the picture


@dataclass
class Tagged:
    """What a text holds: `rest` is what stands outside of all tags; `is_cut` says that the last thought breaks off."""

    thoughts: list[str] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    is_cut: bool = False
    implied: str = ""  # the thought that only a closing tag tells of

    def disown(self) -> None:
        """The implied thought is none: the reasoning stood elsewhere, and a closing tag strayed into the text."""
        self.thoughts.remove(self.implied)
        self.rest.insert(0, self.implied)
        self.repairs[self.repairs.index("implied_open")] = "stray_close"
        self.implied = ""


def tagged(text: str) -> Tagged:
    """Thoughts, actions and the rest of an assistant's text, in order."""
    found = Tagged()
    at = _implied_thought(text, found)
    last = max((closing.start() for closing in CLOSING.finditer(text)), default=-1)
    while opening := ANY_OPENING.search(text, at):
        _add(found.rest, text[at : opening.start()])
        if opening[1] is None:
            is_closed = (
                last >= opening.end()
            )  # known beforehand, so that a text is looked through once
            at = _take_thought(text, opening.end(), found, is_closed=is_closed)
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
    found.implied = text[: closing.start()].strip()
    found.repairs.append("implied_open")
    return closing.end()


def _take_thought(text: str, start: int, found: Tagged, *, is_closed: bool) -> int:
    """To the closing tag; without one to the next action; without that to the end."""
    if is_closed and (closing := CLOSING.search(text, start)):
        _add(found.thoughts, text[start : closing.start()])
        return closing.end()
    action = ACTION.search(text, start)
    end = action.start() if action else len(text)
    _add(found.thoughts, text[start:end])
    found.repairs.append("implied_close")
    found.is_cut = action is None
    return end


def _take_action(text: str, opening: re.Match[str], found: Tagged) -> int:
    closing = re.compile(f"</{opening[1]}>", re.IGNORECASE).search(text, opening.end())
    content = text[opening.end() : closing.start() if closing else len(text)].strip()
    if closing is None:
        found.repairs.append("unclosed_action")
    tag = opening[1].lower()
    if tag == "tool_call":
        found.actions += _calls(content, found)
    elif tag == "search" and REVERSE_IMAGE.fullmatch(content):
        found.actions.append(Action("image_search", {}))
    else:
        found.actions.append(Action(tag, {"input": content}))
    return closing.end() if closing else len(text)


def _calls(content: str, found: Tagged) -> list[Action]:
    """The calls of a block: JSON with a name, or Qwen's functions with parameters."""
    if functions := FUNCTION.findall(content):
        return [Action(name, dict(PARAMETER.findall(body))) for name, body in functions]
    try:
        call = parsed(content)
    except Damage:
        call = None
    match call:
        case {"name": str(name)}:
            return [Action(name, arguments_of(call.get("arguments")))]
    found.repairs.append("call_unparsed")
    return [Action("tool_call", {"raw": content})]


def _add(texts: list[str], text: str) -> None:
    if text.strip():
        texts.append(text.strip())
