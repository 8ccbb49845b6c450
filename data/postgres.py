"""A store in a PostgreSQL database (or one schema of it): its connections, and its errors in one line.

It behaves as the file does. Write units follow each other: each takes one lock of the store when it begins, so a
read-modify-write never meets another. Readers wait for nobody. Text sorts by bytes and JSON is kept to the letter.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DatabaseError, DataError, InternalError, OperationalError

from .errors import StoreError

DRIVER = "postgresql+psycopg"
CONNECT_SECONDS, WAIT_SECONDS = 10, 60
# A write unit reads what was committed before it got the lock, so its statements may not share an older view.
READING: Mapping[str, Any] = {"isolation_level": "REPEATABLE READ"}
LOCK = "SELECT pg_advisory_xact_lock(hashtext('forethought'), hashtext(current_schema()))"
TOLD = {  # errors a user can do something about, by SQLSTATE
    "3F000": "name a schema that exists in the address's search_path",
    "42501": "ask the database's owner for the right to create and change tables there",
}


def make_engine(address: URL, location: str) -> Engine:
    """Connections to the server, none opened yet; StoreError where the driver is not installed."""
    if not address.database:
        raise StoreError(f"store {location} names no database; end the address with /DATABASE")
    try:
        engine = create_engine(
            address.set(drivername=DRIVER).update_query_dict(
                {"connect_timeout": str(CONNECT_SECONDS), "application_name": "forethought"}
                | dict(address.query)
            ),
            pool_pre_ping=True,  # a server that was restarted meanwhile costs no unit of work
        )
    except ImportError as error:
        raise StoreError(
            f"store {location}: PostgreSQL needs psycopg; pip install 'forethought[postgres]'"
        ) from error

    @event.listens_for(engine, "connect")
    def prepare(raw, record) -> None:  # noqa: ANN001 - the driver's own types
        raw.execute(f"SET lock_timeout = '{WAIT_SECONDS}s'")
        raw.execute("SET client_encoding = 'UTF8'")
        raw.commit()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get("writes", False):
            connection.exec_driver_sql(LOCK)

    return engine


def explain(error: DatabaseError) -> str | None:
    """What to tell the user; None for a defect of ours, such as a broken constraint."""
    reason = str(error.orig).strip().partition("\n")[0]
    state = getattr(error.orig, "sqlstate", None)
    if state in TOLD:
        return f"{reason}; {TOLD[state]}"
    if state == "55P03":
        return f"another process has been writing for {WAIT_SECONDS} s; try again when it is done"
    if state is not None and state.startswith("53"):
        return f"{reason}; what was stored is kept: give the server room and go on"
    if isinstance(error, DataError):
        return f"{reason}; PostgreSQL cannot keep that value: change it, or use a file as --store"
    if error.connection_invalidated:
        return f"the connection was lost ({reason}); what was stored is kept, try again"
    if state is None and error.statement is None:
        return f"cannot connect ({reason}); check that the server runs, and host, database, user and password"
    if isinstance(error, OperationalError | InternalError):
        return f"{reason}; see the server's log"
    return None


@contextmanager
def free_of_references(connection: Connection) -> Iterator[None]:
    """PostgreSQL changes a table in place: nothing is in the way."""
    yield


def finish_migration(connection: Connection) -> None:
    """Text sorts by bytes, as in SQLite, whatever the database's language; JSON is kept as it was written (NaN, NUL)."""
    if (encoding := connection.scalar(text("SHOW server_encoding"))) != "UTF8":
        raise StoreError(
            f"the database keeps text as {encoding}; make one with `createdb --encoding UTF8`"
        )
    columns = connection.execute(
        text(
            "SELECT table_name, column_name FROM information_schema.columns "
            "JOIN information_schema.tables USING (table_schema, table_name) "
            "WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' "
            "AND data_type IN ('character varying', 'text', 'json') "
            "AND collation_name IS DISTINCT FROM 'C'"
        )
    ).all()
    for table, column in columns:
        connection.exec_driver_sql(
            f'ALTER TABLE "{table}" ALTER COLUMN "{column}" TYPE varchar COLLATE "C"'
        )


def damage(connection: Connection) -> Iterator[str]:
    """The server looks after its files and references itself."""
    return iter(())
