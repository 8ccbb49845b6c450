"""A sentence about its own question, said of any question: what belongs to the run gives way to "this" or "that".

"I need to search for the editor of The Dungeons & Dragons Basic Set." announces the same move as a sentence on any other
subject: "I need to search for this." Two exchanges are made, both inside one sentence and both of noun phrases, so that it
stays grammatical:

    a name, or a topic behind "the", that is the sentence's only instance:   I need to search this next.
    all that follows a verb of seeking, knowing or telling:                  The result does not mention that.

It is "this" where the question owns the words, and "that" where the run has read them since, or the agent knows
them by itself: a first step and a next one stay apart. Nothing else is added or dropped. Longer phrases ("what the
question asks about") were tried: they distract the action that follows, see docs/log.md.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby
from typing import Any, NamedTuple

import numpy as np

from .executor import PLAIN, Executor, blocks_of, in_order
from .language import words
from .lint import is_blocked, lint
from .mask import Mask
from .ownership import Owned, owned_by
from .sentences import sentence_texts
from .slots import MaskedThought, Owner, Slot
from .thoughts import Thought

JOINING = re.compile(r"\b(?:of|the|and|in|for|de|an?)\b")  # may stand inside a name
MOST_JOINING = 2
MARKS = " -'’\"“”(),&"  # of a name of several words
MOST_BETWEEN = 4  # words between a verb and the first slot behind it
VERB = re.compile(
    r"\b(?:search(?:ing)?(?: again)?(?: for| on)?|find(?:ing)?(?: out)?|look(?:ing)? (?:up|for|into|at)"
    r"|confirm|check|verify|determine|identify|know|need|provide|mention|specify|give|contain|include|show"
    r"|compare|examine)\b"
)
DETERMINER = re.compile(
    r"\b(?:an?|this|that|these|those|my|his|her|its|their|our|each|another|no|any)\s+$",
    re.IGNORECASE,
)
BARE_SEARCH = re.compile(r"\bsearch(?:ing)?(?: again)?$")
BOILERPLATE_SHARE = 0.05  # of the questions that hold a sentence
MIN_BOILERPLATE = 5  # questions at least
ASCII_PART = re.compile(r"[a-z0-9]+")  # of a word with an apostrophe
MOST_RECENT = 100_000  # sentences whose masking is remembered
BLOCK = 1000  # thoughts that are sent to an executor at once
PRONOUNS = {True: ("this", "these"), False: ("that", "those")}  # by: the question owns it


@dataclass(frozen=True)
class _Span:
    """Neighbouring slots with the words that join them: characters [start, stop) of the sentence."""

    start: int
    stop: int
    slots: tuple[Slot, ...]
    is_several: bool

    @property
    def is_name(self) -> bool:
        return all(slot.text[0].isupper() or slot.kind == "QUOTE" for slot in self.slots)

    @property
    def is_topic(self) -> bool:
        return all(slot.kind == "WORD" for slot in self.slots)


def abstractions(masked: MaskedThought) -> Iterator[str]:
    """A masked sentence said in general, in up to two ways; none where nothing is to be exchanged or it cannot be."""
    sentence, slots = masked.original, masked.slots
    if not slots:
        return
    spans = _spans(sentence, slots)
    if len(spans) == 1:
        yield from _with_general_name(sentence, spans[0])
    yield from _with_general_object(sentence, slots)


class Said(NamedTuple):
    """What a sentence says: `masked`, filler and all, and the ways it can be said of any question."""

    masked: str
    ways: tuple[str, ...]
    is_written: bool  # the only way is the sentence as it stands

    @property
    def general(self) -> str:
        return self.ways[-1] if self.ways else self.masked


class Sayer:
    """What the thoughts of a block say, sentence by sentence; a function of the block.

    Equal sentences of runs that own the same of their words are masked once. In another process it begins without memory.
    """

    def __init__(self, mask: Mask) -> None:
        self.mask = mask
        self._recent: dict[tuple[str, Owned], Said] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Sayer, (Mask(self.mask.shares, self.mask.rules),)

    def __call__(self, thoughts: Sequence[Thought]) -> list[tuple[Said, ...]]:
        return [self.sentences(thought) for thought in thoughts]

    def sentences(self, thought: Thought) -> tuple[Said, ...]:
        owned = owned_by(thought.owned)
        return tuple(self._said(text, owned) for text in sentence_texts(thought.text))

    def _said(self, sentence: str, owned: Owned) -> Said:
        if not sentence.isascii():  # of a script without spaces more than its words is asked for
            return self._work_out(sentence, owned)
        held = set(words(sentence))
        if "'" in sentence:
            held.update(ASCII_PART.findall(sentence.lower()))
        key = (sentence, owned.within(held))
        if key not in self._recent:
            if len(self._recent) >= MOST_RECENT:
                self._recent.clear()
            self._recent[key] = self._work_out(sentence, owned)
        return self._recent[key]

    def _work_out(self, sentence: str, owned: Owned) -> Said:
        masked = self.mask.apply(sentence, owned)
        ways = (sentence,) if masked.is_whole else tuple(abstractions(masked))
        return Said(masked.text, ways, masked.is_whole)


class Generalizer:
    """Says whole thoughts in general: what is compared with other thoughts and with candidates.

    Sentences that cannot be said so are masked, filler and all; no candidate is made of this. *Boilerplate* is left
    out: sentences that no candidate could be and that recur over questions with nothing but the names changed
    ("After Search, the only possible actions are ..."). They tell the prompt, and would drown the move.

    Each thought is worked out once, for all stages of mining: what sentences say is held once, of a thought only its
    numbers.
    """

    def __init__(self, mask: Mask, boilerplate: Iterable[str] = ()) -> None:
        self.mask = mask
        self.boilerplate = frozenset(boilerplate)
        self._said: list[Said] = []
        self._numbers: dict[Said, int] = {}
        self._of_thought: dict[Thought, tuple[int, ...]] = {}
        self._sayer = Sayer(mask)

    @classmethod
    def fit(
        cls, thoughts: Iterable[Thought], mask: Mask, executor: Executor = PLAIN
    ) -> "Generalizer":
        """Works these (mine) thoughts out, and finds their boilerplate."""
        general = cls(mask)
        counts = Counter[str]()
        num_questions = 0
        by_question = sorted(thoughts, key=lambda thought: thought.question)
        general._read(by_question, executor)
        for _, asked in groupby(by_question, key=lambda thought: thought.question):
            num_questions += 1
            counts.update(
                {said.general for thought in asked for said in general.sentences(thought)}
            )
        floor = max(MIN_BOILERPLATE, BOILERPLATE_SHARE * num_questions)
        general.boilerplate = frozenset(
            s for s, n in counts.items() if n >= floor and is_refused(s)
        )
        return general

    @property
    def num_said(self) -> int:
        """How many different things the sentences so far say."""
        return len(self._said)

    def say(self, thought: Thought) -> str:
        """The thought in general; boilerplate where it is nothing else."""
        said = [sentence.general for sentence in self.sentences(thought)]
        kept = [sentence for sentence in said if sentence not in self.boilerplate]
        return " ".join(kept or said)

    def sentences(self, thought: Thought) -> tuple[Said, ...]:
        """What each of its sentences says."""
        return tuple(self._said[number] for number in self._numbers_of(thought))

    def groups(self, thoughts: Iterable[Thought]) -> dict[tuple[Said, ...], list[Thought]]:
        """The thoughts that say the same, sentence by sentence."""
        groups: defaultdict[tuple[int, ...], list[Thought]] = defaultdict(list)
        for thought in thoughts:
            groups[self._numbers_of(thought)].append(thought)
        return {tuple(self._said[n] for n in numbers): same for numbers, same in groups.items()}

    def as_product(self, thoughts: Sequence[Thought]) -> dict[str, Any]:
        """All that it has worked out of `thoughts`, in their order, as plain values and arrays."""
        numbers = [self._numbers_of(thought) for thought in thoughts]
        return {
            "boilerplate": sorted(self.boilerplate),
            "said": self._said,
            "lengths": np.array([len(one) for one in numbers], np.int32),
            "numbers": np.array([number for one in numbers for number in one], np.int32),
        }

    @classmethod
    def from_product(
        cls, product: Mapping[str, Any], thoughts: Sequence[Thought], mask: Mask
    ) -> "Generalizer":
        """As it was when it made the product of the same thoughts."""
        general = cls(mask, product["boilerplate"])
        general._said = [
            Said(masked, tuple(ways), whole) for masked, ways, whole in product["said"]
        ]
        general._numbers = {said: number for number, said in enumerate(general._said)}
        ends = np.cumsum(product["lengths"]).tolist()
        numbers = product["numbers"].tolist()
        starts = [0, *ends]
        for thought, start, end in zip(thoughts, starts, ends, strict=False):
            general._of_thought[thought] = tuple(numbers[start:end])
        return general

    def _read(self, thoughts: Sequence[Thought], executor: Executor) -> None:
        """Works `thoughts` out, block by block; in their order, so that numbers are the same wherever that was done."""
        blocks = in_order(executor.map(self._sayer, blocks_of(thoughts, BLOCK)))
        for thought, said in zip(thoughts, chain.from_iterable(blocks), strict=True):
            self._of_thought[thought] = tuple(map(self._number, said))

    def _numbers_of(self, thought: Thought) -> tuple[int, ...]:
        if thought not in self._of_thought:
            said = self._sayer.sentences(thought)
            self._of_thought[thought] = tuple(map(self._number, said))
        return self._of_thought[thought]

    def _number(self, said: Said) -> int:
        number = self._numbers.setdefault(said, len(self._said))
        if number == len(self._said):
            self._said.append(said)
        return number


@lru_cache(maxsize=1 << 16)
def is_refused(text: str) -> bool:
    """Whether the lint blocks `text`; asked again and again for what recurs."""
    return is_blocked(lint(text))


def _with_general_name(sentence: str, span: _Span) -> Iterator[str]:
    before, after = sentence[: span.start], sentence[span.stop :]
    behind_the = re.sub(r"\b[Tt]he $", "", before)
    if DETERMINER.search(behind_the):
        return
    if span.is_name or (span.is_topic and behind_the != before):
        said = behind_the + _pronouns(span.slots)[span.is_several] + after
        yield said[:1].upper() + said[1:]


def _with_general_object(sentence: str, slots: Sequence[Slot]) -> Iterator[str]:
    first = slots[0].start
    verbs = [verb for verb in VERB.finditer(sentence) if verb.end() <= first]
    if not verbs or len(sentence[verbs[-1].end() : first].split()) > MOST_BETWEEN:
        return
    said, one = sentence[: verbs[-1].end()], _pronouns(slots)[0]
    if BARE_SEARCH.search(
        said
    ):  # "search Ezhou" is how a tool is called; "search this" is no English
        said += " for"
    particle = " out" if said.endswith(" out") else ""
    yield f"{said.removesuffix(particle)} {one}{particle}."


def _pronouns(slots: Sequence[Slot]) -> tuple[str, str]:
    """For one thing and for several."""
    return PRONOUNS[all(slot.owner is Owner.QUESTION for slot in slots)]


def _spans(sentence: str, slots: Sequence[Slot]) -> list[_Span]:
    groups: list[list[Slot]] = []
    for slot in slots:
        if groups and _touch(sentence[groups[-1][-1].stop : slot.start]):
            groups[-1].append(slot)
        else:
            groups.append([slot])
    return [_span(sentence, group) for group in groups]


def _span(sentence: str, group: list[Slot]) -> _Span:
    start, stop = group[0].start, group[-1].stop
    is_several = " and " in sentence[start:stop] or " & " in sentence[start:stop]
    return _Span(start, stop, tuple(group), is_several)


def _touch(between: str) -> bool:
    """Whether nothing but spaces, marks of a name and a few joining words lies between two slots."""
    joined, count = JOINING.subn("", between)
    return count <= MOST_JOINING and not joined.strip(MARKS)
