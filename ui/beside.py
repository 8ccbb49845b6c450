"""Processes beside the app's, for work that would hold up everybody's key presses: Python lets one thread run at a time.

Each does one thing after another, at low priority, and ends with the app. What goes there and back is copied.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
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
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `function` returns or raises there; ForethoughtError where the process was killed meanwhile."""
        with self._lock:
            pipe = self._connected()
            try:
                pipe.send((function, args, kwargs))
                succeeded, value = pipe.recv()
            except (EOFError, OSError) as error:
                self._process = None
                raise ForethoughtError(
                    "the process that works beside the app was ended, perhaps for want of memory; try again"
                ) from error
        if not succeeded:
            raise cast(Exception, value)
        return cast(T, value)

    def _connected(self) -> Connection:
        if self._pipe is None or self._process is None:
            context = multiprocessing.get_context("spawn")  # a fork would copy the threads' locks
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
        return self._pipe


def _serve(pipe: Connection) -> None:
    """Until nobody holds the other end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the app, which ends this process
    os.nice(NICENESS)
    while True:
        try:
            function, args, kwargs = pipe.recv()
        except EOFError:
            return
        try:
            answer = True, function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  raised again by who called
            answer = False, error
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
