"""A set to a small model that is to select from it: labelled runs of the store taught on this machine, with a held-out curve.

Labels are those of the one assignment rule, kept where the candidate announces the action that was taken; an unlabelled thought is left out.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.candidates import Candidate, CandidateSet
from ..data.errors import NothingToDo
from ..data.folder_lock import alone_in
from ..data.identity import Split
from ..data.render import render_action, render_thought, worked_example
from ..data.store import Store
from ..data.traces import Outcome, Trace, Turn, turn_id
from ..miner.embed import Embedder
from ..scorer.engines.served import load_served
from ..scorer.training.lessons import Lesson, TaughtTurn, selecting_lessons, thinking_lessons
from ..scorer.training.networks import trainable
from ..scorer.training.teaching import MODEL, Schedule, Training
from .corpus import Corpus
from .exporting import assigned_labels
from .held_out import hashed
from .masking import rules_of
from .result_file import write_whole
from .wiring import require_source

Json = dict[str, Any]
HELD_OUT = 40  # *choose* runs that the curve is of
REPORT = "training.json"


@dataclass(frozen=True)
class TrainingPlan:
    """At most `limit` *mine* runs (None: all) that did not fail, of at most `budget` tokens each, to `model` (None: the packaged one).

    `is_thinking`: the same runs teach it to generate the thoughts that were recorded, as a baseline.
    """

    model: str | None = None
    schedule: Schedule = Schedule()
    limit: int | None = 250
    budget: int = 1024
    source: str | None = None
    is_thinking: bool = False


def train_set(
    store: Store,
    candidate_set: CandidateSet,
    embedder: Embedder,
    plan: TrainingPlan,
    out: Path,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Json:
    """Teaches the plan's model into `out`; the report, with the curve and the model's place.

    NothingToDo where no run has a labelled turn; NotFound for a source that has none; ForethoughtError where another command writes into `out`.
    """
    require_source(store, plan.source)
    with alone_in(out):
        return _train_alone(store, candidate_set, embedder, plan, out, progress)


def _train_alone(
    store: Store,
    candidate_set: CandidateSet,
    embedder: Embedder,
    plan: TrainingPlan,
    out: Path,
    progress: Callable[[int, int], None],
) -> Json:
    runs = runs_of(store, candidate_set, embedder, plan.source)
    served = load_served(plan.model)
    texts = [candidate.text for candidate in candidate_set.active]

    def lessons(split: Split, limit: int | None) -> Sequence[Lesson]:
        chosen = runs.get(split, ())[:limit]
        if plan.is_thinking:
            return thinking_lessons(served, chosen, plan.budget)
        return selecting_lessons(served, texts, chosen, plan.budget)

    taught, held_out = lessons(Split.MINE, plan.limit), lessons(Split.CHOOSE, HELD_OUT)
    found = trainable(plan.model)
    facts = [served.name, texts, plan.limit, plan.budget, plan.source, plan.is_thinking]
    training = Training(found.network, taught, held_out, plan.schedule, out, facts)
    curve = training.run(progress)
    found.tokenizer.save_pretrained(out / MODEL)
    report = {
        "set": candidate_set.name,
        "model": served.name,
        "trained": str(out / MODEL),
        "thoughts": "recorded" if plan.is_thinking else "set",
        "runs": len(taught),
        "decisions": sum(len(lesson.decisions) for lesson in taught),
        "tokens": sum(len(lesson.trunk) for lesson in taught),
        "held_out": {
            "runs": len(held_out),
            "decisions": sum(len(lesson.decisions) for lesson in held_out),
        },
        "curve": curve,
    }
    write_whole(out / REPORT, f"{json.dumps(report, indent=2, ensure_ascii=False)}\n")
    return report


def runs_of(
    store: Store, candidate_set: CandidateSet, embedder: Embedder, source: str | None = None
) -> Mapping[Split, list[list[TaughtTurn]]]:
    """The labelled runs by split, in an order fixed by hash; none of *test* questions, none that failed."""
    if not candidate_set.active:
        raise NothingToDo(f"the set {candidate_set.name} has no candidate to select")
    corpus = Corpus.of(list(store.traces(source)), embedder, rules_of(candidate_set))
    labels = assigned_labels(corpus, candidate_set)
    sources = {trace.source for trace in corpus.traces}
    examples = {one: worked_example(t for t in corpus.traces if t.source == one) for one in sources}
    found: dict[Split, list[list[TaughtTurn]]] = {}
    for trace in hashed(corpus.traces):
        is_taught = trace.split is not Split.TEST and trace.outcome is not Outcome.FAILURE
        if is_taught and all(turn.is_plain for turn in trace.turns):
            run = _run(trace, labels, candidate_set.active, examples[trace.source])
            found.setdefault(trace.split, []).append(run)
    return found


def _run(
    trace: Trace,
    labels: Mapping[str, str | None],
    candidates: Sequence[Candidate],
    example: str,
) -> list[TaughtTurn]:
    before = f"{example}Question: {trace.question}\n"
    turns = []
    for index, turn in enumerate(trace.turns):
        label = _label(turn, labels.get(turn_id(trace.id, index)), candidates)
        action, thought = render_action(turn.actions[0]).text, render_thought(turn.thoughts[0])
        turns.append(TaughtTurn(before, label, action, thought))
        before = f"\nObservation: {turn.observations[0] if turn.observations else ''}\n"
    return turns


def _label(turn: Turn, assigned: str | None, candidates: Sequence[Candidate]) -> int | None:
    for place, candidate in enumerate(candidates):
        if candidate.id == assigned and candidate.expects(turn.actions[0].kind):
            return place
    return None
