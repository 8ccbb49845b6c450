"""Runs in agents' own files: smolagents' steps, ATIF, mini-swe-agent, SSR's run records, BrowseComp-Plus.

Knows what each calls its steps. What a turn is, `conversation` knows.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..traces import ANSWER, Trace
from .conversation import Conversation
from .dialects import call_of, parts_of, said_of, words_of
from .outcomes import outcome_in
from .parts import (
    ASSISTANT,
    NO_CALL,
    NO_PICTURE,
    SYSTEM,
    TOOL,
    USER,
    Call,
    Part,
    Picture,
    Reasoning,
    Result,
    Said,
    Text,
    Unread,
)
from .steps import Step, trace_of_steps
from .swe_agent import command_in

Raw = Mapping[str, Any]

CODE = re.compile(r"\s*(?:Code:\s*)?(?:```|<code>).*", re.DOTALL)
LABEL = re.compile(r"\s*(?:Thought|THOUGHT):\s*")
FENCED = re.compile(r"```(?:\w+)?\n(.*?)\n?```", re.DOTALL)
LOST = Picture("data:,")  # pixels without a size: no picture can be made of them


def is_smolagents(document: Any) -> bool:
    match document:
        case {"steps": [dict(), *_]}:
            return any(isinstance(one, dict) and "step_number" in one for one in document["steps"])
    return False


def read_smolagents(document: Raw) -> Trace:
    messages: list[Said] = []
    for step in document["steps"]:
        if isinstance(step, dict):
            messages += _smol_step(step)
    task = words_of(document.get("task") or document.get("question"))
    outcome = outcome_in(document)
    return Conversation(messages, question=task.strip() or None).trace(outcome)


def _smol_step(step: Raw) -> Iterator[Said]:
    if step.get("task"):
        images = step.get("task_images") or ()
        yield Said(USER, (Text(words_of(step["task"])), *(LOST for _ in images)))
    if "step_number" not in step:
        return
    given = step.get("tool_calls") or ()
    calls = [found for one in given if (found := call_of(one))]
    lost = (Unread(NO_CALL),) * (len(given) - len(calls))
    thought = LABEL.sub("", CODE.sub("", words_of(step.get("model_output"))), count=1).strip()
    if not calls and step.get("code_action"):
        calls = [Call("python_interpreter", {"input": step["code_action"]})]
    called = [_plain_call(one) for one in calls]
    parts: list[Part] = [Reasoning(thought)] if thought else []
    if parts or called or lost:
        yield Said(ASSISTANT, (*parts, *called, *lost))
    error = step.get("error")
    told = [
        words_of(step.get("observations")),
        words_of(error.get("message") if isinstance(error, dict) else error),
    ]
    images = tuple(LOST for _ in step.get("observations_images") or ())
    yield Said(TOOL, (Result("\n".join(filter(None, told)), pictures=images),))


def _plain_call(call: Call) -> Call:
    """Code as the input of the interpreter, whose argument it is as a bare string."""
    given = call.arguments
    is_code = isinstance(given, str) and not given.lstrip().startswith("{")
    return Call(call.name, {"input": given}) if is_code else Call(call.name, given)


def is_atif(document: Any) -> bool:
    match document:
        case {"schema_version": str(version), "steps": list()}:
            return version.startswith("ATIF")
    return False


def read_atif(document: Raw) -> Iterator[Trace]:
    """The trajectory, and those of agents it called."""
    agent = document.get("agent")
    model = agent.get("model_name") if isinstance(agent, dict) else ""
    steps = [one for one in document["steps"] if not one.get("is_copied_context")]
    messages = [said for step in steps for said in _atif_step(step)]
    run = str(document.get("trajectory_id") or document.get("session_id") or "")
    yield Conversation(messages).trace(outcome_in(document), str(model or ""), run)
    for sub in document.get("subagent_trajectories") or ():
        if is_atif({"schema_version": document["schema_version"], **sub}):
            yield from read_atif({"schema_version": document["schema_version"], **sub})


def _atif_step(step: Raw) -> Iterator[Said]:
    role = {"agent": ASSISTANT, "user": USER, "system": SYSTEM}.get(str(step.get("source")))
    said = said_of(
        {
            "role": role,
            "content": step.get("message"),
            "reasoning_content": step.get("reasoning_content"),
            "tool_calls": step.get("tool_calls"),
            "model": step.get("model_name"),
        }
    )
    if role != ASSISTANT or said.parts:
        yield said
    observation = step.get("observation")
    for result in observation.get("results") or () if isinstance(observation, dict) else ():
        content = result.get("content")
        pictures = tuple(part for part in parts_of(content) if isinstance(part, Picture))
        yield Said(TOOL, (Result(words_of(content), result.get("source_call_id"), pictures),))


def is_mini_swe(document: Any) -> bool:
    match document:
        case {"trajectory_format": str(name), "messages": list()}:
            return name.startswith("mini-swe-agent")
    return False


def read_mini_swe(document: Raw) -> Trace:
    """A thought, then one shell command in a fenced block, or a tool call."""
    info = document.get("info") or {}
    config = info.get("config") or {}
    model = (config.get("model") or {}).get("model_name") or ""
    messages: list[Said] = []
    for said in (said_of(one) for one in document["messages"] if isinstance(one, dict)):
        has_acted = any(one.role == ASSISTANT for one in messages)
        is_output = has_acted and said.role == USER
        output = Result(said.text, unread=tuple(said.unread))
        messages.append(Said(TOOL, (output,)) if is_output else _mini_said(said))
    run = document.get("instance_id") or info.get("instance_id") or ""
    return Conversation(messages).trace(outcome_in(document), str(model), str(run))


def _mini_said(said: Said) -> Said:
    found = FENCED.search(said.text) if said.role == ASSISTANT else None
    if found is None or any(isinstance(part, Call) for part in said.parts):
        return said
    command = command_in(found[1])
    thought = LABEL.sub("", said.text[: found.start()], count=1).strip()
    reasoning = [part for part in said.parts if isinstance(part, Reasoning | Unread)]
    return Said(ASSISTANT, (*reasoning, Reasoning(thought), Call(command.name, command.arguments)))


def is_ssr_run(document: Any) -> bool:
    match document:
        case {"delta": _, "turns": [{"parsed": dict()}, *_]}:
            return True
    return False


def read_ssr_run(document: Raw) -> Trace:
    """`trajectory.json` of SSR's inference: the selected reasoning is the thought."""
    asked = document.get("input")
    asked = asked if isinstance(asked, dict) else {}
    images = asked.get("image") or asked.get("images") or ()
    listed = images if isinstance(images, list | tuple) else [images]
    places = tuple(one for one in listed if isinstance(one, str))
    lost = (NO_PICTURE,) * (len(listed) - len(places))
    steps = [_ssr_step(turn) for turn in document["turns"] if isinstance(turn, dict)]
    if steps and listed:
        steps[0] = replace(steps[0], images=places, repairs=(*lost, *steps[0].repairs))
    question, run = words_of(asked.get("question")), words_of(asked.get("id"))
    return trace_of_steps(question, steps, outcome_in(document), run=run)


