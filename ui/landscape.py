"""The thoughts that a set was mined from, on a plane: alike ones near each other, each with what it can be coloured by.

What is laid out is what thoughts say in general, so that those which say the same lie together. Deterministic; kept on
disk for the same traces and wordings.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from ..data import commands
from ..data.candidates import Candidate
from ..data.commands import NewCandidate
from ..data.identity import content_id
from ..data.store import Store
from ..miner.embed import Embedder
from ..miner.sampling import stratified_sample
from ..miner.thoughts import Thought
from ..scorer.cache import keep, recall
from . import fitted
from .computations import PROCESS, Computation, Report
from .corpus import Corpus
from .roster import Roster

MOST_POINTS = 5000
DIMENSIONS = 50  # left by PCA before t-SNE
PERPLEXITY = 30.0
SPREAD = 0.004  # of the plane's width, between thoughts that say the same
TEXT_CHARACTERS = 160
GOLDEN_ANGLE = 2.399963
MIN_ACTION_SHARE = 0.2  # of the turns, for a kind to be what a new candidate announces


class Point(NamedTuple):
    """One turn: where its thought lies, and what is known of it. `candidate` is the id of the one assigned, "" for none."""

    turn: str
    x: float
    y: float
    text: str
    action: str
    outcome: str
    source: str
    candidate: str


class Landscape(NamedTuple):
    """The points, out of how many turns they were drawn, and the set's last command when they were."""

    points: tuple[Point, ...]
    num_turns: int
    state: int


def landscape_of(
    store: Store, set_name: str, roster: Roster, make: Callable[[], Embedder] | None = None
) -> Computation[Landscape]:
    """The map of the set as it is now; begun where nobody has asked for it."""

    def compute(report: Report) -> Landscape:
        report("looking whether it is drawn already")
        embedder = (make or fitted.embedder)()
        facts = {
            "traces": content_id("traces", [one.id for one in store.summaries()]),
            "basis": list(fitted.basis_of(store, set_name))[2:],
            "embedder": embedder.name,
            "candidates": [[one.id, one.text] for one in roster.active],
            "method": f"pca{DIMENSIONS}, t-SNE of scikit-learn {version('scikit-learn')}",
        }
        found: Mapping[str, Any] | None = recall("map", facts)
        if found is None:
            found = _drawn(_corpus(store, set_name, make, report), roster, report)
            keep("map", facts, found)
        points = tuple(Point(*row) for row in found["points"])
        return Landscape(points, found["turns"], roster.state)

    return PROCESS.ask(_key(store, set_name, roster), compute)


def landscape_asked_for(
    store: Store, set_name: str, roster: Roster
) -> Computation[Landscape] | None:
    """The same, but only where someone has asked for it already."""
    return PROCESS.look(_key(store, set_name, roster))


def laid_out(vectors: np.ndarray) -> np.ndarray:
    """(texts, 2): alike vectors near each other, within [-1, 1]."""
    if len(vectors) < 4:
        return np.array([[float(place), 0.0] for place in range(len(vectors))]).reshape(-1, 2)
    size = min(DIMENSIONS, *vectors.shape)
    reduced = PCA(size, svd_solver="full").fit_transform(vectors.astype(np.float64))
    if size == 1:
        reduced = np.hstack([reduced, np.zeros_like(reduced)])  # t-SNE begins from two
    perplexity = min(PERPLEXITY, (len(vectors) - 1) / 3)
    plane = TSNE(2, perplexity=perplexity, init="pca", random_state=0).fit_transform(reduced)
    low, high = plane.min(axis=0), plane.max(axis=0)
    return (
        2 * (plane - low) / np.maximum(high - low, 1e-9) - 1
    )  # its axes mean nothing: both are filled


def actions_of(points: Sequence[Point]) -> tuple[str, ...]:
    """The kinds of action that follow often enough to be announced, the most frequent first."""
    kinds = Counter(point.action for point in points if point.action)
    least = MIN_ACTION_SHARE * len(points)
    return tuple(
        kind for kind, n in sorted(kinds.items(), key=lambda i: (-i[1], i[0])) if n >= least
    )


def add_candidate(store: Store, set_name: str, actor: str, new: NewCandidate) -> Candidate:
    """A new candidate at the end of the set, supported by turns that were picked on the map."""
    return commands.add(store, set_name, new, actor, "picked on the map")


def _corpus(
    store: Store, set_name: str, make: Callable[[], Embedder] | None, report: Report
) -> Corpus:
    asked = fitted.corpus_of(store, set_name, make)
    while (corpus := asked.result(wait=0.2)) is None:
        report(asked.stage)
    return corpus


def _drawn(corpus: Corpus, roster: Roster, report: Report) -> Mapping[str, Any]:
    thoughts = corpus.thoughts
    sources = {trace.id: trace.source for trace in corpus.traces}
    strata = np.array([f"{sources[_trace_of(one)]}\n{one.kind}" for one in thoughts])
    rows = stratified_sample(strata, np.ones(len(thoughts)), MOST_POINTS)
    chosen = [thoughts[row] for row in rows]
    report(f"assigning {len(chosen):,} thoughts")
    ids = [one.id for one in roster.active]
    texts = [one.text for one in roster.active]
    assigned = corpus.assigner.assign(chosen, texts).rows if texts else [None] * len(chosen)
    sayings = [corpus.assigner.general.say(one) for one in chosen]
    places = {saying: place for place, saying in enumerate(dict.fromkeys(sayings))}
    report(f"laying out {len(places):,} different thoughts")
    plane = laid_out(corpus.embedder.embed(list(places)))
    seen = Counter[str]()
    points = []
    for thought, saying, row in zip(chosen, sayings, assigned, strict=True):
        x, y = _beside(plane[places[saying]], seen[saying])
        seen[saying] += 1
        candidate = "" if row is None else ids[row]
        points.append(Point(*_told(thought, x, y), sources[_trace_of(thought)], candidate))
    return {"turns": len(thoughts), "points": points}


def _told(thought: Thought, x: float, y: float) -> tuple[str, float, float, str, str, str]:
    outcome = thought.outcome.value if thought.outcome else "unknown"
    return thought.turn, x, y, thought.text[:TEXT_CHARACTERS], thought.kind or "", outcome


def _beside(place: np.ndarray, number: int) -> list[float]:
    """Place of the `number`-th thought that says the same: on a spiral around the first."""
    angle, radius = GOLDEN_ANGLE * number, SPREAD * number**0.5
    offset = radius * np.array([np.cos(angle), np.sin(angle)])
    return np.round(place.astype(float) + offset, 5).tolist()


def _trace_of(thought: Thought) -> str:
    return thought.turn.rpartition(":")[0]


def _key(store: Store, set_name: str, roster: Roster) -> Hashable:
    texts = tuple((one.id, one.text) for one in roster.active)
    return "map", fitted.basis_of(store, set_name), texts
