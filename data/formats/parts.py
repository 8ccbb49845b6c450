"""What messages are made of, whatever wrote them: texts, reasoning, calls, results and pictures, in their order.

Knows no dialect and no turns: `dialects` makes these of messages, `conversation` makes turns of these.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

SYSTEM, USER, ASSISTANT, TOOL = "system", "user", "assistant", "tool"
NO_CONTENT, NO_REASONING, NO_CALL = "content_unread", "reasoning_unread", "call_unread"
NO_PICTURE, NO_ROLE = "image_unread", "role_unknown"


class Kind(StrEnum):
    """Whether reasoning is the model's own words, a provider's about them, or cannot be read."""

    FULL = "full"
    SUMMARY = "summary"
    REDACTED = "redacted"


@dataclass(frozen=True)
class Text:
    """Words outside of reasoning; tags in them are still to be read."""

    text: str


@dataclass(frozen=True)
class Reasoning:
    text: str
    kind: Kind = Kind.FULL


@dataclass(frozen=True)
class Call:
    """A tool call; its arguments as they were written."""

    name: str
    arguments: Any = None
    id: Any = None


@dataclass(frozen=True)
class Picture:
    """A picture's path, address or data URI; "" is a place that the document's list of pictures fills."""

    place: str = ""


@dataclass(frozen=True)
class Result:
    """What a tool gave back, to the call of this id; `unread` are the codes of what in it could not be read."""

    text: str
    id: Any = None
    pictures: tuple[Picture, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unread:
    """What stands there and cannot be read: of a kind that nobody knows, or no text where one should be. Its code is a repair's."""

    code: str


Part = Text | Reasoning | Call | Picture | Result | Unread


@dataclass(frozen=True)
class Said:
    """A message. `is_cut` where it ran out of tokens; `is_call_only` where it belongs to the message before it."""

    role: str
    parts: tuple[Part, ...]
    model: str = ""
    is_cut: bool = False
    is_call_only: bool = False

    @property
    def text(self) -> str:
        """Its words, without reasoning and results."""
        texts = [part.text for part in self.parts if isinstance(part, Text)]
        return texts[0] if len(texts) == 1 else "\n".join(texts)

    @property
    def results(self) -> list[Result]:
        return [part for part in self.parts if isinstance(part, Result)]

    @property
    def unread(self) -> list[str]:
        """The codes of what could not be read."""
        own = [part.code for part in self.parts if isinstance(part, Unread)]
        return own + [code for result in self.results for code in result.unread]

    @property
    def pictures(self) -> list[Picture]:
        found: list[Picture] = []
        for part in self.parts:
            if isinstance(part, Picture):
                found.append(part)
            elif isinstance(part, Result):
                found += part.pictures
        return found


def joined(messages: Iterable[Said]) -> list[Said]:
    """The messages, with calls that stand in messages of their own put into the one they follow."""
    found: list[Said] = []
    for said in messages:
        if said.is_call_only and found and found[-1].role == said.role:
            last = found[-1]
            found[-1] = Said(last.role, last.parts + said.parts, last.model, last.is_cut)
        else:
            found.append(said)
    return found
