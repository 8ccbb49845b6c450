"""One decision replayed: every candidate's score after a context, which one is taken, and a free thought beside it.

Imports no interface and loads no model: one is handed in. Turns come from questions that nothing was mined from.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from ..data.candidates import CandidateSet
from ..data.errors import NothingToDo
from ..data.identity import Split, split_of
from ..data.render import CLOSING, OPENING, render_action, render_context, worked_example
from ..data.store import Store
from ..data.text_search import ThoughtFilter
from ..data.traces import kind_of
from ..scorer.context import Context
from ..scorer.generate import Decoding, decode
from ..scorer.latency import recorded_length
from ..scorer.model import LanguageModel
from .score_options import ScoreOptions
from .scoring import score_with_store
from .wiring import token_counter

SEARCHED = 400  # turns of the store that a search looks at
LISTED = 60  # of them, held out, that can be chosen
MOST_TOKENS = 120  # of a thought that is generated to look at


class HeldOut(NamedTuple):
    """A turn that nothing was mined from, as a list shows it."""

    trace_id: str
    turn: int
    thought: str
    question: str
    split: Split


@dataclass(frozen=True)
class Situation:
    """What a model decides after: the context's text; of a recorded turn also its thought, its action and that one's kind."""

    context: str
    thought: str = ""
    action: str = ""
    kind: str | None = None


class Scored(NamedTuple):
    """A candidate after the context. `announces` are the kinds of action it stands for."""

    id: str
    text: str
    score: float
    probability: float
    tokens: int
    announces: tuple[str, ...]
    is_taken: bool


@dataclass(frozen=True)
class Played:
    """All candidates, the likeliest first. `gap` is the margin over the second; `milliseconds` by part, the context's `prefill` apart.

    `read_tokens` are read to select; `recorded_tokens` those of the recorded thought, delimiters included.
    """

    candidates: tuple[Scored, ...]
    gap: float | None
    is_stable: bool
    milliseconds: Mapping[str, float]
    context_tokens: int
    read_tokens: int
    recorded_tokens: int | None
    warnings: tuple[str, ...]
    model: str

    @property
    def taken(self) -> Scored:
        return next(one for one in self.candidates if one.is_taken)

    @property
    def select_milliseconds(self) -> float:
        """From the context's last logits to the choice."""
        parts = ("score", "select", "premise")
        return sum(self.milliseconds.get(part, 0.0) for part in parts)


@dataclass(frozen=True)
class FreeThought:
    """What the model thinks by itself after the context; `is_complete` unless it was cut off."""

    text: str
    tokens: int
    milliseconds: float
    is_complete: bool


def find_turns(store: Store, query: str, split: Split | None = None) -> list[HeldOut]:
    """Turns with one thought of *choose* and *test* questions, among the first that the search finds."""
    found = store.thoughts_page(ThoughtFilter(query), limit=SEARCHED).thoughts
    turns = [
        HeldOut(one.trace_id, one.turn, one.text, one.question, split_of(one.question))
        for one in found
    ]
    wanted = (Split.CHOOSE, Split.TEST) if split is None else (split,)
    return [turn for turn in turns if turn.split in wanted][:LISTED]


def situation_of(store: Store, turn: HeldOut, model: LanguageModel) -> Situation:
    """The turn as an audit renders it: a worked example of its source before it, under the model's token budget."""
    trace = store.trace(turn.trace_id)
    context = render_context(trace, turn.turn, count_tokens=token_counter(model))
    action = trace.turns[turn.turn].actions[0] if trace.turns[turn.turn].actions else None
    return Situation(
        context=_example(store, trace.source, store.counts().traces) + context,
        thought="\n".join(trace.turns[turn.turn].thoughts),
        action=render_action(action).text if action else "",
        kind=action.kind if action else None,
    )


def play(
    store: Store,
    candidate_set: CandidateSet,
    situation: Situation,
    model: LanguageModel,
    options: ScoreOptions,
) -> Played:
    """Every active candidate after the situation; NothingToDo for a context that is empty."""
    if not situation.context.strip():
        raise NothingToDo("the context is empty; choose a turn or paste one")
    found = score_with_store(store, candidate_set, situation.context, model, options)
    announced = {c.id: c.expected_actions for c in candidate_set.active}
    candidates = [_scored(row, announced, found["selected"]) for row in found["candidates"]]
    return Played(
        candidates=tuple(sorted(candidates, key=lambda one: (-one.score, not one.is_taken))),
        gap=found["gap"],
        is_stable=found["stable"],
        milliseconds=found["milliseconds"],
        context_tokens=found["context_tokens"],
        read_tokens=sum(one.tokens for one in candidates),
        recorded_tokens=recorded_length(model, situation.thought) if situation.thought else None,
        warnings=tuple(found["warnings"]),
        model=found["model"],
    )


def think(context: str, model: LanguageModel) -> FreeThought:
    """The model's own thought after the context, greedily; the context's prefill is not timed."""
    ids = model.encode(context + OPENING)
    prefilled = Context(model, ids, capacity=len(ids) + MOST_TOKENS)
    prefilled.logits()
    started = time.perf_counter()
    decoded = decode(prefilled, Decoding(tokens=MOST_TOKENS))
    spent = 1000 * (time.perf_counter() - started)
    text = decoded.text.partition(CLOSING)[0]
    return FreeThought(text, len(decoded.ids), spent, decoded.is_complete)


def agrees(candidate: Scored, kind: str | None) -> bool | None:
    """Whether the candidate announces the kind of action that was taken; None where either is not known."""
    if kind is None or not candidate.announces:
        return None
    return kind_of(kind) in {kind_of(name) for name in candidate.announces}


def _scored(
    row: Mapping[str, Any], announced: Mapping[str, tuple[str, ...]], selected: str
) -> Scored:
    id = row["id"]
    return Scored(
        id=id,
        text=row["text"],
        score=row["score"],
        probability=row["probability"],
        tokens=row["tokens"],
        announces=announced[id],
        is_taken=id == selected,
    )


@lru_cache(maxsize=8)
def _example(store: Store, source: str, num_traces: int) -> str:
    """The source's worked example; the same as long as no trace joins the store."""
    return worked_example(store.traces(source))
