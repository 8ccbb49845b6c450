"""A writer puts a group's move into words: what it is shown, what it gives back, and how it fails.

Values and protocols only. It knows no prompt, no server and no check: every draft is a proposal that `rephrase` judges.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

from ..data.errors import ForethoughtError
from ..data.identity import content_id

CUT_OFF = "was cut off at the most tokens allowed"


class WriterUnavailable(ForethoughtError):
    """A writer that did not answer within its tries; asking again later may help."""


class WriterRefused(ForethoughtError):
    """A writer that will not answer as it is asked: wrong address, key or model."""


class NoAnswer(Exception):
    """Nothing came that could be kept; the message is the reason. The next sample may be better."""


@dataclass(frozen=True)
class Quote:
    """A thought as evidence. `turn` is its id; `masked` is `original` without what belongs to its question."""

    turn: str
    original: str
    masked: str


@dataclass(frozen=True)
class Evidence:
    """A group, and its nearest outsiders for contrast.

    `phrase` is the extractive text that stays if no draft is better; `examples` are texts that people accepted.
    """

    phrase: str
    central: tuple[Quote, ...]
    typical: tuple[Quote, ...] = ()
    boundary: tuple[Quote, ...] = ()
    outsiders: tuple[Quote, ...] = ()
    expected_actions: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[Quote, ...]:
        return self.central + self.typical + self.boundary

    @cached_property
    def id(self) -> str:
        """The same quotes, the same id."""
        quotes = [[quote.turn for quote in part] for part in (self.members, self.outsiders)]
        return content_id("e", [self.phrase, *quotes])


@dataclass(frozen=True)
class Origin:
    """Which model made a draft out of which prompt; `revision` as the model or its server tells it."""

    model: str
    revision: str
    prompt: str
    sample: int
    temperature: float


@dataclass(frozen=True)
class Draft:
    """A proposed text, or the reason why an answer is none (`dropped`; the text is then what came, cut short)."""

    text: str
    origin: Origin
    dropped: str | None = None


class Writer(Protocol):
    """What `rephrase` needs of a writer."""

    def write(self, evidence: Evidence) -> list[Draft]:
        """Drafts for one group, the dropped ones among them. May raise WriterUnavailable or WriterRefused."""
        ...


class Message(NamedTuple):
    """One message of a chat; `role` is "system" or "user"."""

    role: str
    content: str


class Request(NamedTuple):
    """One answer wanted. Temperature 0 is greedy; never are tools offered."""

    messages: Sequence[Message]
    temperature: float
    seed: int
    max_tokens: int


class Answer(NamedTuple):
    """What a model said, word for word, and which revision of it. `flaw` says why it is unusable, though it was paid for."""

    text: str
    revision: str
    flaw: str | None = None


class ChatModel(Protocol):
    """What a ChatWriter needs of a language model."""

    name: str

    def answer(self, request: Request) -> Answer:
        """NoAnswer where this answer is unusable; WriterUnavailable or WriterRefused where all will be."""
        ...
