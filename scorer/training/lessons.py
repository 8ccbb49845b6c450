"""Runs as tokens, to be taught: with labels in the thoughts' places, where a candidate was to be chosen; or with their own thoughts.

Tokenised piece by piece as an agent writes it (scorer/agent/episode.py): what was said or seen, each thought alone, each action. Knows no
trace and no rule of labels: it is handed texts.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from ...data.errors import NothingToDo
from ..compiled_set import compile_set
from ..model import LanguageModel
from ..trie import Ids
from .objectives import Decision, SftLoss, Spelled, sft_loss, thinking_loss
from .packing import Span


class TaughtTurn(NamedTuple):
    """A turn's texts: what is new before its thought, the place of its candidate (None: none fits), its action, and the thought it had."""

    before: str
    label: int | None
    action: str
    thought: str = ""


class Lesson(Protocol):
    """A run as tokens, and its turns that have a thought to be taught."""

    @property
    def trunk(self) -> tuple[int, ...]: ...

    @property
    def decisions(self) -> Sequence[Any]: ...

    def loss(self, network: Any, weight: float, alpha: float, tau: float) -> SftLoss:
        """Of the run, with gradients."""
        ...


class SelectingLesson(NamedTuple):
    """Each thought is a decision over the set: SSR's objective."""

    trunk: tuple[int, ...]
    decisions: tuple[Decision, ...]

    def loss(self, network: Any, weight: float, alpha: float, tau: float) -> SftLoss:
        return sft_loss(network, self.trunk, self.decisions, weight, alpha, tau)


class ThinkingLesson(NamedTuple):
    """Each thought is tokens, like the actions."""

    trunk: tuple[int, ...]
    decisions: tuple[Spelled, ...]

    def loss(self, network: Any, weight: float, alpha: float, tau: float) -> SftLoss:
        return thinking_loss(network, self.trunk, self.decisions, weight)


class _Placed(NamedTuple):
    """Where in a trunk a turn's thought and action stand."""

    turn: TaughtTurn
    thought: Span
    action: Span


def selecting_lessons(
    model: LanguageModel,
    candidates: Sequence[str],
    runs: Sequence[Sequence[TaughtTurn]],
    budget: int = 1024,
) -> list[SelectingLesson]:
    """The runs with at least one label, in order, their last turns left off where they exceed `budget` tokens.

    NothingToDo where none is left.
    """
    ids = compile_set(model, candidates).ids

    def thought(turn: TaughtTurn) -> Ids:
        return () if turn.label is None else ids[turn.label]

    def decision(placed: _Placed) -> Decision:
        assert placed.turn.label is not None
        return Decision(placed.thought[0], tuple(ids), placed.turn.label, placed.action)

    return [
        SelectingLesson(trunk, tuple(map(decision, placed)))
        for trunk, placed in _laid_out(model, runs, thought, budget)
    ]


def thinking_lessons(
    model: LanguageModel, runs: Sequence[Sequence[TaughtTurn]], budget: int = 1024
) -> list[ThinkingLesson]:
    """The runs with at least one label, with every thought they had; cut and refused as `selecting_lessons` does."""

    def thought(turn: TaughtTurn) -> Ids:
        return tuple(model.encode(turn.thought))

    labelled = [run for run in runs if any(turn.label is not None for turn in run)]
    return [
        ThinkingLesson(trunk, tuple(Spelled(one.thought, one.action) for one in placed))
        for trunk, placed in _laid_out(model, labelled, thought, budget)
    ]


class _Laid(NamedTuple):
    trunk: tuple[int, ...]
    placed: list[_Placed]


def _laid_out(
    model: LanguageModel,
    runs: Sequence[Sequence[TaughtTurn]],
    thought_of: Callable[[TaughtTurn], Ids],
    budget: int,
) -> list[_Laid]:
    """The runs in which some thought is taught within the budget."""
    laid = [found for run in runs if (found := _run(model, run, thought_of, budget)).placed]
    if not laid:
        raise NothingToDo(
            f"none of {len(runs)} runs has a labelled turn within {budget} tokens; raise the budget, or label more"
        )
    return laid


def _run(
    model: LanguageModel,
    run: Sequence[TaughtTurn],
    thought_of: Callable[[TaughtTurn], Ids],
    budget: int,
) -> _Laid:
    trunk: list[int] = []
    placed: list[_Placed] = []
    for turn in run:
        before, thought, action = (
            model.encode(turn.before),
            thought_of(turn),
            model.encode(turn.action),
        )
        start = len(trunk) + len(before)
        end = [*thought, *model.encode("\n")] if thought else []
        first = start + len(end)
        if first + len(action) > budget:
            break
        trunk += [*before, *end, *action]
        if thought:
            placed.append(_Placed(turn, (start, start + len(thought)), (first, len(trunk))))
    return _Laid(tuple(trunk), placed)
