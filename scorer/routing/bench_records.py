"""The records of `forethought bench` as a table of outcomes: arms are modes, quality is success, cost is the model's seconds."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .outcomes import InvalidRoutingTable, Outcomes
from .question_rows import Asked, Cell, Row, table_of

Json = Mapping[str, Any]
PARTS = ("media", "prefill", "reasoning", "action")  # what a turn costs the model


class Record(NamedTuple):
    """`told` in the line `number` of its file."""

    number: int
    told: Json


class RecordFile(NamedTuple):
    """The records of one run; `cut_off` tells that the last line broke off, as it does where a bench was killed."""

    path: Path
    records: Sequence[Record]
    cut_off: bool


def read_bench_records(paths: Sequence[Path]) -> Outcomes:
    """A question is told by its file's folder, the benchmark, and its id; a mode that did not play it is a missing cell.

    Questions that a router sent are left out: the mode that played them is the arm. InvalidRoutingTable for what is no record, told
    by its line, and for questions that two runs or two records tell differently.
    """
    asked: dict[str, Asked] = {}
    cells: dict[str, dict[str, Cell]] = {}
    files = [read_record_file(path) for path in paths]
    for file in files:
        for record in file.records:
            if not record.told.get("arm"):
                _add(record, file.path, asked, cells)
    if not asked:
        raise InvalidRoutingTable(
            f"{paths[0]}: no records of questions that a mode of its own played; play some with `forethought bench --mode`"
        )
    rows = [Row(one, cells[id]) for id, one in asked.items()]
    return table_of(rows, str(paths[0]), cut_off=sum(file.cut_off for file in files))


def read_record_file(path: Path) -> RecordFile:
    """Lines end with a newline and nothing else, as a bench writes them; a last one without is believed where it is whole.

    InvalidRoutingTable for what is no JSON object, and for records of several runs.
    """
    *lines, last = path.read_bytes().split(b"\n")
    cut_off = _breaks_off(last)
    if not cut_off:
        lines.append(last)
    records = [_record(line, number, path) for number, line in enumerate(lines, 1) if line.strip()]
    runs = list(dict.fromkeys(str(record.told.get("run")) for record in records))
    if len(runs) > 1:
        raise InvalidRoutingTable(
            f"{path}: holds records of several runs ({runs[0][:40]}, {runs[1][:40]}); give each run's a folder of its own"
        )
    return RecordFile(path, records, cut_off)


def _breaks_off(last: bytes) -> bool:
    """Whether a bench was killed while it wrote this line; the next one takes it out and plays the question again."""
    try:
        if last.startswith(b"{"):
            json.loads(last.decode("utf-8"))
        return False
    except ValueError:
        return True
    except RecursionError:
        return False  # no bench's own


def _record(line: bytes, number: int, path: Path) -> Record:
    try:
        told = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidRoutingTable(
            f"{path}, line {number}: no JSON in UTF-8 ({error}); mend the line or take it out"
        ) from error
    if not isinstance(told, Mapping):
        raise _no_record(path, number)
    return Record(number, told)


def _no_record(path: Path, number: int) -> InvalidRoutingTable:
    return InvalidRoutingTable(f"{path}, line {number}: no record of a bench")


def _add(
    record: Record, path: Path, asked: dict[str, Asked], cells: dict[str, dict[str, Cell]]
) -> None:
    where = f"{path}, line {record.number}"
    try:
        one, arm = _asked(record.told, path.parent.name), _text(record.told["mode"])
        cell = Cell(_quality(record.told), _seconds(record.told))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _no_record(path, record.number) from error
    if not math.isnan(cell.cost) and not 0 <= cell.cost < math.inf:
        raise InvalidRoutingTable(f"{where}: seconds below 0 or without end; take the record out")
    if asked.setdefault(one.id, one) != one:
        raise InvalidRoutingTable(
            f"{where}: {one.id!r} is worded otherwise than in an earlier record; give each question its own id"
        )
    if arm in cells.setdefault(one.id, {}):
        raise InvalidRoutingTable(f"{where}: {one.id!r} was played twice in mode {arm}")
    cells[one.id][arm] = cell


def _asked(told: Json, benchmark: str) -> Asked:
    if not isinstance(told["id"], str | int):
        raise TypeError(told["id"])
    return Asked(f"{benchmark}/{told['id']}", _text(told["question"]), benchmark, None)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise TypeError(value)
    return value


def _quality(told: Json) -> float:
    """Success as the record tells it, else exact match; none where nobody knows the answer."""
    success = told.get("success", told["exact"])
    return math.nan if success is None or not told["answers"] else _number(success)


def _seconds(told: Json) -> float:
    """What the turns cost the model, none where one does not tell it; below 0 or infinite where any part is so."""
    if told["turns"] is None:
        return math.nan
    parts = [turn["seconds"][part] for turn in told["turns"] for part in PARTS]
    if None in parts:
        return math.nan
    seconds = [_number(part) for part in parts]
    return sum(seconds) if all(0 <= one < math.inf for one in seconds) else math.inf


def _number(value: Any) -> float:
    if not isinstance(value, int | float):
        raise TypeError(value)
    return float(value)
