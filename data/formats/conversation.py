"""Messages made into turns: what is a thought, what is an act, and which reply answers it.

One turn a message of the agent, or several where it goes on to think after a call. A thought is what the model wrote
for itself: reasoning, a tagged block, a call of a `think` tool, or text beside a call. Text alone is no thought but
an act: a reply to the user, or the answer.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from ..traces import ANSWER, Action, Outcome, Trace, Turn
from .arguments import arguments_of, is_unparsed
from .parts import (
    ASSISTANT,
    NO_PICTURE,
    TOOL,
    USER,
    Call,
    Kind,
    Part,
    Picture,
    Reasoning,
    Result,
    Said,
    Text,
)
from .prompt import question_in
from .tags import Tagged, tagged

THINK = "think"
RESULT = re.compile(r"<(tool_response|information)>")
PLACE = re.compile("<image>")
UNPARSED, UNSEEN = "arguments_unparsed", "image_unseen"


@dataclass
class Asked:
    """An action waiting for its observation; `action` is None for a thought in a tool's clothes."""

    action: Action | None
    answered_by: tuple[str, ...]  # roles
    id: Any = None
    observation: str | None = None


@dataclass
class Draft:
    """A turn in the making."""

    thoughts: list[str] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    redacted: int = 0
    is_cut: bool = False

    def think(self, text: Any) -> None:
        """Add a thought, once: the same text may stand in several places."""
        if isinstance(text, str) and text.strip() and text.strip() not in self.thoughts:
            self.thoughts.append(text.strip())

    def reason(self, reasoning: Reasoning) -> None:
        text = reasoning.text.strip()
        if reasoning.kind is Kind.FULL:
            self.think(text)
        elif reasoning.kind is Kind.REDACTED or not text:
            self.redacted += 1
        elif text not in self.summaries:
            self.summaries.append(text)

    def act(self, asked: Asked) -> None:
        if asked.action and asked.action.name == THINK:
            self.think(_thought_in(asked.action.arguments))
            asked.action = None
        self.asked.append(asked)

    def turn(self, images: tuple[str, ...]) -> Turn:
        acts = [(one.action, one.observation or "") for one in self.asked if one.action]
        return Turn(
            thoughts=tuple(self.thoughts),
            actions=tuple(action for action, _ in acts),
            observations=tuple(observation for _, observation in acts),
            images=images,
            is_cut=self.is_cut,
            summaries=tuple(self.summaries),
            redacted=self.redacted,
        )


@dataclass
class Conversation:
    """Reads messages; `images` fill the places that messages leave for pictures, in their order.

    The first `shared` messages belong to another trace of the same run, too, which has their thoughts: a thought counts once.
    """

    messages: Sequence[Said]
    images: Iterable[str] = ()
    question: str | None = None
    shared: int = 0
    repairs: list[str] = field(default_factory=list)

    def trace(self, outcome: Outcome | None = None, model: str = "", run: str = "") -> Trace:
        turns = tuple(self._turns())
        named = next((said.model for said in self.messages if said.model), "")
        question = question_of(self.messages) if self.question is None else self.question
        return Trace(
            question, turns, outcome, model=model or named, run=run, repairs=tuple(self.repairs)
        )

    def _turns(self) -> Iterator[Turn]:
        images = tuple(self.images)
        supply = iter(images)
        seen: list[str] = []
        for index, said in enumerate(self.messages):
            self.repairs += said.unread
            if said.role != ASSISTANT:
                seen += self._places(said, supply if images else None)
                continue
            replies = _replies(self.messages, index)
            for draft in self._drafts(said, replies):
                turn = draft.turn(tuple(seen))
                if index < self.shared:
                    turn = replace(turn, thoughts=(), is_cut=False, summaries=(), redacted=0)
                if turn.thoughts or turn.actions or turn.summaries or turn.redacted:
                    seen = []
                    yield turn
            seen += self._places(said, supply if images else None)
        self.repairs += [UNSEEN] * (len(seen) + len(list(supply)))

    def _places(self, said: Said, supply: Iterator[str] | None) -> list[str]:
        """The message's pictures; where it names none, its places take the next of the supply, if there is one."""
        pictures = said.pictures
        if supply is not None and not pictures:
            texts = [said.text, *(result.text for result in said.results)]
            pictures = [Picture() for text in texts for _ in PLACE.finditer(text)]
        places = [one.place or next(supply or iter(()), "") for one in pictures]
        self.repairs += [NO_PICTURE] * places.count("")
        return [place for place in places if place]

    def _drafts(self, said: Said, replies: Sequence[Said]) -> list[Draft]:
        drafts = [self._draft(parts, replies) for parts in _groups(said.parts)]
        asked = [one for draft in drafts for one in draft.asked]
        for part in said.parts:
            if isinstance(part, Result):  # a tool that the provider ran
                _observe(asked, TOOL, part.text, part.id)
        for reply in replies:
            for role, text, id in _answers(reply):
                _observe(asked, role, text, id)
        last = drafts[-1] if drafts else Draft()
        if said.is_cut and last.thoughts and not last.asked:
            last.is_cut = True
        return drafts

    def _draft(self, parts: Sequence[Part], replies: Sequence[Said]) -> Draft:
        draft = Draft()
        for part in parts:
            if isinstance(part, Reasoning):
                draft.reason(part)
        found = tagged("\n".join(part.text for part in parts if isinstance(part, Text)))
        if draft.thoughts and found.implied and found.implied not in draft.thoughts:
            found.disown()
        self._take_tags(draft, found)
        calls = [Asked(action, (TOOL, USER)) for action in found.actions]
        calls += [self._asked(part) for part in parts if isinstance(part, Call)]
        rest = "\n".join(found.rest)
        if calls:
            draft.think(rest)
        elif rest:
            calls = [Asked(_reply(rest, replies), (USER,))]
        for call in calls:
            draft.act(call)
        return draft

    def _take_tags(self, draft: Draft, found: Tagged) -> None:
        for thought in found.thoughts:
            draft.think(thought)
        draft.is_cut = found.is_cut
        self.repairs += found.repairs

    def _asked(self, call: Call) -> Asked:
        arguments = arguments_of(call.arguments)
        if "raw" in arguments and is_unparsed(call.arguments):
            self.repairs.append(UNPARSED)
        return Asked(Action(call.name, arguments), (TOOL,), call.id)


