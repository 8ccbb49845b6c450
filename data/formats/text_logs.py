"""Logs that people read: Reflexion's trials, and the printed demos of Visual-ARFT. A document is a file's whole text.

Knows these two layouts. Reflections are about an earlier run, not a step before an action, and are left out.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..traces import Action, Outcome, Trace
from .conversation import Conversation
from .parts import ASSISTANT, TOOL, USER, Call, Part, Picture, Reasoning, Result, Said, Text
from .react import Run, action_in, pieces

SECTION = re.compile(r"^-{5,} BEGIN (CORRECT|INCORRECT|HALTED) AGENTS -{5,}$", re.MULTILINE)
ASKED = re.compile(r"(?:\A|(?<=\n\n))Question:[ \t]*")
FIRST = re.compile(r"^Thought 1:", re.MULTILINE)
AGAIN = re.compile(
    r"\s*(?:You have attempted to answer|Reflections:|The following reflection).*", re.DOTALL
)
VERDICT = re.compile(r"^(?:Answer is (?:IN)?CORRECT\b|Correct answer:).*", re.DOTALL)
TRUTH = re.compile(r"^Correct answer:.*", re.MULTILINE)
TRIAL = re.compile(r"^#{5,}\s*(?:^BEGIN TRIAL.*)?", re.MULTILINE)
OUTCOMES = {"CORRECT": Outcome.SUCCESS, "INCORRECT": Outcome.FAILURE, "HALTED": Outcome.FAILURE}

COLOUR = re.compile("\x1b\\[[0-9;]*m")
MARK = re.compile(
    r"^(?:\[image: ([^\n]+)\]$|<(query|think|problem|search|code|answer)>)", re.MULTILINE
)
NO_ACTION = "{'none'}"
RULER = re.compile(r"^#{10,}$", re.MULTILINE)


def is_reflexion_log(document: Any) -> bool:
    return isinstance(document, str) and SECTION.search(document) is not None


def read_reflexion_log(document: str) -> Iterator[Trace]:
    """A run each question; the section says how it ended."""
    parts = SECTION.split(document)
    for verdict, section in zip(parts[1::2], parts[2::2], strict=True):
        text = TRIAL.split(section)[0]
        for block in ASKED.split(text)[1:]:
            yield _reflexion_run(block, OUTCOMES[verdict])


def _reflexion_run(block: str, outcome: Outcome) -> Trace:
    first = FIRST.search(block)
    start = first.start() if first else len(block)
    run = Run(reads=_lower)
    for piece in pieces(TRUTH.split(block[start:])[0]):
        if piece.label == "Thought":
            run.begin()
        if not (piece.label == "Observation" and VERDICT.match(piece.text)):
            run.take(piece)
    return Trace(AGAIN.sub("", block[:start]).strip(), run.turns, outcome)


def _lower(text: str) -> Action | None:
    action = action_in(text)
    return Action(action.name.lower(), action.arguments) if action else None


def is_arft_log(document: Any) -> bool:
    """Whether text goes on in tags on lines of their own, thoughts among them, after a picture."""
    return (
        isinstance(document, str)
        and "<think>" in document
        and "</think>" in document
        and MARK.match(COLOUR.sub("", document).lstrip("#\n")) is not None
    )


def read_arft_log(document: str) -> Iterator[Trace]:
    for case in _cases(COLOUR.sub("", document)):
        messages = list(_printed(case))
        if any(said.role == ASSISTANT for said in messages):
            yield Conversation(messages).trace()


def _cases(text: str) -> Iterator[str]:
    """The cases: between rulers, or from a picture that a question follows up to the next."""
    for part in RULER.split(text):
        starts = [
            one.start() for one in re.finditer(r"^\[image: .+\]\n(?!<think>)", part, re.MULTILINE)
        ]
        for start, end in zip(starts, [*starts, len(part)][1:], strict=False):
            yield part[start:end]


def _printed(case: str) -> Iterator[Said]:
    """What was printed, as messages: text between the agent's tags is the question first, then what a tool gave."""
    shown: list[Part] = []  # before the question
    parts: list[Part] = []  # of the turn that is being written
    has_asked = False
    at = 0
    for mark in _marks(case):
        between, at = case[at : mark.start].strip(), mark.end
        question = mark.content if mark.tag == "query" else between
        if question and not has_asked:
            has_asked = True
            yield Said(USER, (*shown, Text(question)))
        elif between or (mark.image and has_asked):
            yield from _acted(parts)
            parts = []
            pictures = (Picture(mark.image),) if mark.image else ()
            yield Said(TOOL, (Result(between, pictures=pictures),))
        elif mark.image:
            shown.append(Picture(mark.image))
        if mark.tag in (None, "query") or (mark.tag == "problem" and mark.content == NO_ACTION):
            continue
        parts.append(_part(mark.tag, mark.content))
        if mark.tag == "answer":
            break
    yield from _acted(parts)


class Mark(NamedTuple):
    """A picture's place, or a tag with what it holds, and where it stands."""

    start: int
    end: int
    image: str | None
    tag: str | None
    content: str


def _marks(case: str) -> Iterator[Mark]:
    at = 0
    while found := MARK.search(case, at):
        closing = f"</{found[2]}>"
        end = found.end() if found[1] else case.find(closing, found.end())
        if end < 0:
            return
        at = end if found[1] else end + len(closing)
        yield Mark(found.start(), at, found[1], found[2], case[found.end() : end].strip())


def _acted(parts: list[Part]) -> Iterator[Said]:
    if parts:
        yield Said(ASSISTANT, tuple(parts))


def _part(tag: str, content: str) -> Part:
    if tag == "think":
        return Reasoning(content)
    return Call(tag, {"input": content})
