"""The lint as a service: what is wrong with a set's texts, each by itself, among the others and against its sources.

Of a set beside its traces the tools and the words of its sources are known; without traces both are told by their form.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..data.candidates import Candidate, CandidateSet
from ..data.errors import NothingToDo
from ..data.store import Store
from ..data.traces import Trace
from ..miner.embed import Embedder
from ..miner.lint import LintSettings, Problem, Severity, is_blocked, lint_set, names
from ..miner.mask import Mask
from ..miner.mine import mineable
from ..miner.thoughts import Thought
from ..miner.vectors import usable
from .masking import rules_of

T = TypeVar("T")
Json = dict[str, Any]
FEWEST_QUESTIONS = 5  # whose thought a candidate should be, or it is marked


@dataclass(frozen=True)
class Linted:
    """A candidate and what is wrong with it; `leaked` are its words out of its sources, None where no source is known."""

    id: str
    text: str
    problems: tuple[Problem, ...]
    leaked: tuple[str, ...] | None = None

    @property
    def is_blocked(self) -> bool:
        return is_blocked(self.problems)


def lint_candidates(
    candidate_set: CandidateSet, settings: LintSettings, embedder: Embedder
) -> list[Linted]:
    """Every active candidate of the set, in its order."""
    active = candidate_set.active
    if not active:
        return []
    texts = [candidate.text for candidate in active]
    found = lint_set(texts, settings, _similarity(embedder.embed(texts)))
    return [
        Linted(one.id, one.text, (*problems, *_rarity(one)))
        for one, problems in zip(active, found, strict=True)
    ]


def _rarity(candidate: Candidate) -> tuple[Problem, ...]:
    """A mark for what few questions need; nothing for what was written and not mined."""
    if not candidate.support or candidate.questions >= FEWEST_QUESTIONS:
        return ()
    counted = "one question" if candidate.questions == 1 else f"{candidate.questions} questions"
    return (Problem("rarely-used", f"is the thought of {counted} only", Severity.FLAG),)


def lint_stored(
    candidate_set: CandidateSet, store: Store | None, embedder: Embedder
) -> list[Linted]:
    """The same, held against the traces that the set was mined from, or else all that the store has.

    A word that a candidate has from its sources (`Mask.leakage`) blocks it; one that hardly any thought uses is a flag.
    """
    traces = _traces(candidate_set, store) if store else []
    tools = tools_of(traces)
    try:
        thoughts = mineable(traces)
    except NothingToDo:
        return lint_candidates(candidate_set, LintSettings(tools), embedder)
    mask = Mask.fit(thoughts, rules_of(candidate_set))
    leaked = _leaked(candidate_set, thoughts, mask)

    def leaks(text: str) -> list[str]:
        return [*(leaked[text] or ()), *names(text)]

    def rare(text: str) -> list[str]:
        known = set(leaks(text))
        return [word for word in mask.leaked_words(text) if word not in known]

    settings = LintSettings(tools, leaks=leaks, rare=rare)
    found = lint_candidates(candidate_set, settings, embedder)
    return [replace(one, leaked=leaked[one.text]) for one in found]


def tools_of(traces: Iterable[Trace]) -> frozenset[str]:
    """What the traces call their tools: names, and kinds of action."""
    actions = (action for trace in traces for turn in trace.turns for action in turn.actions)
    return frozenset(name for action in actions for name in (action.name, action.kind))


class Unblocked(NamedTuple, Generic[T]):
    """What was made at last, and the texts that the lint kept out of it."""

    made: T
    refused: tuple[Linted, ...]


def without_blocked(
    make: Callable[[tuple[str, ...]], T], lint: Callable[[T], Sequence[Linted]]
) -> Unblocked[T]:
    """Makes a thing without the texts given to `make`, anew as long as `lint` finds a blocked text in it."""
    refused: tuple[Linted, ...] = ()
    while True:
        made = make(tuple(one.text for one in refused))
        blocked = tuple(one for one in lint(made) if one.is_blocked)
        if not blocked:
            return Unblocked(made, refused)
        refused += blocked


def problems_json(found: Iterable[Linted]) -> list[Json]:
    """A row for each problem, as manifests and `--json` carry flags."""
    return [
        {
            "id": one.id,
            "text": one.text,
            "rule": problem.rule,
            "problem": problem.message,
            "severity": problem.severity.value,
        }
        for one in found
        for problem in one.problems
    ]


def lint_json(candidate_set: CandidateSet, found: Sequence[Linted]) -> Json:
    """As `lint --json` prints it."""
    return {
        "set": candidate_set.name,
        "ok": not any(one.is_blocked for one in found),
        "candidates": [
            {
                "id": one.id,
                "text": one.text,
                "blocked": one.is_blocked,
                "problems": [
                    {"rule": p.rule, "problem": p.message, "severity": p.severity.value}
                    for p in one.problems
                ],
                "leaked": None if one.leaked is None else list(one.leaked),
            }
            for one in found
        ],
    }


def _traces(candidate_set: CandidateSet, store: Store) -> list[Trace]:
    source = candidate_set.manifest.get("source")
    return list(store.traces(str(source) if source in store.sources() else None))


def _leaked(
    candidate_set: CandidateSet, thoughts: Sequence[Thought], mask: Mask
) -> dict[str, tuple[str, ...] | None]:
    """By text, the words that come from the thoughts it was mined from; None where none of them is here."""
    by_turn = {thought.turn: thought for thought in thoughts}
    leaked: dict[str, tuple[str, ...] | None] = {}
    for one in candidate_set.active:
        sources = [by_turn[turn] for turn in one.support if turn in by_turn]
        leaked[one.text] = mask.leakage(one.text, sources) if sources else None
    return leaked


def _similarity(vectors: np.ndarray) -> np.ndarray:
    """(texts, texts) cosines; what has no vector is near to nothing."""
    vectors = np.where(usable(vectors)[:, None], vectors, 0)
    return vectors @ vectors.T
