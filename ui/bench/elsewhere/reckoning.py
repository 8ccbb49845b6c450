"""Our figures of runs made elsewhere, in the keys of a bench's report, beside the figures that stand in their records.

Reads no file: it is handed what was read.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from ....data.benchmarks.question import Question
from ....data.benchmarks.table import Metric
from ....data.candidates import Candidate, CandidateSet
from ....data.errors import ForethoughtError, NothingToDo
from ....data.identity import canonical
from ....scorer.agent.dialogue import Plain
from ....scorer.agent.judge import Judge
from ..arena import Arena
from ..figures import against, figures
from ..plan import BenchPlan
from ..verdicts import judged, verdicts
from . import mars_rows, own_rows, ssr_runs
from .found import Figures, Json, Replayed, Run, Summary, record_of
from .reading import Reading

NEAR = 1e-6  # two figures that are equal but for rounding
SUCCESS = "success"
OURS = {"llm_score": SUCCESS, "score": SUCCESS}  # what is told, and what it is compared with
CHOICE, ROUNDS = "em_score_mcq", "num_round"
MEASURED = ("f1", ROUNDS)  # all others say yes or no, above a half
HALF = 0.5
SHOWN = 20  # ids of runs that a comparison names


@dataclass(frozen=True)
class Reckoning:
    """How answers count; `truths` are those of questions whose records hold none, `judge` is asked where the metric is "judge"."""

    metric: Metric = "exact"
    judge: Judge | None = None
    truths: Sequence[Question] = ()
    seed: int = 0

    def report(self, readings: Sequence[Reading]) -> Json:
        """NothingToDo where no file holds a record."""
        lost = [one for reading in readings for one in reading.no_records]
        if not any(reading.runs for reading in readings):
            first = f"; {lost[0].where}: {lost[0].reason}" if lost else ""
            raise NothingToDo(f"no run record there{first}")
        labelled = _labelled(readings)
        library = _library(labelled, readings)
        rows = {label: self._judged(label, runs) for label, runs in labelled.items()}
        flat = [
            _renumbered(row, one.run, library)
            for label, runs in labelled.items()
            for row, one in zip(rows[label], runs, strict=True)
        ]
        plan, first = BenchPlan((), (), seed=self.seed), next(iter(labelled))
        every = [one for reading in readings for one in reading.runs]
        return {
            "benchmark": "run records",
            "files": sum(reading.files for reading in readings),
            "records": len(every),
            "shapes": dict(Counter(one.shape for one in every).most_common()),
            "metric": self.metric,
            "own_metric": self.metric,
            "judge": self.judge and {"name": self.judge.name, "version": self.judge.version},
            **figures(plan, flat, library),
            "first_against": {"first": first, "modes": against(flat, first, self.seed)},
            "told": {label: _told(labelled[label], rows[label]) for label in labelled},
            "summaries": [one for reading in readings for one in _summaries(reading, plan)],
            "verdicts": verdicts(flat),
            "repeated": len(every) - sum(map(len, labelled.values())),
            "no_records": [{"where": one.where, "reason": one.reason} for one in lost],
            "passed_over": dict(sum((one.passed_over for one in readings), Counter[str]())),
        }

    def _judged(self, label: str, runs: Sequence[Replayed]) -> list[Json]:
        records = [self._with_truths(one.run.record) | {"mode": label} for one in runs]
        asked = [_question(one, self._truth_of(one)) for one in records]
        arena = Arena(label, tuple(asked), {}, lambda model, listed: Plain(), self.metric)
        found = judged(records, arena, self.judge)
        return [one if one["answers"] else one | {SUCCESS: None} for one in found]

    def _with_truths(self, record: Json) -> Json:
        question = None if record["answers"] else self._truth_of(record)
        return _scored(record, question.answers) if question else record

    def _truth_of(self, record: Json) -> Question | None:
        known = self._known
        return known.get(record["id"]) or known.get(canonical(record["question"]))

    @cached_property
    def _known(self) -> Mapping[str, Question]:
        """By id, and by the question's words where only one question has them."""
        words = Counter(canonical(one.text) for one in self.truths)
        by_words = {canonical(one.text): one for one in self.truths}
        lone = {text: one for text, one in by_words.items() if words[text] == 1}
        return lone | {one.id: one for one in self.truths}


def _labelled(readings: Sequence[Reading]) -> dict[str, list[Replayed]]:
    """The runs by the name they go by, each once. ForethoughtError where two places go by one name."""
    found: dict[str, list[Replayed]] = {}
    for reading in readings:
        own: dict[str, list[Replayed]] = {}
        for one in reading.runs:
            own.setdefault(_label(one, reading), []).append(one)
        if both := own.keys() & found.keys():
            raise ForethoughtError(
                f"two places go by {min(both)!r}; give each a name of its own, as NAME=PATH"
            )
        found |= {label: _once(runs) for label, runs in own.items()}
    return found


def _label(one: Replayed, reading: Reading) -> str:
    """A bench's own records go by their mode."""
    if not one.run.mode:
        return reading.label
    return f"{reading.label} {one.run.mode}" if reading.is_named else one.run.mode


def _once(runs: Sequence[Replayed]) -> list[Replayed]:
    """Without what stands in a file again; an id that several files have is told apart by its file."""
    files: dict[str, set[Path]] = {}
    for one in runs:
        files.setdefault(one.run.record["id"], set()).add(one.file)
    found: dict[str, Replayed] = {}
    for one in runs:
        id = one.run.record["id"]
        if len(files[id]) > 1:
            id = f"{one.file.parent.name}/{one.file.name}:{id}"
            one = replace(one, run=replace(one.run, record=one.run.record | {"id": id}))
        found.setdefault(id, one)
    return list(found.values())


