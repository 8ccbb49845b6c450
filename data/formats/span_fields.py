"""What services that watch agents call the fields of a span: OpenTelemetry, OpenInference, LangSmith, Langfuse, Weave.

A span becomes {"kind": "llm" | "tool" | "", "start", "inputs", "outputs", "model", "name", "output", "outcome"}: only what
reading needs is kept, since each span repeats its run's history.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .dialects import words_of
from .gathering import RunPart
from .outcomes import outcome_of
from .window import Damage, parsed

Raw = Mapping[str, Any]

LLM_KINDS = {
    "LLM",
    "GENERATION",
    "llm",
    "chat_model",
    "chat",
    "generate_content",
    "text_completion",
}
TOOL_KINDS = {"TOOL", "tool", "execute_tool"}
INTEGER = re.compile(r"-?\d{1,20}", re.ASCII)
UNREAD = {
    "role": "assistant",
    "content": [{"type": "unread"}],
}  # what a message that is none counts as


def is_otlp(value: Any) -> bool:
    """OpenTelemetry's JSON: a batch of spans, with attributes as lists of key and value."""
    return isinstance(value, dict) and isinstance(value.get("resourceSpans"), list)


def otlp_spans(value: Raw) -> Iterator[RunPart]:
    for resource in value["resourceSpans"]:
        for scope in (
            resource.get("scopeSpans") or resource.get("instrumentationLibrarySpans") or ()
        ):
            for span in scope.get("spans") or ():
                attributes = {
                    one["key"]: _otlp_value(one.get("value") or {})
                    for one in span.get("attributes") or ()
                }
                yield _attributed(span, attributes, str(span.get("traceId") or ""))


def is_attributed(value: Any) -> bool:
    """A span with attributes of GenAI's or OpenInference's names, as an object or as columns."""
    if not isinstance(value, dict):
        return False
    attributes = value.get("attributes")
    if isinstance(attributes, dict):
        return any(key.split(".")[0] in ("gen_ai", "llm", "openinference") for key in attributes)
    return any(
        key.startswith(("attributes.llm", "attributes.openinference", "attributes.gen_ai"))
        for key in value
    )


def attributed_span(value: Raw) -> Iterator[RunPart]:
    attributes = value.get("attributes")
    if not isinstance(attributes, dict):
        start = "attributes."
        attributes = {k.removeprefix(start): v for k, v in value.items() if k.startswith(start)}
    context = value.get("context")
    holders = [value, context if isinstance(context, dict) else {}]
    names = ("trace_id", "traceId", "context.trace_id")
    run = next((str(h[n]) for h in holders for n in names if h.get(n)), "")
    yield _attributed(value, attributes, run)


def _attributed(span: Raw, attributes: Raw, run: str) -> RunPart:
    nested = unflattened(attributes)
    gen_ai, llm = nested.get("gen_ai") or {}, nested.get("llm") or {}
    kind = _at(nested, "openinference", "span", "kind") or _at(gen_ai, "operation", "name")
    kind = kind or span.get("span_kind") or ""
    inputs = _messages(_at(gen_ai, "input", "messages")) or _messages(gen_ai.get("prompt"))
    outputs = _messages(_at(gen_ai, "output", "messages")) or _messages(gen_ai.get("completion"))
    inputs = inputs or [_phoenix(one) for one in _listed(llm.get("input_messages"))]
    outputs = outputs or [_phoenix(one) for one in _listed(llm.get("output_messages"))]
    is_llm = kind in LLM_KINDS or bool(outputs)
    told = {
        "kind": "llm" if is_llm else "tool" if kind in TOOL_KINDS else "",
        "start": _start(span),
        "system": _system(_at(gen_ai, "system_instructions")),
        "inputs": inputs,
        "outputs": outputs if outputs or kind not in LLM_KINDS else _unread(gen_ai.get("output")),
        "model": _at(gen_ai, "response", "model")
        or _at(gen_ai, "request", "model")
        or llm.get("model_name"),
        "name": _at(nested, "tool", "name") or _at(gen_ai, "tool", "name") or span.get("name"),
        "output": words_of(_at(nested, "output", "value")),
    }
    return RunPart(run, told)


def is_langsmith(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("run_type"), str) and "inputs" in value


def langsmith_run(value: Raw) -> Iterator[RunPart]:
    metadata = _at(value, "extra", "metadata") or {}
    told = {
        "kind": "llm" if value["run_type"] in LLM_KINDS else value["run_type"],
        "start": value.get("dotted_order") or value.get("start_time"),
        "inputs": _messages(value.get("inputs")),
        "outputs": _said(value.get("outputs"), value["run_type"]),
        "model": metadata.get("ls_model_name") if isinstance(metadata, dict) else "",
        "name": value.get("name"),
        "output": words_of(_at(value, "outputs", "output") or value.get("outputs")),
        "outcome": _feedback(value.get("feedback_stats")),
    }
    yield RunPart(str(value.get("trace_id") or value.get("id") or ""), told)


