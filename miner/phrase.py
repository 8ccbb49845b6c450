"""Phrases out of the traces themselves, without a model: sentences that say a move and name no instance.

A phrase is a run of neighbouring sentences of a thought. Each stands as it was written if masking takes nothing from it, and
else said in general (abstract.py). The mask's filler therefore never stands in a candidate. What was said in
general must recur over questions, since it was written by nobody.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from .abstract import abstractions, is_refused
from .mask import Mask
from .sentences import sentence_texts
from .thoughts import Thought

MOST_SENTENCES = 3
MIN_QUESTIONS = 5  # over which a sentence that nobody wrote must recur


@dataclass(frozen=True)
class Phrase:
    """A text that may become a candidate, and in how many thoughts and questions it was found.

    `is_written` if some thought has it word for word; else it is only ever said in general.
    """

    text: str
    count: int
    questions: int
    is_written: bool = True


def phrases_of(thoughts: Sequence[Thought], mask: Mask) -> list[Phrase]:
    """Every phrase of `thoughts` that passes the lint, ordered by text; equal but for case is equal."""
    spellings: dict[str, Counter[str]] = {}
    questions: dict[str, set[str]] = {}
    written: set[str] = set()
    for thought in thoughts:
        for saying in set(_sayings(thought, mask)):
            if is_refused(saying.text):
                continue
            key = saying.text.casefold()
            spellings.setdefault(key, Counter())[saying.text] += 1
            questions.setdefault(key, set()).add(thought.question)
            if saying.is_written:
                written.add(key)
    return [
        Phrase(
            text=min(counts, key=lambda text: (-counts[text], text)),
            count=counts.total(),
            questions=len(questions[key]),
            is_written=key in written,
        )
        for key, counts in sorted(spellings.items())
        if key in written or len(questions[key]) >= MIN_QUESTIONS
    ]


class _Saying(NamedTuple):
    """A text as a thought has it, or one of its ways to be said in general."""

    text: str
    is_written: bool


def _sayings(thought: Thought, mask: Mask) -> Iterator[_Saying]:
    """Runs of up to MOST_SENTENCES neighbouring sentences, in every way that each can be said."""
    ways = [_ways(sentence, thought, mask) for sentence in sentence_texts(thought.text)]
    for start in range(len(ways)):
        for stop in range(start + 1, min(len(ways), start + MOST_SENTENCES) + 1):
            for said in product(*ways[start:stop]):
                yield _Saying(
                    " ".join(way.text for way in said), all(way.is_written for way in said)
                )


def _ways(sentence: str, thought: Thought, mask: Mask) -> list[_Saying]:
    if mask.apply(sentence, thought.owned).is_whole:
        return [_Saying(sentence, is_written=True)]
    return [_Saying(text, is_written=False) for text in abstractions(sentence, thought, mask)]
