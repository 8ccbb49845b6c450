"""The version of a store's tables, and the way from an older one to this one.

A new version is a file in `migrations/versions`, named in HEAD; a file once released is never edited.
Opening a store that stands at HEAD does not load Alembic.
"""

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from .database import Database
from .errors import StoreError

HEAD = "0002"
VERSION_TABLE = "forethought_schema"
MIGRATIONS = Path(__file__).parent / "migrations"


def bring_up_to_date(database: Database) -> None:
    """Create the tables of a new store, or migrate an older one; all of it or nothing."""
    with database.reading() as session:
        if _version(session.connection(), database.location) == HEAD:
            return
    with database.rebuilding() as connection:
        version = _version(connection, database.location)
        if version == HEAD:  # another process was first
            return
        _refuse_newer(version, database.location)
        _upgrade(connection)
        database.backend.finish_migration(connection)


def _version(connection: Connection, location: str) -> str | None:
    """None for an empty database."""
    tables = inspect(connection).get_table_names()
    if not tables:
        return None
    if VERSION_TABLE not in tables:
        raise StoreError(
            f"store {location} is a database of another program; choose another --store"
        )
    return connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()


def _refuse_newer(version: str | None, location: str) -> None:
    known = {path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")}
    if version is not None and version not in known:
        raise StoreError(
            f"store {location} was written by a newer Forethought (schema {version}, "
            f"this one knows {HEAD}); upgrade Forethought"
        )


def _upgrade(connection: Connection) -> None:
    from alembic import command  # heavy, and needed once in a store's life
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