def is_langfuse(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    observations = value.get("observations")
    if (
        isinstance(observations, list)
        and observations
        and all(isinstance(o, dict) and "type" in o for o in observations)
    ):
        return True
    has_run = "traceId" in value or "trace_id" in value
    return has_run and str(value.get("type")).isupper() and ("input" in value or "output" in value)


def langfuse_observations(value: Raw) -> Iterator[RunPart]:
    """An observation, or a trace with all of them and its scores."""
    outcome = _scores(value.get("scores"))
    for one in value.get("observations") or [value]:
        told = {
            "kind": "llm"
            if one.get("type") in LLM_KINDS
            else "tool"
            if one.get("type") in TOOL_KINDS
            else "",
            "start": str(one.get("startTime") or one.get("start_time") or ""),
            "inputs": _messages(one.get("input")),
            "outputs": _said(one.get("output"), one.get("type")),
            "model": one.get("model")
            or one.get("providedModelName")
            or one.get("provided_model_name"),
            "name": one.get("name"),
            "output": words_of(one.get("output")),
            "outcome": outcome,
        }
        run = one.get("traceId") or one.get("trace_id") or value.get("id") or ""
        yield RunPart(str(run), told)


def is_weave(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("op_name"), str) and "inputs" in value


def weave_call(value: Raw) -> Iterator[RunPart]:
    inputs, output = value.get("inputs"), value.get("output")
    outputs = _messages(output)
    told = {
        "kind": "llm" if outputs and _messages(inputs) else "tool",
        "start": value.get("started_at"),
        "inputs": _messages(inputs),
        "outputs": outputs,
        "model": (_at(output, "model") or _at(inputs, "model")),
        "name": value["op_name"].rsplit("/", 1)[-1].split(":")[0],
        "output": words_of(output),
    }
    yield RunPart(str(value.get("trace_id") or value.get("id") or ""), told)


def unflattened(flat: Raw) -> dict[str, Any]:
    """Keys with dots as objects in objects, numbered ones as lists in the order of the numbers (10 after 9)."""
    root: dict[str, Any] = {}
    for key, value in flat.items():
        node = root
        *path, last = str(key).split(".")
        for step in path:
            inner = node.setdefault(step, {})
            if not isinstance(inner, dict):
                inner = node[step] = {}
            node = inner
        held = _unflattened_value(value)
        if isinstance(held, dict) and isinstance(node.get(last), dict):
            held = {**node[last], **held}
        node[last] = held
    return _lists(root)


def _unflattened_value(value: Any) -> Any:
    if isinstance(value, dict):
        return unflattened(value)
    return [_unflattened_value(one) for one in value] if isinstance(value, list) else value


def _lists(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    if node and all(key.isdecimal() for key in node):
        return [_lists(node[key]) for key in sorted(node, key=lambda key: (len(key), key))]
    return {key: _lists(value) for key, value in node.items()}


def _messages(value: Any) -> list[Any]:
    """Messages in what a service recorded: a list, JSON of one, or an object that holds it."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            value = parsed(value)
        except Damage:
            return [UNREAD]
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list):  # LangChain calls models in batches
            return _messages(value[0])
        return [found for one in value for found in _message(one)]
    if isinstance(value, str):
        return [{"role": "assistant", "content": value}] if value else []
    if isinstance(value, dict):
        return _held(value)
    return [] if value is None else [UNREAD]


def _said(value: Any, kind: Any) -> list[Any]:
    """The messages that a span gave; of a model's, what is none counts as one that cannot be read."""
    return _messages(value) or (_unread(value) if kind in LLM_KINDS else [])


def _unread(value: Any) -> list[Any]:
    return [UNREAD] if value else []


def _held(value: Raw) -> list[Any]:
    for name in ("messages", "choices", "generations", "output", "input", "message"):
        if value.get(name):
            return _messages(value[name] if name != "message" else [value[name]])
    return _messages([value])


def _message(one: Any) -> Iterator[Raw]:
    """A message as it stands, or the one in a choice or a generation."""
    if not isinstance(one, dict):
        yield UNREAD
        return
    inner = one.get("message")
    if isinstance(inner, dict) and "role" not in one:
        yield from _message(inner)
    elif {"role", "type", "from"} & one.keys() or "content" in one or "tool_calls" in one:
        yield one


def _phoenix(one: Raw) -> Raw:
    """OpenInference's message: its contents and calls are wrapped in objects of one name each."""
    inner = one.get("message")
    message: Raw = inner if isinstance(inner, dict) else one
    contents = [
        _phoenix_part(part.get("message_content") or part)
        for part in _listed(message.get("contents"))
    ]
    calls = [call.get("tool_call") or call for call in _listed(message.get("tool_calls"))]
    told = {
        "role": message.get("role"),
        "content": contents or message.get("content"),
        "tool_calls": calls,
    }
    return told | ({"tool_call_id": message["tool_call_id"]} if message.get("tool_call_id") else {})


def _phoenix_part(part: Raw) -> Raw:
    url = _at(part, "image", "image", "url")
    return {"type": "image_url", "image_url": {"url": url}} if url else part


def _listed(value: Any) -> Sequence[Any]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else ()


def _system(value: Any) -> Any:
    return parsed(value) if isinstance(value, str) and value[:1] == "[" else value


def _otlp_value(value: Raw) -> Any:
    for key, one in value.items():
        if key == "arrayValue":
            return [_otlp_value(item) for item in one.get("values") or ()]
        if key == "kvlistValue":
            return {
                item["key"]: _otlp_value(item.get("value") or {})
                for item in one.get("values") or ()
            }
        is_number = key == "intValue" and isinstance(one, str) and INTEGER.fullmatch(one)
        return int(one) if is_number else one
    return None


def _start(span: Raw) -> str:
    start = next(
        (span[k] for k in ("startTimeUnixNano", "start_time", "startTime") if span.get(k)), ""
    )
    return str(start).zfill(24) if str(start).isdigit() else str(start)


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _feedback(stats: Any) -> str | None:
    """The outcome where one feedback was given; of several, none is known to be it."""
    averages = (
        [one.get("avg") for one in stats.values() if isinstance(one, dict)]
        if isinstance(stats, dict)
        else []
    )
    return outcome_of(averages[0]) if len(averages) == 1 else None


def _scores(scores: Any) -> str | None:
    values = [one.get("value") for one in _listed(scores)]
    return outcome_of(values[0]) if len(values) == 1 else None
