"""What a model wrote in the place of an action, read strictly: one answer or one tool call, or the fault that it has.

    <answer>A</answer>
    <tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>

Knows no tool. As SSR's harness an action is exactly one of the two; what stands around it is passed over.
"""

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from ...data.traces import ANSWER

ENDS = ("</answer>", "</tool_call>")
ACTION = re.compile(r"<(answer|tool_call)>(.*?)</\1>", re.DOTALL)
BEGINNING = re.compile(r"<(?:answer|tool_call)>")


class Fault(StrEnum):
    """Why a text is no action."""

    NO_ACTION = "no-action"
    UNFINISHED = "unfinished"
    SEVERAL = "several-actions"
    BROKEN_JSON = "broken-json"
    NO_NAME = "no-name"
    BROKEN_ARGUMENTS = "broken-arguments"


class ParsedAction(NamedTuple):
    """An answer (`name` is "answer", the text under "answer") or a call of the tool `name`."""

    name: str
    arguments: Mapping[str, Any]

    @property
    def answer(self) -> str | None:
        return self.arguments["answer"] if self.name == ANSWER else None


class Invalid(NamedTuple):
    """A text that is no action: its fault, and what exactly is wrong."""

    fault: Fault
    detail: str


def parse_action(text: str) -> ParsedAction | Invalid:
    """The one action of `text`."""
    found = ACTION.findall(text)
    begun = len(BEGINNING.findall(text))
    if not found:
        if begun:
            return Invalid(Fault.UNFINISHED, "it begins an action and does not end it")
        return Invalid(Fault.NO_ACTION, "it holds neither <answer> nor <tool_call>")
    if len(found) > 1 or begun > 1:
        return Invalid(Fault.SEVERAL, f"it holds {max(len(found), begun)} actions")
    tag, content = found[0]
    return ParsedAction(ANSWER, {"answer": content.strip()}) if tag == "answer" else _call(content)


def _call(content: str) -> ParsedAction | Invalid:
    try:
        call = json.loads(content)
    except (ValueError, RecursionError) as error:
        return Invalid(Fault.BROKEN_JSON, f"its tool call is no JSON: {error}")
    name = call.get("name") if isinstance(call, dict) else None
    if not isinstance(name, str) or not name.strip():
        return Invalid(Fault.NO_NAME, "its tool call has no name")
    arguments = call.get("arguments", {})
    if not isinstance(arguments, dict):
        return Invalid(Fault.BROKEN_ARGUMENTS, "its tool call's arguments are no object")
    return ParsedAction(name.strip(), arguments)
