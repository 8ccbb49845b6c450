"""The arenas of a plan: what it names, read before any model is loaded. Knows no mode."""

from ...data.candidates import CandidateSet
from ...data.errors import ForethoughtError, NothingToDo
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
        replaying.replay_of(store, plan.source, texts)
        if place.name == replaying.NAME
        else arena_of(place, ends, plan.seed, plan.prompt)
        for place in plan.places
    )
