"""A message in the dialect of its writer, made into parts: OpenAI, Anthropic, LangChain, ShareGPT, Inspect, OTel.

Knows the names that fields and parts have in each dialect. It does not know where a document keeps its messages.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .parts import (
    ASSISTANT,
    NO_CALL,
    NO_CONTENT,
    NO_REASONING,
    NO_ROLE,
    SYSTEM,
    TOOL,
    USER,
    Call,
    Kind,
    Part,
    Picture,
    Reasoning,
    Result,
    Said,
    Text,
    Unread,
)
from .window import Damage, parsed

Raw = Mapping[str, Any]

ROLES = {
    **dict.fromkeys(("system", "developer", "SystemMessage"), SYSTEM),
    **dict.fromkeys(("user", "human", "HumanMessage"), USER),
    **dict.fromkeys(("assistant", "ai", "gpt", "model", "bot", "chatgpt", "AIMessage"), ASSISTANT),
    **dict.fromkeys(("AIMessageChunk", "function_call", "tool_call"), ASSISTANT),
    **dict.fromkeys(("tool", "function", "observation", "ipython", "tool-response"), TOOL),
    **dict.fromkeys(("tool_response", "function_response", "ToolMessage", "tool_result"), TOOL),
}
CALL_ROLES = {"function_call", "tool_call"}
# Of these fields the first with text is the thought; gateways send the same text in several.
FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoningContent")
DETAILS = ("reasoning_details", "thinking_blocks")
TEXTS = {"text", "input_text", "output_text", "reasoning_text", "summary_text", "refusal"}
IMAGES = {"image", "image_url", "input_image", "blob", "uri", "file"}
CALLS = {"tool_use", "server_tool_use", "tool_call", "function_call", "mcp_call", "toolCall"}
RESULTS = {"tool_result", "tool_call_response", "function_call_output", "mcp_tool_result"}
THOUGHTS = {"thinking", "redacted_thinking", "reasoning", "reasoning.text", "reasoning.summary"}
THOUGHTS |= {"reasoning.encrypted"}
EMPTY: tuple[Any, ...] = (None, "", [], {})
KNOWN = TEXTS | IMAGES | CALLS | RESULTS | THOUGHTS


def role_of(raw: Raw) -> str | None:
    """Who speaks, in our own words for it; None where that is not told."""
    for name in ("role", "from", "type"):
        role = raw.get(name)
        if isinstance(role, str) and role in ROLES:
            return ROLES[role]
    return None


def said_of(raw: Raw) -> Said:
    """The message; one whose role is not known counts as the system's."""
    raw = _unwrapped(raw)
    role = role_of(raw)
    if role is None:
        return Said(SYSTEM, (Unread(NO_ROLE),))
    content = raw.get("content")
    if role in (SYSTEM, USER) and isinstance(content, str):  # most messages are plain
        return Said(role, (Text(content),))
    given = raw.get("role") or raw.get("from")
    if given in CALL_ROLES:
        return Said(ASSISTANT, tuple(_written_calls(_content(raw))), is_call_only=True)
    if role == TOOL and isinstance(content, str) and content and raw.get("tool_call_id"):
        return Said(TOOL, (Result(content, raw["tool_call_id"]),))
    parts = list(parts_of(_content(raw)))
    if role == TOOL:
        return Said(TOOL, (_result(raw, parts),))
    if role == ASSISTANT and len(raw) > 2:  # more than a role and its words
        parts = [*_reasoning(raw), *parts, *_calls(raw)]
    reason = raw.get("finish_reason") or raw.get("stop_reason")
    return Said(role, tuple(parts), _model(raw), reason in ("length", "max_tokens"))


def parts_of(content: Any) -> Iterator[Part]:
    """The parts of a message's content: a string, an object that is a part, or a list of them."""
    if isinstance(content, str):
        yield Text(content)
    elif isinstance(content, dict):
        yield from _part(content)
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, str):
                yield Text(part)
            elif isinstance(part, dict):
                yield from _part(part)
            elif part is not None:
                yield Unread(NO_CONTENT)
    elif content is not None:
        yield Unread(NO_CONTENT)


