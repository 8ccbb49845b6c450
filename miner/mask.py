"""Masking: takes out of a thought what belongs only to its question, so that moves and not topics are compared.

A word is kept if enough different questions' thoughts use it (document frequency over questions) and this run does
not own it: numbers, capitalised names and words of the question, the earlier actions or observations go, unless
they are function words or so common that they carry grammar rather than topic. Masked words become FILLER for the embedder; the
original text is always kept beside, and FILLER never reaches a candidate.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from .thoughts import Thought

FILLER = "it"
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
MIN_SHARE = (
    0.03  # of questions whose thoughts use a word; about 166 of 4,239 word types pass on FireAct
)
COMMON_SHARE = (
    0.20  # above this a word is grammar ("the", "search") even where the question has it too
)
MIN_QUESTIONS = 20  # fewer questions than this say nothing about which words are common


@dataclass(frozen=True)
class MaskedThought:
    """A thought's text with instance words replaced, and how many words were kept of how many."""

    text: str
    num_kept: int
    num_words: int

    @property
    def is_whole(self) -> bool:
        """Nothing was masked: the thought is instance-free as it stands."""
        return self.num_kept == self.num_words


class Mask:
    """Word shares over questions, fitted once on *mine* thoughts."""

    def __init__(self, shares: dict[str, float]) -> None:
        self.shares = shares

    @classmethod
    def fit(cls, thoughts: Iterable[Thought]) -> "Mask":
        """Counts in how many questions' thoughts each word occurs."""
        by_question: defaultdict[str, set[str]] = defaultdict(set)
        for thought in thoughts:
            by_question[thought.question].update(words(thought.text))
        counts = Counter(word for found in by_question.values() for word in found)
        if len(by_question) < MIN_QUESTIONS:
            return cls({word: MIN_SHARE for word in sorted(counts)})  # ownership alone decides
        floor = MIN_SHARE * len(by_question)
        return cls({w: n / len(by_question) for w, n in sorted(counts.items()) if n >= floor})

    def apply(self, text: str, instance: str = "") -> MaskedThought:
        """`text` with every instance word replaced; runs of them become one FILLER."""
        owned = set(words(instance))
        pieces: list[str] = []
        position = num_kept = num_words = 0
        for match in WORD.finditer(text):
            gap = text[position : match.start()]
            position = match.end()
            num_words += 1
            if self.keeps(match, text, owned):
                num_kept += 1
                pieces += [gap, match.group()]
            elif not (pieces and pieces[-1] == FILLER and len(gap.strip()) <= 1):
                pieces += [gap, FILLER]
        masked = "".join([*pieces, text[position:]])
        return MaskedThought(" ".join(masked.split()), num_kept, num_words)

    def leaked_words(self, text: str, instance: str = "") -> tuple[str, ...]:
        """The instance words that `text` still carries."""
        owned = set(words(instance))
        return tuple(m.group() for m in WORD.finditer(text) if not self.keeps(m, text, owned))

    def keeps(self, match: re.Match[str], text: str, owned: set[str]) -> bool:
        word = match.group()
        if any(character.isdigit() for character in word):
            return False
        if (
            word[0].isupper()
            and not _opens_sentence(text, match.start())
            and not _is_first_person(word)
        ):
            return False
        folded = _fold(word)
        share = self.shares.get(folded, 0.0)
        if folded in ENGLISH_STOP_WORDS or share >= COMMON_SHARE:
            return True
        return share > 0 and folded not in owned


def words(text: str) -> list[str]:
    """The words of `text`, case-folded."""
    return [_fold(word) for word in WORD.findall(text)]


def _fold(word: str) -> str:
    return word.casefold().replace("’", "'")


def _is_first_person(word: str) -> bool:
    return word == "I" or word[:2] in ("I'", "I’")


def _opens_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 16) : start].rstrip(" \t\n\"'“(")
    return (not before and start <= 16) or before[-1:] in tuple(".!?:\n")
