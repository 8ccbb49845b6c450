"""Where a store is kept: connections, transactions, and database errors told in one line.

Knows nothing of traces or candidates. What is particular to a kind of database is in `sqlite_file.py` and `postgres.py`.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError
from sqlmodel import Session

from . import postgres, sqlite_file
from .errors import StoreError


class Backend(Protocol):
    """What a kind of database does in its own way."""

    @property
    def READING(self) -> Mapping[str, Any]: ...
    def make_engine(self, address: URL, location: str) -> Engine: ...
    def explain(self, error: DatabaseError) -> str | None: ...
    def free_of_references(self, connection: Connection) -> AbstractContextManager[None]: ...
    def finish_migration(self, connection: Connection) -> None: ...
    def damage(self, connection: Connection) -> Iterator[str]: ...


BACKENDS: dict[str, Backend] = {"sqlite": sqlite_file, "postgresql": postgres}


class Database:
    """Sessions on one store; safe to share between threads, each unit has a connection of its own.

    `location` is the address as it may be shown: without the password.
    """

    def __init__(self, url: str | Path) -> None:
        self.location = without_password(str(url))
        address = _address(str(url), self.location)
        self.backend = BACKENDS[address.get_backend_name()]
        self.engine = self.backend.make_engine(address, self.location)
        self._reader = self.engine.execution_options(**self.backend.READING)
        self._writer = self.engine.execution_options(writes=True)

    @property
    def address(self) -> str:
        """With the password, for another process; never to be shown."""
        return self.engine.url.render_as_string(hide_password=False)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """One consistent view; anything changed in it is not kept."""
        with self._told(), Session(self._reader) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """One write unit: kept as a whole when the block ends, and not at all when it raises."""
        with self._told(), Session(self._writer, expire_on_commit=False) as session:
            with session.begin():
                yield session

    @contextmanager
    def rebuilding(self) -> Iterator[Connection]:
        """One write unit in which tables may be replaced: foreign keys are not followed meanwhile."""
        with self._told(), self._writer.connect() as connection:
            with self.backend.free_of_references(connection), connection.begin():
                yield connection

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except DatabaseError as error:
            told = self.backend.explain(error)
            if told is None:
                raise
            raise StoreError(f"store {self.location}: {told}") from error
        except UnicodeEncodeError as error:
            raise StoreError(
                f"store {self.location}: text with a lone surrogate cannot be stored "
                f"({error.object[error.start : error.end]!r}); replace that character"
            ) from error


def damage(session: Session) -> Iterator[str]:
    """What is wrong with the place that a session works on, a sentence each."""
    connection = session.connection()
    return BACKENDS[connection.dialect.name].damage(connection)


def without_password(url: str) -> str:
    """An address as it may be shown, whether or not it can be read as one."""
    masked = re.sub(r"(?<=://)([^/?#@:]*):.*@", r"\1:***@", url, flags=re.S)
    return re.sub(r"(password=)[^&]*", r"\1***", masked, flags=re.I)


def _address(text: str, location: str) -> URL:
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        address = make_url(text)
        address.get_dialect()
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise StoreError(
            f"store {location}: not a database address; give a file's path"
        ) from None  # its text has the password
    if address.get_backend_name() not in BACKENDS:
        raise StoreError(
            f"store {location}: only SQLite and PostgreSQL stores are supported; "
            "give a file's path or postgresql+psycopg://USER@HOST/DATABASE"
        )
    return address
