"""Mining as a service: the store's traces to a stored set, with the run's manifest."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..data.candidate_sets import folded
from ..data.candidates import CandidateSet
from ..data.errors import ForethoughtError, NotFound, NothingToDo
from ..data.identity import content_id
from ..data.store import Store
from ..data.traces import Trace
from ..miner.admission import Admission, admit
from ..miner.embed import Embedder
from ..miner.escape import with_escape
from ..miner.executor import PLAIN, Executor
from ..miner.lint import LintSettings
from ..miner.mask_rules import MaskRules, shipped_rules
from ..miner.mine import MinerSettings, MiningResult, mine, supported
from ..miner.thoughts import thoughts_of
from ..miner.vectors import CheckedEmbedder, EmbeddingReport
from ..miner.wishes import Wishes
from ..miner.writer import Writer
from ..scorer.model import LanguageModel
from .admitting import ReferenceGains
from .auditing import Corpus
from .growing import READ
from .linting import Linted, lint_candidates, problems_json, tools_of, without_blocked
from .masking import MASK_RULES, rules_json
from .wiring import BUILTIN
from .writing import Reworder

LONGEST_NAME = 100
VERSIONS = ("forethought", "hdbscan", "numpy", "scikit-learn", "sentence-transformers")


@dataclass(frozen=True)
class MiningRequest:
    """What a user asks for. A `writer` proposes wordings; with a `reference` only what surely gains on *choose* enters."""

    budget: int = 12
    source: str | None = None
    wishes: Wishes = field(default_factory=Wishes)
    escape: bool = False
    reference: LanguageModel | None = None
    seed: int = 0
    writer: Writer | None = None
    resume: Path | None = None  # folder where finished stages are kept, and found again
    rules: MaskRules = field(default_factory=shipped_rules)  # to mask by
    executor: Executor = (
        PLAIN  # where thoughts are masked; where texts are embedded, the embedder knows
    )
    tokens: int | None = None  # all candidates together at most


def mine_set(
    store: Store,
    name: str,
    embedder: Embedder,
    asked: MiningRequest,
    progress: Callable[[str], None] = lambda stage: None,
) -> MiningResult:
    """Mines and stores the set `name`. What a person has touched under that name stays as it is."""
    check_name(name)
    if asked.source is not None and asked.source not in store.sources():
        known = ", ".join(store.sources()) or "none; import some traces"
        raise NotFound(f"no traces of source {asked.source!r}; there are: {known}")
    settings = MinerSettings(
        budget=asked.budget,
        tokens=asked.tokens,
        wishes=asked.wishes,
        resume=asked.resume,
        executor=asked.executor,
    )
    reading, checked = _Reading(store, asked.source), CheckedEmbedder(embedder)
    lint = _Lint(reading, checked, asked.wishes)

    def mined(refused: tuple[str, ...]) -> MiningResult:
        wishes = replace(asked.wishes, banned=(*asked.wishes.banned, *refused))
        wanted = replace(settings, wishes=wishes)
        return mine(reading.traces(), checked, name, wanted, progress, asked.rules)

    result, refused = without_blocked(mined, lambda made: lint.mined(made.candidate_set))
    if not result.candidate_set.candidates:
        raise NothingToDo(
            f"all {result.num_phrases} sentences that could be candidates are banned or refused by the lint; ban fewer, or "
            "import more traces"
        )
    candidate_set, manifest = result.candidate_set, _manifest(result, settings, asked)
    manifest |= {
        "traces": content_id("traces", reading.ids),
        "embedder": embedder.name,
        "embedding": EmbeddingReport(result.num_distinct).as_json(),
        "refused": problems_json(refused),
    }
    if asked.writer or asked.reference or checked.faults:
        corpus = Corpus.of(list(store.traces(asked.source)), embedder, asked.rules)
    if checked.faults:
        manifest["embedding"] = _embedding(checked, corpus).as_json()
    if asked.writer:
        progress("write")
        reworder = Reworder(corpus, store, asked.writer, asked.wishes.pinned)
        candidate_set, manifest["phrasing"] = reworder.reword(candidate_set, settings)
    if asked.reference:
        progress("admit")
        candidate_set, admission = _admitted(candidate_set, corpus, settings, asked)
        manifest["admission"] = admission.as_json()
    manifest["flags"] = problems_json(lint.all(candidate_set))
    candidate_set = replace(candidate_set, manifest=manifest)
    if asked.escape:
        candidate_set = with_escape(candidate_set)
    store.save_set(candidate_set, reason="mined")
    store.put(READ, name, {"ids": reading.ids})
    return replace(result, candidate_set=candidate_set)


def _manifest(
    result: MiningResult, settings: MinerSettings, asked: MiningRequest
) -> dict[str, Any]:
    """How the set came about, but for what was read."""
    return {
        "source": asked.source,
        "settings": settings.as_json(),
        "executor": asked.executor.name,
        MASK_RULES: rules_json(asked.rules),
        "seed": asked.seed,
        "versions": {package: version(package) for package in VERSIONS},
        "stages": [stage.as_json() for stage in result.stages],
        **figures(result),
    }


def _embedding(checked: CheckedEmbedder, corpus: Corpus) -> EmbeddingReport:
    """What was wrong with the vectors of the distinct thoughts, each by the first turn that says it."""
    first: dict[str, str] = {}
    for thought in corpus.thoughts:
        first.setdefault(corpus.assigner.general.say(thought), thought.turn)
    return checked.report(first)


class _Reading:
    """The traces, one at a time, and what was noted of those that passed: their ids and the names of their tools."""

    def __init__(self, store: Store, source: str | None) -> None:
        self.store, self.source = store, source
        self._ids: set[str] = set()
        self.tools: frozenset[str] = frozenset()

    @property
    def ids(self) -> list[str]:
        return sorted(self._ids)

    def traces(self) -> Iterator[Trace]:
        for trace in self.store.traces(self.source):
            self._ids.add(trace.id)
            self.tools |= tools_of([trace])
            yield trace


class _Lint:
    """The lint by the tools that were read of; what a person pinned is told of and stays."""

    def __init__(self, reading: _Reading, embedder: Embedder, wishes: Wishes) -> None:
        self.reading, self.embedder = reading, embedder
        self.pinned = set(map(folded, wishes.pinned))

    def all(self, candidate_set: CandidateSet) -> list[Linted]:
        settings = LintSettings(self.reading.tools)
        return lint_candidates(candidate_set, settings, self.embedder)

    def mined(self, candidate_set: CandidateSet) -> list[Linted]:
        return [one for one in self.all(candidate_set) if folded(one.text) not in self.pinned]


def _admitted(
    candidate_set: CandidateSet,
    corpus: Corpus,
    settings: MinerSettings,
    asked: MiningRequest,
) -> tuple[CandidateSet, Admission]:
    """The set less what does not surely gain on *choose* turns, and every candidate's trial."""
    assert asked.reference is not None
    by_turn = {thought.turn: thought for thought in thoughts_of(corpus.traces)}
    admission = admit(
        [candidate.text for candidate in candidate_set.candidates],
        ReferenceGains(corpus.traces, asked.reference, seed=asked.seed),
        lambda turns, texts: corpus.assigner.assign([by_turn[t] for t in turns], texts).rows,
        pinned=asked.wishes.pinned,
        seed=asked.seed,
    )
    if not admission.admitted:
        raise NothingToDo(
            f"none of {len(admission.trials)} candidates surely gains on {admission.num_turns} choose turns; "
            "import more traces, or mine without --admit"
        )
    candidates = supported(admission.admitted, corpus.thoughts, corpus.assigner, settings)
    return replace(candidate_set, candidates=candidates), admission


def check_name(name: str) -> None:
    """ForethoughtError for a name that could not be told from a built-in set, an audit's rows or white space."""
    if name in BUILTIN:
        raise ForethoughtError(f"{name!r} is a built-in set; choose another --name")
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME or "[" in name:
        raise ForethoughtError(
            f"{name[:LONGEST_NAME]!r} is no name for a set: up to {LONGEST_NAME} printable characters, no brackets"
        )


def figures(result: MiningResult) -> dict[str, Any]:
    """The counts of a mining run, as the manifest and `mine --json` carry them."""
    return {
        "thoughts": result.num_thoughts,
        "distinct": result.num_distinct,
        "clusters": result.num_clusters,
        "noise": result.noise_share,
        "phrases": result.num_phrases,
        "assigned": result.assigned_share,
        "coverage": list(result.coverage),
        "gains": list(result.gains),
        "unusable": result.num_unusable,
        "left_out": [
            {"share": left.group.share, "reason": str(left.reason)} for left in result.left_out
        ],
        "twins": [list(twin) for twin in result.twins],
    }
