"""The table of export dialects: a name, and what makes its files. A new target is a row and a function.

Takes values only: labels come from whoever assigned them, traces from the store.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..candidates import CandidateSet
from ..errors import NotFound, NothingToDo
from ..history import now
from ..library import library_hash, library_json, library_text, side_json, side_path
from ..traces import Trace
from .bundle import Bundle, json_lines, write_bundle
from .candidate_rows import candidates_csv, candidates_jsonl
from .trl_sft import SftOptions, export_sft

LIBRARY = Path("reasoning_library.json")
TRAIN = "train.jsonl"


@dataclass(frozen=True)
class ExportInputs:
    """What is exported. `labels`: turn_id -> id of the assigned candidate, or None."""

    candidate_set: CandidateSet
    traces: Iterable[Trace] = ()
    labels: Mapping[str, str | None] = field(default_factory=dict)
    options: SftOptions = SftOptions()


@dataclass(frozen=True)
class Dialect:
    """One target. `needs_labels`: whether it reads traces and their labels beside the set."""

    name: str
    description: str
    needs_labels: bool
    bundle: Callable[[ExportInputs], Bundle]


def ssr_library(inputs: ExportInputs) -> Bundle:
    candidate_set = inputs.candidate_set
    side = side_json(candidate_set, written_at=now())
    return Bundle(
        files={
            **_library(candidate_set),
            side_path(LIBRARY).name: [library_text(side)],
        }
    )


def trl_sft(inputs: ExportInputs) -> Bundle:
    """The rows, and the set's library beside them: rows name candidates by id and the set by hash."""
    options = inputs.options
    exported = export_sft(inputs.traces, inputs.labels, inputs.candidate_set, options)
    if not exported.rows:
        reasons = ", ".join(f"{count} {why}" for why, count in exported.left_out.most_common())
        raise NothingToDo(f"no turn to export ({reasons or 'no traces'}); nothing was written")
    facts = {
        "inputs": {
            "traces": dict(sorted(exported.traces.items())),
            "failures": options.include_failures,
            "test": options.include_test,
            "budget": options.budget if options.count_tokens else None,
        },
        "rows": len(exported.rows),
        "splits": dict(sorted(Counter(row["split"] for row in exported.rows).items())),
        "left_out": dict(sorted(exported.left_out.items())),
    }
    rows = {TRAIN: json_lines(exported.rows)}
    return Bundle(rows | _library(inputs.candidate_set), facts)


def csv_list(inputs: ExportInputs) -> Bundle:
    """The list, and the set's library beside it, as in every export."""
    rows = {"candidates.csv": candidates_csv(inputs.candidate_set)}
    return Bundle(rows | _library(inputs.candidate_set))


def json_list(inputs: ExportInputs) -> Bundle:
    """The list, and the set's library beside it."""
    rows = {"candidates.jsonl": candidates_jsonl(inputs.candidate_set)}
    return Bundle(rows | _library(inputs.candidate_set))


def _library(candidate_set: CandidateSet) -> dict[str, Iterable[str]]:
    return {LIBRARY.name: [library_text(library_json(candidate_set))]}


DIALECTS = (
    Dialect("ssr-library", "the set in the SSR authors' format", False, ssr_library),
    Dialect("csv", "a list for spreadsheets, formulas disarmed", False, csv_list),
    Dialect("jsonl", "a list as JSON lines, exact", False, json_list),
    Dialect("trl-sft", "prompt and completion rows for TRL's SFTTrainer", True, trl_sft),
)


def dialect(name: str) -> Dialect:
    for row in DIALECTS:
        if row.name == name:
            return row
    names = ", ".join(row.name for row in DIALECTS)
    raise NotFound(f"no export format {name!r}; there are: {names}")


def export(name: str, inputs: ExportInputs, folder: str | Path) -> dict[str, Any]:
    """Write the files of one dialect into `folder`; the content of its manifest.

    Raises NotFound for an unknown dialect, NothingToDo for an empty set or no usable turn.
    """
    return write_bundle(bundle_of(name, inputs), Path(folder))


def bundle_of(name: str, inputs: ExportInputs) -> Bundle:
    """The files of one dialect, not written yet; raises as `export` does."""
    candidate_set = inputs.candidate_set
    target = dialect(name)
    if not candidate_set.active:
        raise NothingToDo(f"set {candidate_set.name!r} has no candidate that is not rejected")
    bundle = target.bundle(inputs)
    described = {
        "dialect": target.name,
        "set": {
            "name": candidate_set.name,
            "version": candidate_set.version,
            "hash": library_hash(candidate_set),
            "candidates": len(candidate_set.active),
        },
    }
    return Bundle(bundle.files, {**described, **bundle.facts})
