"""How the app is started: Streamlit on the loopback address, usage statistics off, the store by environment."""

import os
import sys
from pathlib import Path


def app_command(port: int, *, headless: bool) -> list[str]:
    """The command line that serves the app on 127.0.0.1."""
    return [
        *(sys.executable, "-m", "streamlit", "run", str(Path(__file__).with_name("app.py"))),
        *("--server.address", "127.0.0.1"),
        *("--server.port", str(port)),
        *("--server.headless", "true" if headless else "false"),
        *("--browser.gatherUsageStats", "false"),
        *("--server.fileWatcherType", "none"),
        *("--client.toolbarMode", "minimal"),
    ]


def app_environment(store: str) -> dict[str, str]:
    """The environment with the store's absolute address."""
    address = store if "://" in store else str(Path(store).resolve())
    return os.environ | {"FORETHOUGHT_STORE": address}
