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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
BARE_SEARCH = re.compile(r"\bsearch(?:ing)?(?: again)?$")
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
    slots = mask.apply(sentence, thought.owned).slots
    if not slots:
        return
    spans = _spans(sentence, slots)
    if len(spans) == 1:
        yield from _with_general_name(sentence, spans[0])
    yield from _with_general_object(sentence, slots)


def in_general(thought: Thought, mask: Mask) -> str:
    """The whole thought said in general: what is compared with other thoughts and with candidates.

    Sentences that cannot be said so are masked, filler and all; no candidate is made of this.
    """
    said = (_in_general(sentence, thought, mask) for sentence in sentence_texts(thought.text))
    return " ".join(said)


def _in_general(sentence: str, thought: Thought, mask: Mask) -> str:
    *_, said = (mask.apply(sentence, thought.owned).text, *abstractions(sentence, thought, mask))
    return said


def _with_general_name(sentence: str, span: _Span) -> Iterator[str]:
    before, after = sentence[: span.start], sentence[span.stop :]
    behind_the = re.sub(r"\b[Tt]he $", "", before)
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