def call_of(raw: Raw) -> Call | None:
    """A call in any of its shapes: with a `function` object, flat, or of a function named in it."""
    function = raw.get("function")
    inner = function if isinstance(function, dict) else raw
    name = inner.get("name") or raw.get("tool_name") or raw.get("function_name") or function
    id = next((raw[key] for key in ("id", "call_id", "tool_call_id") if raw.get(key)), None)
    for key in ("arguments", "args", "input", "parameters", "tool_input", "kwargs"):
        if key in inner:
            return Call(name, inner[key], id) if isinstance(name, str) else None
    return Call(name, None, id) if isinstance(name, str) else None


def words_of(content: Any) -> str:
    """Content as text: what is no text and no picture is written as JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = list(parts_of(content))
    texts = [part.text for part in parts if isinstance(part, Text | Result)]
    if texts or any(isinstance(part, Picture) for part in parts) or content in ([], {}):
        return "\n".join(texts)
    return json.dumps(content, ensure_ascii=False, default=str)


def _unwrapped(raw: Raw) -> Raw:
    """LangChain's serialised messages keep their fields in `kwargs` or `data`, and their class in `id`."""
    if raw.get("type") == "constructor" and isinstance(raw.get("kwargs"), dict):
        names = raw.get("id")
        name = names[-1] if isinstance(names, list) and names else ""
        return {"role": name, **raw["kwargs"]}
    if isinstance(raw.get("data"), dict) and "content" in raw["data"]:
        return {"type": raw.get("type"), **raw["data"]}
    return raw


def _content(raw: Raw) -> Any:
    return next((raw[k] for k in ("content", "value", "parts") if _has(raw, k)), None)


def _part(part: Raw) -> Iterator[Part]:
    kind = part.get("type")
    kind = kind if isinstance(kind, str) else None
    if kind in TEXTS:
        keys = ("text", "value", "content", "refusal")
        text = _first_text(part, *keys)
        yield Text(text) if text or not any(_has(part, key) for key in keys) else Unread(NO_CONTENT)
    elif kind in IMAGES:
        yield Picture(place_of(part))
    elif kind in THOUGHTS:
        yield from _thoughts(part)
    elif kind in CALLS:
        yield from _call_part(part)
    elif kind in RESULTS or (isinstance(kind, str) and kind.endswith("_tool_result")):
        yield _result(part, list(parts_of(part.get("content"))))
    elif kind is None and isinstance(part.get("text"), str):
        yield Text(part["text"])
    elif part:
        yield Unread(NO_CONTENT)


def _call_part(part: Raw) -> Iterator[Part]:
    if isinstance(part.get("value"), str):
        yield from _written_calls(part["value"])
    elif call := call_of(part):
        yield call
        if part.get("output") is not None:  # an MCP call tells its result with it
            yield Result(words_of(part["output"]), call.id)
    else:
        yield Unread(NO_CALL)


def _thoughts(part: Raw) -> Iterator[Part]:
    """A block's reasoning: its words, a summary of them, or that they cannot be read."""
    if part.get("type") in ("redacted_thinking", "reasoning.encrypted") or part.get("redacted"):
        yield Reasoning(_first_text(part, "summary"), Kind.REDACTED)
        return
    keys = ("thinking", "reasoning", "text", "value", "content")
    if text := _first_text(part, *keys):
        yield Reasoning(text)
        return
    content = part.get("content")
    texts = [words_of(one) for one in content] if isinstance(content, list) else []
    if any(texts):
        yield Reasoning("\n".join(texts))
        return
    summary = part.get("summary")
    told = summary if isinstance(summary, list) else [summary] if summary else []
    summaries = [text for one in told if (text := words_of(one))]
    if any(_has(part, key) for key in keys):
        yield Unread(NO_REASONING)
    if summaries:
        yield from (Reasoning(text, Kind.SUMMARY) for text in summaries)
    elif any(part.get(key) for key in ("encrypted_content", "signature", "data")):
        yield Reasoning("", Kind.REDACTED)


