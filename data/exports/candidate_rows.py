"""A set's candidates as rows, the rejected too: CSV for spreadsheets, JSON lines for programs; and both read back.

A spreadsheet takes a cell that begins with = + - @ (also the full-width ones), a tab or a line's end for a formula, so in CSV
such a text stands behind an apostrophe, which reading takes away again. JSON lines hold every text to the letter.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from ..candidates import Candidate, CandidateSet, Status, check_text
from ..errors import InvalidCandidate, InvalidLibrary, NotFound
from ..identity import candidate_id

CSV_FIELDS = (
    *("id", "text", "expected_actions", "aliases", "status", "turns", "questions"),
    *("version", "created_at"),
)
FORMULA = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")
GUARDED = re.compile("'+[=+\\-@\t\r\n＝＋－＠]")
MARK = "\ufeff"  # tells spreadsheets that the file is UTF-8
SUFFIXES = (".csv", ".jsonl")


def guard(cell: str) -> str:
    """`cell` so that no spreadsheet computes it."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def unguard(cell: str) -> str:
    """The cell that `guard` was given."""
    return cell[1:] if GUARDED.match(cell) else cell


def candidates_csv(candidate_set: CandidateSet) -> Iterator[str]:
    """The file in pieces: a header, and a row a candidate in the set's order; lists as JSON."""
    yield MARK + _line(CSV_FIELDS)
    for candidate in candidate_set.candidates:
        row = _row(candidate) | {"turns": len(candidate.support)}
        yield _line([_cell(row[name]) for name in CSV_FIELDS])


def candidates_jsonl(candidate_set: CandidateSet) -> Iterator[str]:
    """The file in pieces: a JSON object a candidate in the set's order, its turns included."""
    for candidate in candidate_set.candidates:
        row = _row(candidate) | {"support": list(candidate.support)}
        yield json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def read_candidates(path: str | Path) -> CandidateSet:
    """The set in a CSV or JSON lines file, named after it; from CSV without the turns, which it only counts.

    A row needs a text alone. Raises NotFound for a missing file, InvalidLibrary with the row for one that cannot be used.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise NotFound(f"no file {path}") from error
    except OSError as error:
        raise InvalidLibrary(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InvalidLibrary(f"{path}: is not UTF-8 ({error.reason}); save it as UTF-8") from error
    rows = _csv_rows(text, path) if path.suffix.lower() == ".csv" else _json_rows(text, path)
    candidates = tuple(_candidate(row, f"{path}: row {n}") for n, row in enumerate(rows, start=1))
    if len({candidate.id for candidate in candidates}) < len(candidates):
        raise InvalidLibrary(f"{path}: an id stands in two rows; ids name one candidate each")
    if not candidates:
        raise InvalidLibrary(f"{path}: no row with a candidate; add at least one")
    return CandidateSet(path.stem, candidates)


def _row(candidate: Candidate) -> dict[str, Any]:
    return {
        "id": candidate.id,
        "text": candidate.text,
        "expected_actions": list(candidate.expected_actions),
        "aliases": list(candidate.aliases),
        "status": candidate.status.value,
        "questions": candidate.questions,
        "version": candidate.version,
        "created_at": candidate.created_at,
    }


def _cell(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)
    return guard(text)


def _line(cells: Any) -> str:
    line = StringIO(newline="")
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow(cells)
    return line.getvalue()


def _csv_rows(text: str, path: Path) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader = csv.DictReader(StringIO(text, newline=""), strict=True)
    try:
        if "text" not in (reader.fieldnames or ()):
            raise InvalidLibrary(f"{path}: no column `text`; the first line names the columns")
        for number, cells in enumerate(reader, start=1):
            row: dict[str, Any] = {
                name: unguard(cell) for name, cell in cells.items() if name and cell
            }
            for name in ("expected_actions", "aliases"):
                row[name] = _listed(row.get(name, ""))
            for name in ("questions", "version"):
                if name in row:
                    row[name] = _count(row[name], f"{path}: row {number}: {name}")
            yield row
    except csv.Error as error:
        raise InvalidLibrary(f"{path}: line {reader.line_num} is no CSV ({error})") from error


def _listed(cell: str) -> list[str]:
    """A JSON list, or names between commas, as a person types them."""
    try:
        found = json.loads(cell)
    except ValueError:
        found = None
    names = found if isinstance(found, list) else cell.split(",")
    return [name if isinstance(found, list) else name.strip() for name in names if name]


def _count(cell: str, where: str) -> int:
    if not cell.isdecimal():
        raise InvalidLibrary(f"{where} is {cell!r}, not a number")
    return int(cell)


def _json_rows(text: str, path: Path) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidLibrary(f"{path}: line {number} is no JSON ({error})") from error
        if not isinstance(row, dict):
            raise InvalidLibrary(f"{path}: line {number} is no JSON object")
        yield row


def _candidate(row: Mapping[str, Any], where: str) -> Candidate:
    text = row.get("text")
    if not isinstance(text, str):
        raise InvalidLibrary(f"{where} has no text")
    given: dict[str, Any] = {
        name: row[name] for name in ("questions", "version", "created_at") if name in row
    }
    try:
        text.encode()
        for name in ("expected_actions", "aliases", "support"):
            given[name] = tuple(_string(one) for one in row.get(name, ()))
        return Candidate(
            id=_string(row.get("id") or candidate_id(text)),
            text=check_text(text),
            status=Status(row.get("status") or Status.PROPOSED),
            **given,
        )
    except InvalidCandidate as error:
        raise InvalidLibrary(f"{where}: {error}") from error
    except UnicodeEncodeError as error:
        raise InvalidLibrary(f"{where}: the text has a lone surrogate; replace it") from error
    except (TypeError, ValueError) as error:
        raise InvalidLibrary(f"{where} is no candidate ({error})") from error


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value
