"""Blocks worked out beside each other by Ray Data, on this machine (`pip install forethought[ray]`).

Ray is started for the first map of several blocks, with no dashboard and no usage report, listening to this machine only, and is
shut down on leaving the `with` block. Importing this module does not import it.
"""

import logging
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from ..data.errors import ExecutorError, ForethoughtError
from .executor import PLAIN, Block, Done, Made

T = TypeVar("T")
# Ray reads these when it is first imported. It would else listen to all addresses, and keep its token in the home folder.
SURROUNDINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # on every system: one machine, so the loopback address
    "RAY_AUTH_MODE": "token",
    "RAY_worker_niceness": "0",  # else 15: on a machine that does something else, too, next to nothing
}
LOOPBACK = "127.0.0.1"
START_TRIES = (
    3  # Ray gives up when a process of its own is not there in 15 seconds, as on a busy machine
)


class RayExecutor:
    """A context manager. `num_cpus` processes at most; as many as this one may use where nothing is said.

    ExecutorError where Ray is missing, or a process of it was lost. What `function` raises as ForethoughtError is raised
    here as it is. `function` is sent once to each process and stays there. A block alone is worked out in this process.
    """

    def __init__(self, num_cpus: int | None = None) -> None:
        os.environ.update(SURROUNDINGS)
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        try:
            import ray.data
        except ImportError as error:
            raise ExecutorError(
                "--executor ray needs Ray; install it with `pip install 'forethought[ray]'`"
            ) from error
        self._ray: Any = ray
        self.num_cpus = num_cpus or num_usable_cpus()
        self.name = f"ray {ray.__version__}, {self.num_cpus} processes"
        self._is_started = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._is_started:
            self._ray.shutdown()
            self._is_started = False

    def map(
        self, function: Callable[[Block], Made], blocks: Iterable[Block]
    ) -> Iterator[Done[Made]]:
        listed = list(blocks)
        if len(listed) < 2:
            yield from PLAIN.map(function, listed)
            return
        items = [{"number": n, "block": _Sealed(block)} for n, block in enumerate(listed)]
        self._start()
        data = self._ray.data
        try:
            mapped = data.from_items(items, override_num_blocks=len(items)).map(
                _Worker,
                fn_constructor_args=(_Sealed(function),),
                compute=data.ActorPoolStrategy(
                    size=min(self.num_cpus, len(items)), max_tasks_in_flight_per_actor=1
                ),
            )
            for row in mapped.iter_rows():
                made = row["made"].value
                if isinstance(made, ForethoughtError):
                    raise made
                yield Done(row["number"], made)
        except self._ray.exceptions.RayTaskError:
            raise  # a mistake of ours, with its traceback
        except self._ray.exceptions.RayError as error:
            raise ExecutorError(
                f"Ray lost a process ({_first_line(error)}); free some memory, or leave out --executor ray"
            ) from error

    def _start(self) -> None:
        if self._is_started:
            return
        self._is_started = True  # from here on there are processes to end, whatever happens
        for tries_left in reversed(range(START_TRIES)):
            try:
                self._init()
                break
            except Exception as error:  # Ray has no class for this
                self._ray.shutdown()
                if not tries_left:
                    raise ExecutorError(
                        f"Ray did not start ({_first_line(error)}); try again, or leave out --executor ray"
                    ) from error
        self._ray.data.DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)

    def _init(self) -> None:
        self._ray.init(
            address="local",
            num_cpus=self.num_cpus,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            _node_ip_address=LOOPBACK,
        )


class _Sealed(Generic[T]):
    """A value that Ray Data carries as it is, and makes no column of."""

    def __init__(self, value: T) -> None:
        self.value = value


class _Worker:
    """The function in a process of Ray's."""

    def __init__(self, function: _Sealed[Callable[[Any], Any]]) -> None:
        self._function = function.value

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        try:
            made = self._function(row["block"].value)
        except ForethoughtError as error:  # carried, so that it arrives as it is
            made = error
        return {"number": row["number"], "made": _Sealed(made)}


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def num_usable_cpus() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
