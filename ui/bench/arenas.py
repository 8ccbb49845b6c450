"""The arenas of a plan: what it names, read before any model is loaded. Knows no mode."""

from dataclasses import replace

from ...data.candidates import CandidateSet
from ...data.errors import ForethoughtError, NothingToDo
from ...data.identity import Split, split_of
from ...data.store import Store
from . import replaying
from .arena import Arena
from .plan import BenchPlan
from .searching import NOWHERE, BackEnds, arena_of


def arenas_of(
    store: Store, candidate_set: CandidateSet, plan: BenchPlan, ends: BackEnds = NOWHERE
) -> tuple[Arena, ...]:
    """One for each place, in order. ForethoughtError, in one line, for what cannot be played."""
    if not candidate_set.active:
        raise NothingToDo(f"the set {candidate_set.name} has no candidate to select")
    names = [place.name for place in plan.places]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ForethoughtError(
            f"{twice} is named more than once; put its files into one folder, or play them one after the other"
        )
    texts = [candidate.text for candidate in candidate_set.active]
    return tuple(
        replaying.replay_of(store, plan.source, texts, plan.split or Split.TEST)
        if place.name == replaying.NAME
        else _part_of(arena_of(place, ends, plan.seed, plan.prompt), plan.split)
        for place in plan.places
    )


def _part_of(arena: Arena, split: Split | None) -> Arena:
    """With the questions of the split only, the others counted. NothingToDo where it has none."""
    if split is None:
        return arena
    kept = tuple(one for one in arena.questions if split_of(one.text) is split)
    if not kept:
        raise NothingToDo(
            f"{arena.name}: none of its {len(arena.questions)} questions falls to {split}; leave out --split"
        )
    others = {"of another split": len(arena.questions) - len(kept)}
    return replace(arena, questions=kept, left_out={**arena.left_out, **others})
