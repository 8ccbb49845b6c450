"""Traces out of files into the store: what came in, what was left and why. Nothing is lost silently."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ..data.errors import NothingToDo
from ..data.formats import OutcomeFile, Quarantined, Skipped
from ..data.intake import Added, Intake
from ..data.removal import Standing
from ..data.rereading import Reread
from ..data.store import Store
from ..data.trace_spool import TraceSpool
from ..data.traces import Trace

BATCH = 200  # traces stored together; a killed import loses no more than one batch and repeats none


@dataclass
class ImportReport:
    """Counts of one run. `skipped` names files that are no traces, `rejected` what was quarantined.

    Of the `duplicates` some learned how they ended (`new_outcomes`), or had pictures turn up (`new_pictures`). `replaced` says what
    went where files were read anew.

    `formats`, `models` and `repairs` count all traces that were read, by name; so do `reasoning` (turns with thoughts that break
    off, with summaries, with what cannot be read) and `images`.
    """

    traces: int = 0
    turns: int = 0
    thoughts: int = 0
    duplicates: int = 0
    new_outcomes: int = 0
    new_pictures: int = 0
    quarantined: int = 0
    without_thoughts: int = 0
    images: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    repairs: Counter[str] = field(default_factory=Counter)
    reasoning: Counter[str] = field(default_factory=Counter)
    outcomes: OutcomeFile | None = None
    replaced: Reread | None = None
    skipped: list[Skipped] = field(default_factory=list)
    rejected: list[Quarantined] = field(default_factory=list)

    @property
    def read(self) -> int:
        """The traces that were read, new or not."""
        return sum(self.formats.values())

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

    @property
    def tried(self) -> Sequence[str]:
        """The formats that were tried on documents which are of none."""
        left: list[Skipped | Quarantined] = [*self.skipped, *self.rejected]
        return next((one.tried for one in left if one.tried), ())

    def add(self, added: Added) -> None:
        """Take account of what came into the store."""
        self.traces += added.traces
        self.turns += added.turns
        self.thoughts += added.thoughts
        self.duplicates += added.duplicates
        self.new_outcomes += added.outcomes
        self.new_pictures += added.pictures

    def as_json(self) -> dict[str, Any]:
        return {
            "traces": self.traces,
            "turns": self.turns,
            "thoughts": self.thoughts,
            "duplicates": self.duplicates,
            "updated": {"outcomes": self.new_outcomes, "pictures": self.new_pictures},
            "replaced": None if self.replaced is None else _replaced_json(self.replaced),
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
            "formats_tried": list(self.tried),
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

    How a run ended that the store knows already is told it where it does not say; by `outcomes` in any case.
    """
    report = ImportReport(outcomes=outcomes)
    intake, kept = Intake(corrects=outcomes is not None), 0
    while batch := list(islice(_traces(found, report), BATCH)):
        report.add(store.add(batch, intake))
        store.quarantine(report.rejected[kept:])
        kept = len(report.rejected)
        progress(report)
    store.quarantine(report.rejected[kept:])
    return _finished(report)


def replace_traces(
    store: Store,
    found: Iterator[Trace | Quarantined | Skipped],
    progress: Callable[[ImportReport], None] = lambda report: None,
    outcomes: OutcomeFile | None = None,
    *,
    force: bool = False,
) -> ImportReport:
    """The same, but the runs of each file take the place of those that the store has from it: all of it, or nothing.

    All is read before anything is written. StillNeeded (data/removal) where candidates stand on runs that would go, unless `force`.
    """
    report = ImportReport(outcomes=outcomes)
    with closing(TraceSpool()) as spool:
        while batch := list(islice(_traces(found, report), BATCH)):
            spool.keep(batch)
            progress(report)
        unread: dict[str, set[int]] = {}
        for one in report.rejected:
            unread.setdefault(one.file, set()).add(one.place)
        report.replaced = store.take_anew(spool, report.rejected, unread, force=force)
    report.add(report.replaced.added)
    return _finished(report)


def _traces(
    found: Iterator[Trace | Quarantined | Skipped], report: ImportReport
) -> Iterator[Trace]:
    """The traces among what was found; the rest is put where it belongs on the way."""
    for one in found:
        if isinstance(one, Trace):
            report.count(one)
            yield one if report.outcomes is None else report.outcomes.judged(one)
        elif isinstance(one, Skipped):
            report.skipped.append(one)
        else:
            report.rejected.append(one)


def _finished(report: ImportReport) -> ImportReport:
    report.quarantined = len(report.rejected)
    if not (report.read or report.quarantined or report.skipped):
        raise NothingToDo("no file to import there; name files, folders or globs that hold traces")
    return report


def _replaced_json(replaced: Reread) -> dict[str, Any]:
    return {
        "removed": replaced.removed.traces,
        "kept": replaced.kept,
        "candidates": standing_json(replaced.removed.standing),
    }


def standing_json(standing: Iterable[Standing]) -> list[dict[str, Any]]:
    """Candidates that stood on turns which are gone, as `--json` prints them."""
    return [{"set": one.set_name, "id": one.candidate_id, "turns": one.turns} for one in standing]


def pictures_beside(store: str) -> Path | None:
    """The folder of pictures that belongs to a store in a file; None for a store elsewhere."""
    path = store.removeprefix("sqlite:///")
    return None if "://" in path else Path(path).with_suffix(".images")