def _scored(record: Json, answers: Sequence[str]) -> Json:
    """The record with other truths."""
    fixed = ("id", "question", "answers", "answer", "exact", "relaxed", "f1")
    rest = {key: value for key, value in record.items() if key not in fixed}
    return record_of(record["id"], record["question"], answers, record["answer"], **rest)


def _question(record: Json, known: Question | None) -> Question:
    """What was asked, for a judge; with its picture where the truths have one."""
    images = known.images if known else ()
    answers = tuple(record["answers"])
    return Question(record["id"], record["question"], answers, record["mode"], images)


def _library(
    labelled: Mapping[str, Sequence[Replayed]], readings: Sequence[Reading]
) -> CandidateSet:
    """All that was chosen from anywhere, by id, with what it announces where a library beside the runs tells it."""
    announced = {
        id: actions
        for reading in readings
        for library in reading.libraries
        for id, actions in library.expected_actions.items()
    }
    runs = [one.run for each in labelled.values() for one in each]
    ids = dict.fromkeys(id for run in runs for _, id in sorted(run.candidates.items()))
    return CandidateSet("elsewhere", tuple(Candidate(id, id, announced.get(id, ())) for id in ids))


def _renumbered(record: Json, run: Run, library: CandidateSet) -> Json:
    """The record with its choices as places in `library`."""
    if not run.candidates:
        return record
    places = {one.id: place for place, one in enumerate(library.active)}
    chosen = {place: places[id] for place, id in run.candidates.items()}
    turns = [turn | {"chosen": chosen.get(turn["chosen"])} for turn in record["turns"]]
    return record | {"turns": turns}


def _told(runs: Sequence[Replayed], rows: Sequence[Json]) -> Json:
    """By the name of a figure: how often it agrees with ours, and in which runs it does not."""
    names = dict.fromkeys(name for one in runs for name in one.run.told)
    return {
        name: _compared(
            name,
            [
                (one.run.told[name], row)
                for one, row in zip(runs, rows, strict=True)
                if name in one.run.told
            ],
        )
        for name in names
    }


def _compared(name: str, pairs: Sequence[tuple[float, Json]]) -> Json:
    known = [(told, ours, row) for told, row in pairs if (ours := _ours(name, row)) is not None]
    if name not in MEASURED:
        known = [(float(told > HALF), ours, row) for told, ours, row in known]
    differ = [(told, ours, row["id"]) for told, ours, row in known if abs(told - ours) > NEAR]
    return {
        "n": len(known),
        "not_comparable": len(pairs) - len(known),
        "told": float(np.mean([told for told, _, _ in known])) if known else None,
        "ours": float(np.mean([ours for _, ours, _ in known])) if known else None,
        "agree": len(known) - len(differ),
        "told_more": sum(told > ours for told, ours, _ in differ),
        "ours_more": sum(told < ours for told, ours, _ in differ),
        "differ": [id for _, _, id in differ[:SHOWN]],
    }


def _ours(name: str, row: Json) -> float | None:
    """Our figure of what a record calls `name`; None where it cannot be reckoned."""
    if name == ROUNDS:
        return None if row["turns"] is None else len(row["turns"])
    if not row["answers"]:
        return None
    if name == CHOICE:
        return float(mars_rows.choice_match(row["answer"], row["answers"]))
    value = row[OURS.get(name, name)]
    return None if value is None else float(value)


def _summaries(reading: Reading, plan: BenchPlan) -> list[Json]:
    return [_summarised(one, reading.runs, plan) for one in reading.summaries]


def _summarised(summary: Summary, runs: Sequence[Replayed], plan: BenchPlan) -> Json:
    within = [one.run for one in runs if one.shape == summary.shape and _is_within(one, summary)]
    ours = _again(summary.shape, within, plan) if within else {}
    shared = [key for key in summary.values if key in ours]
    differ = [key for key in shared if not _is_near(summary.values[key], ours[key])]
    return {
        "where": str(summary.file),
        "records": len(within),
        "figures": len(shared),
        "agree": len(shared) - len(differ),
        "differ": [
            {"figure": key, "told": summary.values[key], "ours": ours[key]} for key in differ
        ],
        "not_reckoned": len(summary.values) - len(shared),
    }


def _is_within(one: Replayed, summary: Summary) -> bool:
    if summary.folder is None:
        return one.file == summary.file
    return one.file.is_relative_to(summary.folder)


def _is_near(told: float, ours: float) -> bool:
    return abs(told - ours) <= NEAR * max(1.0, abs(told))


def _again(shape: str, runs: Sequence[Run], plan: BenchPlan) -> Figures:
    """The figures of a summary out of its records."""
    if shape == mars_rows.NAME:
        return mars_rows.counts_of(runs)
    if shape == ssr_runs.NAME:
        return ssr_runs.totals_of([run.record for run in runs])
    rows = [run.record | {"mode": run.mode, SUCCESS: None} for run in runs]
    unchosen = [row | {"turns": [turn | {"chosen": None} for turn in row["turns"]]} for row in rows]
    return own_rows.figures_of(figures(plan, unchosen, CandidateSet("", ()))["modes"])