def _reasoning(raw: Raw) -> list[Part]:
    """The reasoning that stands in fields beside the content: the first field that has some."""
    extra = raw.get("additional_kwargs")
    holders = [raw, extra] if isinstance(extra, dict) else [raw]
    no_texts = [
        Unread(NO_REASONING)
        for holder in holders
        for name in FIELDS
        if _has(holder, name) and not isinstance(holder[name], str)
    ]
    for holder in holders:
        if text := _first_text(holder, *FIELDS):
            return [Reasoning(text), *no_texts]
    for holder in holders:
        for name in DETAILS:
            if found := list(_detailed(holder.get(name))):
                return [*found, *no_texts]
    return list(no_texts)


def _detailed(blocks: Any) -> Iterator[Part]:
    for block in blocks if isinstance(blocks, list) else [blocks]:
        if isinstance(block, dict):
            yield from _thoughts(block)
        elif block is not None:
            yield Unread(NO_REASONING)


def _calls(raw: Raw) -> Iterator[Part]:
    for name in ("tool_calls", "invalid_tool_calls", "toolCalls"):
        calls = raw.get(name)
        for call in calls if isinstance(calls, list) else [calls]:
            yield from _call(call)
    yield from _call(raw.get("function_call"))


def _call(raw: Any) -> Iterator[Part]:
    if isinstance(raw, dict) and (found := call_of(raw)):
        yield found
    elif raw not in EMPTY:
        yield Unread(NO_CALL)


def _written_calls(content: Any) -> Iterator[Part]:
    """Calls that are the whole content: JSON, one or a list of them; what cannot be read is kept raw."""
    try:
        value = parsed(content) if isinstance(content, str) else content
    except Damage:
        value = None
    calls = value if isinstance(value, list) else [value]
    found = [call_of(call) if isinstance(call, dict) else None for call in calls]
    if found and all(found):
        yield from (call for call in found if call)
    else:
        yield Call("tool_call", content)


def _result(raw: Raw, parts: list[Part]) -> Result:
    ids: tuple[str, ...] = ("tool_call_id", "tool_use_id", "toolCallId", "call_id", "id")
    if raw.get("role") or raw.get("type") == "tool" or raw.get("from"):
        ids = ids[:-1]  # a message's own id names the message
    id = next((raw[key] for key in ids if raw.get(key)), None)
    listed = raw.get("tool_call_ids")
    if id is None and isinstance(listed, list) and listed:
        id = listed[0]
    content = _content(raw)
    if not content:
        content = next(
            (raw[k] for k in ("output", "response", "result", "error") if raw.get(k)), None
        )
    nested = [part for part in parts if isinstance(part, Result)]
    if nested:
        first = nested[0]
        return Result(first.text, first.id or id, first.pictures, first.unread)
    pictures = tuple(part for part in parts if isinstance(part, Picture))
    is_told = pictures or any(isinstance(part, Text) for part in parts)  # else all of it is words
    unread = tuple(part.code for part in parts if is_told and isinstance(part, Unread))
    return Result(words_of(content), id, pictures, unread)


def place_of(part: Raw) -> str:
    """Where a part's picture is: a path, an address, or a data URI; "" where it says nothing."""
    source = part.get("source")
    for holder in (part, source if isinstance(source, dict) else {}):
        data = next((holder[k] for k in ("data", "base64") if isinstance(holder.get(k), str)), "")
        if part.get("type") == "blob":
            data = _first_text(part, "content")
        if data:
            kind = _first_text(holder, "media_type", "mime_type") or "image/png"
            return data if data.startswith("data:") else f"data:{kind};base64,{data}"
        for key in ("image_url", "url", "image", "path", "uri", "file_path", "file_id"):
            value = holder.get(key)
            value = value.get("url") or value.get("path") if isinstance(value, dict) else value
            if isinstance(value, str) and value:
                return value
    return ""


def _model(raw: Raw) -> str:
    told = raw.get("response_metadata")
    inner = _first_text(told, "model_name", "model") if isinstance(told, dict) else ""
    return _first_text(raw, "model") or inner


def _has(raw: Raw, key: str) -> bool:
    return raw.get(key) not in EMPTY


def _first_text(raw: Raw, *keys: str) -> str:
    for key in keys:
        value = raw.get(key)
        if value and isinstance(value, str):
            return value
    return ""
