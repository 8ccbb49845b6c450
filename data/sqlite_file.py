"""A store in one SQLite file: its place, its connections, and its errors in one line.

Readers never wait for the writer (WAL), writers wait for each other; a write unit takes the write lock when it begins,
because SQLite refuses to upgrade a reader, and a read-modify-write begun as a reader loses edits without an error.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import W_OK, access
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DatabaseError, DataError, OperationalError

from .errors import StoreError

BUSY_SECONDS = 60  # SQLite's waiters have no order: on a busy machine ten of them kept one waiting for over 10 s
PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
)
FILE = "file"  # of a connection: which file it was opened on
READING: Mapping[str, Any] = {}  # a transaction sees one state of the file whenever it begins


def make_engine(address: URL, location: str) -> Engine:
    """Connections to the file; StoreError where there can be none."""
    path = Path(address.database or "")
    _check_place(path, location)
    engine = create_engine(address)

    @event.listens_for(engine, "connect")
    def prepare(raw, record) -> None:  # noqa: ANN001 - the driver's own types
        raw.isolation_level = None  # Python's driver would begin by its own rules
        for pragma in PRAGMAS:
            raw.execute(pragma)
        record.info[FILE] = _identity(path)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.info[FILE] != _identity(path):  # what is written there, nobody finds again
            raise StoreError(
                f"store {location} was deleted or replaced while it was open; nothing was written: start again"
            )
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file lies at the path, None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _check_place(path: Path, location: str) -> None:
    if str(path) in ("", ".", ":memory:"):
        raise StoreError(f"store {location!r} names no file; give a path such as forethought.db")
    if not path.parent.is_dir():
        raise StoreError(
            f"store {location}: there is no folder {path.parent}; create it or choose another --store"
        )
    if path.is_dir():
        raise StoreError(f"store {location} is a folder; name a file in it")
    if not access(path if path.exists() else path.parent, W_OK):
        raise StoreError(f"store {location} cannot be written; choose another --store")


def explain(error: DatabaseError) -> str | None:
    """What to tell the user; None for a defect of ours, such as a broken constraint."""
    if isinstance(error, OperationalError | DataError):
        reason = str(error.orig)
        if "locked" in reason:
            return (
                f"another process has been writing for {BUSY_SECONDS} s; try again when it is done"
            )
        if "full" in reason:
            return f"{reason}; what was stored is kept: make room on the disk and go on"
        return f"{reason}; what was stored is kept: check the disk and the file's permissions"
    if type(error) is DatabaseError:
        return f"not a usable database ({error.orig}); choose another --store or restore a copy"
    return None


@contextmanager
def free_of_references(connection: Connection) -> Iterator[None]:
    """Tables may be replaced: foreign keys are not followed meanwhile. Has no effect in a transaction."""
    raw = connection.connection.driver_connection
    assert raw is not None
    raw.execute("PRAGMA foreign_keys = OFF")
    try:
        yield
    finally:
        raw.execute("PRAGMA foreign_keys = ON")


def finish_migration(connection: Connection) -> None:
    broken = connection.execute(text("PRAGMA foreign_key_check")).all()
    assert not broken, f"the migration leaves broken references: {broken[:3]}"


def damage(connection: Connection) -> Iterator[str]:
    """What is wrong with the file itself, a sentence each."""
    for (message,) in connection.execute(text("PRAGMA integrity_check")):
        if message != "ok":
            yield f"the database file is damaged: {message}; restore a copy"
    for table, row, parent, _ in connection.execute(text("PRAGMA foreign_key_check")):
        yield f"row {row} of table {table} refers to a row of {parent} that is not there"
