"""Chats in the dialects beside OpenAI's plain one, told apart by their messages: Anthropic, LangChain, ShareGPT and more.

Knows where documents keep their messages and what each dialect looks like. What a message says, `dialects` knows.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..traces import Trace
from .chat import images_beside
from .conversation import Conversation
from .dialects import KNOWN, role_of, said_of
from .openai_chat import model_of, run_of
from .outcomes import outcome_in
from .parts import ASSISTANT, SYSTEM, Said, joined

Raw = Mapping[str, Any]
LISTS = ("messages", "conversations", "conversation", "traj", "trajectory", "history", "dialog")
HOLDERS = (
    "values",
    "state",
    "request",
    "data",
)  # objects that hold such a list: a thread, a logged request
LANGCHAIN = {"human", "ai", "AIMessageChunk", "constructor", "HumanMessage", "AIMessage"}
BLOCKS = {"thinking", "redacted_thinking", "tool_use", "tool_result", "server_tool_use"}


def raw_messages(document: Any) -> Sequence[Raw]:
    """The list of messages in a document; empty where there is none, or it holds something else."""
    if isinstance(document, list):
        return document if _are_messages(document) else ()
    if not isinstance(document, dict):
        return ()
    held = [document[name] for name in HOLDERS if isinstance(document.get(name), dict)]
    for holder in (document, *held):
        for name in LISTS:
            if isinstance(holder.get(name), list) and holder[name]:
                return holder[name] if _are_messages(holder[name]) else ()
    return ()


def read_chat(document: Any) -> Trace:
    """A document whose messages make one run."""
    fields = document if isinstance(document, dict) else {}
    messages = said_in(raw_messages(document), fields.get("system"))
    conversation = Conversation(messages, images_beside(fields))
    return conversation.trace(
        outcome_in(fields), model_of(fields) or _model(fields), run_of(fields)
    )


def said_in(messages: Iterable[Raw], system: Any = None) -> list[Said]:
    """The messages as parts, a system's words before them."""
    first = [said_of({"role": SYSTEM, "content": system})] if system else []
    return joined([*first, *map(said_of, messages)])


def is_anthropic(document: Any) -> bool:
    """Whether some content is a list of Anthropic's blocks."""
    messages = raw_messages(document)
    kinds = {kind for message in messages for kind in _kinds(message)}
    return bool(kinds & BLOCKS) and kinds <= KNOWN | {"document", "search_result"}


def is_langchain(document: Any) -> bool:
    """Whether messages tell who speaks by LangChain's types."""
    messages = raw_messages(document)
    return any(_name(message, "type") in LANGCHAIN for message in messages)


def is_sharegpt(document: Any) -> bool:
    """Whether messages are {"from", "value"}."""
    messages = raw_messages(document)
    return bool(messages) and all("from" in message and "value" in message for message in messages)


def is_typed(document: Any) -> bool:
    """Whether contents are LLaMA-Factory's lists of {"type", "value"}."""
    messages = raw_messages(document)
    contents = [message.get("content") for message in messages]
    return bool(messages) and all(
        isinstance(content, list)
        and all(isinstance(part, dict) and "type" in part and "value" in part for part in content)
        for content in contents
    )


def is_chat(document: Any) -> bool:
    """Whether there are messages at all, the agent's among them; for what no stricter row takes."""
    messages = raw_messages(document)
    return any(role_of(message) == ASSISTANT for message in messages)


def _are_messages(values: Sequence[Any]) -> bool:
    return bool(values) and all(map(_is_message, values))


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("type") == "constructor":
        return isinstance(value.get("kwargs"), dict)
    return role_of(value) is not None and bool(value.keys() & MESSAGE_KEYS)


MESSAGE_KEYS = {"content", "value", "parts", "tool_calls", "function_call", "data", "kwargs"}


def _kinds(message: Raw) -> Iterable[str]:
    content = message.get("content")
    parts = content if isinstance(content, list) else ()
    return (str(part.get("type")) for part in parts if isinstance(part, dict))


def _name(message: Raw, key: str) -> str:
    value = message.get(key)
    return value if isinstance(value, str) else ""


def _model(document: Raw) -> str:
    metadata = document.get("metadata")
    name = metadata.get("model_name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""
