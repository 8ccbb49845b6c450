"""Files and folders of run records, whatever their shape: each document is a run, a summary, a library, or told to be none.

Nothing is lost silently: what is no record comes back with its place, what needs no reading is counted.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ....data.errors import NotFound
from ....data.formats.documents import Broken, documents
from ....data.formats.files import TraceFile, files_at
from . import answer_rows, mars_rows, own_rows, ssr_runs
from .found import Json, Library, NoRecord, Replayed, Run, Summary, Unreadable, texts

TURNS, TRAJECTORY = "turns.jsonl", "trajectory.json"
BESIDE = ("engine_compatibility.json", "agreement.jsonl")  # what needs no reading
Found = Replayed | Summary | Library | NoRecord


class Shape(NamedTuple):
    """A shape of records: its name, what is one, and how it is read."""

    name: str
    is_run: Callable[[Any], bool]
    run_of: Callable[[Json, str], Run]


SHAPES = tuple(
    Shape(module.NAME, module.is_run, module.run_of)
    for module in (own_rows, ssr_runs, mars_rows, answer_rows)
)


@dataclass
class Reading:
    """All that stands at one place, under the name that it goes by."""

    label: str
    files: int = 0
    runs: list[Replayed] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    libraries: list[Library] = field(default_factory=list)
    no_records: list[NoRecord] = field(default_factory=list)
    passed_over: Counter[str] = field(default_factory=Counter)
    is_named: bool = False

    @classmethod
    def of(cls, place: str) -> "Reading":
        """At NAME=PATH, or PATH, which goes by its last name without ending. NotFound where nothing is there."""
        name, equals, path = place.partition("=")
        is_named = bool(equals) and bool(name) and not Path(place).exists()
        place = path if is_named else place
        if not place:
            raise NotFound(f"{name}=: no path; say NAME=PATH")
        read = cls(
            name if is_named else Path(place).resolve().name.split(".")[0], is_named=is_named
        )
        for file in files_at([place]):
            read._take(file, is_alone=Path(place) == file.path)
        return read

    def _take(self, file: TraceFile, *, is_alone: bool) -> None:
        self.files += 1
        if not is_alone and _is_beside(file):
            self.passed_over[file.path.name if file.may_hold_traces else file.path.suffix] += 1
            return
        for one in _found_in(file):
            match one:
                case Replayed():
                    self.runs.append(one)
                case Summary():
                    self.summaries.append(one)
                case Library():
                    self.libraries.append(one)
                case NoRecord():
                    self.no_records.append(one)


def _is_beside(file: TraceFile) -> bool:
    """Whether a file in a folder tells nothing that is not told elsewhere."""
    name = file.path.name
    is_told = name == TURNS and file.path.with_name(TRAJECTORY).exists()
    return is_told or name in BESIDE or not file.may_hold_traces


def _found_in(file: TraceFile) -> Iterator[Found]:
    if file.path.name == TURNS:
        yield NoRecord(file.name, f"turns of a run that did not end: no {TRAJECTORY} beside them")
        return
    for entry in documents(file.path, _is_run):
        where = f"{file.name}:{entry.position}"
        if isinstance(entry, Broken):
            yield NoRecord(where, entry.reason)
            continue
        name = entry.key or (
            file.path.parent.name if file.path.name == TRAJECTORY else str(entry.position)
        )
        yield from _found(entry.value, name, where, file.path)


def _found(value: Any, name: str, where: str, file: Path) -> Iterator[Found]:
    shape = next((shape for shape in SHAPES if shape.is_run(value)), None)
    if shape is not None:
        try:
            yield Replayed(file, where, shape.name, shape.run_of(value, name))
        except Unreadable as error:
            yield NoRecord(where, str(error))
        else:
            if shape.name == ssr_runs.NAME and (told := ssr_runs.totals_told(value)):
                yield Summary(file, shape.name, told, None)
        return
    yield _beside(value, file) or NoRecord(where, "no run record of a known shape")


def _beside(value: Any, file: Path) -> Summary | Library | None:
    match value:
        case {"plan": dict(), "modes": dict()}:
            return Summary(file, own_rows.NAME, own_rows.figures_told(value), file.parent)
        case {"datasets": dict()}:
            return Summary(file, mars_rows.NAME, mars_rows.counts_told(value), file.parent)
        case {"totals": dict(), "schema_version": _}:
            return Summary(file, ssr_runs.NAME, ssr_runs.totals_told(value), file.parent)
        case {"candidates": [*candidates], "eta": dict()}:
            named = [one for one in candidates if isinstance(one, dict) and "id" in one]
            return Library({str(one["id"]): texts(one.get("expected_actions")) for one in named})
    return None


def _is_run(value: Any) -> bool:
    return any(shape.is_run(value) for shape in SHAPES)
