"""Outcome tables out of files: the wide CSV of MMR-Bench and LatentRouter, and the records of `forethought bench`.

A wide row is a question: `question`, best with `sample_id` and `dataset_idx`, then for each arm M `M_correct` (0 to 1, true or
false; empty: missing) and `M_cost`. In records the arms are modes, quality is success, cost is the model's seconds.
"""

import csv
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .outcomes import InvalidRoutingTable, Outcomes, outcomes_of

Json = Mapping[str, Any]
QUALITY, COST = ("_correct", "_is_correct"), "_cost"
IMAGES = ("img_path", "image_path", "image_paths", "image")
WORDS = {"true": 1.0, "yes": 1.0, "correct": 1.0, "false": 0.0, "no": 0.0, "incorrect": 0.0}
MISSING = ("", "nan", "none", "null")
PARTS = ("media", "prefill", "reasoning", "action")  # what a turn costs the model
LONGEST_CELL = 1 << 24  # characters; csv refuses longer ones than 128 Ki otherwise


class Asked(NamedTuple):
    """A question of a table, before what the arms did."""

    id: str
    question: str
    slice: str
    image: str | None


class Cell(NamedTuple):
    """What an arm did; NaN for what is not told."""

    quality: float
    cost: float


def read_outcomes(paths: Sequence[Path]) -> Outcomes:
    """One wide CSV, or files of records (*.jsonl), or folders that hold such; InvalidRoutingTable where they are none."""
    files = [file for path in paths for file in files_of(path)]
    records = [file for file in files if file.suffix == ".jsonl"]
    if records and len(records) < len(files):
        raise InvalidRoutingTable(
            f"{paths[0]}: holds wide tables and records; name one kind of them"
        )
    if records:
        return _from_records(records)
    if len(files) > 1:
        raise InvalidRoutingTable(
            f"{files[0]}, {files[1]}: two wide tables; join them into one with a column an arm"
        )
    return _from_table(files[0])


def files_of(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(path.rglob("records.jsonl")) or sorted(path.glob("*.csv"))
    else:
        found = [path] if path.is_file() else []
    if not found:
        raise InvalidRoutingTable(
            f"{path}: no table there; name a wide CSV, or a bench's --out folder"
        )
    return found


def _from_table(path: Path) -> Outcomes:
    csv.field_size_limit(LONGEST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidRoutingTable(f"{path}: no CSV in UTF-8 ({error})") from error
    columns = list(rows[0]) if rows else []
    if "question" not in columns:
        raise InvalidRoutingTable(
            f"{path}: no rows with a column question, so this is no table of outcomes"
        )
    quality = {arm: name for name in columns for arm in _arm(name)}
    arms = {arm: name for arm, name in quality.items() if f"{arm}{COST}" in columns}
    lines = [(_asked(row, number, path), row) for number, row in enumerate(rows, 2)]
    cells = [
        [
            Cell(_number(row, name, place, path), _number(row, f"{arm}{COST}", place, path))
            for arm, name in arms.items()
        ]
        for place, (_, row) in enumerate(lines, 2)
    ]
    return _table([asked for asked, _ in lines], list(arms), cells, str(path))


def _arm(column: str | None) -> list[str]:
    """The arm whose quality a column tells, if any; csv names what is too much in a row None."""
    found = [suffix for suffix in QUALITY if column and column.endswith(suffix)]
    return [column[: -len(max(found, key=len))]] if column and found else []


def _asked(row: Mapping[str, str | None], number: int, path: Path) -> Asked:
    question = (row["question"] or "").strip()
    if not question:
        raise InvalidRoutingTable(
            f"{path}, row {number}: no question; fill it in or leave the row out"
        )
    slice = re.sub(r"_\d+$", "", (row.get("dataset_idx") or "").strip())
    images = (row.get(name) for name in IMAGES)
    image = next((one.strip() for one in images if one and one.strip() not in ("", "[]")), None)
    return Asked((row.get("sample_id") or row.get("id") or f"row {number}"), question, slice, image)


def _number(row: Mapping[str, str | None], column: str, place: int, path: Path) -> float:
    text = (row[column] or "").strip().lower()
    if text in MISSING:
        return math.nan
    if text in WORDS:
        return WORDS[text]
    try:
        return float(text)
    except ValueError as error:
        raise InvalidRoutingTable(
            f"{path}, row {place}, {column}: {text[:40]!r} is no number; leave the cell empty where it is missing"
        ) from error


def _from_records(paths: Sequence[Path]) -> Outcomes:
    """A question is told by its file's folder, the benchmark, and its id; a mode that did not play it is a missing cell."""
    asked: dict[str, Asked] = {}
    cells: dict[tuple[str, str], Cell] = {}
    for path in paths:
        for number, record in enumerate(_lines(path), 1):
            if isinstance(record, Mapping) and record.get("arm"):
                continue  # a router sent it to a mode, which is the arm
            try:
                one, cell = _played(record, path.parent.name)
                arm = str(record["mode"])
            except (KeyError, TypeError, ValueError) as error:
                raise InvalidRoutingTable(f"{path}, line {number}: no record of a bench") from error
            if (one.id, arm) in cells:
                raise InvalidRoutingTable(
                    f"{path}, line {number}: {one.id!r} was played twice in mode {arm}"
                )
            asked.setdefault(one.id, one)
            cells[one.id, arm] = cell
    arms = list(dict.fromkeys(arm for _, arm in cells))
    nothing = Cell(math.nan, math.nan)
    rows = [[cells.get((id, arm), nothing) for arm in arms] for id in asked]
    return _table(list(asked.values()), arms, rows, str(paths[0]))


def _lines(path: Path) -> Iterable[Json]:
    try:
        return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except ValueError as error:
        raise InvalidRoutingTable(f"{path}: no JSON lines in UTF-8 ({error})") from error


class _Played(NamedTuple):
    asked: Asked
    cell: Cell


def _played(record: Json, benchmark: str) -> _Played:
    """Success as the record tells it, else exact match; no quality where nobody knows the answer, no cost without seconds."""
    asked = Asked(f"{benchmark}/{record['id']}", str(record["question"]), benchmark, None)
    success = record.get("success", record["exact"])
    quality = math.nan if success is None or not record["answers"] else float(success)
    seconds = [turn["seconds"][part] for turn in record["turns"] or [] for part in PARTS]
    told = record["turns"] is not None and None not in seconds
    return _Played(asked, Cell(quality, float(sum(seconds)) if told else math.nan))


def _table(
    asked: Sequence[Asked], arms: Sequence[str], cells: Sequence[Sequence[Cell]], where: str
) -> Outcomes:
    """The table with its arms in order of their names, so that no figure depends on a file's order of columns."""
    order = sorted(range(len(arms)), key=lambda place: arms[place])
    numbers = np.array(cells, dtype=float).reshape(len(asked), len(arms), 2)[:, order]
    ids, questions, slices, images = zip(*asked, strict=True)
    names = tuple(arms[place] for place in order)
    table = Outcomes(names, ids, questions, slices, images, numbers[..., 0], numbers[..., 1])
    return outcomes_of(table, where)
