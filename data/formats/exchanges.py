"""Requests to chat APIs with what was answered: choices, Anthropic's messages, and the Responses API's items.

Several choices are several runs. A response alone states no question and is quarantined as such.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..traces import Trace
from .chat import images_beside
from .chat_rows import Raw, raw_messages, said_in
from .conversation import Conversation
from .dialects import said_of, words_of
from .gathering import RunPart
from .openai_chat import model_of, run_of
from .outcomes import outcome_in
from .parts import ASSISTANT, TOOL, USER, Call, Kind, Reasoning, Result, Said

RESPONSES = ("response", "output", "outputs", "completion", "result")
REQUESTS = ("request", "input", "inputs", "kwargs", "body")
ITEMS = {"message", "reasoning", "function_call", "function_call_output"}
OUTPUT = "_output"
CALL = "_call"
SESSIONS = ("session_id", "trace_id", "conversation_id", "thread_id")
TIMES = ("created", "timestamp", "start_time", "startTime", "created_at")
HOLDS_TOKENS = ("completion_tokens_details", "output_tokens_details")


def is_choices(document: Any) -> bool:
    """Whether there is a response with choices that hold messages or texts."""
    return bool(_choices(document))


def read_choices(document: Raw) -> Iterator[Trace]:
    """A run each choice; later ones share the question and what preceded."""
    history = _history(document)
    response = _holder(document, "choices")
    for number, choice in enumerate(_choices(document)):
        said = _chosen(choice, response)
        shared = len(history) if number else 0
        conversation = Conversation(
            [*history, said], images_beside(document), _asked(document, history), shared
        )
        yield conversation.trace(outcome_in(document), model_of(response), run_of(document))


def is_anthropic_exchange(document: Any) -> bool:
    """Whether Anthropic's answer stands beside what it was asked."""
    return _answer(document) is not None


def read_anthropic_exchange(document: Raw) -> Trace:
    answer = _answer(document) or {}
    messages = [*_history(document), said_of(answer)]
    return Conversation(messages).trace(outcome_in(document), model_of(answer), run_of(document))


def is_responses(document: Any) -> bool:
    """Whether there are items of the Responses API: in an answer, in what was asked, or as a list of their own."""
    items = _items(document)
    kinds = {str(item.get("type")) for item in items if isinstance(item, dict)}
    return bool(kinds & (ITEMS - {"message"})) or (bool(items) and kinds == {"message"})


def read_responses(document: Raw) -> Trace:
    response = _holder(document, "output")
    messages = _with_unread(said_of_items(items_of(document)), response)
    return Conversation(messages).trace(
        outcome_in(document), model_of(response) or model_of(document), run_of(document)
    )


def is_logged(document: Any) -> bool:
    """Whether a request and its one answer name the session that they belong to: a line of a proxy's log."""
    if not isinstance(document, dict) or not _first(document, SESSIONS):
        return False
    return len(_choices(document)) == 1 or _answer(document) is not None


def logged_call(document: Raw) -> Iterator[RunPart]:
    """The call as a span, since the next one of its session repeats it."""
    answer = _answer(document)
    holder = answer or _holder(document, "choices")
    told = {
        "kind": "llm",
        "start": str(_first(document, TIMES) or _first(holder, TIMES) or "").zfill(24),
        "system": _request(document, "system"),
        "inputs": _request(document, "messages") or raw_messages(document),
        "outputs": [answer or {"role": ASSISTANT, **(_choices(document)[0].get("message") or {})}],
        "model": model_of(holder) or model_of(document),
        "outcome": outcome_in(document),
    }
    yield RunPart(str(_first(document, SESSIONS)), told)


def said_of_items(items: Sequence[Any]) -> list[Said]:
    """Flat items as messages: what the agent reasons, says and calls up to the next result is one."""
    found: list[Said] = []
    for item in items:
        if not isinstance(item, dict):
            continue
        said = _item(item)
        if found and said.role == ASSISTANT == found[-1].role:
            found[-1] = replace(found[-1], parts=found[-1].parts + said.parts)
        else:
            found.append(said)
    return found


def items_of(document: Raw) -> list[Any]:
    """All items of a request with its response, a plain text that was asked among them."""
    asked = _asked_text(document)
    first = [{"role": USER, "content": asked}] if isinstance(asked, str) else []
    return [*first, *_items(document)]


