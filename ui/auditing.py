"""The audit as a service: picks held-out turns, asks the miner for their labels, hands both to the scorer.

No interface here: the CLI, the app and the benchmarks call `audit`. The miner and the scorer do not know each other;
what one knows goes to the other as data.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.candidates import Candidate, CandidateSet
from ..data.errors import NothingToDo
from ..data.identity import Split, candidate_id
from ..data.render import kind_beginnings, render_action, render_context, worked_example
from ..data.traces import Trace, turn_id
from ..miner.coverage import COVERED_AT
from ..miner.thoughts import Thought, thoughts_of
from ..scorer.audit import (
    AuditModels,
    AuditTexts,
    AuditTurn,
    batch_bias,
    calibrate_records,
    fit_choices,
    mean_scores,
    premise_scores,
    selection_scores,
)
from ..scorer.compiled_set import compile_set
from ..scorer.context import Context
from ..scorer.latency import measure_latency
from ..scorer.model import LanguageModel
from ..scorer.recovery import SetView
from ..scorer.selection import Normalisation
from ..scorer.slices import by_candidate, slices
from ..scorer.summary import Facts, summarise, trial
from .corpus import Corpus
from .held_out import PickedTurn, held_out
from .judging import JudgedPair, calibrate_coverage
from .recording import record_turns
from .set_facts import nearest_of_turns, set_facts
from .wiring import token_counter

POOL_SIZE = 64
BIAS_TURNS = 16
Json = dict[str, Any]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class AuditPlan:
    """How much to audit. None for a number of turns means all of them."""

    test_turns: int | None = 48
    choose_turns: int | None = 32
    latency_turns: int = 8
    oracle: bool = True
    alpha: float = 1.0
    seed: int = 0
    judged: tuple[JudgedPair, ...] = ()  # where given, they say what coverage is


@dataclass(frozen=True)
class AuditResult:
    """The report, its records, and each candidate's batch offset for later scoring."""

    report: Json
    records: list[Json]
    batch_bias: dict[str, float]


def audit(
    corpus: Corpus,
    sets: Sequence[CandidateSet],
    models: AuditModels,
    plan: AuditPlan,
    progress: Progress = lambda done, total: None,
) -> AuditResult:
    """Audits the first of `sets`; the others stand beside it in the report. NothingToDo where no turn can be audited."""
    sets = with_distinct_ids(sets)
    views = [view_of(candidate_set) for candidate_set in sets]
    candidates = {c.id: c.text for candidate_set in sets for c in candidate_set.active}
    if not views or not all(view.ids for view in views):
        raise NothingToDo(
            f"set {sets[0].name!r} has no active candidate to audit; accept or mine some"
        )
    # a set that cannot be scored is told before minutes of work; baselines may be any thoughts
    compile_set(models.audited, [candidate.text for candidate in sets[0].active])
    turns, thoughts = pick_turns(corpus.traces, plan)
    assignments = assign_turns(corpus, sets, thoughts)
    near = nearest_of_turns(sets, thoughts, corpus.mask, corpus.embedder)
    audit_turns = [
        replace(turn, nearest=cosines)
        for turn, cosines in zip(
            rendered_turns(corpus.traces, turns, assignments, models.reference), near, strict=True
        )
    ]
    texts = AuditTexts(candidates, pool_of(corpus.thoughts, plan.seed) if plan.oracle else ())
    records = record_turns(audit_turns, texts, models, beginnings_of(corpus.traces), progress)
    premise = premise_scores(models.audited, candidates, models.alpha)
    records = calibrate_records(records, premise, views)
    calibration = None
    if plan.judged:
        calibration = calibrate_coverage(plan.judged, corpus.traces, corpus.mask, corpus.embedder)
    covered_at = calibration["threshold"] if calibration else COVERED_AT
    facts = {
        s.name: Facts(**set_facts(s, thoughts, corpus.mask, corpus.embedder, covered_at))
        for s in sets
    }
    latency = _latency(audit_turns, sets[0], models, plan)
    run = trial(records, plan.seed)
    report = summarise(run, views, facts, latency)
    report |= {
        "slices": slices(run, views[0], covered_at),
        "by_candidate": by_candidate(run, views[0], covered_at),
        "coverage_calibration": calibration,
    }
    report |= _settings(sets, corpus.traces, models, plan)
    choose = [record for record in records if record["split"] == Split.CHOOSE]
    report["fit"] = fit_choices(choose, views[0])
    return AuditResult(report, records, batch_bias(choose))


def view_of(candidate_set: CandidateSet) -> SetView:
    """The set as the scorer's metrics see it."""
    active = candidate_set.active
    return SetView(
        candidate_set.name, tuple(c.id for c in active), {c.id: c.expected_actions for c in active}
    )


def with_distinct_ids(sets: Sequence[CandidateSet]) -> list[CandidateSet]:
    """The sets; where an id stands for another text in an earlier set (a reworded copy), with the set's name before it."""
    texts: dict[str, str] = {}
    distinct = []
    for candidate_set in sets:
        own = tuple(
            c
            if texts.setdefault(c.id, c.text) == c.text
            else replace(c, id=f"{candidate_set.name}/{c.id}")
            for c in candidate_set.active
        )
        texts.update({c.id: c.text for c in own})
        distinct.append(replace(candidate_set, candidates=own))
    return distinct


