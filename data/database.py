"""One SQLite file: connections, transactions, and database errors told in one line.

Knows nothing of traces or candidates. Readers never wait for the writer (WAL), writers wait for each
other; a write unit takes the write lock when it begins, because SQLite refuses to upgrade a reader and a
read-modify-write begun as a reader loses edits without an error.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from os import W_OK, access
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, OperationalError
from sqlmodel import Session

from .errors import StoreError

BUSY_SECONDS = 10
PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
)


class Database:
    """Sessions on one file; safe to share between threads, each unit has a connection of its own."""

    def __init__(self, url: str | Path) -> None:
        self.location = str(url)
        address = _address(url)
        _check_place(Path(address.database or ""), self.location)
        self.engine = _engine(address)
        self._writer = self.engine.execution_options(writes=True)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """One consistent view; anything changed in it is not kept."""
        with self._told(), Session(self.engine) as session:
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
            raw = connection.connection.driver_connection
            assert raw is not None
            raw.execute("PRAGMA foreign_keys = OFF")  # has no effect once a transaction has begun
            try:
                with connection.begin():
                    yield connection
            finally:
                raw.execute("PRAGMA foreign_keys = ON")

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OperationalError as error:
            raise StoreError(f"store {self.location}: {_advice(str(error.orig))}") from error
        except DatabaseError as error:
            if type(error) is not DatabaseError:  # a broken constraint is a defect, not a bad file
                raise
            raise StoreError(
                f"store {self.location} is not a usable database ({error.orig}); "
                "choose another --store or restore a copy"
            ) from error
        except UnicodeEncodeError as error:
            raise StoreError(
                f"store {self.location}: text with a lone surrogate cannot be stored "
                f"({error.object[error.start : error.end]!r}); replace that character"
            ) from error


def _address(url: str | Path) -> URL:
    text = str(url)
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        address = make_url(text)
        address.get_dialect()
    except (ArgumentError, NoSuchModuleError) as error:
        raise StoreError(f"store {text}: not a database address; give a file's path") from error
    if address.get_backend_name() != "sqlite":
        raise StoreError(f"store {text}: only SQLite stores are supported; give a file's path")
    return address


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


def _engine(address: URL) -> Engine:
    engine = create_engine(address)

    @event.listens_for(engine, "connect")
    def prepare(raw, record) -> None:  # noqa: ANN001 - the driver's own types
        raw.isolation_level = None  # Python's driver would begin by its own rules
        for pragma in PRAGMAS:
            raw.execute(pragma)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _advice(reason: str) -> str:
    if "locked" in reason:
        return f"another process has been writing for {BUSY_SECONDS} s; try again when it is done"
    return f"{reason}; check the disk and the file's permissions, or choose another --store"
