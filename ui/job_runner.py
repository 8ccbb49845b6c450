"""Runs one background command: `python -m forethought.ui.job_runner FOLDER`, a folder as `jobs` lays it out.

Waits until no other run of the store is at work, runs the command in its own process group, writes its exit code. Ctrl-C's
signal stops the command, or keeps it from beginning; one that does not stop is made to. Imports little: it starts often.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .result_file import write_whole

PATIENCE = 10  # seconds between asking a command to stop and making it


class _Stopped(Exception):
    """Cancelled before the command began."""


def run(folder: Path) -> None:
    """The runner: the folder's command in its turn, and its exit code written down."""
    begun = threading.Event()

    def interrupted(number: int, frame: Any) -> None:
        if not begun.is_set():
            raise _Stopped
        signal.alarm(PATIENCE)  # the command has the same signal, for it goes to the group

    signal.signal(signal.SIGINT, interrupted)
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    signal.signal(signal.SIGALRM, lambda number, frame: os.killpg(0, signal.SIGTERM))
    _note(folder / "process.json", os.getpid())
    try:
        with _turn(folder.parent / "turn") as turn:
            begun.set()
            rc = _command(folder, turn)
    except _Stopped:
        rc = -signal.SIGINT
    write_whole(folder / "rc", str(rc))


def _command(folder: Path, turn: int) -> int:
    asked = json.loads((folder / "command.json").read_text("utf-8"))
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        child = subprocess.Popen(
            [*asked["program"], *asked["arguments"]],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            pass_fds=(
                turn,
            ),  # the turn lasts as long as the command, also if this runner is killed
        )
        _note(folder / "child.json", child.pid)
        return child.wait()


@contextmanager
def _turn(lock: Path) -> Iterator[int]:
    """Wait until no other run of this store is at work; its descriptor, which holds the turn."""
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def _note(path: Path, pid: int) -> None:
    write_whole(path, json.dumps({"pid": pid, "began": birth(pid)}))


def birth(pid: int) -> str | None:
    """When the process with this pid began; None where there is none, or it has ended."""
    stat = Path(f"/proc/{pid}/stat")
    if not Path("/proc/self/stat").exists():
        asked = ["ps", "-o", "lstart=,stat=", "-p", str(pid)]
        told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.split()
        return " ".join(told[:-1]) if told and not told[-1].startswith("Z") else None
    try:
        fields = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    return None if fields[0] in "ZX" else f"{boot}:{fields[19]}"


if __name__ == "__main__":
    run(Path(sys.argv[1]))