def _ssr_step(turn: Raw) -> Step:
    parsed = turn.get("parsed") or {}
    result = turn.get("tool_result")
    thought = words_of(turn.get("reasoning")).removeprefix("<thinking>").removesuffix("</thinking>")
    observation = words_of(result.get("observation")) if isinstance(result, dict) else ""
    match parsed:
        case {"kind": "answer", "answer": str(answer)}:
            return Step(thought, ANSWER, {"input": answer})
        case {"kind": "tool", "name": str(name)}:
            return Step(thought, name, parsed.get("arguments") or {}, observation)
    return Step(thought, repairs=(NO_CALL,) if parsed else ())


def is_browsecomp(document: Any) -> bool:
    match document:
        case {"result": [{"type": str(), "output": _}, *_]}:
            return True
    return False


def read_browsecomp(document: Raw) -> Trace:
    messages: list[Said] = []
    thoughts: list[Part] = []
    for one in document["result"]:
        kind, output = one.get("type"), words_of(one.get("output"))
        if kind == "reasoning":
            thoughts.append(Reasoning(output))
        elif kind == "tool_call":
            call = Call(str(one.get("tool_name") or "tool_call"), one.get("arguments"))
            messages += [Said(ASSISTANT, (*thoughts, call)), Said(TOOL, (Result(output),))]
            thoughts = []
        else:
            messages.append(Said(ASSISTANT, (*thoughts, Text(output))))
            thoughts = []
    if thoughts:
        messages.append(Said(ASSISTANT, tuple(thoughts)))
    metadata = document.get("metadata")
    model = metadata.get("model") if isinstance(metadata, dict) else ""
    question = words_of(document.get("query") or document.get("question"))
    run = str(document.get("query_id") or "")
    return Conversation(messages, question=question).trace(
        outcome_in(document), str(model or ""), run
    )
