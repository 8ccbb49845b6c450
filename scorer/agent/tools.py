"""What an agent can do besides answering: the protocol of its tools, and what comes back.

A tool never ends a run: `guarded` makes an observation of whatever it throws, and of its silence. Knows no tool.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, Protocol

from PIL.Image import Image

from ...data.benchmarks.question import ImageResult
from ...data.errors import ForethoughtError
from ...data.identity import canonical

PICTURE = "<image>"  # where a picture stands in an observation's text
NOTHING_FOUND = "No text search results."  # in the words of SSR's harness
QUOTED = 200  # characters of an error that a failure repeats
# What would end an observation, open a turn, or stand for a picture, if a web page's words could.
FOREIGN = re.compile(r"<(?=\||image>|/?tool_response>)")
SURROGATE = re.compile("[\ud800-\udfff]")  # JSON may hold halves of characters, UTF-8 none


class Match(StrEnum):
    """How what was asked met what was recorded."""

    EXACT = "exact"
    SIMILAR = "similar"
    MISS = "miss"


@dataclass(frozen=True)
class Observation:
    """What the agent reads of a call, with a `<image>` in `text` for each of the pictures, in order.

    `match` is told by replay alone. `failure` is one line, "" where all went well.
    """

    text: str
    pictures: tuple[Image, ...] = ()
    match: Match | None = None
    failure: str = ""

    def __post_init__(self) -> None:
        places = self.text.count(PICTURE)
        assert places == len(self.pictures), f"{places} places for {len(self.pictures)} pictures"


@dataclass(frozen=True)
class Situation:
    """What a tool may know of the run: the question, and the pictures seen so far, the question's own first.

    `picture_sha256` is the hash of the question's picture as a file, "" where there is none; `image_results` is what a
    benchmark recorded of a search for it.
    """

    question: str
    pictures: Sequence[Image] = ()
    picture_sha256: str = ""
    image_results: Sequence[ImageResult] = ()


class Tool(Protocol):
    """Something the agent can call by its `name`."""

    @property
    def name(self) -> str: ...

    def call(self, arguments: Mapping[str, Any], situation: Situation) -> Observation: ...


class SearchResult(NamedTuple):
    """One entry of a search; any part may be empty."""

    title: str
    url: str
    text: str


def failed(reason: str) -> Observation:
    """The observation of a call that came to nothing, with `reason` folded to one line."""
    line = literal(canonical(reason))
    return Observation(f"Tool execution failed: {line}", failure=line)


def literal(text: str) -> str:
    """Words from outside as words: no special token, no end of an observation, no place for a picture."""
    return SURROGATE.sub("\ufffd", FOREIGN.sub("\uff1c", text))


def listing(results: Iterable[SearchResult]) -> str:
    """Search results as SSR's harness shows them: title, address and text, a blank line between two."""
    shown = ("\n".join(part for part in result if part) for result in results)
    return literal("\n\n".join(text for text in shown if text)) or NOTHING_FOUND


def query_of(arguments: Mapping[str, Any]) -> str | None:
    """The query of a search whatever its key: the arguments' one text, if there is one that says anything."""
    texts = [canonical(value) for value in arguments.values() if isinstance(value, str)]
    return texts[0] if len(texts) == 1 and texts[0] else None


def guarded(tool: Tool, seconds: float) -> Tool:
    """`tool` with every error, and a call of more than `seconds`, as an observation that says so.

    A call that is given up goes on in a thread of its own, which ends with the process at the latest.
    """
    return _Guarded(tool, seconds)


class _Guarded:
    def __init__(self, tool: Tool, seconds: float) -> None:
        self.name = tool.name
        self._tool, self._seconds = tool, seconds

    def call(self, arguments: Mapping[str, Any], situation: Situation) -> Observation:
        answers: SimpleQueue[Observation] = SimpleQueue()

        def attempt() -> None:
            answers.put(_attempted(self._tool, arguments, situation))

        Thread(target=attempt, name=f"tool {self.name}", daemon=True).start()
        try:
            return answers.get(timeout=self._seconds)
        except Empty:
            return failed(f"{self.name} gave no answer within {self._seconds:g} seconds")


def _attempted(tool: Tool, arguments: Mapping[str, Any], situation: Situation) -> Observation:
    try:
        found: object = tool.call(arguments, situation)
    except ForethoughtError as error:
        return failed(str(error))
    except BaseException as error:  # noqa: BLE001 - whatever a tool throws, in a thread of its own, the run goes on
        return failed(f"{tool.name} broke: {type(error).__name__}: {str(error)[:QUOTED]}")
    if not isinstance(found, Observation):
        return failed(f"{tool.name} broke: it gave {type(found).__name__}, no observation")
    return found
