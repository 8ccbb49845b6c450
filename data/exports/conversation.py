"""A labelled trace as messages, made once for all trainers: what is said, by whom, where pictures stand.

As a chat:

    system       SYSTEM (given; SSR's prompt, usually)
    user         Q <image>
    assistant    <thinking>LABEL</thinking> <tool_call>{...}</tool_call>
    user         <tool_response> O <image> </tool_response>
    assistant    <thinking>LABEL</thinking> <answer>A</answer>

or plainly, the context as the renderer writes it, without pictures, for one turn alone:

    user         Question: Q ... Observation: O
    assistant    <thinking>LABEL</thinking> <answer>A</answer>

Both as an agent's run is written down when it selects. A thought without a label is left out; its action stays. Users and the
agent take turns strictly. Words that a trainer would take for a picture's place, or a tokenizer for a turn's end, are made
plain words, as the agent does with what its tools return.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ..render import OMITTED, render_action, render_thought
from ..traces import Turn
from .labelled import LabelledTrace

PLACE = "<image>"  # where a picture stands in a message's text
# What would stand for a picture, a film or a sound, open a turn, or end an observation.
MARKUP = re.compile(r"<(?=\||(?:image|video|audio)>|/?tool_response>)")
PLAIN = "\uff1c"  # a less-than sign that no program takes for one
SURROGATES = re.compile("[\ud800-\udfff]")


class Form(StrEnum):
    """How a trace is written down."""

    PLAIN = "plain"
    CHAT = "chat"


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Repair(StrEnum):
    """What was changed in a text, counted each time."""

    MARKUP = "markup made plain"
    SURROGATE = "lone surrogate"


@dataclass(frozen=True)
class Message:
    """A PLACE in `text` for each of the pictures, in order; `turn` is the labelled turn that an assistant's message is, if any."""

    role: Role
    text: str
    pictures: tuple[str, ...] = ()
    turn: int | None = None

    def parts(self) -> Iterator[str | None]:
        """The text between pictures, and None for each picture."""
        first, *others = self.text.split(PLACE)
        yield from (first,) if first else ()
        for text in others:
            yield None
            yield from (text,) if text else ()


@dataclass(frozen=True)
class Conversation:
    """The messages of a trace, or of its beginning."""

    messages: tuple[Message, ...]
    repairs: Counter[Repair] = field(default_factory=Counter)

    @property
    def pictures(self) -> tuple[str, ...]:
        return tuple(picture for message in self.messages for picture in message.pictures)

    @property
    def text(self) -> str:
        return "\n".join(message.text for message in self.messages)


def plain_conversation_of(
    labelled: LabelledTrace, index: int, context: Callable[[LabelledTrace, int], str]
) -> Conversation:
    """The `context` of turn `index`, which has a label, and the turn."""
    repairs: Counter[Repair] = Counter()
    asked = Message(Role.USER, _plain(context(labelled, index), repairs))
    action = _plain(render_action(labelled.trace.turns[index].actions[0]).text, repairs)
    said = f"{render_thought(labelled.labels[index].text)}\n{action}"
    return Conversation((asked, Message(Role.ASSISTANT, said, turn=index)), +repairs)


@dataclass(frozen=True)
class Step:
    """A turn in which the agent says something, and the pictures seen since it last did."""

    index: int
    turn: Turn
    thought: str | None
    pictures: tuple[str, ...]


def conversation_of(
    labelled: LabelledTrace, system: str, until: int | None = None, omitted: int = 0
) -> Conversation:
    """The chat up to the message of turn `until` (None: all of it), without the words of the first `omitted` observations."""
    repairs: Counter[Repair] = Counter()
    messages = [Message(Role.SYSTEM, _plain(system, repairs))] if system else []
    shown: tuple[str, ...] = (labelled.trace.question,)
    for number, step in enumerate(_steps(labelled, until)):
        text = _user_text(shown, step.pictures, repairs, is_first=number == 0)
        messages.append(Message(Role.USER, text, step.pictures))
        said = [] if step.thought is None else [render_thought(step.thought)]
        said += [_plain(render_action(action).text, repairs) for action in step.turn.actions]
        turn = None if step.thought is None else step.index
        messages.append(Message(Role.ASSISTANT, "\n".join(said), turn=turn))
        shown = _observations(step.turn, is_omitted=number < omitted)
    return Conversation(tuple(messages), +repairs)


def _steps(labelled: LabelledTrace, until: int | None) -> Iterator[Step]:
    thoughts = labelled.thoughts
    turns = labelled.trace.turns
    seen: tuple[str, ...] = ()
    for index, turn in enumerate(turns[: len(turns) if until is None else until + 1]):
        seen += turn.images
        if turn.actions or index in thoughts:
            yield Step(index, turn, thoughts.get(index), seen)
            seen = ()


def _observations(turn: Turn, *, is_omitted: bool) -> tuple[str, ...]:
    """One for each action, and at least one: somebody must speak before the agent does again."""
    given = [*turn.observations[: len(turn.actions)]]
    given += [""] * (max(1, len(turn.actions)) - len(given))
    return tuple(OMITTED if is_omitted and text else text for text in given)


def _user_text(
    shown: Sequence[str], pictures: Sequence[str], repairs: Counter[Repair], *, is_first: bool
) -> str:
    """The question, or observations; the pictures belong to the last of them."""
    *others, last = shown
    texts = [*(_plain(text, repairs) for text in others), _placed(last, pictures, repairs)]
    if is_first:
        return "\n".join(texts)
    return "\n".join(f"<tool_response>\n{text}\n</tool_response>" for text in texts)


def _placed(text: str, pictures: Sequence[str], repairs: Counter[Repair]) -> str:
    """The text with its pictures where it has places for them, else behind it."""
    if pictures and text.count(PLACE) == len(pictures):
        return PLACE.join(_plain(piece, repairs) for piece in text.split(PLACE))
    return "\n".join(filter(None, (_plain(text, repairs), *[PLACE] * len(pictures))))


def _plain(text: str, repairs: Counter[Repair]) -> str:
    text, marks = MARKUP.subn(PLAIN, text)
    text, halves = SURROGATES.subn("\ufffd", text)
    repairs.update({Repair.MARKUP: marks, Repair.SURROGATE: halves})
    return text
