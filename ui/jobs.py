"""Background runs: one command line each, in a process of its own that outlives the app, its files in a folder of the cache.

    <cache>/jobs/<digest of the store's address>/<id>/
        command.json   what was asked for, by whom, when           process.json  the runner: pid and when it began
        stdout stderr  what the command printed                    child.json    the command's process; not there while queued
        progress.json  how far it is                               cancel        someone asked it to stop
        rc             its exit code, written last and whole        out/          files that it made

`job_runner` waits for its turn (one run of a store at a time), runs the command in its own process group, and writes `rc`. What a run is comes from these files and from the process table alone, so that an app
that was killed, or another one, tells the same. No shell reads any of it. Unix only, as are process groups and `flock`.
"""

import json
import os
import re
import secrets
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ..data.errors import ForethoughtError, NotFound
from ..scorer.cache import cache_folder
from . import progress_file
from .access import Actor, Right
from .job_runner import birth
from .progress_file import Progress
from .result_file import write_whole
from .serving import STORE_VARIABLE

PROGRAM = (sys.executable, "-P", "-m", "forethought.ui.cli")
RUNNER = (sys.executable, "-P", "-m", "forethought.ui.job_runner")
STARTING = 30.0  # seconds in which a runner must have said that it lives
TAIL = 8_000  # bytes of a log that are shown
IN_PART = 3  # the exit code of a command that did some of it
OUT = "\0out\0"  # in an argument, where nobody can type it: the run's own folder for what it makes
ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]{6}")


class State(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"  # its process is gone, and nobody wrote down how it ended

    @property
    def is_over(self) -> bool:
        return self not in (State.QUEUED, State.RUNNING)


class Process(NamedTuple):
    """A pid, and when that process began: a pid that was given out again is another process."""

    pid: int
    began: str

    @property
    def is_alive(self) -> bool:
        return birth(self.pid) == self.began


@dataclass(frozen=True)
class Job:
    """A run as its files and the process table tell it; times are UTC."""

    id: str
    folder: Path
    arguments: tuple[str, ...]
    actor: str
    at: str
    state: State
    rc: int | None

    @property
    def command(self) -> str:
        """As one would type it."""
        return shlex.join(["forethought", *self.arguments])

    @property
    def progress(self) -> Progress | None:
        return progress_file.read(self.folder / "progress.json")

    @property
    def is_in_part(self) -> bool:
        return self.state is State.DONE and self.rc == IN_PART

    @property
    def made(self) -> list[Path]:
        """Files in its `out` folder, by name."""
        return sorted(path for path in (self.folder / "out").rglob("*") if path.is_file())

    def tail(self, stream: str) -> str:
        """The end of `stdout` or `stderr`."""
        try:
            with (self.folder / stream).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - TAIL))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""


@dataclass(frozen=True)
class Jobs:
    """All runs on one store; `store` is its address in full, for the commands alone."""

    store: str
    folder: Path
    program: tuple[str, ...] = PROGRAM

    @classmethod
    def of(cls, location: str, address: str | None = None) -> "Jobs":
        """The runs on the store at this path or address; `address` where `location` hides a password."""
        shown = location if "://" in location else str(Path(location).resolve())
        digest = sha256(shown.encode("utf-8", "backslashreplace")).hexdigest()[:16]
        return cls(address or shown, cache_folder() / "jobs" / digest)

    def start(self, arguments: Sequence[str], actor: Actor) -> Job:
        """Start a command in the background; Forbidden for those who may not, one line for what cannot be started."""
        actor.require(Right.JOBS)
        now = time.gmtime()
        id = f"{time.strftime('%Y%m%dT%H%M%S', now)}-{secrets.token_hex(3)}"
        folder = self.folder / id
        passed = [part.replace(OUT, str(folder / "out")) for part in arguments]
        _require_passable(passed)
        asked = {
            "program": list(self.program),
            "arguments": passed,
            "actor": actor.name,
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", now),
        }
        write_whole(folder / "command.json", json.dumps(asked))
        self._launch(folder)
        return self.job(id)

    def again(self, id: str, actor: Actor) -> Job:
        """The same command once more; ours go on from what is stored and cached."""
        job = self.job(id)
        return self.start(
            [part.replace(str(job.folder / "out"), OUT) for part in job.arguments], actor
        )

    def cancel(self, id: str, actor: Actor) -> None:
        """Ask a run to stop, as Ctrl-C would; after ten seconds it is made to. Nothing for one that is over."""
        actor.require(Right.JOBS)
        job = self.job(id)
        runner = _process(job.folder / "process.json")
        if job.state.is_over or runner is None:
            return
        write_whole(job.folder / "cancel", actor.name)
        try:
            os.killpg(runner.pid, signal.SIGINT)
        except ProcessLookupError:  # it ended meanwhile
            return

    def job(self, id: str) -> Job:
        folder = self.folder / id
        if not ID.fullmatch(id) or not (folder / "command.json").exists():
            raise NotFound(f"no run {id!r} of this store")
        return _read(folder)

    def all(self) -> list[Job]:
        """Newest first."""
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        ids = sorted((path.name for path in found if ID.fullmatch(path.name)), reverse=True)
        return [
            _read(self.folder / id) for id in ids if (self.folder / id / "command.json").exists()
        ]

    def _launch(self, folder: Path) -> None:
        environment = os.environ | {
            STORE_VARIABLE: self.store,  # not an argument: an address may hold a password
            progress_file.VARIABLE: str(folder / "progress.json"),
        }
        runner = subprocess.Popen(
            [*RUNNER, str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # neither the terminal's Ctrl-C nor the app's end reaches it
            env=environment,
        )
        threading.Thread(target=runner.wait, daemon=True).start()  # no zombie is left


def _require_passable(arguments: Sequence[str]) -> None:
    for part in arguments:
        try:
            encoded = os.fsencode(part)
        except UnicodeEncodeError as error:
            raise ForethoughtError(f"{part!r} cannot be passed on: a lone surrogate") from error
        if b"\0" in encoded:
            raise ForethoughtError(f"{part!r} cannot be passed on: a NUL character")


def _read(folder: Path) -> Job:
    asked = _json(folder / "command.json")
    rc = _exit_code(folder)
    state = _state(folder, rc)
    if state is State.LOST:  # or it ended between the two looks
        rc = _exit_code(folder)
        state = _state(folder, rc)
    return Job(
        id=folder.name,
        folder=folder,
        arguments=tuple(map(str, asked.get("arguments", ()))),
        actor=str(asked.get("actor", "")),
        at=str(asked.get("at", "")),
        state=state,
        rc=rc,
    )


def _state(folder: Path, rc: int | None) -> State:
    if rc is not None:
        if rc in (0, IN_PART):
            return State.DONE
        return State.CANCELLED if (folder / "cancel").exists() else State.FAILED
    runner, child = _process(folder / "process.json"), _process(folder / "child.json")
    if child is not None and child.is_alive:
        return State.RUNNING
    if runner is not None:
        alive = State.RUNNING if child is not None else State.QUEUED
        return alive if runner.is_alive else State.LOST
    age = time.time() - (folder / "command.json").stat().st_mtime
    return State.QUEUED if age < STARTING else State.LOST


def _exit_code(folder: Path) -> int | None:
    try:
        return int((folder / "rc").read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _process(path: Path) -> Process | None:
    found = _json(path)
    pid, began = found.get("pid"), found.get("began")
    return Process(pid, began) if isinstance(pid, int) and isinstance(began, str) else None


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
