"""Whether an export is what it was, and can be trained on: files by their hashes, rows one by one, by what their target needs.

Every check says on how many things it was made; one that could not be made says why. Knows the folder alone: the set in a store, a
tokenizer and trainers are handed in.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import ForethoughtError, NotFound
from ..library import library_hash, read_library
from .bundle import MANIFEST, file_pieces
from .columns import mixed_columns
from .dialects import LIBRARY
from .row_checks import label_problems, message_problems, picture_problems, text_problems
from .row_shape import SHAPES, RowShape
from .template_check import template_problems

MOST_TOLD = 20  # problems of a check; all are counted
Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]


@dataclass
class Check:
    """One check of `of` things. `skipped` says why it was not made."""

    name: str
    of: int = 0
    found: int = 0
    problems: list[str] = field(default_factory=list)
    skipped: str = ""

    def note(self, where: str, problems: Iterable[str]) -> None:
        """Count what is wrong at a place."""
        for problem in problems:
            self.found += 1
            if len(self.problems) < MOST_TOLD:
                self.problems.append(f"{where}: {problem}" if where else problem)


@dataclass(frozen=True)
class Exported:
    """An export as it lies in its folder; `tables` are read, `unread` says why one could not be."""

    folder: Path
    manifest: Mapping[str, Any]
    tables: Tables
    unread: Mapping[str, str]

    @property
    def target(self) -> str:
        return str(self.manifest.get("dialect", ""))

    @property
    def shape(self) -> RowShape | None:
        return SHAPES.get(self.target)


Loader = Callable[[Exported, Any], Check]


def read_export(folder: Path) -> Exported:
    """NotFound where there is no export; a table that cannot be read is no error yet."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    except OSError as error:
        raise NotFound(f"{folder}: no {MANIFEST} there; name the folder of an export") from error
    except ValueError as error:
        raise ForethoughtError(f"{folder / MANIFEST} is no JSON ({error}); export again") from error
    if not _is_manifest(manifest):
        raise ForethoughtError(f"{folder / MANIFEST} is no export's; name the folder of an export")
    tables: dict[str, list[Row]] = {}
    unread: dict[str, str] = {}
    for name in _tables_of(manifest):
        try:
            tables[name] = _rows(folder / name)
        except (OSError, ValueError) as error:  # Arrow's errors are ValueErrors or OSErrors, too
            unread[name] = str(error).splitlines()[0] if str(error) else type(error).__name__
    return Exported(folder, manifest, tables, unread)


def checks_of(
    exported: Exported, tokenizer: Any = None, current_hash: str | None = None
) -> list[Check]:
    """All checks that need no trainer. `current_hash` is that of the set in its store, None where it is not known."""
    checks = [_files(exported), _set(exported, current_hash)]
    shape = exported.shape
    if shape is None:
        return checks
    checks += [_counts(exported), _columns(exported)]
    checks += [
        _each("texts", exported, text_problems),
        _each("messages", exported, partial(message_problems, shape)),
        _each("pictures", exported, lambda row: picture_problems(shape, row, exported.folder)),
        _labels(exported),
        _template(exported, shape, tokenizer),
    ]
    return checks


def _is_manifest(told: Any) -> bool:
    """Whether it has the parts that are looked at, in their kinds."""
    if not isinstance(told, dict) or not isinstance(told.get("files"), dict):
        return False
    parts = [told.get(name, {}) for name in ("set", "tables", "pictures")]
    is_sound = all(isinstance(one, dict) for one in [*parts, *told["files"].values()])
    return is_sound and isinstance(told.get("set", {}).get("hash", ""), str)


def _tables_of(manifest: Mapping[str, Any]) -> list[str]:
    """By the manifest; those of the first releases do not say."""
    usual = ["train.jsonl"] if "train.jsonl" in manifest.get("files", {}) else []
    return list(manifest.get("tables", usual))


def _rows(path: Path) -> list[Row]:
    if path.suffix == ".parquet":
        from pyarrow import parquet

        rows: list[Row] = parquet.read_table(path).to_pylist()
        return rows
    with path.open(encoding="utf-8", newline="\n") as file:
        return [json.loads(line, parse_constant=_refuse) for line in file]


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _files(exported: Exported) -> Check:
    """Every file of the manifest, by its hash."""
    files = exported.manifest.get("files", {})
    check = Check("files", len(files))
    for name, told in files.items():
        digest = sha256()
        try:
            for block in file_pieces(exported.folder / name):
                digest.update(block)
        except OSError as error:
            check.note(name, [error.strerror or "cannot be read"])
            continue
        if digest.hexdigest() != told.get("sha256"):
            check.note(name, ["was changed since it was written"])
    return check


def _set(exported: Exported, current_hash: str | None) -> Check:
    """The library beside the rows, and the set in the store as it is now."""
    told = exported.manifest.get("set", {}).get("hash", "")
    check = Check("set", 1 if current_hash is None else 2)
    try:
        own = library_hash(read_library(exported.folder / LIBRARY))
        if own != told:
            check.note(LIBRARY.name, [f"is another set ({own[:12]}, not {told[:12]})"])
    except ForethoughtError as error:
        check.note("", [str(error)])
    if current_hash is not None and current_hash != told:
        check.note(
            "", [f"the set has changed since ({told[:12]}, now {current_hash[:12]}); export again"]
        )
    return check


def _counts(exported: Exported) -> Check:
    told = exported.manifest.get("tables", {})
    check = Check("rows", sum(map(len, exported.tables.values())))
    for name, reason in exported.unread.items():
        check.note(name, [f"cannot be read ({reason})"])
    for name, rows in exported.tables.items():
        if len(rows) != told.get(name, exported.manifest.get("rows")):
            check.note(name, [f"{len(rows)} rows, not {told.get(name)}"])
    return check


def _columns(exported: Exported) -> Check:
    """One type each, in all of a file."""
    check = Check("columns", len(exported.tables))
    for name, rows in exported.tables.items():
        mixed = mixed_columns(rows)
        check.note(
            name, (f"{place} is {' and '.join(sorted(kinds))}" for place, kinds in mixed.items())
        )
    return check


def _each(name: str, exported: Exported, problems: Callable[[Row], Iterator[str]]) -> Check:
    """Of every row; one that lacks what its target needs has that problem."""
    check = Check(name)
    for table, rows in exported.tables.items():
        for number, row in enumerate(rows, start=1):
            check.of += 1
            try:
                check.note(f"{table} row {number}", problems(row))
            except (KeyError, TypeError, AttributeError, IndexError) as error:
                check.note(f"{table} row {number}", [f"is no row of {exported.target} ({error!r})"])
    return check


def _labels(exported: Exported) -> Check:
    try:
        library = read_library(exported.folder / LIBRARY)
    except ForethoughtError as error:
        return Check("labels", skipped=str(error))
    texts = {candidate.id: candidate.text for candidate in library.candidates}
    told = library_hash(library)
    return _each("labels", exported, lambda row: label_problems(row, texts, told))


def _template(exported: Exported, shape: RowShape, tokenizer: Any) -> Check:
    if tokenizer is None:
        return Check("chat template", skipped="no --model whose template could be applied")
    return _each("chat template", exported, lambda row: template_problems(shape, row, tokenizer))
