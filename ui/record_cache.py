"""Records of an audit as they are made, a JSON line each, so that an interrupted audit goes on where it stopped.

A cache belongs to one choice of models, texts and rendering; a change of any of them starts another. Lines that a
kill left half written are passed over and made again.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from ..data.errors import ForethoughtError
from ..data.identity import content_id

Json = dict[str, Any]
Place = tuple[str, int, str]  # trace, turn, context hash


class RecordCache:
    """What was recorded before under `facts`; new records are appended at once."""

    def __init__(self, folder: Path, facts: Mapping[str, Any]) -> None:
        self.path = folder / f"{content_id('audit', facts)}.jsonl"
        self.records = {place(record): record for record in _read(self.path)}

    @contextmanager
    def appending(self) -> Iterator["Appender"]:
        """Opens the file for new records; ForethoughtError where it cannot be written."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                yield Appender(file)
        except OSError as error:
            raise ForethoughtError(
                f"cannot write {self.path} ({error.strerror}); set FORETHOUGHT_CACHE to a folder you own"
            ) from error


class Appender:
    """Writes one record a line and lets the system have it at once."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def add(self, record: Json) -> None:
        # the newline before it closes a line that a kill left open
        self._file.write("\n" + json.dumps(record, ensure_ascii=False, allow_nan=False))
        self._file.flush()


def place(record: Json) -> Place:
    return record["trace"], record["turn"], record["context_hash"]


def _read(path: Path) -> Iterable[Json]:
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if (
                isinstance(record, dict)
                and {"trace", "turn", "context_hash", "lp"} <= record.keys()
            ):
                yield record
