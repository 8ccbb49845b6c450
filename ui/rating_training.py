"""Ratings taught by what two arms did, beside every other signal: a model, a probe and the table that says what each is worth.

*mine* questions teach, *choose* ones give the curve and choose between forms, *test* ones are measured. Prints nothing.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data.candidates import CandidateSet
from ..data.errors import NothingToDo
from ..data.folder_lock import alone_in
from ..data.identity import Split
from ..scorer.agent.thinking import Library
from ..scorer.model import LanguageModel, load_model
from ..scorer.routing.proactive.probe import Probe, fit_probe, write_probe
from ..scorer.routing.proactive.rated_questions import (
    ArmNames,
    RatedQuestions,
    RatedTable,
    read_rated,
    successes,
)
from ..scorer.routing.proactive.rating import JOINT, OWN
from ..scorer.routing.proactive.rating_groups import grouped
from ..scorer.routing.proactive.rating_lessons import lessons_after
from ..scorer.routing.proactive.readings import (
    Ratings,
    Readings,
    read_ratings,
    read_signals,
    read_states,
)
from ..scorer.routing.proactive.signal_table import (
    PROBE,
    TAUGHT,
    Needs,
    Probes,
    always,
    chosen_forms,
    needs_of,
    signal_table,
)
from ..scorer.training.lessons import Lesson
from ..scorer.training.networks import trainable
from ..scorer.training.teaching import MODEL, Schedule, Training
from .result_file import write_whole
from .wiring import make_model

Json = dict[str, Any]
Tell = Callable[[str, int, int], None]  # stage, done, of how many
REPORT, PROBE_FILE = "ratings.json", "probe.json"
STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1)  # of a probe
CURVE = 60  # *choose* questions that the curve is of
LEAST_CHANCE = 1e-9
SUCCESS = 0.5  # from here on an arm did it
LATER = (Split.CHOOSE, Split.TEST)  # what is compared on


class By(StrEnum):
    """What a rating learns by."""

    OUTCOMES = "outcomes"  # the level that the outcome earned, against the others
    GROUPS = "groups"  # reinforcement: levels drawn in groups, each better or worse than its group


@dataclass(frozen=True)
class RatingPlan:
    """`tables` tell what `arms` did; at most so many questions a split (None: all) are read."""

    tables: tuple[Path, ...]
    arms: ArmNames
    model: str | None = None
    by: By = By.OUTCOMES
    schedule: Schedule = field(default_factory=lambda: Schedule(group=8, rate=1e-4, looks=2))
    most: Mapping[Split, int | None] = field(
        default_factory=lambda: {Split.MINE: 400, Split.CHOOSE: 200, Split.TEST: 1000}
    )


def teach_ratings(
    plan: RatingPlan, candidate_set: CandidateSet, out: Path, tell: Tell = lambda *progress: None
) -> Json:
    """The report; `out` gets the taught model and the better probe. ForethoughtError for a table that cannot be used."""
    if not candidate_set.active:
        raise NothingToDo(f"the set {candidate_set.name} has no candidate to score")
    with alone_in(out):
        base = make_model(plan.model)
        table = read_rated(plan.tables, plan.arms, base, plan.most)
        library = Library.of(base, [one.text for one in candidate_set.active])
        seen = _look(base, table.splits, library, tell)
        curve = _teach(plan, base, table, out, tell)
        taught = _ratings(load_model(str(out / MODEL)), table.splits, tell, "rated taught")
        probes = _probes(table.splits, seen.states, base.name)
        needs = {
            split: needs_of(seen.read[split], seen.ratings[split], taught[split], probes)
            for split in LATER
        }
        chosen = chosen_forms(needs[Split.CHOOSE], table.splits[Split.CHOOSE].arms)
        _keep_probe(probes, chosen, out)
        report = {
            "set": candidate_set.name,
            "model": base.name,
            "trained": str(out / MODEL),
            "by": plan.by.value,
            "arms": plan.arms._asdict(),
            **_told(plan, table, needs[Split.TEST], chosen),
            "probe": str(out / PROBE_FILE) if PROBE in chosen else None,
            "curve": curve,
        }
        write_whole(out / REPORT, f"{json.dumps(report, indent=2, ensure_ascii=False)}\n")
    return report


class _Seen(NamedTuple):
    """What the untaught model says: states of *mine* and *choose* questions, all signals of those to compare on."""

    states: Mapping[Split, np.ndarray]
    read: Mapping[Split, Readings]
    ratings: Mapping[Split, Ratings]


def _look(
    model: LanguageModel,
    questions: Mapping[Split, RatedQuestions],
    library: Library,
    tell: Tell,
) -> _Seen:
    mine = questions[Split.MINE]
    states = read_states(model, mine.trunks, _stage(tell, "mine read", mine))
    read = {
        split: read_signals(
            model,
            questions[split].trunks,
            library,
            _stage(tell, f"{split} read", questions[split]),
        )
        for split in LATER
    }
    told = {Split.MINE: states, Split.CHOOSE: read[Split.CHOOSE].state}
    return _Seen(told, read, _ratings(model, questions, tell, "rated untaught"))


def _told(plan: RatingPlan, table: RatedTable, needs: Needs, chosen: Mapping[str, str]) -> Json:
    """The figures, of *test* questions."""
    arms = table.splits[Split.TEST].arms
    return {
        "questions": {split.value: len(own.trunks) for split, own in table.splits.items()},
        "left_out": table.left_out,
        "always": dict(zip(plan.arms, always(arms), strict=True)),
        "policy": "rating" if chosen[TAUGHT].endswith("own") else "joint",
        "signals": signal_table(arms, needs, chosen, plan.schedule.seed),
    }


def _ratings(
    model: LanguageModel, questions: Mapping[Split, RatedQuestions], tell: Tell, stage: str
) -> dict[Split, Ratings]:
    return {
        split: read_ratings(
            model, questions[split].trunks, _stage(tell, f"{split} {stage}", questions[split])
        )
        for split in LATER
    }


def _teach(
    plan: RatingPlan, base: LanguageModel, table: RatedTable, out: Path, tell: Tell
) -> list[Json]:
    """The curve; the model is left in `out`."""
    taught, held_out = (_lessons(base, table.splits[one]) for one in (Split.MINE, Split.CHOOSE))
    mine: Sequence[Lesson] = taught
    if plan.by is By.GROUPS:
        mine = grouped(taught, successes(table.splits[Split.MINE]), seed=plan.schedule.seed)
    found = trainable(plan.model)
    told = [asdict(plan.schedule), plan.by.value, plan.arms, base.fingerprint()]
    shown = [[one.trunk for one in taught], successes(table.splits[Split.MINE])]
    facts = [*told, sha256(repr(shown).encode()).hexdigest()]
    training = Training(found.network, mine, held_out[:CURVE], plan.schedule, out, facts)
    curve = training.run(lambda done, total: tell("taught", done, total))
    found.tokenizer.save_pretrained(out / MODEL)
    return curve


def _lessons(model: LanguageModel, questions: RatedQuestions) -> Sequence[Any]:
    return lessons_after(model, (OWN, JOINT), questions.trunks, successes(questions))


def _probes(
    questions: Mapping[Split, RatedQuestions], states: Mapping[Split, np.ndarray], model: str
) -> Probes:
    success = {split: questions[split].arms.success for split in states}
    fails = {split: (one[:, 0] < SUCCESS).astype(int) for split, one in success.items()}
    gains = {split: (one[:, 1] > one[:, 0]).astype(int) for split, one in success.items()}
    return Probes(*(_probe(labels, states, model) for labels in (fails, gains)))


def _probe(
    labels: Mapping[Split, np.ndarray], states: Mapping[Split, np.ndarray], model: str
) -> Probe | None:
    """Of *mine* states, its strength by the likelihood of *choose*; None where *mine* outcomes are all the same."""
    if len(set(labels[Split.MINE].tolist())) < 2:
        return None

    def likelihood(probe: Probe) -> float:
        chances = probe.chances(states[Split.CHOOSE])
        right = np.where(labels[Split.CHOOSE] > 0, chances, 1 - chances)
        return float(np.log(np.maximum(right, LEAST_CHANCE)).mean())

    own = states[Split.MINE], labels[Split.MINE]
    return max((fit_probe(*own, one, model) for one in STRENGTHS), key=likelihood)


def _keep_probe(probes: Probes, chosen: Mapping[str, str], out: Path) -> None:
    best = probes.fails if chosen.get(PROBE, "").endswith("fails") else probes.gains
    if best is not None:
        write_probe(out / PROBE_FILE, best)


def _stage(tell: Tell, name: str, questions: RatedQuestions) -> Callable[[int], None]:
    return lambda done: tell(name, done, len(questions.trunks))
