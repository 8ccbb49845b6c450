"""How the app is started: where it listens, who may reach it, how it looks; the store and the login by environment."""

import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from ..data.errors import ForethoughtError
from .access import is_loopback, read_access, require_guarded, require_login_ready

LOOPBACK = "127.0.0.1"
OWN_NAMES = ("localhost", LOOPBACK, "::1")
STORE_VARIABLE, AUTH_VARIABLE = "FORETHOUGHT_STORE", "FORETHOUGHT_AUTH"
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Serving:
    """One app: its store, where it listens, the secrets file of its login (None: nobody logs in)."""

    store: str
    port: int = 8501
    host: str = LOOPBACK
    auth: Path | None = None
    headless: bool = False

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def serve(serving: Serving, *, without_login: bool = False) -> NoReturn:
    """Becomes the app's server, so that whoever stops this process stops the server.

    Refuses an address that others reach without a login, a login that cannot work, and a taken port.
    """
    require_guarded(serving.host, serving.auth, without_login=without_login)
    if serving.auth is not None:
        read_access(serving.auth)
        require_login_ready()
    _require_free(serving.host, serving.port)
    print(
        f"Forethought: {serving.address} in some seconds (Ctrl-C ends it)",
        file=sys.stderr,
        flush=True,
    )
    os.execve(sys.executable, app_command(serving), app_environment(serving))


def app_command(serving: Serving) -> list[str]:
    """The command line that serves the app."""
    secrets = ("--secrets.files", str(serving.auth.resolve())) if serving.auth else ()
    local = is_loopback(serving.host)
    # A page elsewhere whose name was made to point here is not one of ours.
    own_names = (part for name in OWN_NAMES for part in ("--server.allowedHosts", name))
    return [
        *(sys.executable, "-m", "forethought.ui.app_server", "run", str(HERE / "app.py")),
        *("--server.address", serving.host),
        *("--server.port", str(serving.port)),
        *("--server.headless", "true" if serving.headless else "false"),
        *("--server.showEmailPrompt", "false"),
        *("--server.fileWatcherType", "none"),
        *("--runner.fastReruns", "false"),  # else two keys at once run in two threads on one desk
        *("--browser.gatherUsageStats", "false"),
        *("--browser.serverAddress", "localhost" if local else serving.host),
        *("--client.toolbarMode", "viewer"),  # the menu with the choice of theme, no Deploy
        *("--client.showErrorDetails", "type"),
        *(
            "--client.disableDataExport",
            "true",
        ),  # a grid's own CSV would hand formulas on; ours not
        *("--logger.hideWelcomeMessage", "true"),  # nor its advertisement on the page
        *("--theme.base", str(HERE / "theme.toml")),
        *(own_names if local and not serving.auth else ()),
        *secrets,
    ]


def app_environment(serving: Serving) -> dict[str, str]:
    """The environment with the store's absolute address, and the login's file where there is one."""
    store = serving.store
    address = store if "://" in store else str(Path(store).resolve())
    kept = {name: value for name, value in os.environ.items() if name != AUTH_VARIABLE}
    auth = {AUTH_VARIABLE: str(serving.auth.resolve())} if serving.auth else {}
    return kept | {STORE_VARIABLE: address} | auth


def _require_free(host: str, port: int) -> None:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise ForethoughtError(
            f"port {port} of {host} is taken or not yours; choose another --port"
        ) from error
