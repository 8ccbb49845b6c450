"""Traces that wait on disk until all are read, so that memory holds none of them and the store no lock meanwhile."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import IO

from .tables import TraceRow
from .trace_rows import trace_columns, trace_value
from .traces import Trace


@dataclass
class TraceSpool:
    """Gives back what it was given, in its order, as often as it is asked."""

    _file: IO[str] = field(default_factory=lambda: TemporaryFile("w+", encoding="utf-8"))

    def keep(self, traces: Iterable[Trace]) -> None:
        for trace in traces:
            self._file.write(f"{json.dumps(trace_columns(trace))}\n")

    def __iter__(self) -> Iterator[Trace]:
        self._file.seek(0)
        for line in self._file:
            yield trace_value(TraceRow(**json.loads(line)))

    def close(self) -> None:
        self._file.close()
