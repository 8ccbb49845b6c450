"""A set against traces as a service: what it covers and what not, which candidates are confused, whether new runs still make its moves.

No language model is asked; likelihood's side of a confusion comes out of an audit's records.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data.candidates import CandidateSet
from ..data.errors import ForethoughtError, NotFound, NothingToDo
from ..data.formats import read_traces
from ..data.identity import Split
from ..data.store import Store
from ..data.traces import Trace
from ..miner import drift as drifting
from ..miner.assign import MIN_AFFINITY
from ..miner.confusions import Confusion, Contest, confusions, contest, suggestion
from ..miner.coverage import COVERED_AT, Uncovered, nearest, uncovered
from ..miner.embed import Embedder
from ..miner.mask import Mask
from ..miner.thoughts import Thought, thoughts_of
from ..scorer.metrics import Resampler
from .auditing import AuditPlan, Corpus, pick_turns
from .judging import JudgedPair, calibrate_coverage
from .set_facts import coverage_estimate

MOST_TURNS = 5000  # mine thoughts that the rule's contests are counted on
Json = dict[str, Any]


def coverage_report(
    corpus: Corpus, candidate_set: CandidateSet, judged: Sequence[JudgedPair] = ()
) -> Json:
    """What the set covers of held-out thoughts, and the thoughts it does not, the most typical first."""
    active = _active(candidate_set)
    turns, thoughts = pick_turns(corpus.traces, AuditPlan(test_turns=None, choose_turns=None))
    splits = {t.turn: turn.trace.split for t, turn in zip(thoughts, turns, strict=True)}
    calibration = _calibration(corpus, judged)
    threshold = calibration["threshold"] if calibration else COVERED_AT
    texts = [candidate.text for candidate in active]
    near = nearest(thoughts, texts, corpus.mask, corpus.embedder)
    assigned = corpus.assigner.assign(thoughts, texts)
    questions = Resampler([{"question": thought.question} for thought in thoughts])
    return {
        "set": candidate_set.name,
        "semantic_coverage": coverage_estimate(near.cosine, thoughts, threshold),
        "assigned": questions.mean(
            np.array([float(r is not None) for r in assigned.rows])
        ).as_json(),
        "calibration": calibration,
        "uncovered": [
            _uncovered_json(one, active[one.nearest].id, splits[one.thought.turn])
            for one in uncovered(thoughts, near, threshold)
        ],
    }


def confusable_pairs(
    corpus: Corpus, candidate_set: CandidateSet, records: Sequence[Mapping[str, Any]] = ()
) -> Json:
    """The pairs that read alike, that the assignment rule hesitates between, or that likelihood does, with what to do.

    Counted on *mine* thoughts and, of `records` of an audit, on *choose* turns: what is reworded by it is never measured by it.
    """
    active = _active(candidate_set)
    thoughts = corpus.thoughts[:: max(1, -(-len(corpus.thoughts) // MOST_TURNS))]
    texts = [candidate.text for candidate in active]
    affinity = corpus.assigner.affinity(thoughts, texts)
    affinity = np.where(affinity.max(axis=1, keepdims=True) >= MIN_AFFINITY, affinity, 0.0)
    scores = _likelihoods(records, [candidate.id for candidate in active])
    kinds = [candidate.expected_actions for candidate in active]
    support = [len(candidate.support) for candidate in active]
    found = []
    for pair in confusions(corpus.embedder.embed(texts), affinity):
        selection = None if scores is None else contest(scores, pair.first, pair.second)
        if pair.reads_alike or pair.contest.tells or (selection and selection.tells):
            found.append(
                {
                    "first": active[pair.first].id,
                    "second": active[pair.second].id,
                    "first_text": texts[pair.first],
                    "second_text": texts[pair.second],
                    **_confusion_json(pair, selection),
                    "suggestion": suggestion(pair, kinds, support),
                }
            )
    turns = {"mine": len(thoughts), "records": 0 if scores is None else len(scores)}
    return {"set": candidate_set.name, "pairs": found, "turns": turns}


def drift_report(
    corpus: Corpus,
    candidate_set: CandidateSet,
    new: Sequence[Trace],
    judged: Sequence[JudgedPair] = (),
    seed: int = 0,
) -> Json:
    """Whether `new` runs still make the moves that `corpus` does, as the set sees them.

    Compared are thoughts on questions that the corpus' *mine* part does not hold, since the set was mined from those.
    """
    active = _active(candidate_set)
    texts = [candidate.text for candidate in active]
    mined = {thought.question for thought in corpus.thoughts}
    parts = {
        "old": [t for t in thoughts_of(corpus.traces) if t.question not in mined],
        "new": [t for t in thoughts_of(new) if t.question not in mined],
    }
    for name, thoughts in parts.items():
        if not thoughts:
            raise NothingToDo(
                f"the {name} corpus has no thought on a question that nothing was mined from; import more traces"
            )
    calibration = _calibration(corpus, judged)
    threshold = calibration["threshold"] if calibration else COVERED_AT
    placed = {name: drifting.place(t, corpus.assigner, texts) for name, t in parts.items()}
    found = drifting.drift(placed["old"], placed["new"], threshold, seed)
    ids = [*(candidate.id for candidate in active), "unassigned"]
    return {
        "set": candidate_set.name,
        "drift": found.found,
        "changes": {
            c.name: {k: v for k, v in c._asdict().items() if k != "name"} for c in found.changes
        },
        "questions": {"old": found.old_questions, "new": found.new_questions},
        "turns": {name: len(thoughts) for name, thoughts in parts.items()},
        "shares": {
            "old": dict(zip(ids, found.old_shares.tolist(), strict=True)),
            "new": dict(zip(ids, found.new_shares.tolist(), strict=True)),
        },
        "groups": [
            {
                **_turn_json(group.thought),
                "old_questions": group.old_questions,
                "new_questions": group.new_questions,
                "gain": group.gain,
            }
            for group in found.groups
        ],
        "threshold": threshold,
        "calibration": calibration,
    }


def coverage_difference(
    first: CandidateSet,
    second: CandidateSet,
    thoughts: Sequence[Thought],
    mask: Mask,
    embedder: Embedder,
) -> Json:
    """Semantic coverage of two sets on the same thoughts, each with its interval, and how much more the second covers.

    The difference is paired: over the same resamples of questions.
    """
    covered = []
    found: Json = {"turns": len(thoughts), "threshold": COVERED_AT}
    for name, candidate_set in (("first", first), ("second", second)):
        texts = [candidate.text for candidate in _active(candidate_set)]
        cosine = nearest(thoughts, texts, mask, embedder).cosine
        covered.append((cosine >= COVERED_AT).astype(float))
        found[name] = coverage_estimate(cosine, thoughts)
    resampler = Resampler([{"question": thought.question} for thought in thoughts])
    return found | {"difference": resampler.mean(covered[1] - covered[0]).as_json()}


def released(store: Store, candidate_set: CandidateSet, number: int) -> CandidateSet:
    """Release `number` of the set; NotFound names those there are."""
    known = {r.number: r for r in store.releases(candidate_set.name)}
    if number not in known:
        some = ", ".join(map(str, known)) or "none; make one in `forethought ui`"
        raise NotFound(f"set {candidate_set.name!r} has no release {number}; there are: {some}")
    return replace(
        candidate_set, name=f"{candidate_set.name} {number}", candidates=known[number].candidates
    )


def traces_named(store: Store, names: Sequence[str]) -> list[Trace]:
    """The traces of stored sources, or out of files that nothing is stored of; NothingToDo where there are none."""
    stored = set(store.sources())
    traces = [trace for name in names if name in stored for trace in store.traces(name)]
    paths = [name for name in names if name not in stored]
    if paths:
        traces += [found for found in read_traces(paths) if isinstance(found, Trace)]
    if not traces:
        raise NothingToDo(f"no trace in {', '.join(names)}; name stored sources or files of traces")
    return traces


def read_records(path: Path) -> list[Json]:
    """Records as `audit --records` writes them."""
    try:
        return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise ForethoughtError(
            f"{path}: no records can be read there ({error}); `forethought audit --records` writes them"
        ) from error


def _calibration(corpus: Corpus, judged: Sequence[JudgedPair]) -> Json | None:
    if not judged:
        return None
    return calibrate_coverage(judged, corpus.traces, corpus.mask, corpus.embedder)


def _active(candidate_set: CandidateSet) -> tuple[Any, ...]:
    if not candidate_set.active:
        raise NothingToDo(
            f"set {candidate_set.name!r} has no active candidate; accept or mine some"
        )
    return candidate_set.active


def _likelihoods(records: Sequence[Mapping[str, Any]], ids: Sequence[str]) -> np.ndarray | None:
    """(turns, candidates): likelihoods relative to the likeliest's, on the *choose* turns that scored all of the set."""
    rows = [
        [record["scores"]["raw"][id] for id in ids]
        for record in records
        if record["split"] == Split.CHOOSE and set(ids) <= record["scores"]["raw"].keys()
    ]
    if records and not rows:
        raise ForethoughtError("these records scored another set; audit this one with --records")
    scores = np.array(rows)
    return np.exp(scores - scores.max(axis=1, keepdims=True)) if rows else None


def _confusion_json(pair: Confusion, selection: Contest | None) -> Json:
    def told(found: Contest | None) -> Json | None:
        if found is None:
            return None
        return {"turns": found.turns, "close": found.close, "share": found.share}

    return {
        "similarity": pair.similarity,
        "assignment": told(pair.contest),
        "selection": told(selection),
    }


def _uncovered_json(one: Uncovered, nearest_id: str, split: Split) -> Json:
    return {
        **_turn_json(one.thought),
        "split": split.value,
        "nearest": nearest_id,
        "cosine": one.cosine,
        "typicality": one.typicality,
    }


def _turn_json(thought: Thought) -> Json:
    trace, _, turn = thought.turn.rpartition(":")
    return {"trace": trace, "turn": int(turn), "text": thought.text}
