"""Rows as an editable grid shows them, and what a person did to its cells as edits of the candidates that stood there.

A browser names a cell by its place. Which candidate stood at that place is known only here, so it is asked nowhere else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..data.candidates import Candidate, Status
from ..data.listing import ListedCandidate
from .charts import legible, shortened

TICK, TEXT, STATUS = "tick", "text", "status"
LONGEST_CELL = 2000  # characters; a longer text is shown cut and cannot be edited in the grid
WORDS = {status: status.value.replace("_", " ") for status in Status}


class CellEdit(NamedTuple):
    """What a person made of one cell: the candidate that stood there as it was shown, and the new value."""

    row: ListedCandidate
    place: int
    column: str
    value: Any


@dataclass
class Grid:
    """One grid: the cells it was drawn with, and the rows as they are with all edits that were carried out.

    `number` tells grids apart; a grid whose rows are not what the store holds is given up for one with another number.
    """

    number: int
    rows: list[ListedCandidate]
    ticked: frozenset[str] = frozenset()
    is_spoilt: bool = False  # it shows something that was refused
    cells: list[dict[str, Any]] = field(init=False)
    taken: dict[tuple[int, str], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cells = [_cells(row, row.id in self.ticked) for row in self.rows]

    def edits(self, edited: Mapping[Any, Mapping[str, Any]]) -> list[CellEdit]:
        """What is new in `edited` (place -> column -> value, all since the grid was drawn), in the order of places.

        A cell that is no longer in `edited` has its first value again.
        """
        now = {
            (int(place), column): v for place, row in edited.items() for column, v in row.items()
        }
        before = dict(self.taken)
        self.taken = now
        found = []
        for place, column in sorted(before.keys() | now.keys()):
            first = self.cells[place][column]
            value = now.get((place, column), first)
            if value != before.get((place, column), first):
                found.append(CellEdit(self.rows[place], place, column, value))
        return found

    def carried_out(self, place: int, candidate: Candidate) -> None:
        """The row at `place` is this candidate now, and the grid shows it already."""
        self.rows[place] = replace(
            self.rows[place],
            text=candidate.text,
            status=candidate.status,
            version=candidate.version,
        )

    def shows(self, rows: Iterable[ListedCandidate], ticked: Iterable[str]) -> bool:
        """Whether these rows and ticks are what the browser has before it."""
        return not self.is_spoilt and self.rows == list(rows) and self.ticked == frozenset(ticked)


def status_of(word: str) -> Status:
    """The status that a cell's word means."""
    return next(status for status, its in WORDS.items() if its == word)


def _cells(row: ListedCandidate, is_ticked: bool) -> dict[str, Any]:  # noqa: FBT001
    is_long = len(row.text) > LONGEST_CELL
    return {
        TICK: is_ticked,
        TEXT: shortened(row.text, LONGEST_CELL) if is_long else legible(row.text),
        STATUS: WORDS[row.status],
        "before": legible(", ".join(row.expected_actions)),
        "turns": row.num_support,
        "questions": row.questions,
        "comments": row.num_comments,
        "aliases": len(row.aliases),
        "where": "in the set" if row.is_member else "taken out",
    }
