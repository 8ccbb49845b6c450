"""What masking took out of a thought: typed slots that can be filled in again, exactly.

Values only: which words are taken, and why, is decided elsewhere.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from .mask_rules import SLOT


class Owner(StrEnum):
    """Where a masked value stands in its run, the first that holds; UNSEEN: in none, so the agent brought it up."""

    QUESTION = "question"
    ACTION = "action"
    OBSERVATION = "observation"
    UNSEEN = "unseen"


class Slot(NamedTuple):
    """Characters [start, stop) of the original: what kind of value, its text, who owns it, and which rule took it.

    The kind is a mask rule's, or NAME, NUMBER, ID or WORD, which the words' own rules `capital`, `digit` and `topic` give.
    """

    kind: str
    start: int
    stop: int
    text: str
    owner: Owner
    rule: str


@dataclass(frozen=True)
class MaskedThought:
    """A thought's text with instance words replaced, how many words were kept of how many, and what stood in the slots.

    A pair of characters counts as a word where no spaces are written.
    """

    text: str
    num_kept: int
    num_words: int
    original: str = ""
    slots: tuple[Slot, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Nothing was masked: the thought is instance-free as it stands."""
        return self.num_kept == self.num_words and not self.slots

    @property
    def kept(self) -> tuple[str, ...]:
        """The stretches of the original between the slots."""
        starts = (0, *(slot.stop for slot in self.slots))
        stops = (*(slot.start for slot in self.slots), len(self.original))
        return tuple(self.original[a:b] for a, b in zip(starts, stops, strict=True))

    @cached_property
    def values(self) -> dict[str, str]:
        """Each typed slot (<NAME_1>) with its text, in order; one value has one slot."""
        seen = dict.fromkeys((slot.kind, slot.text) for slot in self.slots)
        counts = Counter[str]()
        values = {}
        for kind, text in seen:
            counts[kind] += 1
            values[f"<{kind}_{counts[kind]}>"] = text
        return values

    @cached_property
    def typed(self) -> str:
        """The original with typed slots, for people to read; fill(typed, values) is the original again."""
        tags = {(tag[1:].rsplit("_", 1)[0], text): tag for tag, text in self.values.items()}
        filled = [tags[slot.kind, slot.text] for slot in self.slots]
        return "".join(
            piece for pair in zip(self.kept, [*filled, ""], strict=True) for piece in pair
        )


def fill(typed: str, values: Mapping[str, str]) -> str:
    """`typed` with each slot that `values` names replaced by its text."""
    return SLOT.sub(lambda match: values.get(match.group(), match.group()), typed)
