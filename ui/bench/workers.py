"""Many at once: servers with a thread each, or processes with a model each. The records are those of one alone.

A question is played in all its modes by one worker, so that a server finds the question's tokens again. Whoever fails first
ends all, in one line; what was played until then is kept by whoever takes the records. Knows no mode and no benchmark.
"""

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from hashlib import sha256
from multiprocessing import get_context
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

import torch

from ...data.errors import ForethoughtError
from ...scorer.agent.episode import Agent
from ...scorer.agent.served_session import ServedSession
from ...scorer.agent.session import Session
from ...scorer.model import LanguageModel
from ..wiring import ServedModel
from .arena import Arena
from .playing import Alone, Played, Players, Playing, Task

Json = dict[str, Any]
Found = SimpleQueue[Played | Exception | None]
Load = Callable[[], LanguageModel]  # as a process can be handed it
PATIENCE = 5.0  # seconds that a process is given to end
KEPT = "what was played is kept; the same command goes on from there"


def session_at(served: ServedModel, agent: Agent) -> Session:
    """A session of the agent's at a server."""
    return agent.start(ServedSession(served.engine, served.model))


@dataclass(frozen=True)
class Endpoints:
    """Servers of one model, each asked by a thread of its own; a question's server depends on its id and on their number.

    Each comes with a model of its own: threads cannot share a tokenizer.
    """

    agents: Mapping[str, Agent]
    seed: int
    served: Sequence[ServedModel]

    def play(self, tasks: Sequence[Task]) -> Playing:
        shares: list[list[list[Task]]] = [[] for _ in self.served]
        for group in _by_question(tasks):
            shares[_place(group[0].question.id, len(shares))].append(group)
        return _play_at_once(
            [_Share(self._at(one), iter(own)) for one, own in zip(self.served, shares, strict=True)]
        )

    def _at(self, served: ServedModel) -> Alone:
        own = {label: replace(agent, model=served.model) for label, agent in self.agents.items()}
        return Alone(own, self.seed, partial(session_at, served))


def at_servers(
    arena: Arena, agents: Mapping[str, Agent], seed: int, served: Sequence[ServedModel]
) -> Endpoints:
    """Players of an arena. ForethoughtError for questions with pictures, which are not sent to servers."""
    if seen := sum(bool(question.images) for question in arena.questions):
        raise ForethoughtError(
            f"{arena.name}: {seen} questions have pictures, which are not sent to an engine; leave out --engine"
        )
    return Endpoints(agents, seed, served)


@dataclass(frozen=True)
class Processes:
    """`count` processes that each load the model and take the next question when they are done with one."""

    agents: Mapping[str, Agent]
    seed: int
    load: Load
    count: int

    def play(self, tasks: Sequence[Task]) -> Playing:
        groups = _by_question(tasks)
        left = iter(groups)
        threads = max(1, torch.get_num_threads() // self.count)
        crew: list[_Process] = []
        try:
            for number in range(min(self.count, len(groups))):
                crew.append(_Process(self, number, threads))
            yield from _play_at_once([_Share(one, left) for one in crew])
        finally:
            for one in crew:
                one.end()


class _Share(NamedTuple):
    """Who plays, and the questions that are left to it, perhaps together with others."""

    players: Players
    left: Iterator[list[Task]]


def _play_at_once(shares: Sequence[_Share]) -> Playing:
    """What all of them play, as it comes. ForethoughtError as soon as one cannot go on."""
    found: Found = SimpleQueue()
    is_over = Event()
    for share in shares:
        Thread(target=_work, args=(share, found, is_over), daemon=True).start()
    try:
        working = len(shares)
        while working:
            one = found.get()
            if isinstance(one, ForethoughtError):
                raise ForethoughtError(f"{one}; {KEPT}") from one
            if isinstance(one, Exception):
                raise one
            if one is None:
                working -= 1
            else:
                yield one
    finally:
        is_over.set()


def _work(share: _Share, found: Found, is_over: Event) -> None:
    """Puts down what is played, then what went wrong, or None."""
    try:
        for group in share.left:
            for played in share.players.play(group):
                found.put(played)
                if is_over.is_set():
                    return
        found.put(None)
    except Exception as error:  # noqa: BLE001 - raised again by who waits for it
        found.put(error)


class _Process:
    """A process that plays one task after the other."""

    def __init__(self, whole: Processes, number: int, threads: int) -> None:
        context = get_context("spawn")
        self._number = number + 1
        self._pipe, theirs = context.Pipe()
        arguments = (theirs, whole.load, number, threads)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        # Ctrl-C reaches all processes of a terminal; this one ends the others itself.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        self._cast: _Cast | None = _Cast.of(whole)
        # of two threads that wait for one process, one would never learn that it ended
        self._waiting = Lock()

    def play(self, tasks: Sequence[Task]) -> Playing:
        for task in tasks:
            yield Played(task, self._record(task))

    def end(self) -> None:
        self._process.terminate()
        if self._exit_code(PATIENCE) is None:
            self._process.kill()
            self._exit_code(None)
        self._pipe.close()

    def _record(self, task: Task) -> Json:
        try:
            if self._cast:
                self._pipe.send(self._cast)
                self._cast = None
            self._pipe.send(task)
            found = self._pipe.recv()
        except (EOFError, OSError) as error:
            code = self._exit_code(PATIENCE)
            raise ForethoughtError(
                f"worker {self._number} was ended (exit code {code}), perhaps for want of memory; take fewer --workers"
            ) from error
        if isinstance(found, str):
            raise ForethoughtError(f"worker {self._number}: {found}")
        return dict(found)

    def _exit_code(self, patience: float | None) -> int | None:
        """Once the process has ended; None after `patience` seconds."""
        with self._waiting:
            self._process.join(patience)
            return self._process.exitcode


class _Cast(NamedTuple):
    """Agents without their model, which each process has its own of."""

    seed: int
    agents: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, whole: Processes) -> "_Cast":
        names = [one.name for one in fields(Agent) if one.name != "model"]
        bare = {
            label: {name: getattr(agent, name) for name in names}
            for label, agent in whole.agents.items()
        }
        return cls(whole.seed, bare)

    def with_model(self, model: LanguageModel) -> Alone:
        agents = {label: Agent(model=model, **bare) for label, bare in self.agents.items()}
        return Alone(agents, self.seed)


def _serve(pipe: Connection, load: Load, number: int, threads: int) -> None:
    """Plays what comes until nobody holds the other end; a record goes back, or the line that says why there is none."""
    torch.set_num_threads(threads)
    if torch.cuda.is_available():
        torch.cuda.set_device(number % torch.cuda.device_count())
    try:
        alone = pipe.recv().with_model(load())
        while True:
            (played,) = alone.play([pipe.recv()])
            pipe.send(played.record)
    except ForethoughtError as error:
        pipe.send(str(error))
    except (EOFError, ConnectionError):
        return


def _by_question(tasks: Sequence[Task]) -> list[list[Task]]:
    """The tasks of each question, in the order they came in."""
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.question.id, []).append(task)
    return list(groups.values())


def _place(id: str, places: int) -> int:
    return int.from_bytes(sha256(id.encode("utf-8", "backslashreplace")).digest()) % places
