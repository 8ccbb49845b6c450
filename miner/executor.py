"""Where the blocks of a stage are worked out: one after the other in this process, or beside each other in others.

A stage that looks at each item by itself hands in a function of a block of items. What it makes of a block depends on that block
only, so every executor makes the same. Knows no stage.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

T = TypeVar("T")
Block = TypeVar("Block")
Made = TypeVar("Made")


class Done(NamedTuple, Generic[Made]):
    """What was made of a block, and the block's number from 0."""

    number: int
    made: Made


class Executor(Protocol):
    """Maps a function over blocks."""

    @property
    def name(self) -> str:
        """As the manifest of a run tells it."""
        ...

    def map(
        self, function: Callable[[Block], Made], blocks: Iterable[Block]
    ) -> Iterator[Done[Made]]:
        """Each block once, in any order, as soon as it is made. `function` and blocks may be sent to other processes: they
        hold values, and what `function` remembers of one block must not show in the next.
        """
        ...


class Plain:
    """One block after the other, in this process."""

    name = "plain"

    def map(
        self, function: Callable[[Block], Made], blocks: Iterable[Block]
    ) -> Iterator[Done[Made]]:
        for number, block in enumerate(blocks):
            yield Done(number, function(block))


PLAIN = Plain()


def in_order(done: Iterable[Done[Made]]) -> Iterator[Made]:
    """What was made of block 0, 1, 2, ... as soon as all before it is there."""
    waiting: dict[int, Made] = {}
    following = 0
    for number, made in done:
        waiting[number] = made
        while following in waiting:
            yield waiting.pop(following)
            following += 1
    assert not waiting, f"block {following} is missing before {sorted(waiting) = }"


def blocks_of(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """`items` in blocks of `size`, the last one shorter."""
    return (items[start : start + size] for start in range(0, len(items), size))
