"""A store copied into an empty one, of either kind of database, and verified before it is kept.

The copy is one write unit: whatever ends it before its time, the target is as empty as it was and the copy can be run
again. Rows go through in batches, in the order of their keys; a table's digest is over its values in that order, so
it is the same wherever a store is kept.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Column, Table, bindparam, func, select, text
from sqlmodel import Session

from . import integrity
from .errors import StoreError
from .store import Store
from .tables import Row, storable

BATCH = 200  # rows in memory at a time: a row may be a long trace
SHOWN_COPIES = (
    "trace",
    "quarantine",
    "thought",
)  # their texts are for showing; what was read is in JSON
Progress = Callable[[int, int], None]


class CopiedTable(NamedTuple):
    """Its rows, and 32 hex digits of the hash of their values."""

    name: str
    rows: int
    digest: str


def copy_store(
    source: Store, target: Store, progress: Progress = lambda done, total: None
) -> tuple[CopiedTable, ...]:
    """Everything in `source`, as one state of it; `progress` gets rows done and rows in all.

    Raises StoreError, and keeps nothing, where `target` is not empty or the copy is not the same and sound.
    """
    with source.database.reading() as old, target.database.writing() as new:
        _refuse_unless_empty(new, target.database.location)
        total = sum(_count(old, table) for table in _tables())
        copied: list[CopiedTable] = []
        for table in _tables():
            done = _ahead(progress, sum(one.rows for one in copied), total)
            copied.append(_copy(old, new, table, done))
            _count_on(new, table)
        _verify(new, copied, source.database.location)
    return tuple(copied)


def _ahead(progress: Progress, before: int, total: int) -> Callable[[int], None]:
    """Progress of one table, of which `before` rows of others were copied."""
    return lambda rows: progress(before + rows, total)


def _tables() -> list[Table]:
    """Each after those that it refers to."""
    return Row.metadata.sorted_tables


def _refuse_unless_empty(session: Session, location: str) -> None:
    for table in _tables():
        if _count(session, table):
            raise StoreError(
                f"store {location} is not empty (table {table.name} has rows); copy into a new one"
            )


def _count(session: Session, table: Table) -> int:
    return session.execute(select(func.count()).select_from(table)).scalar_one()


def _copy(old: Session, new: Session, table: Table, done: Callable[[int], None]) -> CopiedTable:
    digest, num_rows = blake2b(digest_size=16), 0
    own = _references_to_itself(table)
    portable = _without_nul if new.connection().dialect.name == "postgresql" else _as_it_is
    for rows in _batches(old, table):
        values = [
            portable(table, dict(zip(table.columns.keys(), row, strict=True))) for row in rows
        ]
        for row in values:
            digest.update(_line(row.values()))
        new.execute(table.insert(), [row | dict.fromkeys(own) for row in values])
        num_rows += len(rows)
        done(num_rows)
    for name in own:
        _refer(old, new, table, table.columns[name])
    return CopiedTable(table.name, num_rows, digest.hexdigest())


def _batches(session: Session, table: Table) -> Iterator[Sequence[Any]]:
    """All rows in the order of their keys, which is by bytes in every store."""
    ordered = select(table).order_by(*table.primary_key.columns)
    return session.execute(ordered.execution_options(yield_per=BATCH)).partitions()


def _line(values: Any) -> bytes:
    return json.dumps(list(values)).encode() + b"\n"


def _references_to_itself(table: Table) -> list[str]:
    """Columns that name another row of the table, maybe a later one: filled in when all rows are there."""
    return [key.parent.name for key in table.foreign_keys if key.column.table is table]


def _refer(old: Session, new: Session, table: Table, column: Column[Any]) -> None:
    (key,) = table.primary_key.columns
    found = old.execute(
        select(key.label("row"), column.label("other"))
        .where(column.is_not(None))
        .execution_options(yield_per=BATCH)
    )
    point = table.update().where(key == bindparam("row")).values({column.name: bindparam("other")})
    for rows in found.mappings().partitions():
        new.connection().execute(point, [dict(row) for row in rows])


def _as_it_is(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    return row


def _without_nul(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """PostgreSQL keeps no NUL in text; stores of old have some in what is shown of traces."""
    for name, value in row.items():
        if isinstance(value, str) and "\0" in value:
            if table.name not in SHOWN_COPIES:
                key = ", ".join(repr(row[column.name]) for column in table.primary_key.columns)
                raise StoreError(
                    f"{table.name} {key} has a NUL character in its {name}, which PostgreSQL "
                    "cannot keep; copy into a file, or change it first"
                )
            row[name] = storable(value)
    return row


def _count_on(session: Session, table: Table) -> None:
    """New rows go on behind the copied ones; SQLite counts from the highest there is."""
    column = table.autoincrement_column
    if column is not None and session.connection().dialect.name == "postgresql":
        session.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence('\"{table.name}\"', '{column.name}'), "
                f'max("{column.name}")) FROM "{table.name}" HAVING max("{column.name}") IS NOT NULL'
            )
        )


def _verify(session: Session, copied: Sequence[CopiedTable], source: str) -> None:
    for table, told in zip(_tables(), copied, strict=True):
        found = _read_back(session, table)
        if found != told:
            raise StoreError(
                f"the copy of {source} is not the same (table {told.name}: {told.rows} rows "
                f"{told.digest}, but {found.rows} rows {found.digest}); nothing was kept, try again"
            )
    problems = list(islice(integrity.problems(session), 1))
    if problems:
        raise StoreError(
            f"the copy of {source} would not be sound: {problems[0]}; nothing was kept: "
            "see `forethought check` of the original"
        )


def _read_back(session: Session, table: Table) -> CopiedTable:
    digest, num_rows = blake2b(digest_size=16), 0
    for rows in _batches(session, table):
        for row in rows:
            digest.update(_line(row))
        num_rows += len(rows)
    return CopiedTable(table.name, num_rows, digest.hexdigest())
