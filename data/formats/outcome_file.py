"""How runs ended, out of a file beside them: CSV or JSON lines that name each run and say success, or a reward.

Many trace files do not hold it: an evaluation report does. Knows rows and how a run is named; what ended well is told by
`outcomes`. A run is found by its id (its own, the trace's, its file's or folder's name), by its file, or by its question.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

from ..errors import InvalidOutcomes
from ..identity import canonical
from ..traces import Outcome, Trace
from .outcomes import outcome_of
from .window import Damage, parsed

IDS = ("id", "instance_id", "task_id", "sample_id", "query_id", "run_id", "trace_id", "run", "key")
FILES = ("file", "path", "filename")
QUESTIONS = ("question", "query", "task", "problem")
OUTCOMES = (
    "outcome",
    "success",
    "resolved",
    "passed",
    "correct",
    "is_correct",
    "reward",
    "score",
    "em",
)
WORDS = {
    **dict.fromkeys(("success", "true", "yes", "pass", "passed", "resolved", "correct"), True),
    **dict.fromkeys(("failure", "false", "no", "fail", "failed", "unresolved", "incorrect"), False),
}


@dataclass
class OutcomeFile:
    """What the rows say, by what they name; `used` are the names that a trace answered to."""

    by_name: Mapping[str, Outcome]
    matched: int = 0
    traces_without: int = 0
    used: set[str] = field(default_factory=set)

    @property
    def rows_without(self) -> int:
        """Rows whose run was not among the traces."""
        return len(self.by_name) - len(self.used)

    def judged(self, trace: Trace) -> Trace:
        """The trace with the outcome that its row says; as it was, and counted, where there is no row."""
        name = next((name for name in _names(trace) if name in self.by_name), None)
        if name is None:
            self.traces_without += 1
            return trace
        self.matched += 1
        self.used.add(name)
        return replace(trace, outcome=self.by_name[name])


def read_outcomes(path: Path) -> OutcomeFile:
    """InvalidOutcomes where the file cannot be read, a row names no run or no outcome, or two rows disagree."""
    by_name: dict[str, Outcome] = {}
    try:
        for number, row in _rows(path):
            where = f"{path}, row {number}"
            name, outcome = _name(row, where), _outcome(row, where)
            if outcome is None:
                continue
            if by_name.setdefault(name, outcome) != outcome:
                raise InvalidOutcomes(
                    f"{where}: another row says otherwise of {name!r}; give each run's id"
                )
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidOutcomes(f"{path}: no outcomes that can be read: {error}") from error
    if not by_name:
        raise InvalidOutcomes(
            f"{path}: no outcomes in it; expected CSV with a header, or JSON lines"
        )
    return OutcomeFile(by_name)


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        if path.suffix.lower() in (".jsonl", ".ndjson", ".json"):
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield number, _object(line, f"{path}, line {number}")
        else:
            yield from enumerate(csv.DictReader(stream), start=2)


def _object(line: str, where: str) -> Mapping[str, Any]:
    try:
        value = parsed(line)
    except Damage as damage:
        reason = str(damage).removeprefix("not JSON: ")
        raise InvalidOutcomes(f"{where}: not JSON: {reason}") from damage
    if not isinstance(value, dict):
        raise InvalidOutcomes(f"{where}: no object that names a run and its outcome")
    return value


def _name(row: Mapping[str, Any], where: str) -> str:
    for names in (IDS, FILES, QUESTIONS):
        for name in names:
            if row.get(name) not in (None, ""):
                return canonical(str(row[name]))
    raise InvalidOutcomes(
        f"{where}: names no run; expected a column {IDS[0]}, {FILES[0]} or {QUESTIONS[0]}"
    )


def _outcome(row: Mapping[str, Any], where: str) -> Outcome | None:
    """What the row says; None where it leaves that open."""
    told = next((row[name] for name in OUTCOMES if row.get(name) not in (None, "")), None)
    if told is None and not any(name in row for name in OUTCOMES):
        raise InvalidOutcomes(f"{where}: says no outcome; expected a column success or reward")
    if not isinstance(told, str):
        return outcome_of(told)
    if told.strip().lower() in WORDS:
        return outcome_of(WORDS[told.strip().lower()])
    try:
        return outcome_of(float(told))
    except ValueError as error:
        raise InvalidOutcomes(
            f"{where}: {told!r} is no outcome; say true or false, or a number"
        ) from error


def _names(trace: Trace) -> Iterator[str]:
    """What a trace may be called, the surest first."""
    yield from (name for name in (trace.run, trace.id) if name)
    parts = PurePath(trace.file).parts
    yield from (canonical("/".join(parts[start:])) for start in range(len(parts)))
    path = PurePath(trace.file)
    yield from (canonical(name) for name in (path.name.split(".")[0], path.stem, path.parent.name))
    yield canonical(trace.question)
