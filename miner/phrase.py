"""Extractive phrasing: the sentence of the traces themselves that says a group's move and names no instance.

A phrase is a whole thought, or a run of whole sentences of one, from which masking took nothing. The mask's filler
therefore never stands in a candidate, and nothing is invented.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..data.candidates import RESERVED
from ..data.identity import canonical
from .mask import Mask, words
from .thoughts import Thought

SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'“(]?[A-ZÀ-Þ])")
MIN_WORDS, MAX_WORDS = 4, 35
FIRST_PERSON = {"i", "i'll", "i've", "i'm", "i'd", "my", "me", "we", "let"}
DANGLING = {"and", "but", "or", "because", "which", "so", "then", "it", "that"}
THIRD_PERSON = {"he", "she", "they", "his", "her", "him", "their", "them", "its"}


@dataclass(frozen=True)
class Phrase:
    """A text that may become a candidate, and in how many thoughts and questions it was found word for word."""

    text: str
    count: int
    questions: int


def phrases_of(thoughts: Sequence[Thought], mask: Mask) -> list[Phrase]:
    """Every instance-free phrase of `thoughts` that passes the lint, ordered by text; equal but for case is equal."""
    spellings: dict[str, Counter[str]] = {}
    questions: dict[str, set[str]] = {}
    for thought in thoughts:
        for text in set(_runs_of_sentences(thought.text)):
            if lint(text) or not mask.apply(text, thought.instance).is_whole:
                continue
            spellings.setdefault(text.casefold(), Counter())[text] += 1
            questions.setdefault(text.casefold(), set()).add(thought.question)
    return [
        Phrase(
            text=min(counts, key=lambda text: (-counts[text], text)),
            count=counts.total(),
            questions=len(questions[key]),
        )
        for key, counts in sorted(spellings.items())
    ]


def lint(text: str) -> list[str]:
    """What is wrong with `text` as a candidate; empty when nothing is."""
    found = words(text)
    problems = []
    if not MIN_WORDS <= len(found) <= MAX_WORDS:
        problems.append(f"has {len(found)} words; a candidate has {MIN_WORDS} to {MAX_WORDS}")
    if not FIRST_PERSON & set(found):
        problems.append("does not speak in the first person")
    if found and found[0] in DANGLING:
        problems.append(f"begins with {found[0]!r}, which points at something before it")
    if THIRD_PERSON & set(found):
        problems.append("speaks of a person or thing that only its run knows")
    if text and text[-1] not in ".!":
        problems.append("is not a whole statement")
    if any(tag in text for tag in RESERVED):
        problems.append("holds a reserved tag")
    if any(mark in text for mark in '[]{}<>\n"“”'):
        problems.append("holds brackets, quotes or several lines")
    return problems


def _runs_of_sentences(text: str) -> Iterable[str]:
    sentences = SENTENCE_END.split(canonical(text))
    for start in range(len(sentences)):
        for stop in range(start + 1, min(len(sentences), start + 3) + 1):
            yield " ".join(sentences[start:stop])
