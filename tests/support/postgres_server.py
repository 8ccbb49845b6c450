"""A PostgreSQL server of Debian's package, for the tests: in a temporary folder, on a Unix socket, as a user of its own.

Durability is off and nothing is kept: the server itself is not what is tested.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psycopg

USER, PASSWORD = "forethought", "a secret: p@ss/w?rd"
FAST = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "listen_addresses": "",
    "lc_messages": "C",
}

EMPTY = """
DO $$ DECLARE name text; BEGIN
FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'forethought_schema'
LOOP EXECUTE format('DELETE FROM %I', name); END LOOP;
FOR name IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'
LOOP PERFORM setval(format('%I', name), 1, false); END LOOP; END $$
"""


class Server(NamedTuple):
    """`folder` holds the socket; a database is made by its name."""

    folder: Path

    def url(self, database: str) -> str:
        quoted = "a%20secret%3A%20p%40ss%2Fw%3Frd"
        return f"postgresql+psycopg://{USER}:{quoted}@/{database}?host={self.folder}"

    def connection(self) -> dict[str, str]:
        """What the driver needs to connect to the server's own database."""
        return {
            "host": str(self.folder),
            "user": USER,
            "password": PASSWORD,
            "dbname": "postgres",
        }

    def run(self, statement: str) -> None:
        with psycopg.connect(**self.connection(), autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[arg-type]

    def emptied(self, name: str) -> str:
        """The address of a store whose rows are all gone: quicker than a new one."""
        with psycopg.connect(**self.connection() | {"dbname": name}) as connection:
            connection.execute("SET session_replication_role = replica")  # no trigger, no reference
            connection.execute(EMPTY)
        return self.url(name)

    def database(self, name: str, more: str = "") -> str:
        """The address of a new, empty database, in place of an older one of this name."""
        self.run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        self.run(f'CREATE DATABASE "{name}" {more}')
        return self.url(name)


def programs() -> Path | None:
    """The folder of the newest server installed, None where there is none."""
    found = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    newest = max(found, key=lambda path: int(path.parent.parent.name), default=None)
    return newest.parent if newest else None


def _owner() -> str | None:
    """Whom to be: the server refuses to run as root."""
    if os.getuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        return "nobody"


@contextmanager
def serving(bin: Path) -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's path has 107 bytes
    owner = _owner()
    if owner:
        shutil.chown(folder, owner)
    try:
        _make_cluster(bin, folder, owner)
        options = [part for key, value in FAST.items() for part in ("-c", f"{key}={value}")]
        command = [str(bin / "postgres"), "-D", str(folder / "data"), "-k", str(folder), *options]
        with (
            open(folder / "log", "wb") as log,
            subprocess.Popen(command, stdout=log, stderr=log, **_as(owner, folder)) as process,
        ):
            try:
                _wait(Server(folder), process)
                yield Server(folder)
            finally:
                process.send_signal(signal.SIGINT)  # whoever is still connected
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _make_cluster(bin: Path, folder: Path, owner: str | None) -> None:
    (folder / "password").write_text(PASSWORD)
    command = [str(bin / "initdb"), "-D", str(folder / "data"), "--no-sync", "-U", USER]
    # a language whose order is not that of bytes, where there is one: the store's order must not depend on it
    command += ["--auth=scram-sha-256", f"--pwfile={folder / 'password'}", "--encoding=UTF8"]
    command += ["--locale-provider=icu", "--icu-locale=en", "--locale=C.UTF-8"]
    made = subprocess.run(command, capture_output=True, text=True, **_as(owner, folder))
    assert made.returncode == 0, made.stdout + made.stderr


def _as(owner: str | None, folder: Path) -> dict:
    """How to start a process in `folder` as `owner`, or as whoever runs the tests."""
    place: dict = {"cwd": folder, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}}
    if owner is None:
        return place
    return place | {"user": owner, "group": pwd.getpwnam(owner).pw_gid, "extra_groups": []}


def _wait(server: Server, process: subprocess.Popen) -> None:
    for _ in range(200):
        try:
            return server.run("SELECT 1")
        except psycopg.OperationalError:
            assert process.poll() is None, (server.folder / "log").read_text()
            time.sleep(0.05)
    raise AssertionError("the server does not answer")
