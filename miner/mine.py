"""The recipe: thoughts of *mine* questions -> mask -> embed -> cluster -> phrase -> choose -> a candidate set.

Deterministic whatever the row order: thoughts are put in canonical order first. Reads no choose or test question.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..data.candidates import Candidate, CandidateSet
from ..data.errors import NothingToDo
from ..data.identity import Split, candidate_id
from ..data.traces import Trace
from .abstract import in_general
from .assign import Assigner
from .choose import choose
from .cluster import Clustering, cluster
from .embed import Embedder
from .mask import Mask
from .phrase import Phrase, phrases_of
from .thoughts import Thought, thoughts_of

Progress = Callable[[str], None]


@dataclass(frozen=True)
class MinerSettings:
    """What a user may turn."""

    budget: int = 12  # candidates at most
    max_similarity: float = 0.8  # two candidates of one expected kind may be no closer (cosine)
    min_action_share: float = 0.2  # of the support, for a kind to be an expected action


@dataclass(frozen=True)
class MiningResult:
    """The set, nested (its first k are the set of size k), and how it came about.

    `coverage[k - 1]` is the share of reachable affinity that the first k candidates cover; `assigned_share` the share
    of *mine* thoughts that some candidate of the set is assigned to.
    """

    candidate_set: CandidateSet
    coverage: tuple[float, ...]
    num_thoughts: int
    num_distinct: int
    num_clusters: int
    noise_share: float
    num_phrases: int
    assigned_share: float


def mine(
    traces: Iterable[Trace],
    embedder: Embedder,
    name: str,
    settings: MinerSettings | None = None,
    progress: Progress = lambda step: None,
) -> MiningResult:
    """Mines `traces` (their *mine* questions) into a set called `name`; NothingToDo says why there is none."""
    settings = settings or MinerSettings()
    thoughts = mineable(traces)
    progress("mask")
    mask = Mask.fit(thoughts)
    progress("embed")
    assigner = Assigner(thoughts, mask, embedder)
    masked = Counter(in_general(thought, mask) for thought in thoughts)
    progress("cluster")
    clustering = _cluster(masked, embedder)
    progress("phrase")
    phrases = phrases_of(thoughts, mask)
    if not phrases:
        raise NothingToDo(
            f"none of {len(thoughts)} thoughts holds a sentence free of its question's words; "
            "import more traces, or write candidates by hand in `forethought ui`"
        )
    spoken = _phrase_clusters(clustering, list(masked), phrases, mask, embedder)
    progress("choose")
    affinity = assigner.affinity(thoughts, [phrase.text for phrase in spoken])
    redundant = _redundant(spoken, mask, embedder, settings)
    chosen = choose(affinity, _weights(thoughts), settings.budget, redundant)
    texts = [spoken[row].text for row in chosen.rows]
    candidates = _candidates(texts, thoughts, assigner, settings)
    return MiningResult(
        candidate_set=CandidateSet(name, candidates),
        coverage=chosen.coverage,
        num_thoughts=len(thoughts),
        num_distinct=len(masked),
        num_clusters=len(clustering.groups),
        noise_share=clustering.noise_share,
        num_phrases=len(phrases),
        assigned_share=sum(len(c.support) for c in candidates) / len(thoughts),
    )


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


def _cluster(masked: Counter[str], embedder: Embedder) -> Clustering:
    """Clusters of the distinct masked texts, in the order of `masked`."""
    return cluster(embedder.embed(list(masked)), list(masked.values()))


def _phrase_clusters(
    clustering: Clustering,
    masked: Sequence[str],
    phrases: Sequence[Phrase],
    mask: Mask,
    embedder: Embedder,
) -> list[Phrase]:
    """For each cluster the phrase nearest its centre, the more often spoken of near equals; noise gets none."""
    texts = embedder.embed([phrase.text for phrase in phrases])
    vectors = embedder.embed(masked)
    spread = np.array([1 + np.log(phrase.questions) for phrase in phrases])
    picked: dict[int, None] = {}
    for rows in clustering.groups:
        centre = vectors[rows].mean(axis=0)
        nearness = texts @ centre / np.linalg.norm(centre)
        picked[int((nearness + 0.02 * spread).round(6).argmax())] = None
    return [phrases[row] for row in picked]


def _redundant(
    phrases: Sequence[Phrase], mask: Mask, embedder: Embedder, settings: MinerSettings
) -> np.ndarray:
    vectors = embedder.embed([phrase.text for phrase in phrases])
    return (vectors @ vectors.T).round(6) > settings.max_similarity


def _weights(thoughts: Sequence[Thought]) -> np.ndarray:
    """(turns,): a question weighs the square root of its turns, so that one long run is not many habits."""
    counts = Counter(thought.question for thought in thoughts)
    return np.array([counts[thought.question] ** -0.5 for thought in thoughts])


def _candidates(
    texts: Sequence[str], thoughts: Sequence[Thought], assigner: Assigner, settings: MinerSettings
) -> tuple[Candidate, ...]:
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