def assign_turns(
    corpus: Corpus, sets: Sequence[CandidateSet], thoughts: Sequence[Thought]
) -> dict[str, dict[str, str | None]]:
    """For each turn id and each set's name, the id of the assigned candidate."""
    labels: dict[str, dict[str, str | None]] = {thought.turn: {} for thought in thoughts}
    for candidate_set in sets:
        active = candidate_set.active
        assignment = corpus.assigner.assign(thoughts, [c.text for c in active])
        for thought, row in zip(thoughts, assignment.rows, strict=True):
            labels[thought.turn][candidate_set.name] = None if row is None else active[row].id
    return labels


def pick_turns(traces: Sequence[Trace], plan: AuditPlan) -> tuple[list[PickedTurn], list[Thought]]:
    """The *test* and *choose* turns to audit and their thoughts, in the same order."""
    test = held_out(traces, Split.TEST, plan.test_turns, plan.seed)
    if not test:
        raise NothingToDo(
            f"no turn to audit among {len(traces)} traces: it takes test questions whose run did not fail and "
            "turns with one thought and one action; import more traces"
        )
    picked = test + held_out(traces, Split.CHOOSE, plan.choose_turns, plan.seed)
    by_id = {thought.turn: thought for thought in thoughts_of(turn.trace for turn in picked)}
    return picked, [by_id[turn_id(turn.trace.id, turn.index)] for turn in picked]


def pool_of(thoughts: Sequence[Thought], seed: int, size: int = POOL_SIZE) -> list[str]:
    """`size` distinct *mine* thoughts, drawn once for all sets and turns."""
    texts = sorted({thought.whole for thought in thoughts})
    rows = np.random.default_rng(seed).permutation(len(texts))[:size]
    return [texts[row] for row in rows]


def random_set(thoughts: Sequence[Thought], seed: int, size: int) -> CandidateSet:
    """A baseline: `size` thoughts of the pool as they stand, names and all."""
    candidates = [Candidate(candidate_id(text), text) for text in pool_of(thoughts, seed, size)]
    return CandidateSet(f"random-{size}", tuple(candidates))


def choose_bias(
    traces: Sequence[Trace],
    candidate_set: CandidateSet,
    model: LanguageModel,
    normalisation: Normalisation,
) -> dict[str, float]:
    """Each candidate's mean score over BIAS_TURNS *choose* turns: batch calibration without an audit."""
    turns = held_out(traces, Split.CHOOSE, BIAS_TURNS)
    if not turns:
        raise NothingToDo(
            "batch calibration takes each candidate's mean score over choose turns, and the store has none; "
            "import more traces or use --calibration pmi"
        )
    texts = {candidate.id: candidate.text for candidate in candidate_set.active}
    scores = []
    for turn in rendered_turns(traces, turns, {}, model):
        context = Context(model, model.encode(turn.example + turn.context))
        scores.append(selection_scores(context, texts, normalisation))
    return mean_scores(scores)


def rendered_turns(
    traces: Sequence[Trace],
    turns: Sequence[PickedTurn],
    assignments: Mapping[str, Mapping[str, str | None]],
    model: LanguageModel,
) -> list[AuditTurn]:
    """The turns as the scorer takes them, under `model`'s token budget; `assignments` by turn id."""
    examples = {source: worked_example(_of(traces, source)) for source in _sources(traces)}
    count_tokens = token_counter(model)
    return [
        AuditTurn(
            question=picked.trace.question,
            split=picked.trace.split,
            source=picked.trace.source,
            trace=picked.trace.id,
            turn=picked.index,
            kind=picked.trace.turns[picked.index].actions[0].kind,
            example=examples[picked.trace.source],
            context=render_context(picked.trace, picked.index, count_tokens=count_tokens),
            thought=picked.trace.turns[picked.index].thoughts[0],
            action=render_action(picked.trace.turns[picked.index].actions[0]),
            assignments=assignments.get(turn_id(picked.trace.id, picked.index), {}),
            outcome=picked.trace.outcome,
            file=picked.trace.file,
        )
        for picked in turns
    ]


def _latency(
    turns: Sequence[AuditTurn], candidate_set: CandidateSet, models: AuditModels, plan: AuditPlan
) -> Json:
    sample = [turn for turn in turns if turn.split is Split.TEST][: plan.latency_turns]
    contexts = [models.audited.encode(turn.example + turn.context) for turn in sample]
    thoughts = [turn.thought for turn in sample]
    texts = [candidate.text for candidate in candidate_set.active]
    return measure_latency(models.audited, contexts, thoughts, texts)


def _settings(
    sets: Sequence[CandidateSet], traces: Sequence[Trace], models: AuditModels, plan: AuditPlan
) -> Json:
    unknown = sum(trace.outcome is None for trace in traces)
    return {
        "texts": {c.id: c.text for s in sets for c in s.active},
        "members": {s.name: [c.id for c in s.active] for s in sets},
        "settings": {
            "reference": f"{models.reference.name}@{models.reference.revision[:12]}",
            "model": f"{models.audited.name}@{models.audited.revision[:12]}",
            "revision": models.audited.revision,
            "dtype": str(models.audited.dtype).removeprefix("torch."),
            "alpha": models.alpha,
            "seed": plan.seed,
            "traces": len(traces),
            "traces_of_unknown_outcome": unknown,
            "sources": _sources(traces),
        },
    }


def beginnings_of(traces: Sequence[Trace]) -> dict[str, dict[str, str]]:
    """For each source, how every kind of its actions begins."""
    return {source: kind_beginnings(_of(traces, source)) for source in _sources(traces)}


def _sources(traces: Sequence[Trace]) -> list[str]:
    return sorted({trace.source for trace in traces})


def _of(traces: Sequence[Trace], source: str) -> list[Trace]:
    return [trace for trace in traces if trace.source == source]
