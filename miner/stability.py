"""Whether mining finds the same again: to the letter on shuffled rows, and as nearly as it can on other draws of the questions.

Knows how to draw questions and how to hold two sets against each other. What is mined, and how, is mine.py's: mask, groups and
rule are fitted anew on each draw, since they are what may not hold. Knows no store.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from ..data.candidates import Candidate, CandidateSet
from ..data.errors import NothingToDo
from ..data.identity import Split, canonical
from ..data.traces import Trace
from .embed import Embedder
from .mask_rules import MaskRules
from .mine import MinerSettings, Progress, mine, mineable

FOUND_AT = 0.6  # Jaccard of their turns; below it two candidates do not stand for one move
UNASSIGNED = -1
Questions = Mapping[str, Sequence[Trace]]  # the runs of each question, both in canonical order


class Recipe(NamedTuple):
    """How a set was mined: its settings, and the rules it was masked by; as they ship where nothing is said."""

    settings: MinerSettings | None = None
    rules: MaskRules | None = None


class Draws(NamedTuple):
    """How many bootstraps, and their seed."""

    runs: int = 3
    seed: int = 0


class Match(NamedTuple):
    """The candidate of a bootstrap that is most like another: its text, the Jaccard of their turns, the cosine of their texts."""

    text: str
    jaccard: float
    cosine: float


@dataclass(frozen=True)
class Bootstrap:
    """One draw: the texts mined from it, and the `matches` of the candidates asked about, none where nothing could be mined.

    `ari` is the agreement of both assignments on the turns drawn, 1 where they are equal, about 0 by chance.
    """

    texts: tuple[str, ...]
    matches: tuple[Match, ...]
    ari: float


@dataclass(frozen=True)
class Stability:
    """`candidates` are those that turns stand behind. `is_order_free`: shuffled rows give the same set."""

    candidates: tuple[Candidate, ...]
    is_order_free: bool
    bootstraps: tuple[Bootstrap, ...]
    num_questions: int

    def jaccards(self, row: int) -> tuple[float, ...]:
        """Of candidate `row`, in each bootstrap; 0 where nothing was mined."""
        return tuple(run.matches[row].jaccard if run.matches else 0.0 for run in self.bootstraps)

    def is_shaky(self, row: int) -> bool:
        """Whether candidate `row` is, on average, found again in less than FOUND_AT of its turns."""
        return float(np.mean(self.jaccards(row))) < FOUND_AT


def stability(
    candidate_set: CandidateSet,
    traces: Iterable[Trace],
    embedder: Embedder,
    recipe: Recipe | None = None,
    draws: Draws | None = None,
    progress: Progress = lambda step: None,
) -> Stability:
    """Mines `traces` (their *mine* questions) twice in different orders, then as many questions with replacement, draw by draw.

    A candidate is its support; NothingToDo where none has any, or where the traces hold nothing to mine.
    """
    recipe, draws = recipe or Recipe(), draws or Draws()
    questions = _by_question(traces)
    candidates = tuple(one for one in candidate_set.active if one.support)
    if not candidates:
        raise NothingToDo(
            f"no turns stand behind the candidates of {candidate_set.name!r}, so none can be found again; mine a set"
        )
    is_order_free = _is_order_free(questions, embedder, recipe, draws.seed, progress)
    bootstraps = []
    for run in range(draws.runs):
        drawn = resample(questions, np.random.default_rng([draws.seed, run]))
        told = _titled(f"bootstrap {run + 1} of {draws.runs}", progress)
        found = _mine_if_any(drawn, embedder, recipe, told)
        bootstraps.append(_compare(candidates, found, _turns(drawn), embedder))
    return Stability(candidates, is_order_free, tuple(bootstraps), len(questions))


def resample(questions: Questions, rng: np.random.Generator) -> list[Trace]:
    """The runs of as many questions, drawn with replacement.

    A question drawn again counts as one more question: white space, which no id and no split regards, tells them apart.
    """
    names = list(questions)
    counts = Counter(names[row] for row in rng.integers(len(names), size=len(names)).tolist())
    return [
        replace(trace, question=trace.question + " " * copy)
        for name in names
        for copy in range(counts[name])
        for trace in questions[name]
    ]


def _by_question(traces: Iterable[Trace]) -> Questions:
    """*Mine* questions with thoughts; the order of `traces` does not show."""
    found: defaultdict[str, list[Trace]] = defaultdict(list)
    for trace in sorted(traces, key=lambda trace: trace.id):
        if trace.split is Split.MINE and trace.num_thoughts:
            found[canonical(trace.question)].append(trace)
    if not found:
        mineable(())  # says what is missing
    return dict(sorted(found.items()))


def _is_order_free(
    questions: Questions,
    embedder: Embedder,
    recipe: Recipe,
    seed: int,
    progress: Progress,
) -> bool:
    traces = [trace for runs in questions.values() for trace in runs]
    order = np.random.default_rng(seed).permutation(len(traces))
    shuffled = [traces[row] for row in order]
    first = _mine(traces, embedder, recipe, _titled("in order", progress))
    return first == _mine(shuffled, embedder, recipe, _titled("shuffled", progress))


def _mine(
    traces: Sequence[Trace], embedder: Embedder, recipe: Recipe, progress: Progress
) -> CandidateSet:
    return mine(traces, embedder, "again", recipe.settings, progress, recipe.rules).candidate_set


def _mine_if_any(
    traces: Sequence[Trace],
    embedder: Embedder,
    recipe: Recipe,
    progress: Progress,
) -> tuple[Candidate, ...]:
    try:
        return _mine(traces, embedder, recipe, progress).candidates
    except NothingToDo:  # few questions, and none of those drawn says a thing of any question
        return ()


def _turns(traces: Iterable[Trace]) -> list[str]:
    """The turns that mining reads, each once."""
    return list(dict.fromkeys(thought.turn for thought in mineable(traces)))


def _compare(
    candidates: Sequence[Candidate],
    found: Sequence[Candidate],
    turns: Sequence[str],
    embedder: Embedder,
) -> Bootstrap:
    labels = _labels(candidates, turns), _labels(found, turns)
    texts = tuple(candidate.text for candidate in found)
    ari = round(float(adjusted_rand_score(*labels)), 4)
    if not found:
        return Bootstrap((), (), ari)
    jaccard = _jaccard(candidates, found, frozenset(turns))
    vectors = embedder.embed([candidate.text for candidate in candidates])
    cosine = (vectors @ embedder.embed(texts).T).round(4)
    best = [int(np.lexsort((-cosine[row], -jaccard[row]))[0]) for row in range(len(candidates))]
    matches = (
        Match(texts[column], float(jaccard[row, column]), round(float(cosine[row, column]), 4))
        for row, column in enumerate(best)
    )
    return Bootstrap(texts, tuple(matches), ari)


def _labels(candidates: Sequence[Candidate], turns: Sequence[str]) -> np.ndarray:
    """(turns,): the candidate whose support a turn is, UNASSIGNED where it is none's."""
    of = {turn: row for row, candidate in enumerate(candidates) for turn in candidate.support}
    return np.array([of.get(turn, UNASSIGNED) for turn in turns], dtype=int)


def _jaccard(
    candidates: Sequence[Candidate], found: Sequence[Candidate], turns: frozenset[str]
) -> np.ndarray:
    """(candidates, found): of their support among `turns`; 0 where neither has any."""
    before = [turns.intersection(candidate.support) for candidate in candidates]
    after = [turns.intersection(candidate.support) for candidate in found]
    return np.array(
        [[len(one & other) / max(len(one | other), 1) for other in after] for one in before]
    ).round(4)


def _titled(title: str, progress: Progress) -> Progress:
    return lambda step: progress(f"{title}: {step}")
