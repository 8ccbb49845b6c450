"""Rollouts written as one string: chat markup, bare lines of roles, or tagged text with the results in it.

Search-R1, MMSearch-R1, SenseNova-MARS's result rows, veRL's dumps and TRL's completions are such. Knows how such a string
falls into messages; what their tags mean, `tags` knows.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..traces import Outcome, Trace
from .chat import images_beside
from .chat_rows import said_in
from .conversation import Conversation, question_of
from .dialects import ROLES
from .openai_chat import model_of, run_of
from .outcomes import outcome_of, scored
from .parts import ASSISTANT, SYSTEM, TOOL, USER, Picture, Result, Said, Text
from .prompt import question_in

Raw = Mapping[str, Any]

MARKUP = re.compile(r"<\|im_start\|>(\w+)\n?|<\|start_header_id\|>(\w+)<\|end_header_id\|>\n*")
ENDS = re.compile(
    r"<\|im_end\|>|<\|eot_id\|>|<\|endoftext\|>|<\|end_of_text\|>|<\|begin_of_text\|>"
)
ROLE = re.compile(r"\n(system|user|assistant|tool)\n")
# Where a turn can end, or a result begins: a thought may hold a role alone on its line, too.
CLOSED = re.compile(r"</(?:tool_call|search|text_search|answer|tool_response|information)>\s*\Z")
OPENED = re.compile(r"\s*(?:<(?:tool_response|information)>|\Z)")
RESULT = re.compile(r"<(tool_response|information|result|observation)>")
VISION = re.compile(r"<\|vision_start\|>.*?<\|vision_end\|>|<image>|\[IMAGE \d+\]", re.DOTALL)
MARKER = re.compile(r"\[IMAGE \d+\]")
TAGGED = re.compile(r"<(?:think|thinking|reason|reasoning|search|tool_call|answer|text_search)\b")
ASKED = ("input", "prompt", "question", "query", "instruction", "problem")
WRITTEN = ("output", "completion", "response", "rollout", "generated_text", "solution_str", "text")
NO_REWARD = {"step", "advantage", "index", "epoch", "length", "num_round", "id", "turn"}


def is_mars_row(document: Any) -> bool:
    """SenseNova-MARS's and SSR's `results.jsonl`: the whole transcript in `output`, what was asked in `input`."""
    return _is_written(document) and bool(
        document.keys() & {"num_round", "saved_images", "sample_id"}
    )


def is_verl_rollout(document: Any) -> bool:
    return _is_written(document) and bool(document.keys() & {"gts", "score", "step"})


def is_completion(document: Any) -> bool:
    """A prompt and its completion, each a string or a list of messages: TRL's logs and sets, and others' results."""
    if not isinstance(document, dict) or "prompt" not in document:
        return False
    prompt, written = document["prompt"], document.get("completion", document.get("chosen"))
    lists = [one for one in (prompt, written) if isinstance(one, list)]
    are_messages = all(isinstance(m, dict) and "role" in m for one in lists for m in one)
    texts = [one for one in (prompt, written) if isinstance(one, str)]
    if len(lists) + len(texts) != 2 or not are_messages:
        return False
    return isinstance(written, list) or TAGGED.search(str(written)) is not None


def is_tagged_text(document: Any) -> bool:
    """A question, and beside it a text in tags: Search-R1's kind of rollout."""
    if not isinstance(document, dict):
        return False
    written = _first(document, WRITTEN)
    return (
        isinstance(written, str)
        and TAGGED.search(written) is not None
        and bool(_first(document, ASKED))
    )


def read_rollout(document: Raw) -> Trace:
    """Any of these: what was asked, and what was written, as messages."""
    asked = _said(_first(document, ASKED), USER)
    written = _said(_written(document), ASSISTANT)
    pictures = _saved(document)
    messages = [_seen(said, pictures) for said in [*asked, *written] if said.parts]
    question = VISION.sub("", question_in(question_of(messages))).strip()
    conversation = Conversation(messages, images_beside(document), question)
    return conversation.trace(_outcome(document), model_of(document), run_of(document))


def messages_in_text(text: str, first: str) -> Iterator[Said]:
    """A string's messages; what stands before the first sign of a role is `first`'s."""
    has_markup = "<|" in text and MARKUP.search(text) is not None
    at, role = 0, first
    for found in MARKUP.finditer(text) if has_markup else _bare_roles(f"\n{text}", first):
        start = found.start() if has_markup else max(found.start() - 1, 0)
        yield from _message(text[at:start], role)
        at = found.end() if has_markup else found.end() - 1
        role = ROLES.get(next(filter(None, found.groups())), SYSTEM)
    yield from _message(text[at:], role)


def _bare_roles(text: str, first: str) -> Iterator[re.Match[str]]:
    """Roles alone on their line; in what an agent wrote, only where a turn can end."""
    is_prompt = (
        first == USER and ROLE.match(text) is not None
    )  # whoever wrote a prompt did not think
    for found in ROLE.finditer(text):
        before = text[max(found.start() - 40, 0) : found.start()]
        if is_prompt or not before or CLOSED.search(before) or OPENED.match(text, found.end()):
            yield found


def _message(text: str, role: str) -> Iterator[Said]:
    """One message, or several where results stand in what the agent wrote."""
    text = (ENDS.sub("", text) if "<|" in text else text).strip()
    if role not in (ASSISTANT, TOOL):
        if text:
            yield Said(role, (Text(text),))
        return
    at = 0
    while (result := RESULT.search(text, at)) and (
        end := text.find(f"</{result[1]}>", result.end())
    ) >= 0:
        if text[at : result.start()].strip():
            yield Said(role, (Text(text[at : result.start()]),))
        yield Said(TOOL, (Result(text[result.end() : end].strip()),))
        at = end + len(result[1]) + 3
    if text[at:].strip():
        yield Said(role, (Text(text[at:].strip()),))


def _said(given: Any, role: str) -> list[Said]:
    if isinstance(given, list):
        return said_in(given)
    return list(messages_in_text(given, role)) if isinstance(given, str) else []


def _written(document: Raw) -> Any:
    return document.get("chosen") if "chosen" in document else _first(document, WRITTEN)


def _first(document: Raw, names: tuple[str, ...]) -> Any:
    return next((document[name] for name in names if document.get(name)), None)


def _is_written(document: Any) -> bool:
    match document:
        case {"input": str(), "output": str(text)}:
            return TAGGED.search(text) is not None or MARKUP.search(text) is not None
    return False


def _saved(document: Raw) -> Mapping[str, str]:
    """Where pictures were saved, by the marker that stands for each."""
    saved = document.get("saved_images")
    listed = saved if isinstance(saved, list) else []
    return {
        one["marker"]: str(one.get("path") or "")
        for one in listed
        if isinstance(one, dict) and isinstance(one.get("marker"), str)
    }


def _seen(said: Said, saved: Mapping[str, str]) -> Said:
    """The message with the pictures that its markers name."""
    if said.role == ASSISTANT or not saved:
        return said
    texts = [said.text, *(result.text for result in said.results)]
    places = [saved.get(found, "") for text in texts for found in MARKER.findall(text)]
    return replace(said, parts=(*said.parts, *(Picture(place) for place in places if place)))


def _outcome(document: Raw) -> Outcome | None:
    """What the score says; of several columns with numbers, none is known to be it."""
    told = scored(document)
    rewards = [
        value
        for name, value in document.items()
        if isinstance(value, float) and name not in NO_REWARD and not name.endswith("_length")
    ]
    return told or (outcome_of(rewards[0]) if len(rewards) == 1 else None)
