"""Small real executors: blocks worked out elsewhere, and given back in another order."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor as Pool
from copy import deepcopy

from forethought.miner.executor import Done


class Backwards:
    """The last block first, each by a copy of the function as it would arrive elsewhere."""

    name = "backwards"

    def map(self, function: Callable, blocks: Iterable) -> Iterator[Done]:
        for number, block in reversed([*enumerate(blocks)]):
            yield Done(number, deepcopy(function)(deepcopy(block)))


class Pooled:
    """A pool of threads or processes; the last block first."""

    name = "pooled"

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    def map(self, function: Callable, blocks: Iterable) -> Iterator[Done]:
        futures = [self.pool.submit(function, block) for block in blocks]
        for number in reversed(range(len(futures))):
            yield Done(number, futures[number].result())


class Stopped(Exception):
    pass


class Stopping:
    """Backwards, and stopped after `most` blocks."""

    name = "stopping"

    def __init__(self, most: int) -> None:
        self.most = most

    def map(self, function: Callable, blocks: Iterable) -> Iterator[Done]:
        for count, done in enumerate(Backwards().map(function, blocks)):
            if count == self.most:
                raise Stopped
            yield done
