"""What belongs to one run: the words of its question, of its earlier actions' arguments and of what it has read.

Knows words only; what is masked of them is decided elsewhere.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from .language import words
from .slots import Owner
from .thoughts import Instance


@dataclass(frozen=True)
class Owned:
    """The words of a run by owner, piece by piece, so that pieces are read once for all turns that saw them."""

    pieces: tuple[tuple[Owner, frozenset[str]], ...]

    def __contains__(self, word: object) -> bool:
        for _, held in self.pieces:  # a loop, since any() takes three times as long for few pieces
            if word in held:
                return True
        return False

    def within(self, words: Set[str]) -> "Owned":
        """What of it is among `words`; masks a text of these words alike."""
        pieces = [(owner, held & words) for owner, held in self.pieces]
        return Owned(tuple(dict.fromkeys([piece for piece in pieces if piece[1]])))

    def owner(self, found: Sequence[str]) -> Owner:
        """The first owner one of whose texts holds all the words."""
        for owner, held in self.pieces if found else ():
            if held.issuperset(found):
                return owner
        return Owner.UNSEEN


def owned_by(instance: Instance | Owned | str) -> Owned:
    """The words of an instance; those of a str count as the question's."""
    if isinstance(instance, Owned):
        return instance
    if isinstance(instance, str):
        instance = Instance(instance)
    pieces = [(Owner.QUESTION, instance.question)]
    pieces += [(Owner.ACTION, text) for text in instance.actions]
    pieces += [(Owner.OBSERVATION, text) for text in instance.observations]
    return Owned(tuple((owner, _words_of(text)) for owner, text in pieces))


@lru_cache(
    maxsize=2048
)  # a run's turns are masked one after the other, and share their observations
def _words_of(text: str) -> frozenset[str]:
    return frozenset(words(text))
