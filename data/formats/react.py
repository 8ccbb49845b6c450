"""ReAct text: `Thought:`, `Action:` and `Observation:` at the start of a line, numbered or not.

Knows the labels, the two ways an action is written, and how pieces make turns. It does not know where
a file keeps the text: `react_text` and `react_chat` do.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ..traces import Action, Outcome, Turn
from .outcomes import closing_outcome, is_closing

LABEL = re.compile(r"^(Thought|Action|Observation)(?: \d+)?:", re.MULTILINE)
LINE = re.compile(
    rf"\n{LABEL.pattern[1:]}"
)  # the same; a line end is found faster than a line's beginning
BRACKETED = re.compile(r"([\w.-]+)\s*\[(.*)\]", re.DOTALL)  # to the last bracket: x may hold some
OPEN = re.compile(r"([\w.-]+)\s*\[(.*)", re.DOTALL)  # a model that stopped before the bracket
BARE = re.compile(r"([\w.-]+)(?:[ \t]*\n[ \t]*Action Input:)?\s*(.*)", re.DOTALL)


class Piece(NamedTuple):
    """A labelled part of a text; the label is "" for what stands before the first one."""

    label: str
    text: str


def pieces(text: str) -> Iterator[Piece]:
    """The text cut at its labels, in order; empty pieces are left out."""
    parts = ["", *LINE.split(f"\n{text}")]  # label and text by turns
    labelled = zip(parts[::2], map(str.strip, parts[1::2]), strict=True)
    return (Piece(label, text) for label, text in labelled if text)


def action_in(text: str) -> Action | None:
    """`search[x]` as Action("search", {"input": "x"}); text behind the bracket is no part of it."""
    for form in (BRACKETED, OPEN, BARE):
        if found := form.match(text.strip()):
            return Action(found[1], {"input": found[2].strip()})
    return None


@dataclass
class Draft:
    """A turn in the making."""

    thoughts: list[str] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    observations: list[str] = field(default_factory=list)

    def turn(self) -> Turn:
        missing = [""] * (len(self.actions) - len(self.observations))
        return Turn(tuple(self.thoughts), tuple(self.actions), (*self.observations, *missing))


@dataclass
class Run:
    """Makes turns of pieces as they come; `reads` makes an action of the text of one."""

    reads: Callable[[str], Action | None] = action_in
    drafts: list[Draft] = field(default_factory=list)
    closing: Outcome | None = None  # what the last closing observation said

    def begin(self) -> None:
        """What comes next belongs to a new turn."""
        self.drafts.append(Draft())

    def take(self, piece: Piece) -> None:
        """Add a piece. Whatever the agent writes after an observation opens a turn."""
        if piece.label == "Observation":
            self.observe(piece.text)
            return
        if not self.drafts or self.drafts[-1].observations:
            self.begin()
        if piece.label != "Action":
            self.drafts[-1].thoughts.append(piece.text)
        elif action := self.reads(piece.text):
            self.drafts[-1].actions.append(action)

    def observe(self, text: str) -> None:
        """Answer the first open action of the turn. Where there is none, nothing was observed."""
        if is_closing(text):
            self.closing = closing_outcome(text) or self.closing
        elif self.drafts and len(self.drafts[-1].observations) < len(self.drafts[-1].actions):
            self.drafts[-1].observations.append(text)

    @property
    def turns(self) -> tuple[Turn, ...]:
        turns = (draft.turn() for draft in self.drafts)
        return tuple(turn for turn in turns if turn.thoughts or turn.actions)
