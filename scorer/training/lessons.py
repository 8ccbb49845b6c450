"""Labelled runs as tokens: what stood there with the labels in the thoughts' places, and where a candidate was to be chosen.

Tokenised piece by piece as an agent writes it (scorer/agent/episode.py): what was said or seen, each candidate alone, each action. Knows no
trace and no rule of labels: it is handed texts.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ...data.errors import NothingToDo
from ..compiled_set import compile_set
from ..model import LanguageModel
from ..trie import Ids
from .objectives import Decision


class TaughtTurn(NamedTuple):
    """A turn's texts: what is new before its thought, the place of its candidate (None: no thought), and its action."""

    before: str
    label: int | None
    action: str


class Lesson(NamedTuple):
    """A run as tokens, and its decisions."""

    trunk: tuple[int, ...]
    decisions: tuple[Decision, ...]


def lessons_of(
    model: LanguageModel,
    candidates: Sequence[str],
    runs: Sequence[Sequence[TaughtTurn]],
    budget: int = 1024,
) -> list[Lesson]:
    """The runs with at least one decision, in order, their last turns left off where they exceed `budget` tokens.

    NothingToDo where none is left.
    """
    ids = compile_set(model, candidates).ids
    lessons = [_lesson(model, ids, run, budget) for run in runs]
    kept = [lesson for lesson in lessons if lesson.decisions]
    if not kept:
        raise NothingToDo(
            f"none of {len(runs)} runs has a labelled turn within {budget} tokens; raise the budget, or label more"
        )
    return kept


def _lesson(
    model: LanguageModel, candidates: Sequence[Ids], run: Sequence[TaughtTurn], budget: int
) -> Lesson:
    trunk: list[int] = []
    decisions: list[Decision] = []
    for turn in run:
        start = len(trunk) + len(before := model.encode(turn.before))
        thought = [*candidates[turn.label], *model.encode("\n")] if turn.label is not None else []
        action = model.encode(turn.action)
        first = start + len(thought)
        if first + len(action) > budget:
            break
        trunk += [*before, *thought, *action]
        if turn.label is not None:
            decisions.append(Decision(start, tuple(candidates), turn.label, (first, len(trunk))))
    return Lesson(tuple(trunk), tuple(decisions))
