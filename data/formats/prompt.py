"""Where a prompt stops and the run begins: worked examples before the question are no part of a run.

Knows the labels that prompts put before the question. It does not know who wrote which message.
"""

import re
from typing import NamedTuple

INSTRUCTION = "### Instruction:"
INPUT = re.compile(r"^### Input:\s*", re.MULTILINE)
RESPONSE = "### Response:"
QUESTION = "Question:"
MOVE = re.compile(r"^(?:Thought|Action)(?: \d+)?:", re.MULTILINE)
# Only instructions or examples may stand before the label: "Order 5.\nQuestion: ..." is one question.
TEACHING = re.compile(r"Thought|Action|Observation|Question:|Answer:|<think|<answer|<tool_call")


class Asked(NamedTuple):
    """The question of a text, and what the agent wrote after it."""

    question: str
    run: str


def asked(text: str) -> Asked:
    """Split a whole run in one string: the last instruction or question counts."""
    instruction = _last(INSTRUCTION, text)
    if instruction is not None:
        question, _, run = text[instruction + len(INSTRUCTION) :].partition(RESPONSE)
        return Asked(INPUT.sub("", question).strip(), run)
    label = _question_label(text)
    body = text if label is None else text[label + len(QUESTION) :]
    move = MOVE.search(body)
    start = move.start() if move else len(body)
    return Asked(body[:start].strip(), body[start:])


def question_in(prompt: str) -> str:
    """The question of a user's message: what the last label introduces, else all of it."""
    is_labelled = _last(INSTRUCTION, prompt) is not None or _question_label(prompt) is not None
    return asked(prompt).question if is_labelled else prompt.strip()


def _question_label(text: str) -> int | None:
    """Where the last label of a question begins."""
    label = _last(QUESTION, text)
    if label is None:
        return None
    before = text[:label]
    return label if not before.strip() or TEACHING.search(before) else None


def _last(label: str, text: str) -> int | None:
    """Where the label stands for the last time at the beginning of a line."""
    at = text.rfind(f"\n{label}")
    if at >= 0:
        return at + 1
    return 0 if text.startswith(label) else None