def _item(item: Raw) -> Said:
    kind = str(item.get("type") or "message")
    if kind.endswith(OUTPUT):
        return Said(TOOL, (Result(words_of(item.get("output")), item.get("call_id")),))
    if kind.endswith(CALL):
        given = {k: item[k] for k in ("arguments", "input", "action", "queries") if k in item}
        name = item.get("name") or kind.removesuffix(CALL)
        arguments = next(iter(given.values()), None)
        return Said(ASSISTANT, (Call(str(name), arguments, item.get("call_id") or item.get("id")),))
    if kind == "reasoning":
        return said_of({"role": ASSISTANT, "content": [item]})
    return said_of(item)


def _items(document: Any) -> Sequence[Any]:
    """Items that were given, then those of the answer."""
    if not isinstance(document, dict):
        return ()
    if isinstance(document.get("items"), list):
        return document["items"]
    output = _holder(document, "output").get("output")
    if not isinstance(output, list) or not all(isinstance(o, dict) and "type" in o for o in output):
        return ()
    given = _request(document, "input")
    return [*(given if isinstance(given, list) else []), *output]


def _asked_text(document: Raw) -> Any:
    given = _request(document, "input")
    return given if isinstance(given, str) else document.get("question")


def _with_unread(messages: list[Said], response: Raw) -> list[Said]:
    """With a block that cannot be read where tokens were spent on reasoning and none of it is told."""
    usage = response.get("usage")
    details = [usage.get(name) for name in HOLDS_TOKENS] if isinstance(usage, dict) else []
    spent = [one.get("reasoning_tokens") for one in details if isinstance(one, dict)]
    reasons = any(isinstance(p, Reasoning) for said in messages[-1:] for p in said.parts)
    if not messages or reasons or not any(isinstance(n, int) and n > 0 for n in spent):
        return messages
    last = messages[-1]
    return [*messages[:-1], replace(last, parts=(Reasoning("", Kind.REDACTED), *last.parts))]


def _chosen(choice: Raw, response: Raw) -> Said:
    message = choice.get("message")
    raw = message if isinstance(message, dict) else {"content": choice.get("text")}
    reason = choice.get("finish_reason")
    said = said_of({"role": ASSISTANT, "finish_reason": reason, **raw})
    return _with_unread([replace(said, role=ASSISTANT)], response)[0]


def _choices(document: Any) -> Sequence[Raw]:
    if not isinstance(document, dict):
        return ()
    choices = _holder(document, "choices").get("choices")
    listed = choices if isinstance(choices, list) else []
    good = [
        c
        for c in listed
        if isinstance(c, dict)
        and (isinstance(c.get("message"), dict) or isinstance(c.get("text"), str))
    ]
    return good if len(good) == len(listed) else ()


def _answer(document: Any) -> Raw | None:
    """Anthropic's answer beside a request: {"role": "assistant", "content": [...]}."""
    if not isinstance(document, dict):
        return None
    for name in RESPONSES:
        answer = document.get(name)
        if isinstance(answer, dict) and answer.get("role") == ASSISTANT and "content" in answer:
            return answer if raw_messages(document) or _request(document, "messages") else None
    return None


def _history(document: Raw) -> list[Said]:
    messages = _request(document, "messages")
    listed = messages if isinstance(messages, list) else raw_messages(document)
    return said_in((one for one in listed if isinstance(one, dict)), _request(document, "system"))


def _asked(document: Raw, history: Sequence[Said]) -> str | None:
    """The question where there are no messages that state it."""
    given = _request(document, "prompt") or document.get("question")
    return words_of(given) if not history and given else None


def _first(document: Raw, names: Sequence[str]) -> Any:
    metadata = document.get("metadata")
    holders = [document, metadata] if isinstance(metadata, dict) else [document]
    return next((one[name] for one in holders for name in names if one.get(name)), None)


def _holder(document: Raw, key: str) -> Raw:
    """The object that has the key: the document, its response, or that one's body."""
    places: list[Any] = [document, *(document.get(name) for name in RESPONSES)]
    places += [one.get("body") for one in places if isinstance(one, dict)]
    return next(
        (one for one in places if isinstance(one, dict) and isinstance(one.get(key), list)), {}
    )


def _request(document: Raw, key: str) -> Any:
    places: list[Any] = [document, *(document.get(name) for name in REQUESTS)]
    places += [one.get("body") for one in places if isinstance(one, dict)]
    return next((one[key] for one in places if isinstance(one, dict) and one.get(key)), None)
