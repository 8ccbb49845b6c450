"""Processes beside the app's, for work that would hold up everybody's key presses: Python lets one thread run at a time.

Each does one thing after another, at low priority, and ends with the app. What goes there and back is copied.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import ParamSpec, TypeVar, cast

import numpy as np

from ..data.errors import ForethoughtError
from ..miner.embed import SentenceEmbedder

P = ParamSpec("P")
T = TypeVar("T")
NICENESS = 10


class Beside:
    """One process, started by the first call and again if it was killed; safe to share between threads, which wait their turn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipe: Connection | None = None

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `function` returns or raises there; ForethoughtError where the process was killed meanwhile."""
        with self._lock:
            pipe = self._connected()
            try:
                pipe.send((function, args, kwargs))
                succeeded, value = pipe.recv()
            except (EOFError, OSError) as error:
                self._pipe = None
                raise ForethoughtError(
                    "the process that works beside the app was ended, perhaps for want of memory; try again"
                ) from error
        if not succeeded:
            raise cast(Exception, value)
        return cast(T, value)

    def _connected(self) -> Connection:
        if self._pipe is None:
            self._pipe, theirs = Pipe()
            # not multiprocessing's own start: it would run again what Streamlit makes the main module, the app's page
            subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
            theirs.close()
        return self._pipe


def _serve(pipe: Connection) -> None:
    """Until nobody holds the other end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the app, which ends this process
    os.nice(NICENESS)
    while True:
        try:
            function, args, kwargs = pipe.recv()
        except (EOFError, ConnectionError):
            return
        try:
            answer = True, function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  raised again by who called
            answer = False, error
        with suppress(ConnectionError):  # nobody waits any more
            pipe.send(answer)


class EmbedderBeside:
    """A sentence-transformers model in a process of its own, so that the app's never loads it."""

    def __init__(self, process: Beside, embedder: SentenceEmbedder) -> None:
        self._process, self._embedder = process, embedder

    @property
    def name(self) -> str:
        return self._embedder.name

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return self._process.call(_embed, self._embedder, list(texts))

    def truncated(self, texts: Sequence[str]) -> np.ndarray:
        return self._process.call(_truncated, self._embedder, list(texts))


_loaded: dict[str, SentenceEmbedder] = {}  # of the process beside, by name


def _embed(embedder: SentenceEmbedder, texts: Sequence[str]) -> np.ndarray:
    return _loaded.setdefault(embedder.name, embedder).embed(texts)


def _truncated(embedder: SentenceEmbedder, texts: Sequence[str]) -> np.ndarray:
    return _loaded.setdefault(embedder.name, embedder).truncated(texts)


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])))
