"""The transfer matrix as a service: sets mined on each source, audited on every other's held-out turns.

One mask and one assignment rule for the whole matrix, fitted on the *mine* thoughts of all its sources, so that its cells can be compared.
Resumes: mined sets are kept in the store, log-probabilities in the cache.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from typing import Any

import numpy as np

from ..data.candidates import Candidate, CandidateSet
from ..data.errors import NotFound, NothingToDo
from ..data.identity import candidate_id, content_id
from ..data.store import Store
from ..data.traces import Trace
from ..miner.coverage import COVERED_AT, nearest
from ..miner.embed import Embedder
from ..miner.mask_rules import MaskRules, shipped_rules
from ..miner.mine import MinerSettings, mine
from ..miner.thoughts import Thought
from ..scorer.audit import AuditModels, AuditTexts
from ..scorer.metrics import Resampler
from ..scorer.recovery import assigned_choice, gains_of
from ..scorer.summary import trial
from .auditing import (
    AuditPlan,
    Corpus,
    PickedTurn,
    assign_turns,
    beginnings_of,
    pick_turns,
    rendered_turns,
)
from .recording import record_turns
from .set_facts import coverage_estimate

DOCUMENT = "transfer"
Json = dict[str, Any]


@dataclass(frozen=True)
class TransferPlan:
    """`sources` in the matrix, all where empty; `test_turns` of each, None for all of them."""

    sources: tuple[str, ...] = ()
    budget: int = 12
    test_turns: int | None = None
    covered_at: float = COVERED_AT
    seed: int = 0
    rules: MaskRules | None = None  # to mask by; None for the shipped ones


def transfer(
    store: Store,
    embedder: Embedder,
    plan: TransferPlan,
    models: AuditModels | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> Json:
    """Assigned share and semantic coverage of every pair of sources, and assigned recovery where `models` are given.

    A source that cannot be mined or audited is told under `failures`; NothingToDo where that leaves no cell.
    """
    traces = {source: list(store.traces(source)) for source in _known(store, plan.sources)}
    corpus = Corpus.of(list(chain.from_iterable(traces.values())), embedder, plan.rules)
    failures: list[Json] = []
    sets: list[CandidateSet] = []
    for source, own in traces.items():
        progress(f"mine {source}")
        try:
            sets.append(_mined(store, source, own, corpus.embedder, plan))
        except NothingToDo as error:
            failures.append({"source": source, "part": "mine", "reason": str(error)})
    cells: list[Json] = []
    for source, own in traces.items():
        progress(f"audit on {source}")
        try:
            cells += _column(corpus, sets, source, own, plan, models)
        except NothingToDo as error:
            failures.append({"source": source, "part": "audit", "reason": str(error)})
    if not cells:
        raise NothingToDo("; ".join(failure["reason"] for failure in failures))
    return {
        "sources": list(traces),
        "cells": cells,
        "failures": failures,
        "sets": {s.name: [c.text for c in s.candidates] for s in sets},
        "threshold": plan.covered_at,
    }


def _known(store: Store, wanted: Sequence[str]) -> list[str]:
    stored = store.sources()
    for source in wanted:
        if source not in stored:
            raise NotFound(f"no traces of source {source!r}; there are: {', '.join(stored)}")
    return list(dict.fromkeys(wanted)) or stored


def _mined(
    store: Store, source: str, traces: Sequence[Trace], embedder: Embedder, plan: TransferPlan
) -> CandidateSet:
    """The set mined on a source: out of the store where the same traces were mined the same way before."""
    settings, rules = MinerSettings(budget=plan.budget), plan.rules or shipped_rules()
    ids = sorted(trace.id for trace in traces)
    how = [embedder.name, repr(settings), rules.digest, version("forethought")]
    key = content_id("transfer", [ids, *how])
    kept = store.document(DOCUMENT, key)
    if kept is None:
        candidates = mine(traces, embedder, source, settings, rules=rules).candidate_set.candidates
        kept = {"candidates": [[c.text, list(c.expected_actions)] for c in candidates]}
        store.put(DOCUMENT, key, kept)
    return CandidateSet(
        source,
        tuple(Candidate(candidate_id(text), text, tuple(k)) for text, k in kept["candidates"]),
    )


def _column(
    corpus: Corpus,
    sets: Sequence[CandidateSet],
    source: str,
    traces: Sequence[Trace],
    plan: TransferPlan,
    models: AuditModels | None,
) -> list[Json]:
    """Every set on the *test* turns of one source."""
    turns, thoughts = pick_turns(traces, AuditPlan(plan.test_turns, choose_turns=0, seed=plan.seed))
    labels = assign_turns(corpus, sets, thoughts)
    recoveries = _recoveries(traces, sets, turns, labels, models) if models else {}
    resampler = Resampler([{"question": thought.question} for thought in thoughts], plan.seed)
    return [
        {
            "mined": one.name,
            "audited": source,
            "turns": len(thoughts),
            "questions": len({thought.question for thought in thoughts}),
            "assigned": resampler.mean(_assigned(labels, thoughts, one.name)).as_json(),
            "semantic_coverage": _coverage(corpus, one, thoughts, plan.covered_at),
            "assigned_recovery": recoveries.get(one.name),
        }
        for one in sets
    ]


def _assigned(
    labels: Mapping[str, Mapping[str, str | None]], thoughts: Sequence[Thought], name: str
) -> np.ndarray:
    """(turns,): 1 where the rule finds a candidate of the set."""
    return np.array([float(labels[thought.turn][name] is not None) for thought in thoughts])


def _coverage(
    corpus: Corpus, one: CandidateSet, thoughts: Sequence[Thought], covered_at: float
) -> Json:
    texts = [candidate.text for candidate in one.candidates]
    near = nearest(thoughts, texts, corpus.mask, corpus.embedder)
    return coverage_estimate(near.cosine, thoughts, covered_at)


def _recoveries(
    traces: Sequence[Trace],
    sets: Sequence[CandidateSet],
    turns: Sequence[PickedTurn],
    labels: Mapping[str, Mapping[str, str | None]],
    models: AuditModels,
) -> dict[str, Json]:
    """Each set's assigned recovery on the turns, by the reference model."""
    texts = AuditTexts({c.id: c.text for one in sets for c in one.candidates})
    rendered = rendered_turns(traces, turns, labels, models.reference)
    run = trial(record_turns(rendered, texts, models, beginnings_of(traces)))
    return {
        one.name: run.recovery(gains_of(run.test, assigned_choice(run.test, one.name)))
        for one in sets
    }
