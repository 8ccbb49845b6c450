"""Runs that stand in many documents, put together: spans of a run, lines of a session, messages of a file.

Knows no format: it is told which run a part belongs to. Parts wait on disk, so that memory holds no more than a place
for each and one run at a time.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from .files import TraceFile
from .window import MAX_BYTES

MAX_RUN = 4 * MAX_BYTES


class Origin(NamedTuple):
    """Where the first part of a run stood; `name` is the file's, or the archive's with the member's."""

    file: TraceFile
    name: str
    position: int


class RunPart(NamedTuple):
    """What belongs to a run, and the run's id; "" where all parts in a file are one run.

    A part that comes `after` another belongs to that one's run, where that one was met before.
    """

    run: str
    value: Any
    after: str = ""


class Place(NamedTuple):
    start: int
    length: int


class Key(NamedTuple):
    """Which run: what the joined document calls its parts, and the run's id, or its file where it has none."""

    parts: str
    run: str


class Gathered(NamedTuple):
    """A whole run; `document` is None where it is longer than `size` may be."""

    origin: Origin
    run: str
    document: dict[str, Any] | None
    size: int


@dataclass
class Gatherer:
    """Takes parts as they come and gives runs when all are there."""

    _file: IO[bytes] | None = None
    _places: dict[Key, list[Place]] = field(default_factory=dict)
    _origins: dict[Key, Origin] = field(default_factory=dict)
    _follows: dict[Key, Key] = field(default_factory=dict)
    _end: int = 0

    def add(self, key: Key, part: Any, origin: Origin, after: Key | None = None) -> None:
        """Keep a part of the run `key`, or of the run to which the part `after` belongs."""
        own, key = key, self._follows.get(after, key) if after else key
        self._follows[own] = key
        data = json.dumps(part).encode()
        self._file = self._file or TemporaryFile()
        self._file.write(data)
        self._places.setdefault(key, []).append(Place(self._end, len(data)))
        self._origins.setdefault(key, origin)
        self._end += len(data)

    def runs(self) -> Iterator[Gathered]:
        """All runs, in the order in which they were first met."""
        for key, places in self._places.items():
            size = sum(place.length for place in places)
            document = {key.parts: list(map(self._part, places))} if size <= MAX_RUN else None
            yield Gathered(self._origins[key], key.run, document, size)
        if self._file is not None:
            self._file.close()

    def _part(self, place: Place) -> Any:
        assert self._file is not None
        self._file.seek(place.start)
        return json.loads(self._file.read(place.length))
