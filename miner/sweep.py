"""What a set becomes as one setting moves and the others stay: where a small step changes how much is mined, a cliff is told.

Knows the settings that choosing goes by; the stages before it do not depend on them and are run once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..data.traces import Trace
from .embed import Embedder
from .mine import MinerSettings, Progress, mine
from .stability import Recipe

CLIFF = 0.5  # a step that leaves less than this share of the candidates, or came from less
STEPS: Mapping[str, Sequence[float]] = {  # no step of a budget is as large as a cliff
    "budget": (4, 6, 8, 12, 16, 24, 32),
    "max_similarity": (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9),
    "max_overlap": (0.8, 0.85, 0.9, 0.95, 0.99),
    "min_group_share": (0.01, 0.02, 0.05, 0.1, 0.2),
}


class Point(NamedTuple):
    """One value of a setting and the set that it gives: its size, and as shares what it covers and what is assigned."""

    value: float
    num_candidates: int
    coverage: float
    assigned: float


@dataclass(frozen=True)
class Sweep:
    """One setting, its `points` by value; `own` is the value that the others were swept around."""

    setting: str
    own: float
    points: tuple[Point, ...]

    @property
    def cliffs(self) -> tuple[tuple[float, float], ...]:
        """Neighbouring values of which one gives less than CLIFF of the other's candidates."""
        return tuple(
            (before.value, after.value)
            for before, after in pairwise(self.points)
            if min(before.num_candidates, after.num_candidates)
            < CLIFF * max(before.num_candidates, after.num_candidates)
        )


def sweep(
    traces: Sequence[Trace],
    embedder: Embedder,
    recipe: Recipe | None = None,
    progress: Progress = lambda step: None,
) -> tuple[Sweep, ...]:
    """Mines `traces` with every value of STEPS, and the `recipe`'s own, a setting at a time; NothingToDo where nothing can be mined."""
    recipe = recipe or Recipe()
    with TemporaryDirectory(prefix="forethought-sweep-") as folder:
        settings = replace(recipe.settings or MinerSettings(), resume=Path(folder))
        kept = Recipe(settings, recipe.rules)
        return tuple(_sweep_one(name, traces, embedder, kept, progress) for name in STEPS)


def _sweep_one(
    name: str,
    traces: Sequence[Trace],
    embedder: Embedder,
    recipe: Recipe,
    progress: Progress,
) -> Sweep:
    settings = recipe.settings or MinerSettings()
    own = getattr(settings, name)
    points = []
    for value in sorted({*STEPS[name], own}):
        progress(f"{name} {value}")
        wanted = replace(settings, **{name: value})
        made = mine(traces, embedder, "sweep", wanted, rules=recipe.rules)
        size = len(made.candidate_set.candidates)
        covered = round(made.coverage[-1], 4) if made.coverage else 0.0
        points.append(Point(value, size, covered, round(made.assigned_share, 4)))
    return Sweep(name, own, tuple(points))
