"""Outcome tables out of files: the wide CSV of MMR-Bench and LatentRouter, and the records of `forethought bench`."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from .bench_records import read_bench_records
from .outcomes import InvalidRoutingTable, Outcomes
from .wide_table import read_wide_table


def read_outcomes(paths: Sequence[Path]) -> Outcomes:
    """One wide CSV, or files of records (*.jsonl), or folders that hold such; InvalidRoutingTable where they are none."""
    files = [file for path in paths for file in files_of(path)]
    records = [file for file in files if file.suffix == ".jsonl"]
    if records and len(records) < len(files):
        raise InvalidRoutingTable(
            f"{paths[0]}: holds wide tables and records; name one kind of them"
        )
    if records:
        return read_bench_records(records)
    if len(files) > 1:
        raise InvalidRoutingTable(
            f"{files[0]}, {files[1]}: two wide tables; join them into one with a column an arm"
        )
    return read_wide_table(files[0])


def files_of(path: Path) -> list[Path]:
    if path.is_dir():
        found = _files(path.rglob("records.jsonl")) or _files(path.glob("*.csv"))
    else:
        found = [path] if path.is_file() else []
    if not found:
        raise InvalidRoutingTable(
            f"{path}: no table there; name a wide CSV, or a bench's --out folder"
        )
    return found


def _files(paths: Iterable[Path]) -> list[Path]:
    return sorted(path for path in paths if path.is_file())
