"""Two agents that see pictures and write labels of their own into chat messages: WebVoyager and Visual Sketchpad.

WebVoyager's screenshots are no part of its messages: `screenshot{k}.png` beside the file is what turn k saw.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..traces import ANSWER, Action, Trace, Turn
from .chat_rows import Raw, raw_messages
from .conversation import Conversation
from .dialects import said_of
from .parts import ASSISTANT, TOOL, USER, Call, Part, Reasoning, Result, Said, Unread

TASK = re.compile(r"Now given a task:\s*(.*?)\s*Please interact with\s+(\S+)", re.DOTALL)
MOVE = re.compile(r"(?:^|\n)\s*Action:\s*", re.IGNORECASE)
THOUGHT = re.compile(r"\s*Thought:\s*", re.IGNORECASE)
PLACED = re.compile(r"([A-Za-z]+)\s*\[([^\]]*)\](?:\s*;\s*(.*))?", re.DOTALL)
BARE = re.compile(r"([A-Za-z]+)\s*;?\s*(.*)", re.DOTALL)
SEEN = re.compile(r"\s*Observation:\s*", re.IGNORECASE)

LABEL = re.compile(r"^#?\s*(THOUGHT|ACTION|ANSWER|OBSERVATION)(?: \d+)?:", re.MULTILINE)
OPENS = re.compile(r"\s*#?\s*THOUGHT \d+:")
REQUEST = "# USER REQUEST #:"
ORDER = re.compile(r"\s*Now please generate only THOUGHT 0 .*", re.DOTALL)
CODE = re.compile(r"```(?:python)?\n(.*?)(?:```|\Z)", re.DOTALL)
NO_ACTION = re.compile(r"No (?:further )?action(?: is)? needed", re.IGNORECASE)
PROMPTING = re.compile(r"\s*Please generate the next THOUGHT and ACTION.*", re.DOTALL)
DONE = re.compile(r"\s*TERMINATE\s*$")


def is_webvoyager(document: Any) -> bool:
    asked = _first(document, USER)
    return "Now given a task:" in asked and TASK.search(asked) is not None


def read_webvoyager(document: Any) -> Trace:
    messages = [said_of(one) for one in raw_messages(document)]
    turns: list[Turn] = []
    for index, said in enumerate(messages):
        if said.role == ASSISTANT:
            seen = next((one for one in messages[index + 1 :][:1] if one.role != ASSISTANT), None)
            turns.append(_web_turn(said.text, seen, len(turns) + 1))
    asked = _asked(raw_messages(document))
    task = TASK.search(asked.text) if asked else None
    question = f"{task[1]} ({task[2]})" if task else ""
    unread = tuple(code for said in messages for code in said.unread)
    acted = tuple(turn for turn in turns if turn.thoughts or turn.actions)
    return Trace(question, acted, repairs=unread)


def _web_turn(text: str, seen: Said | None, number: int) -> Turn:
    parts = MOVE.split(text, maxsplit=1)
    thought = THOUGHT.sub("", parts[0], count=1).strip()
    action = _web_action(parts[1].strip()) if len(parts) > 1 else None
    return Turn(
        thoughts=(thought,) if thought else (),
        actions=(action,) if action else (),
        observations=(SEEN.sub("", seen.text, count=1).strip() if seen else "",) if action else (),
        images=(f"screenshot{number}.png",),
    )


def _web_action(text: str) -> Action | None:
    """`Type [3]; Boston` as Action("type", {"input": "3", "text": "Boston"})."""
    if placed := PLACED.match(text):
        given = {"input": placed[2].strip()}
        return Action(placed[1].lower(), given | ({"text": placed[3].strip()} if placed[3] else {}))
    bare = BARE.match(text)
    return Action(bare[1].lower(), {"input": bare[2].strip()}) if bare else None


def _first(document: Any, role: str) -> str:
    """The first words of this role: a look that costs little, since most documents are another row's."""
    listed = document.get("messages") if isinstance(document, dict) else None
    for raw in listed if isinstance(listed, list) else ():
        if isinstance(raw, dict) and raw.get("role") == role:
            content = raw.get("content")
            return content if isinstance(content, str) else said_of(raw).text
    return ""


def _asked(messages: Sequence[Raw]) -> Said | None:
    return next((said for one in messages if (said := said_of(one)).role == USER), None)


def is_sketchpad(document: Any) -> bool:
    return OPENS.match(_first(document, ASSISTANT)) is not None


def read_sketchpad(document: Any) -> Trace:
    """Worked examples before the last request are left out; an action is a block of code."""
    messages = [_sketched(said_of(one)) for one in raw_messages(document)]
    asked = _asked(raw_messages(document))
    question = ORDER.sub("", asked.text).rsplit(REQUEST, 1)[-1].strip() if asked else ""
    return Conversation(messages, question=question).trace()


def _sketched(said: Said) -> Said:
    if said.role == ASSISTANT:
        unread = map(Unread, said.unread)
        return Said(ASSISTANT, (*_sketches(said.text), *unread))
    if not said.text.startswith("OBSERVATION"):
        return said
    seen = PROMPTING.sub("", LABEL.sub("", said.text, count=1)).strip()
    return Said(TOOL, (Result(seen, None, tuple(said.pictures), tuple(said.unread)),))


def _sketches(text: str) -> Iterator[Part]:
    """The labelled parts; what the model made up after its own action is no part of the run."""
    labelled = LABEL.split(text)
    for label, content in zip(labelled[1::2], labelled[2::2], strict=True):
        if label == "OBSERVATION":
            return
        words = DONE.sub("", content).strip()
        if label == "THOUGHT":
            yield Reasoning(words)
        elif label == "ANSWER":
            yield Call(ANSWER, {"input": words})
        elif code := CODE.search(content):
            yield Call("python", {"input": code[1].strip()})
        elif not NO_ACTION.search(words):
            yield Call("act", {"input": words})