def question_of(messages: Sequence[Said]) -> str:
    """What users say before the agent's first message, or their first words after its greeting."""
    roles = [said.role for said in messages]
    start = roles.index(ASSISTANT) if ASSISTANT in roles else len(messages)
    first = [said for said in messages[:start] if said.role == USER]
    later = [said for said in messages[start:] if said.role == USER]
    return question_in("\n".join(said.text for said in first or later[:1]))


def _replies(messages: Sequence[Said], index: int) -> list[Said]:
    following = (messages[at] for at in range(index + 1, len(messages)))
    return list(takewhile(lambda said: said.role != ASSISTANT, following))


def _groups(parts: Sequence[Part]) -> list[Sequence[Part]]:
    """The parts of each turn: a model that reasons or speaks after a call, and then calls again, takes another."""
    if len(parts) < 3:
        return [parts]
    groups: list[list[Part]] = [[]]
    calls = [at for at, part in enumerate(parts) if isinstance(part, Call)]
    last = calls[-1] if calls else -1
    for at, part in enumerate(parts):
        has_called = any(isinstance(one, Call) for one in groups[-1])
        has_result = any(isinstance(one, Result) for one in groups[-1])
        goes_on = isinstance(part, Reasoning) or (isinstance(part, Text) and part.text.strip())
        if goes_on and has_called and (at < last or has_result):
            groups.append([])
        groups[-1].append(part)
    return list(groups)


def _observe(asked: Iterable[Asked], role: str, text: str, id: Any) -> None:
    """Answer the call of this id, or where either side has none, the first open one."""
    waiting = [one for one in asked if one.observation is None and role in one.answered_by]
    called = [one for one in waiting if id is not None and one.id == id]
    nameless = [one for one in waiting if id is None or one.id is None]
    for one in (called or nameless)[:1]:
        one.observation = text


def _answers(reply: Said) -> Iterator[tuple[str, str, Any]]:
    """Role, text and id of what a reply answers: one each result block where there are some, else the whole."""
    results = reply.results
    for result in results:
        for text in _blocks(result.text):
            yield TOOL, text, result.id
    text = reply.text
    if text.strip() or not results:
        for block in _blocks(text):
            yield reply.role, block, None


def _blocks(text: str) -> list[str]:
    """The result blocks in a text, or the text."""
    found: list[str] = []
    at = 0
    while (opening := RESULT.search(text, at)) and (
        end := text.find(f"</{opening[1]}>", opening.end())
    ) >= 0:
        found.append(text[opening.end() : end].strip())
        at = end
    return found or [text]


def _reply(text: str, replies: Sequence[Said]) -> Action:
    """Words to a user who goes on to speak, or the answer that ends the run."""
    if any(reply.role == USER for reply in replies):
        return Action("respond", {"content": text})
    return Action(ANSWER, {"input": text})


def _thought_in(arguments: Mapping[str, Any]) -> str | None:
    texts = [value for value in arguments.values() if isinstance(value, str)]
    return arguments.get("thought") or next(iter(texts), None)
