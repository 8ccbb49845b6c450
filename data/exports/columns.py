"""Rows as columns of one type each, and as parquet: Arrow fills, guesses and overflows where rows differ, so nothing is left to it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from ..errors import ForethoughtError

if TYPE_CHECKING:
    import pyarrow

LARGEST = 2**63
Row = Mapping[str, Any]


class MixedColumn(ForethoughtError):
    """A column that has no one type."""


def kinds_of(rows: Iterable[Row]) -> dict[str, set[str]]:
    """The kinds of value at each place of the rows, as `messages[].content`; null and empty lists are of any kind."""
    kinds: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.items():
            _add_kinds(kinds, name, value)
    return kinds


def mixed_columns(rows: Iterable[Row]) -> dict[str, set[str]]:
    """The places that have values of several kinds."""
    return {place: kinds for place, kinds in kinds_of(rows).items() if len(kinds) > 1}


def parquet_pieces(rows: Sequence[Row]) -> Iterator[bytes]:
    """A parquet file of at least one row. MixedColumn where a place has several kinds, or a number of over 64 bits."""
    import pyarrow
    from pyarrow import parquet

    names = list(dict.fromkeys(name for row in rows for name in row))
    schema = pyarrow.schema(
        [(name, arrow_type([row.get(name) for row in rows], name)) for name in names]
    )
    table = pyarrow.Table.from_pylist([dict(row) for row in rows], schema=schema)
    file = BytesIO()
    parquet.write_table(table, file)
    yield file.getvalue()


def arrow_type(values: Sequence[Any], place: str) -> "pyarrow.DataType":
    """The type of a column. Lists without elements are of text; an object without keys cannot be."""
    import pyarrow

    known = [value for value in values if value is not None]
    kinds = {_kind(value) for value in known}
    if len(kinds) > 1:
        raise MixedColumn(f"column {place} holds {' and '.join(sorted(kinds))}; it needs one type")
    match kinds.pop() if kinds else "text":
        case "list":
            return pyarrow.list_(arrow_type([e for value in known for e in value], f"{place}[]"))
        case "object":
            keys = dict.fromkeys(key for value in known for key in value)
            if not keys:
                raise MixedColumn(f"column {place} holds objects without keys; write it as text")
            return pyarrow.struct(
                [(k, arrow_type([v.get(k) for v in known], f"{place}.{k}")) for k in keys]
            )
        case "bool":
            return pyarrow.bool_()
        case "whole":
            if any(not -LARGEST <= value < LARGEST for value in known):
                raise MixedColumn(
                    f"column {place} holds a number of over 64 bits; write it as text"
                )
            return pyarrow.int64()
        case "number":
            return pyarrow.float64()
    return pyarrow.string()


def _kind(value: Any) -> str:
    if isinstance(value, Mapping):
        return "object"
    names = {bool: "bool", int: "whole", float: "number", str: "text", list: "list", tuple: "list"}
    return next(name for kind, name in names.items() if isinstance(value, kind))


def _add_kinds(kinds: dict[str, set[str]], place: str, value: Any) -> None:
    if value is None or value == []:
        return
    kinds.setdefault(place, set()).add(_kind(value))
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _add_kinds(kinds, f"{place}.{name}", inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _add_kinds(kinds, f"{place}[]", inner)
