"""The formats that are read, one row each; the first row that detects a document reads it.

A new format is a file with a detector and a reader, a row here, and a sample in tests/data/samples.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import UnknownTraceFormat
from ..traces import Trace
from .knowagent import (
    is_knowagent_alfworld,
    is_knowagent_hotpotqa,
    read_knowagent_alfworld,
    read_knowagent_hotpotqa,
)
from .openai_chat import is_openai_chat, read_openai_chat
from .react_chat import is_react_chat, read_react_chat
from .react_text import is_react_text, read_react_text


@dataclass(frozen=True)
class TraceFormat:
    """`detects` takes any document (a JSON value, or a text file's whole text) and never raises; `reads` takes what it
    detected and gives one trace, or several where runs fork or a document holds many.

    A trace comes back without source, file, position and format, and may lack a question or turns.
    """

    name: str
    detects: Callable[[Any], bool]
    reads: Callable[[Any], Trace | Iterable[Trace]]

    def traces(self, document: Any) -> tuple[Trace, ...]:
        """All traces of a document that the row detected."""
        read = self.reads(document)
        return (read,) if isinstance(read, Trace) else tuple(read)


FORMATS = (
    TraceFormat("react-text", is_react_text, read_react_text),
    TraceFormat("react-chat", is_react_chat, read_react_chat),
    TraceFormat("openai-chat", is_openai_chat, read_openai_chat),
    TraceFormat("knowagent-hotpotqa", is_knowagent_hotpotqa, read_knowagent_hotpotqa),
    TraceFormat("knowagent-alfworld", is_knowagent_alfworld, read_knowagent_alfworld),
)


def formats_named(name: str | None) -> tuple[TraceFormat, ...]:
    """The row of that name, or all rows for None; UnknownTraceFormat where there is no such row."""
    rows = tuple(row for row in FORMATS if name in (None, row.name))
    if not rows:
        known = ", ".join(row.name for row in FORMATS)
        raise UnknownTraceFormat(f"{name!r} is no trace format; choose one of {known}")
    return rows
