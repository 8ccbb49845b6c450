"""Where the policies of a bench sent each recorded turn, ready to be shown. Knows the report's keys (bench/agreeing.py) and no screen."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .bench_rows import NAME_CHARACTERS
from .charts import shortened

Json = Mapping[str, Any]


class Decision(NamedTuple):
    """A recorded turn: where each policy sent it, and whether each mode then acted as recorded."""

    turn: str  # TRACE:PLACE
    routes: Mapping[str, str]
    agrees: Mapping[str, bool]

    @property
    def trace(self) -> str:
        return self.turn.rpartition(":")[0]

    @property
    def place(self) -> str:
        """In its run, counted from 1."""
        place = self.turn.rpartition(":")[2]
        return str(int(place) + 1) if place.isdecimal() else ""

    def told(self, mode: str) -> str:
        """What the mode did, in a cell of a table."""
        if mode not in self.agrees:
            return ""
        sign = "✓" if self.agrees[mode] else "✗"
        return f"{self.routes[mode]} {sign}" if mode in self.routes else sign


def decisions(report: Json) -> list[Decision]:
    """Of all its benchmarks; none where no policy was played."""
    return [Decision(*one) for found in _agreements(report) for one in _rows(found)]


def _agreements(report: Json) -> Iterator[Json]:
    parts = _mapping(report.get("benchmarks"))
    for part in parts.values() if parts else (report,):
        yield _mapping(_mapping(part).get("agreement"))


def _rows(agreement: Json) -> Iterator[tuple[str, dict[str, str], dict[str, bool]]]:
    found = agreement.get("decisions")
    for one in map(_mapping, found if isinstance(found, list) else ()):
        routes, agrees = _mapping(one.get("routes")), _mapping(one.get("agrees"))
        yield (
            _name(one.get("turn")),
            {_name(mode): _name(route) for mode, route in routes.items()},
            {_name(mode): bool(hit) for mode, hit in agrees.items()},
        )


def _mapping(found: Any) -> Json:
    return found if isinstance(found, Mapping) else {}


def _name(found: Any) -> str:
    return shortened(str(found), NAME_CHARACTERS)
