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
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .lint import is_blocked, lint
from .mask import Mask, Owner, Slot
from .sentences import sentence_texts
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
BOILERPLATE_SHARE, MIN_BOILERPLATE = (
    0.05,
    5,
)  # of the questions that hold a sentence; questions at least
BOILERPLATE_SHARE, MIN_BOILERPLATE = (
    0.05,
    5,
)  # of the questions that hold a sentence; questions at least
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


def abstractions(sentence: str, thought: Thought, mask: Mask) -> Iterator[str]:
    """The sentence said in general, in up to two ways; none where nothing is to be exchanged or it cannot be."""
    yield from _general(sentence, mask.apply(sentence, thought.owned).slots)


def _general(sentence: str, slots: Sequence[Slot]) -> Iterator[str]:
    if not slots:
        return
    spans = _spans(sentence, slots)
    if len(spans) == 1:
        yield from _with_general_name(sentence, spans[0])
    yield from _with_general_object(sentence, slots)


class Generalizer:
    """Says whole thoughts in general: what is compared with other thoughts and with candidates.

    Sentences that cannot be said so are masked, filler and all; no candidate is made of this. *Boilerplate* is left
    out: sentences that no candidate could be and that recur over questions with nothing but the names changed
    ("After Search, the only possible actions are ..."). They tell the prompt, and would drown the move.
    """

    def __init__(self, mask: Mask, boilerplate: Iterable[str] = ()) -> None:
        self.mask = mask
        self.boilerplate = frozenset(boilerplate)
        self._said: dict[Thought, str] = {}

    @classmethod
    def fit(cls, thoughts: Iterable[Thought], mask: Mask) -> "Generalizer":
        """Finds the boilerplate of these (mine) thoughts."""
        plain = cls(mask)
        questions: defaultdict[str, set[str]] = defaultdict(set)
        every: set[str] = set()
        for thought in thoughts:
            every.add(thought.question)
            for sentence in sentence_texts(thought.text):
                questions[plain.sentence(sentence, thought)].add(thought.question)
        floor = max(MIN_BOILERPLATE, BOILERPLATE_SHARE * len(every))
        return cls(
            mask, (s for s, found in questions.items() if len(found) >= floor and is_refused(s))
        )

    def say(self, thought: Thought) -> str:
        """The thought in general; boilerplate where it is nothing else."""
        if thought not in self._said:
            said = [self.sentence(s, thought) for s in sentence_texts(thought.text)]
            kept = [sentence for sentence in said if sentence not in self.boilerplate]
            self._said[thought] = " ".join(kept or said)
        return self._said[thought]

    def sentence(self, sentence: str, thought: Thought) -> str:
        """One sentence of it."""
        masked = self.mask.apply(sentence, thought.owned)
        *_, said = (masked.text, *_general(sentence, masked.slots))
        return said


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
