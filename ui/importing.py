"""Traces out of files into the store: what came in, what was left and why. Nothing is lost silently."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ..data.errors import NothingToDo
from ..data.formats import OutcomeFile, Quarantined, Skipped
from ..data.store import Store
from ..data.traces import Trace

BATCH = 200  # traces stored together; a killed import loses no more than one batch and repeats none


@dataclass
class ImportReport:
    """Counts of one run. `skipped` names files that are no traces, `rejected` what was quarantined.

    `formats`, `models` and `repairs` count all traces that were read, by name; so do `reasoning` (turns with thoughts that break
    off, with summaries, with what cannot be read) and `images`.
    """

    traces: int = 0
    turns: int = 0
    thoughts: int = 0
    duplicates: int = 0
    quarantined: int = 0
    without_thoughts: int = 0
    images: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    repairs: Counter[str] = field(default_factory=Counter)
    reasoning: Counter[str] = field(default_factory=Counter)
    outcomes: OutcomeFile | None = None
    skipped: list[Skipped] = field(default_factory=list)
    rejected: list[Quarantined] = field(default_factory=list)

    def skips_one_of(self, paths: Iterable[str]) -> bool:
        """Whether a file that was named as such, not found in a folder or by a pattern, holds no traces."""
        skipped = {Path(one.file).absolute() for one in self.skipped}
        return any(Path(path).absolute() in skipped for path in paths)

    def count(self, trace: Trace) -> None:
        """Take account of a trace that was read, new or not."""
        self.without_thoughts += trace.num_thoughts == 0
        self.formats[trace.format] += 1
        self.models.update([trace.model] if trace.model else [])
        self.repairs.update(trace.repairs)
        for turn in trace.turns:
            self.images += len(turn.images)
            told = {
                "cut": turn.is_cut,
                "summary": bool(turn.summaries),
                "redacted": bool(turn.redacted),
            }
            self.reasoning.update(name for name, is_so in told.items() if is_so)

    def as_json(self) -> dict[str, Any]:
        return {
            "traces": self.traces,
            "turns": self.turns,
            "thoughts": self.thoughts,
            "duplicates": self.duplicates,
            "quarantined": self.quarantined,
            "without_thoughts": self.without_thoughts,
            "images": self.images,
            "formats": dict(self.formats),
            "models": dict(self.models),
            "repairs": dict(self.repairs),
            "reasoning": dict(self.reasoning),
            "outcomes": None
            if self.outcomes is None
            else {
                "matched": self.outcomes.matched,
                "traces_without": self.outcomes.traces_without,
                "rows_without": self.outcomes.rows_without,
            },
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
    outcomes: OutcomeFile | None = None,
) -> ImportReport:
    """Stores what read_traces found, batch by batch. Idempotent: a trace comes in once.

    `outcomes` say how runs ended, of traces that the store has already, too.
    """
    report = ImportReport(outcomes=outcomes)
    while batch := list(islice(_traces(found, store, report), BATCH)):
        added = store.add(batch)
        report.traces += added.traces
        report.turns += added.turns
        report.thoughts += added.thoughts
        report.duplicates += added.duplicates
        if outcomes is not None:
            store.record_outcomes({one.id: one.outcome for one in batch if one.outcome})
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
            report.count(one)
            yield one if report.outcomes is None else report.outcomes.judged(one)
        elif isinstance(one, Skipped):
            report.skipped.append(one)
        else:
            store.quarantine([one])
            report.quarantined += 1
            report.rejected.append(one)


def pictures_beside(store: str) -> Path | None:
    """The folder of pictures that belongs to a store in a file; None for a store elsewhere."""
    path = store.removeprefix("sqlite:///")
    return None if "://" in path else Path(path).with_suffix(".images")
