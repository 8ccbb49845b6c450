"""The recipe: thoughts of *mine* questions -> mask -> embed -> cluster -> phrase -> choose -> a candidate set.

Deterministic whatever the row order: thoughts are put in canonical order first. Reads no choose or test question.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data.candidates import Candidate, CandidateSet
from ..data.errors import NothingToDo
from ..data.identity import Split, candidate_id
from ..data.traces import Trace
from .abstract import Generalizer
from .assign import Assigner
from .choose import (
    Chosen,
    LeftOut,
    RedundantPair,
    TokenLimit,
    choose,
    frequent_groups,
    redundant_pairs,
)
from .embed import Embedder
from .executor import PLAIN, Executor
from .lint import estimated_tokens
from .mask import Mask
from .mask_rules import MaskRules, shipped_rules
from .moves import Moves, Spoken, find_moves, speak
from .phrase import Phrase, phrases_of
from .redundancy import Nearness
from .stages import Kept, Rows, StageRecord, Stages, digest_of
from .thoughts import Thought, thoughts_of
from .weights import TurnOrigin, lifted, outcome_lift, question_weights
from .wishes import Wishes

Progress = Callable[[str], None]


@dataclass(frozen=True)
class MinerSettings:
    """What a user may turn."""

    budget: int = 12  # candidates at most
    tokens: int | None = None  # all of them together at most, as lint.py estimates tokens
    max_similarity: float = 0.8  # two candidates may be no closer (cosine)
    max_overlap: float = (
        0.95  # nor suit the same turns more than this (correlation of their affinities)
    )
    min_action_share: float = 0.2  # of the support, for a kind to be an expected action
    min_group_share: float = 0.05  # of all weight, for a group to be owed a candidate
    wishes: Wishes = field(default_factory=Wishes)
    resume: Path | None = None  # folder where finished stages are kept, and found again
    executor: Executor = PLAIN  # where thoughts are masked

    def as_json(self) -> dict[str, Any]:
        """What decides the set; not where it is worked out and kept."""
        told = asdict(replace(self, resume=None, executor=PLAIN))
        del told["executor"]
        return told


@dataclass(frozen=True)
class MiningResult:
    """The set, nested (its first k are the set of size k), and how it came about.

    `coverage[k - 1]` is the share of reachable affinity that the first k candidates cover; `assigned_share` the share
    of *mine* thoughts that some candidate of the set is assigned to. `left_out` are frequent groups that no candidate
    says, `twins` phrases too near to a chosen one, as texts. `num_unusable` texts had no vector to cluster by.
    """

    candidate_set: CandidateSet
    coverage: tuple[float, ...]
    num_thoughts: int
    num_distinct: int
    num_clusters: int
    noise_share: float
    num_phrases: int
    assigned_share: float
    gains: tuple[float, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    twins: tuple[tuple[str, str, float], ...] = ()
    num_unusable: int = 0
    stages: tuple[StageRecord, ...] = ()


def mine(
    traces: Iterable[Trace],
    embedder: Embedder,
    name: str,
    settings: MinerSettings | None = None,
    progress: Progress = lambda step: None,
    rules: MaskRules | None = None,
) -> MiningResult:
    """Mines `traces` (their *mine* questions) into a set called `name`; NothingToDo says why there is none."""
    settings = settings or MinerSettings()
    thoughts = mineable(traces)
    stages = Stages(digest_of(thought.turn for thought in thoughts), settings.resume)
    progress("mask")
    general = _generalize(thoughts, rules, stages, settings.executor)
    progress("phrase")
    phrases = _find_phrases(thoughts, general, stages)
    progress("embed")
    assigner = stages.run(
        "embed",
        lambda: Assigner(thoughts, general.mask, embedder, general),
        lambda made: Rows(len(thoughts), made.num_rows),
    )
    progress("cluster")
    moves = find_moves(thoughts, assigner, stages)
    spoken = speak(moves, phrases, embedder)
    if not spoken.phrases and not settings.wishes.pinned:
        raise NothingToDo(
            f"none of {len(phrases)} sentences says what recurs among {len(thoughts)} thoughts; "
            "import more traces, or write candidates by hand in `forethought ui`"
        )
    progress("choose")
    choice = stages.run(
        "choose",
        lambda: choose_phrases(thoughts, moves, spoken, assigner, settings),
        lambda made: Rows(len(spoken.phrases), len(made.texts)),
    )
    progress("assign")
    candidates = stages.run(
        "assign",
        lambda: supported(choice.texts, thoughts, assigner, settings),
        lambda made: Rows(len(thoughts), sum(len(one.support) for one in made)),
    )
    return MiningResult(
        candidate_set=CandidateSet(name, candidates),
        coverage=choice.chosen.coverage,
        gains=choice.chosen.gains,
        left_out=choice.chosen.left_out,
        twins=choice.twins,
        num_thoughts=len(thoughts),
        num_distinct=len(moves.texts),
        num_clusters=len(moves.clustering.groups),
        noise_share=moves.clustering.noise_share,
        num_phrases=len(phrases),
        num_unusable=moves.num_unusable,
        assigned_share=sum(len(c.support) for c in candidates) / len(thoughts),
        stages=tuple(stages.records),
    )


def _generalize(
    thoughts: Sequence[Thought], rules: MaskRules | None, stages: Stages, executor: Executor
) -> Generalizer:
    """What the thoughts say of any question: the mask is fitted, and each thought is masked."""
    digest = (rules or shipped_rules()).digest
    mask = stages.run(
        "fit",
        lambda: Mask.fit(thoughts, rules),
        lambda made: Rows(len(thoughts), sum(map(len, made.shares.values()))),
        Kept(
            lambda made: {"shares": made.shares}, lambda kept: Mask(kept["shares"], rules), [digest]
        ),
    )
    return stages.run(
        "mask",
        lambda: Generalizer.fit(thoughts, mask, executor),
        lambda made: Rows(len(thoughts), made.num_said),
        Kept(
            lambda made: made.as_product(thoughts),
            lambda kept: Generalizer.from_product(kept, thoughts, mask),
        ),
    )


def _find_phrases(
    thoughts: Sequence[Thought], general: Generalizer, stages: Stages
) -> list[Phrase]:
    phrases = stages.run(
        "phrase",
        lambda: phrases_of(thoughts, general),
        lambda made: Rows(general.num_said, len(made)),
        Kept(
            lambda made: {"phrases": [astuple(phrase) for phrase in made]},
            lambda kept: [Phrase(*fields) for fields in kept["phrases"]],
        ),
    )
    if not phrases:
        raise NothingToDo(
            f"none of {len(thoughts)} thoughts holds a sentence that can be said of any question; "
            "import more traces, or write candidates by hand in `forethought ui`"
        )
    return phrases


def mineable(traces: Iterable[Trace]) -> list[Thought]:
    """The thoughts of *mine* questions that an action followed, in canonical order."""
    seen = Counter[Split]()
    thoughts: list[Thought] = []
    for trace in traces:
        seen[trace.split] += 1
        if trace.split is Split.MINE:
            thoughts += [thought for thought in thoughts_of([trace]) if thought.kind is not None]
    if not thoughts:
        counts = ", ".join(f"{seen[split]} {split}" for split in Split)
        raise NothingToDo(
            f"no thoughts to mine in {seen.total()} traces (by split: {counts}); "
            "only thoughts that an action followed, on mine questions, are mined; import more traces"
        )
    return sorted(thoughts, key=lambda thought: thought.turn)


@dataclass(frozen=True)
class Choice:
    """The chosen texts in order, how they were chosen, and phrases too near to them."""

    texts: tuple[str, ...]
    chosen: Chosen
    twins: tuple[tuple[str, str, float], ...]


def choose_phrases(
    thoughts: Sequence[Thought],
    moves: Moves,
    spoken: Spoken,
    assigner: Assigner,
    settings: MinerSettings,
) -> Choice:
    mined = [phrase.text for phrase in spoken.phrases]
    texts = settings.wishes.phrases(mined)
    first = len(texts) - len(mined)  # pins that were not mined stand before
    rows = assigner.rows(thoughts)
    affinity = assigner.millionths_of(rows, texts)
    vectors = assigner.embedder.embed(texts)
    near = Nearness.of(vectors, affinity, rows.total(np.ones(len(thoughts))))
    redundant = near.redundant(settings.max_similarity, settings.max_overlap)
    weights = _weights(thoughts, moves.labels)
    columns = {group: (column + first,) for group, column in spoken.column_of_group.items()}
    groups = frequent_groups(moves.labels, weights, columns, settings.min_group_share)
    terms = settings.wishes.terms(texts, settings.budget, _token_limit(texts, settings), groups)
    chosen = choose(affinity, rows.total(weights), settings.budget, redundant, terms)
    pairs = redundant_pairs(chosen.rows, redundant, near.nearest)
    return Choice(
        tuple(texts[row] for row in chosen.rows), chosen, tuple(_twin(texts, p) for p in pairs)
    )


def _token_limit(texts: Sequence[str], settings: MinerSettings) -> TokenLimit | None:
    if settings.tokens is None:
        return None
    return TokenLimit(np.array([estimated_tokens(text) for text in texts], float), settings.tokens)


def _twin(texts: Sequence[str], pair: RedundantPair) -> tuple[str, str, float]:
    return texts[pair.first], texts[pair.second], round(pair.similarity, 3)


def _weights(thoughts: Sequence[Thought], labels: np.ndarray) -> np.ndarray:
    """(turns,): a question weighs the square root of its turns, and moves of runs that succeed more than others."""
    origins = [TurnOrigin(t.question, t.turn.split(":")[0], t.outcome) for t in thoughts]
    lift = outcome_lift(labels.tolist(), origins)
    return lifted(question_weights([t.question for t in thoughts]), labels.tolist(), lift)


def supported(
    texts: Sequence[str], thoughts: Sequence[Thought], assigner: Assigner, settings: MinerSettings
) -> tuple[Candidate, ...]:
    """`texts` as candidates, each with the thoughts that the rule assigns it among them, and what followed those."""
    members: defaultdict[int, list[Thought]] = defaultdict(list)
    for thought, row in zip(thoughts, assigner.assign(thoughts, texts).rows, strict=True):
        if row is not None:
            members[row].append(thought)
    return tuple(
        Candidate(
            id=candidate_id(text),
            text=text,
            expected_actions=_expected(members[row], settings.min_action_share),
            support=tuple(thought.turn for thought in members[row]),
            questions=len({thought.question for thought in members[row]}),
        )
        for row, text in enumerate(texts)
    )


def _expected(members: Sequence[Thought], min_share: float) -> tuple[str, ...]:
    kinds = Counter(thought.kind for thought in members if thought.kind)
    ordered = sorted(kinds, key=lambda kind: (-kinds[kind], kind))
    return tuple(kind for kind in ordered if kinds[kind] >= min_share * len(members))
