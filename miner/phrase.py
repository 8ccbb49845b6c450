"""Phrases out of the traces themselves, without a model: sentences that say a move and name no instance.

A phrase is a run of neighbouring sentences of a thought. Each stands as it was written if masking takes nothing from it, and
else said in general (abstract.py). The mask's filler therefore never stands in a candidate. What was said in
general must recur over questions, since it was written by nobody.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from .abstract import Generalizer, Said, is_refused
from .thoughts import Thought

MOST_SENTENCES = 3
MOST_PHRASES = 50_000  # that are embedded and compared with groups
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


def phrases_of(thoughts: Iterable[Thought], general: Generalizer) -> list[Phrase]:
    """Every phrase of `thoughts` that passes the lint, ordered by text; equal but for case is equal.

    Of more than MOST_PHRASES those of the most questions, and of equals the first.
    """
    found = _Found()
    numbers: dict[str, int] = {}
    for said, same in general.groups(thoughts).items():
        questions = [numbers.setdefault(thought.question, len(numbers)) for thought in same]
        for saying in set(_sayings(said)):
            found.add(saying, questions)
    phrases = found.phrases()
    if len(phrases) > MOST_PHRASES:
        frequent = sorted(phrases, key=lambda phrase: -phrase.questions)[:MOST_PHRASES]
        phrases = sorted(frequent, key=lambda phrase: phrase.text.casefold())
    return phrases


class _Saying(NamedTuple):
    """A text as a thought has it, or one of its ways to be said in general."""

    text: str
    is_written: bool


class _Found:
    """The texts found so far; those that the lint blocks are left out."""

    def __init__(self) -> None:
        self.spellings: dict[str, Counter[str]] = {}
        self.questions: dict[str, set[int]] = {}
        self.written: set[str] = set()

    def add(self, saying: _Saying, questions: Sequence[int]) -> None:
        """`questions` holds a number for each thought that has it."""
        if is_refused(saying.text):
            return
        key = saying.text.casefold()
        self.spellings.setdefault(key, Counter())[saying.text] += len(questions)
        self.questions.setdefault(key, set()).update(questions)
        if saying.is_written:
            self.written.add(key)

    def phrases(self) -> list[Phrase]:
        return [
            Phrase(
                text=min(counts, key=lambda text: (-counts[text], text)),
                count=counts.total(),
                questions=len(self.questions[key]),
                is_written=key in self.written,
            )
            for key, counts in sorted(self.spellings.items())
            if key in self.written or len(self.questions[key]) >= MIN_QUESTIONS
        ]


def _sayings(said: Sequence[Said]) -> Iterator[_Saying]:
    """Runs of up to MOST_SENTENCES neighbouring sentences, in every way that each can be said."""
    for start in range(len(said)):
        for stop in range(start + 1, min(len(said), start + MOST_SENTENCES) + 1):
            run = said[start:stop]
            is_written = all(one.is_written for one in run)
            for ways in product(*(one.ways for one in run)):
                yield _Saying(" ".join(ways), is_written)
