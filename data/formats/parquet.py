"""Rows out of parquet files, a batch in memory at a time.

Arrow fills every row's objects with the keys of all other rows, and cannot tell a key that is missing from one that is
null: keys without a value are left out, so that a tool call has the arguments that it was made with.
"""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import IO, Any

from .documents import Broken, Document
from .window import Damage, beginning, parsed

BATCH = 64  # rows: each may hold pictures


def rows_of_parquet(file: Path | IO[bytes]) -> Iterator[Document | Broken]:
    """The rows as objects; JSON in a string (Arrow's own type for it, or a column that had to have one) is read."""
    from pyarrow import ArrowException  # a second to load, for those who have parquet
    from pyarrow.parquet import ParquetFile

    position = 0
    try:
        with ParquetFile(file) as table:
            for batch in table.iter_batches(BATCH):
                for row in batch.to_pylist():
                    position += 1
                    value = {
                        key: _unpacked(filled(one)) for key, one in row.items() if one is not None
                    }
                    yield Document(position, value, beginning(str(row)))
    except (ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        yield Broken(position + 1, f"no parquet that can be read: {reason}")


def filled(value: Any) -> Any:
    """The value without keys that have none."""
    if isinstance(value, dict):
        return {key: filled(one) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        return [filled(one) for one in value]
    return value.isoformat() if isinstance(value, date) else value


def _unpacked(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return parsed(value)
        except Damage:
            return value
    return value
