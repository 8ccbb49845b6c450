"""Traces out of files into the store: what came in, what was left and why. Nothing is lost silently."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ..data.errors import NothingToDo
from ..data.formats import Quarantined, Skipped
from ..data.store import Store
from ..data.traces import Trace

BATCH = 200  # traces stored together; a killed import loses no more than one batch and repeats none


@dataclass
class ImportReport:
    """Counts of one run. `skipped` names files that are no traces, `rejected` what was quarantined."""

    traces: int = 0
    turns: int = 0
    thoughts: int = 0
    duplicates: int = 0
    quarantined: int = 0
    without_thoughts: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    rejected: list[Quarantined] = field(default_factory=list)

    def skips_one_of(self, paths: Iterable[str]) -> bool:
        """Whether a file that was named as such, not found in a folder or by a pattern, holds no traces."""
        skipped = {Path(one.file).absolute() for one in self.skipped}
        return any(Path(path).absolute() in skipped for path in paths)

    def as_json(self) -> dict[str, Any]:
        return {
            "traces": self.traces,
            "turns": self.turns,
            "thoughts": self.thoughts,
            "duplicates": self.duplicates,
            "quarantined": self.quarantined,
            "without_thoughts": self.without_thoughts,
            "skipped": [{"file": one.file, "reason": one.reason} for one in self.skipped],
            "problems": [
                {"file": one.file, "position": one.position, "reason": one.reason}
                for one in self.rejected
            ],
        }


def import_traces(
    store: Store,
    found: Iterator[Trace | Quarantined | Skipped],
    progress: Callable[[ImportReport], None] = lambda report: None,
) -> ImportReport:
    """Stores what read_traces found, batch by batch. Idempotent: a trace comes in once."""
    report = ImportReport()
    while batch := list(islice(_traces(found, store, report), BATCH)):
        added = store.add(batch)
        report.traces += added.traces
        report.turns += added.turns
        report.thoughts += added.thoughts
        report.duplicates += added.duplicates
        report.without_thoughts += sum(trace.num_thoughts == 0 for trace in batch)
        progress(report)
    if not (report.traces or report.duplicates or report.quarantined or report.skipped):
        raise NothingToDo("no file to import there; name files, folders or globs that hold traces")
    return report


def _traces(
    found: Iterator[Trace | Quarantined | Skipped], store: Store, report: ImportReport
) -> Iterator[Trace]:
    """The traces among what was found; the rest is put where it belongs on the way."""
    for one in found:
        if isinstance(one, Trace):
            yield one
        elif isinstance(one, Skipped):
            report.skipped.append(one)
        else:
            store.quarantine([one])
            report.quarantined += 1
            report.rejected.append(one)
