"""The wide CSV of MMR-Bench and LatentRouter as a table of outcomes: a row is a question, with a quality and a cost for each arm.

Columns: `question`, best with `sample_id` and `dataset_idx`, in whatever case, then for each arm M `M_correct` (0 to 1, true or
false; empty: missing) and `M_cost`. A row is told by the line of the file that it begins in.
"""

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .outcomes import InvalidRoutingTable, Outcomes
from .question_rows import Asked, Cell, Row, table_of

QUALITY, COST = ("_is_correct", "_correct"), "_cost"  # the longer first
QUESTION = "question"
IDS = ("sample_id", "id")
SLICE = "dataset_idx"
IMAGES = ("img_path", "image_path", "image_paths", "image")
WORDS = {"true": 1.0, "yes": 1.0, "correct": 1.0, "false": 0.0, "no": 0.0, "incorrect": 0.0}
MISSING = ("", "nan", "none", "null")
LONGEST_CELL = 1 << 24  # characters; csv refuses longer ones than 128 Ki otherwise


class Arm(NamedTuple):
    """The places of an arm's columns."""

    quality: int
    cost: int


class Head(NamedTuple):
    """The first row: `names` of columns, places of the `known` ones, whole `arms`, and the places that arms may leave empty."""

    names: tuple[str, ...]
    known: Mapping[str, int]
    arms: Mapping[str, Arm]
    cells: frozenset[int]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Columns that tell an arm's quality without its cost, or the other way round."""
        used = {place for arm in self.arms.values() for place in arm}
        return tuple(self.names[place] for place in sorted(self.cells - used))


class Line(NamedTuple):
    """A row that is not blank, by the `number` of the line that it begins in."""

    number: int
    cells: Sequence[str]


def read_wide_table(path: Path) -> Outcomes:
    """InvalidRoutingTable for what is none, telling the row and the column."""
    csv.field_size_limit(LONGEST_CELL)
    lines = _lines(path)
    first = next(lines, Line(1, ()))
    head = _head(first.cells, path)
    rows = [_row(line, head, path) for line in lines] if QUESTION in head.known else []
    if not rows:
        raise InvalidRoutingTable(
            f"{path}: no rows with a column question, so this is no table of outcomes"
        )
    return table_of(rows, str(path), columns_left_out=head.left_out)


def _lines(path: Path) -> Iterator[Line]:
    """Quotes that are not closed would swallow rows, so that csv is strict."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            before, rows = 0, csv.reader(file, strict=True)
            for cells in rows:
                if cells:
                    yield Line(before + 1, cells)
                before = rows.line_num
    except UnicodeDecodeError as error:
        raise InvalidRoutingTable(f"{path}: no CSV in UTF-8 ({error})") from error
    except csv.Error as error:
        raise InvalidRoutingTable(
            f"{path}, row {before + 1}: no CSV in UTF-8 ({error}); close every quote, and write one inside a quoted text twice"
        ) from error


def _head(cells: Sequence[str], path: Path) -> Head:
    names = tuple(cell.strip() for cell in cells)
    twice = [name for name, count in Counter(filter(None, names)).items() if count > 1]
    if twice:
        raise InvalidRoutingTable(f"{path}: the column {twice[0]!r} stands twice; leave one out")
    known: dict[str, int] = {}
    for place, name in enumerate(names):
        key = name.casefold()
        if key in known:
            raise InvalidRoutingTable(
                f"{path}: the columns {names[known[key]]!r} and {name!r} are the same; leave one out"
            )
        if key in (QUESTION, *IDS, SLICE, *IMAGES):
            known[key] = place
    qualities, costs = _by_arm(names, QUALITY, path), _by_arm(names, (COST,), path)
    if "" in qualities:
        raise InvalidRoutingTable(
            f"{path}: the column {names[qualities['']]!r} names no arm; write a name before it"
        )
    arms = {
        arm: Arm(place, cost)
        for arm, place in qualities.items()
        for cost in _cost(arm, names[place], costs, path)
    }
    return Head(names, known, arms, frozenset([*qualities.values(), *costs.values()]))


def _by_arm(names: Sequence[str], endings: Sequence[str], path: Path) -> dict[str, int]:
    """By arm, the place of the column that has one of the `endings`."""
    found: dict[str, int] = {}
    for place, name in enumerate(names):
        for arm in _stem(name, endings):
            if arm in found:
                raise InvalidRoutingTable(
                    f"{path}: the columns {names[found[arm]]!r} and {name!r} tell the same of one arm, {arm!r}; leave one out"
                )
            found[arm] = place
    return found


def _stem(column: str, endings: Sequence[str]) -> list[str]:
    """What stands before the first of the `endings` that a column has, if any."""
    for ending in endings:
        if column[-len(ending) :].casefold() == ending:
            return [column[: -len(ending)].strip()]
    return []


def _cost(arm: str, quality: str, costs: Mapping[str, int], path: Path) -> list[int]:
    """The place of its cost, if any: of M_cost, or, where the `quality` is M_is_correct, of M_is_cost."""
    is_long = bool(_stem(quality, QUALITY[:1]))
    found = [costs[one] for one in (arm, f"{arm}_is")[: 1 + is_long] if one in costs]
    if len(found) > 1:
        raise InvalidRoutingTable(
            f"{path}: the columns '{arm}{COST}' and '{arm}_is{COST}' tell the same of one arm, {arm!r}; leave one out"
        )
    return found


def _row(line: Line, head: Head, path: Path) -> Row:
    where = f"{path}, row {line.number}"
    missing = range(len(line.cells), len(head.names))
    if len(line.cells) > len(head.names) or not head.cells.issuperset(missing):
        raise InvalidRoutingTable(
            f"{where}: {len(line.cells)} cells under {len(head.names)} columns; put a text that holds a comma in quotes"
        )
    cells = [*line.cells, *("" for _ in missing)]
    told = {name: cells[place].strip() for name, place in head.known.items()}
    if not told.get(QUESTION):
        raise InvalidRoutingTable(f"{where}: no question; fill it in or leave the row out")
    ids = (cells[head.known[name]] for name in IDS if name in head.known)
    images = (told.get(name, "") for name in IMAGES)
    return Row(
        Asked(
            next(filter(None, ids), f"row {line.number}"),
            told[QUESTION],
            re.sub(r"_\d+$", "", told.get(SLICE, "")),
            next((image for image in images if image not in ("", "[]")), None),
        ),
        {
            arm: Cell(*(_number(cells[place], f"{where}, {head.names[place]}") for place in places))
            for arm, places in head.arms.items()
        },
    )


def _number(cell: str, where: str) -> float:
    """ASCII, without the underscores that Python would read past."""
    text = cell.strip().lower()
    if text in MISSING:
        return math.nan
    if text in WORDS:
        return WORDS[text]
    try:
        if not text.isascii() or "_" in text:
            raise ValueError(text)
        return float(text)
    except ValueError as error:
        raise InvalidRoutingTable(
            f"{where}: {text[:40]!r} is no number; leave the cell empty where it is missing"
        ) from error
