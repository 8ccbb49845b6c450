"""Sessions of agents as lines: the Hub's session traces, and the logs of Claude Code and Codex; and verifiers' trees.

A session's lines are gathered before they are read. The layouts of Claude Code and Codex are not documented: they are read
as far as they are known.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..traces import Trace
from .chat_rows import said_in
from .conversation import Conversation
from .dialects import said_of
from .gathering import RunPart
from .outcomes import outcome_in, outcome_of
from .parts import Said, joined

Raw = Mapping[str, Any]

SESSION, CLAUDE, CODEX = "session", "claude_code", "items"
CODEX_LINES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}


def is_session_line(value: Any) -> bool:
    match value:
        case {"type": "session", "id": _} | {"type": "message", "message": {"role": str()}}:
            return True
    return False


def session_parts(value: Raw) -> Iterator[RunPart]:
    """The header and the messages of the session in a file."""
    yield RunPart("", value)


def is_session(document: Any) -> bool:
    return isinstance(document, dict) and set(document) == {SESSION}


def read_session(document: Raw) -> Iterator[Trace]:
    """A run each header; messages before any header are a run of their own."""
    header: Raw = {}
    messages: list[Said] = []
    for line in [*document[SESSION], {"type": "session"}]:
        if line.get("type") != "session":
            messages.append(said_of(line["message"]))
            continue
        if messages:
            yield Conversation(joined(messages)).trace(
                outcome_in(header), run=str(header.get("id") or "")
            )
        header, messages = line, []


def is_claude_line(value: Any) -> bool:
    """A line with a session's id: a message, or what else the program noted."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    return "sessionId" in value and ("uuid" in value or "message" in value or "leafUuid" in value)


def claude_parts(value: Raw) -> Iterator[RunPart]:
    """Messages, by session; those of a helper that the agent started are a run of their own."""
    if isinstance(value.get("message"), dict) and not value.get("isMeta"):
        side = value.get("agentId") or ("side" if value.get("isSidechain") else "")
        run = f"{value['sessionId']}/{side}" if side else str(value["sessionId"])
        yield RunPart(run, value["message"])


def is_claude(document: Any) -> bool:
    return isinstance(document, dict) and set(document) == {CLAUDE}


def read_claude(document: Raw) -> Trace:
    """A message may stand in several lines, a block each, which have its id."""
    merged: list[dict[str, Any]] = []
    for message in document[CLAUDE]:
        content = message.get("content")
        last = merged[-1] if merged else {}
        if message.get("id") and message["id"] == last.get("id") and isinstance(content, list):
            last["content"] = [*last["content"], *content]
        else:
            merged.append(dict(message))
    return Conversation(said_in(merged)).trace()


def is_codex_line(value: Any) -> bool:
    match value:
        case {"type": str(kind), "payload": dict()}:
            return kind in CODEX_LINES
    return False


def codex_parts(value: Raw) -> Iterator[RunPart]:
    if value["type"] == "response_item":
        yield RunPart("", value["payload"])


def is_verifiers(document: Any) -> bool:
    match document:
        case {"nodes": [{"message": {"role": str()}}, *_]}:
            return True
    return False


def read_verifiers(document: Raw) -> Iterator[Trace]:
    """A run each leaf of the tree of messages: branches are retries, and share what precedes."""
    nodes = document["nodes"]
    ids = {node.get("id", index): index for index, node in enumerate(nodes)}
    parents = [ids.get(node.get("parent")) for node in nodes]
    told: set[int] = set()
    model = next((c.get("model") for c in document.get("calls") or () if c.get("model")), "")
    for leaf in sorted(
        set(range(len(nodes))) - {parent for parent in parents if parent is not None}
    ):
        path = _to_root(leaf, parents)
        shared = sum(1 for at in path if at in told)
        told.update(path)
        messages = [said_of(nodes[at]["message"]) for at in path]
        yield Conversation(messages, shared=shared).trace(
            _reward(document), str(model or ""), str(document.get("id") or "")
        )


def _to_root(leaf: int, parents: Sequence[int | None]) -> list[int]:
    path: list[int] = []
    at: int | None = leaf
    while at is not None and at not in path:
        path.append(at)
        at = parents[at]
    return path[::-1]


def _reward(document: Raw) -> Any:
    """What the only reward that counts says; of several, none is known to be it."""
    rewards = document.get("rewards")
    weighed = [
        one.get("score")
        for one in (rewards.values() if isinstance(rewards, dict) else ())
        if isinstance(one, dict) and one.get("weight", 1)
    ]
    return outcome_of(weighed[0]) if len(weighed) == 1 else outcome_in(document)
