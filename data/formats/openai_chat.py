"""OpenAI chat messages with tool calls, reasoning fields or inline tags; tau-bench's runs are such."""

from collections.abc import Mapping
from typing import Any

from ..traces import Trace
from .chat import Message, images_beside, listed, messages_in
from .conversation import Conversation
from .dialects import said_of
from .outcomes import outcome_in

ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


def is_openai_chat(document: Any) -> bool:
    """Whether all messages have OpenAI's roles and their calls OpenAI's shape."""
    messages = messages_in(document)
    return bool(messages) and all(m["role"] in ROLES and _has_plain_calls(m) for m in messages)


def read_openai_chat(document: Mapping[str, Any]) -> Trace:
    messages = [said_of(message) for message in listed(document)]
    conversation = Conversation(messages, images_beside(document))
    return conversation.trace(outcome_in(document), model_of(document), run_of(document))


def model_of(document: Mapping[str, Any]) -> str:
    model = document.get("model")
    return model if isinstance(model, str) else ""


def run_of(document: Mapping[str, Any]) -> str:
    """The name that a run has in its file."""
    for key in ("id", "task_id", "sample_id", "instance_id", "trace_id", "run_id", "index", "uid"):
        value = document.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return ""


def _has_plain_calls(message: Message) -> bool:
    calls = message.get("tool_calls") or []
    return isinstance(calls, list) and all(map(_is_call, calls))


def _is_call(call: Any) -> bool:
    match call:
        case {"function": {"name": str()}}:
            return True
    return False
