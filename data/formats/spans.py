"""A run as spans of what its program did: which of a model's calls belong together, and what each adds.

A model's call repeats all that was said before it. Calls that continue one another are one run, in which a message counts
once; one that goes back to an earlier point, or begins anew (another agent), is a run of its own, and a thought that it
shares with the one it left counts there. Knows no service's fields: `span_fields` does.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..traces import Outcome, Trace
from .chat_rows import said_in
from .conversation import Conversation
from .parts import ASSISTANT, SYSTEM, TOOL, Call, Reasoning, Result, Said, Text
from .tags import CLOSING, OPENING

SPANS = ("otel-genai", "openinference", "langsmith", "langfuse", "weave", "request-log")
THOUGHTS = re.compile(
    f"(?:{OPENING.pattern}).*?(?:{CLOSING.pattern})|\\A.*?(?:{CLOSING.pattern})",
    re.DOTALL | re.IGNORECASE,
)


@dataclass
class Chain:
    """Messages of one run so far, and what each is known by; the first `shared` are another's, too."""

    messages: list[Said] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    shared: int = 0
    model: str = ""
    tools: list[Mapping[str, Any]] = field(default_factory=list)


def spans_named(name: str) -> tuple[Callable[[Any], bool], Callable[[Any], Iterator[Trace]]]:
    """Whether a document is a service's gathered spans, and how it is read."""
    return (
        lambda document: isinstance(document, dict) and set(document) == {name},
        lambda document: traces_of_spans(document[name]),
    )


def traces_of_spans(spans: Sequence[Mapping[str, Any]]) -> Iterator[Trace]:
    """The runs in spans of the kind that `span_fields` makes, in any order."""
    outcome = next((Outcome(one["outcome"]) for one in spans if one.get("outcome")), None)
    chains: list[Chain] = []
    current = Chain()
    for span in sorted(spans, key=lambda one: str(one.get("start") or "")):
        if span.get("kind") == "llm":
            current = _continued(chains, span)
        elif span.get("kind") == "tool":
            current.tools.append(span)
    for chain in chains:
        messages = [*chain.messages, *_late_results(chain)]
        yield Conversation(messages, shared=chain.shared).trace(outcome, chain.model)


def _continued(chains: list[Chain], span: Mapping[str, Any]) -> Chain:
    """The chain that the span's input continues, or another, with what the span adds."""
    given = said_in(span.get("inputs") or (), span.get("system"))
    marks = [mark_of(said) for said in given]
    best = max(chains, key=lambda chain: _common(chain.marks, marks), default=Chain())
    common = _common(best.marks, marks)
    if best.marks and common == len(best.marks):
        chain = best
        _add(chain, given[common:])
    else:
        chain = _begun(chains, best.messages[:common], given)
        chains.append(chain)
    _add(chain, [replace(said, role=ASSISTANT) for said in said_in(span.get("outputs") or ())])
    chain.model = chain.model or str(span.get("model") or "")
    chain.tools.clear()
    return chain


def _begun(chains: Sequence[Chain], before: Sequence[Said], given: Sequence[Said]) -> Chain:
    """A chain that goes on from `before`, which is another's, too; messages that any chain holds bring no thoughts."""
    chain = Chain()
    known = {mark for one in chains for mark in one.marks}
    if any(said.role == ASSISTANT for said in before):
        _add(chain, before)
        chain.shared = len(before)
        given = given[len(before) :]
    _add(chain, [_thoughtless(said) if mark_of(said) in known else said for said in given])
    return chain


def _thoughtless(said: Said) -> Said:
    parts = (
        Text(THOUGHTS.sub("", part.text)) if isinstance(part, Text) else part
        for part in said.parts
        if not isinstance(part, Reasoning)
    )
    return replace(said, parts=tuple(parts)) if said.role == ASSISTANT else said


def _add(chain: Chain, messages: Sequence[Said]) -> None:
    chain.messages += messages
    chain.marks += map(mark_of, messages)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many messages both begin with."""
    for index, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return index
    return min(len(one), len(other))


def mark_of(said: Said) -> str:
    """What a message is known by: all but its reasoning, which histories leave out."""
    if said.role == SYSTEM:
        return SYSTEM
    parts = [
        THOUGHTS.sub("", part.text).strip()
        if isinstance(part, Text)
        else json.dumps([part.name, part.arguments], sort_keys=True, default=str)
        if isinstance(part, Call)
        else part.text.strip()
        for part in said.parts
        if isinstance(part, Text | Call | Result)
    ]
    return json.dumps([said.role, [part for part in parts if part]], sort_keys=True)


def _late_results(chain: Chain) -> Iterator[Said]:
    """What tools gave after the model's last call, which no later call repeats."""
    last = chain.messages[-1] if chain.messages else None
    if last is None or last.role != ASSISTANT:
        return
    calls = [part for part in last.parts if isinstance(part, Call)]
    for tool in chain.tools:
        call = next((one for one in calls if one.name == tool.get("name")), None)
        if call is not None:
            calls.remove(call)
            yield Said(TOOL, (Result(str(tool.get("output") or ""), call.id),))
