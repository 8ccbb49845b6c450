"""OpenAI chat messages with tool calls, reasoning fields or inline tags; tau-bench's runs are such.

One turn an assistant message. A thought is what the model wrote for itself: a reasoning field, a tagged
block, a call of a `think` tool, or text beside a call. Text alone is no thought but an act: a reply to
the user, or the answer.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from ..traces import ANSWER, Action, Trace, Turn
from .arguments import arguments_of
from .chat import Message, messages_in, text_of
from .outcomes import outcome_in
from .prompt import question_in
from .tags import tagged

ROLES = {"system", "developer", "user", "assistant", "tool"}
REASONING = ("reasoning_content", "reasoning")  # older and newer name; gateways send both
THINK = "think"
RESULT = re.compile(r"<(tool_response|information)>(.*?)</\1>", re.DOTALL)


@dataclass
class Call:
    """An action waiting for its observation; `action` is None for a thought in a tool's clothes."""

    action: Action | None
    answered_by: tuple[str, ...]  # roles
    id: Any = None
    observation: str | None = None


@dataclass
class Draft:
    """A turn in the making."""

    thoughts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def think(self, text: Any) -> None:
        """Add a thought, once: the same text may stand in several places."""
        if isinstance(text, str) and text.strip() and text.strip() not in self.thoughts:
            self.thoughts.append(text.strip())

    def act(self, call: Call) -> None:
        if call.action and call.action.name == THINK:
            self.think(_thought_in(call.action.arguments))
            call.action = None
        self.calls.append(call)

    def observe(self, role: str, text: str, id: Any = None) -> None:
        """Answer the call of this id, or where either side has none, the first open one."""
        open_calls = [c for c in self.calls if c.observation is None and role in c.answered_by]
        called = [c for c in open_calls if id is not None and c.id == id]
        nameless = [c for c in open_calls if id is None or c.id is None]
        for call in (called or nameless)[:1]:
            call.observation = text

    def turn(self) -> Turn:
        acts = [(call.action, call.observation or "") for call in self.calls if call.action]
        return Turn(
            thoughts=tuple(self.thoughts),
            actions=tuple(action for action, _ in acts),
            observations=tuple(observation for _, observation in acts),
        )


def is_openai_chat(document: Any) -> bool:
    """Whether all messages have OpenAI's roles and their calls OpenAI's shape."""
    messages = messages_in(document)
    return bool(messages) and all(m["role"] in ROLES and _has_plain_calls(m) for m in messages)


def read_openai_chat(document: Mapping[str, Any]) -> Trace:
    messages = messages_in(document)
    turns = []
    for index, message in enumerate(messages):
        if message["role"] == "assistant":
            turn = _turn(message, _replies(messages[index + 1 :]))
            turns += [turn] if turn.thoughts or turn.actions else []
    return Trace(_question(messages), tuple(turns), outcome_in(document))


def _has_plain_calls(message: Message) -> bool:
    calls = message.get("tool_calls") or []
    return (
        isinstance(calls, list) and all(map(_is_call, calls)) and not message.get("function_call")
    )


def _is_call(call: Any) -> bool:
    match call:
        case {"function": {"name": str()}}:
            return True
    return False


def _question(messages: Sequence[Message]) -> str:
    """What users say before the agent's first message, or their first words after its greeting."""
    roles = [message["role"] for message in messages]
    start = roles.index("assistant") if "assistant" in roles else len(messages)
    first = [message for message in messages[:start] if message["role"] == "user"]
    later = [message for message in messages[start:] if message["role"] == "user"]
    return question_in("\n".join(map(text_of, first or later[:1])))


def _replies(following: Sequence[Message]) -> Sequence[Message]:
    return list(takewhile(lambda message: message["role"] != "assistant", following))


def _turn(message: Message, replies: Sequence[Message]) -> Turn:
    draft = Draft()
    draft.think(next((message[name] for name in REASONING if message.get(name)), None))
    found = tagged(text_of(message))
    for thought in found.thoughts:
        draft.think(thought)
    calls = [Call(action, ("tool", "user")) for action in found.actions] + _tool_calls(message)
    rest = "\n".join(found.rest)
    if calls:
        draft.think(rest)
    elif rest:
        calls = [Call(_reply(rest, replies), ("user",))]
    for call in calls:
        draft.act(call)
    for reply in replies:
        for text in _results(reply):
            draft.observe(reply["role"], text, reply.get("tool_call_id"))
    return draft.turn()


def _tool_calls(message: Message) -> list[Call]:
    calls = []
    for call in message.get("tool_calls") or []:
        function = call["function"]
        action = Action(function["name"], arguments_of(function.get("arguments")))
        calls.append(Call(action, ("tool",), call.get("id")))
    return calls


def _reply(text: str, replies: Sequence[Message]) -> Action:
    """Words to a user who goes on to speak, or the answer that ends the run."""
    if any(reply["role"] == "user" for reply in replies):
        return Action("respond", {"content": text})
    return Action(ANSWER, {"input": text})


def _results(reply: Message) -> list[str]:
    """The texts of a reply: one each result block where there are some, else the whole."""
    text = text_of(reply)
    return [found[2].strip() for found in RESULT.finditer(text)] or [text]


def _thought_in(arguments: Mapping[str, Any]) -> str | None:
    texts = [value for value in arguments.values() if isinstance(value, str)]
    return arguments.get("thought") or next(iter(texts), None)
