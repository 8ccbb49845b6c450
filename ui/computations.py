"""Work that takes longer than a key press may: done in a thread beside it, once for a key, its result kept for who asks again.

Knows nothing of what is computed. A key names all that the result depends on.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")
Report = Callable[[str], None]
MOST_KEPT = 12  # results; the one least lately asked for goes first


@dataclass
class Computation(Generic[T]):
    """One piece of work: its `stage` in our words while it runs, its `value` once it `is_over`, or its `error`."""

    stage: str = ""
    value: T | None = None
    error: Exception | None = None
    _ended: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def is_over(self) -> bool:
        return self._ended.is_set()

    def result(self, wait: float | None = 0) -> T | None:
        """The value, None while it is at work; `wait` seconds for it at most, None: as long as it takes.

        Raises what stopped it.
        """
        self._ended.wait(wait)
        if self.error is not None:
            raise self.error
        return self.value

    def run(self, compute: Callable[[Report], T]) -> None:
        try:
            self.value = compute(self._tell)
        except Exception as error:  # noqa: BLE001  kept for who asks: nobody sees a thread's
            self.error = error
        finally:
            self._ended.set()

    def _tell(self, stage: str) -> None:
        self.stage = stage


class Computations:
    """All work of one process, by key; may be shared between threads."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._all: OrderedDict[Hashable, Computation[Any]] = OrderedDict()

    def ask(self, key: Hashable, compute: Callable[[Report], T]) -> Computation[T]:
        """The computation of this key, begun now if nobody has asked for it before or the last one failed."""
        with self._lock:
            found = self._all.get(key)
            if found is None or (found.is_over and found.error is not None):
                found = self._begin(key, compute)
            self._all.move_to_end(key)
            return cast(Computation[T], found)

    def look(self, key: Hashable) -> Computation[Any] | None:
        """The computation of this key, if it was ever asked for and is still kept."""
        return self._all.get(key)

    def _begin(self, key: Hashable, compute: Callable[[Report], T]) -> Computation[T]:
        begun: Computation[T] = Computation()
        self._all[key] = begun
        for old in [k for k, c in self._all.items() if c.is_over][: len(self._all) - self._most]:
            del self._all[old]
        # a daemon: whoever stops the app waits for no computation
        threading.Thread(target=begun.run, args=(compute,), daemon=True).start()
        return begun


PROCESS = Computations()
