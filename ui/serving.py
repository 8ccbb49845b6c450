"""How the app is started: Streamlit on the loopback address, usage statistics off, the store by environment."""

import os
import socket
import sys
from pathlib import Path
from typing import NoReturn

from ..data.errors import ForethoughtError


def serve(store: str, port: int, *, headless: bool) -> NoReturn:
    """Becomes the app's server, so that whoever stops this process stops the server."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise ForethoughtError(
                f"port {port} is taken or not yours; choose another --port"
            ) from error
    os.execve(sys.executable, app_command(port, headless=headless), app_environment(store))


def app_command(port: int, *, headless: bool) -> list[str]:
    """The command line that serves the app on 127.0.0.1."""
    return [
        *(sys.executable, "-m", "streamlit", "run", str(Path(__file__).with_name("app.py"))),
        *("--server.address", "127.0.0.1"),
        *("--server.port", str(port)),
        *("--server.headless", "true" if headless else "false"),
        *("--server.showEmailPrompt", "false"),
        *("--browser.gatherUsageStats", "false"),
        *("--server.fileWatcherType", "none"),
        *("--client.toolbarMode", "minimal"),
    ]


def app_environment(store: str) -> dict[str, str]:
    """The environment with the store's absolute address."""
    address = store if "://" in store else str(Path(store).resolve())
    return os.environ | {"FORETHOUGHT_STORE": address}
