"""Documents that are parts of a run, and which run each belongs to; the joined run is then read by a row of the table.

A row here names the list in which the joined document holds its parts.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from .dialects import role_of


class RunPart(NamedTuple):
    """What belongs to a run, and the run's id; "" where all parts in a file are one run."""

    run: str
    value: Any


@dataclass(frozen=True)
class Gathering:
    """`detects` takes any JSON value and never raises; `parts` takes what it detected."""

    name: str
    detects: Callable[[Any], bool]
    parts: Callable[[Any], Iterable[RunPart]]


def is_message(value: Any) -> bool:
    """A message that stands by itself: a file of them is one run."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("role"), str)
        and ("content" in value or "tool_calls" in value or "parts" in value)
        and role_of(value) is not None
    )


def _alone(value: Any) -> Iterator[RunPart]:
    yield RunPart("", value)


GATHERINGS = (Gathering("messages", is_message, _alone),)
