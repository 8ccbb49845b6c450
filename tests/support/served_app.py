"""The app as `forethought ui` serves it, in a process of its own that a test may kill."""

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError

from forethought.ui.serving import Serving, app_command, app_environment

PATIENCE = 120  # seconds until it must answer


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ServedApp:
    """The app on one store and one port, whichever process serves it at the moment; `folder` holds its cache and its log."""

    def __init__(self, store: Path, folder: Path) -> None:
        self.serving = Serving(str(store), free_port(), headless=True)
        self.folder = folder
        self.process: subprocess.Popen | None = None

    @property
    def address(self) -> str:
        return self.serving.address

    def start(self) -> None:
        environment = app_environment(self.serving) | {"FORETHOUGHT_CACHE": str(self.folder)}
        with (self.folder / "app.log").open("ab") as log:
            self.process = subprocess.Popen(
                app_command(self.serving),
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._wait()

    def kill(self) -> None:
        """At once, as a crash would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def log(self) -> str:
        return (self.folder / "app.log").read_text("utf-8", "replace")

    def _end(self, how: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, how)
            self.process.wait(PATIENCE)

    def _wait(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert self.process is not None
            assert self.process.poll() is None, self.log()
            try:
                urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=5).close()
                return
            except (URLError, OSError):
                time.sleep(0.1)
        raise AssertionError(f"the app does not answer: {self.log()}")


@contextmanager
def served(store: Path, folder: Path) -> Iterator[ServedApp]:
    app = ServedApp(store, folder)
    app.start()
    try:
        yield app
    finally:
        app.stop()
