"""A file that a user asked for: told early that it cannot be written, and never left half written."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..data.errors import ForethoughtError


def require_writable(*paths: Path | None) -> None:
    """ForethoughtError for a file that could not be written, before an audit's minutes rather than after."""
    for path in filter(None, paths):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ForethoughtError(
                f"cannot write {path} ({error.strerror}); name another file"
            ) from error
        if path.is_dir() or not os.access(path.parent, os.W_OK):
            raise ForethoughtError(
                f"cannot write {path}: it is a folder, or in one you may not write to"
            )


def write_whole(path: Path, text: str) -> None:
    """Writes `text` to `path` whole or not at all; ForethoughtError where it cannot."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(
            text.encode("utf-8", "backslashreplace")
        )  # half a character is no UTF-8
        os.replace(partial, path)
    except OSError as error:
        raise ForethoughtError(
            f"cannot write {path} ({error.strerror}); name another file"
        ) from error


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes a JSON line a row, whole or not at all."""
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    write_whole(path, "".join(f"{line}\n" for line in lines))
