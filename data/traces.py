"""What agents did: traces, turns and actions, as frozen values that know no storage and no file format."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from .identity import Split, canonical, content_id, split_of

ALIASES = {
    "finish": "answer",
    "text_search_tool": "search",
}
ANSWER = "answer"


class Outcome(StrEnum):
    """How a run ended, where its source says so; None stands for unknown."""

    SUCCESS = "success"
    FAILURE = "failure"


@dataclass(frozen=True)
class Action:
    """One call the agent made. `search[x]` is Action("search", {"input": "x"})."""

    name: str
    arguments: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """The action's name with aliases folded, so that finish[x] and answer[x] are one kind."""
        return kind_of(self.name)


@dataclass(frozen=True)
class Turn:
    """context -> thoughts -> actions -> observations; observation i answers action i.

    Usually one thought and one action. `images` are what the turn is the first to see, before its thought: the
    question's in the first turn, those of a result in the next; paths, addresses or hashes, never pixels.
    Where some of them turned up after the run was first kept, `known_as` holds what stood there then, by which the run is still known.
    `is_cut` says that the last thought breaks off. `summaries` and `redacted` are reasoning that is there and is
    no thought: a provider's words about it, and how many blocks of it cannot be read.
    """

    thoughts: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    observations: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    is_cut: bool = False
    summaries: tuple[str, ...] = ()
    redacted: int = 0
    known_as: tuple[str, ...] | None = None

    @property
    def is_plain(self) -> bool:
        """Exactly one whole thought and one action: the turns that audits and exports use."""
        return len(self.thoughts) == 1 and len(self.actions) == 1 and not self.is_cut


@dataclass(frozen=True)
class Trace:
    """One run of an agent on one question.

    `source` names the collection it came from, `file` and `position` where it stood in it, `format`
    the reader. `model` is who acted and `run` the name that the run has there, where the file says so; `repairs`
    are codes of what the reader mended, one for each time. None of them, nor the outcome, is part of its identity.
    """

    question: str
    turns: tuple[Turn, ...]
    outcome: Outcome | None = None
    source: str = ""
    format: str = ""
    file: str = ""
    position: int = 0
    model: str = ""
    run: str = ""
    repairs: tuple[str, ...] = ()

    @cached_property
    def id(self) -> str:
        """The same run, the same id, wherever it was read."""
        turns = [
            [
                turn.thoughts,
                [[action.name, dict(action.arguments)] for action in turn.actions],
                turn.observations,
                turn.images if turn.known_as is None else turn.known_as,
            ]
            for turn in self.turns
        ]
        return content_id("t", [canonical(self.question), turns])

    @property
    def split(self) -> Split:
        return split_of(self.question)

    @property
    def num_thoughts(self) -> int:
        return sum(len(turn.thoughts) for turn in self.turns)


def kind_of(name: str) -> str:
    """The kind a tool or action name stands for."""
    return ALIASES.get(name, name)


def turn_id(trace_id: str, index: int) -> str:
    """Names turn `index` (from 0) of a trace: what a candidate's support lists."""
    return f"{trace_id}:{index}"
