"""Rows out of parquet files, a batch in memory at a time.

Arrow fills every row's objects with the keys of all other rows, and cannot tell a key that is missing from one that is
null: keys without a value are left out, so that a tool call has the arguments that it was made with.
"""

from collections.abc import Iterator
from datetime import date
from os import SEEK_END
from pathlib import Path
from typing import IO, Any

from .documents import Broken, Document
from .streams import is_too_much, too_much
from .window import MAX_BYTES, Damage, beginning, parsed

BATCH = 64  # rows: each may hold pictures


def rows_of_parquet(
    file: Path | IO[bytes], max_bytes: int = MAX_BYTES
) -> Iterator[Document | Broken]:
    """The rows as objects; JSON in a string (Arrow's own type for it, or a column that had to have one) is read.

    A row of more than `max_bytes`, as Arrow holds it, comes back as Broken; so does a file that unpacks to too much.
    """
    from pyarrow import ArrowException  # a second to load, for those who have parquet
    from pyarrow.parquet import ParquetFile

    position = 0
    try:
        with ParquetFile(file) as table:
            packed, plain = _size(file), _plain_size(table.metadata)
            if is_too_much(packed, plain):
                yield Broken(1, too_much(packed))
                return
            for batch in table.iter_batches(BATCH):
                for row in _rows(batch, max_bytes):
                    position += 1
                    if row is None:
                        yield Broken(position, f"longer than {max_bytes:,} bytes")
                        continue
                    value = {
                        key: _unpacked(filled(one)) for key, one in row.items() if one is not None
                    }
                    yield Document(position, value, beginning(str(row)))
    except (ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        yield Broken(position + 1, f"no parquet that can be read: {reason}")


def _size(file: Path | IO[bytes]) -> int:
    if isinstance(file, Path):
        return file.stat().st_size
    return file.seek(0, SEEK_END)


def _plain_size(metadata: Any) -> int:
    return sum(metadata.row_group(n).total_byte_size for n in range(metadata.num_row_groups))


def _rows(batch: Any, max_bytes: int) -> Iterator[dict[str, Any] | None]:
    """The batch's rows; None for one that is too long."""
    if batch.nbytes <= max_bytes:
        yield from batch.to_pylist()
        return
    for number in range(batch.num_rows):
        row = batch.slice(number, 1)
        yield row.to_pylist()[0] if row.nbytes <= max_bytes else None


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
