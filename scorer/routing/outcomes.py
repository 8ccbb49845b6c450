"""What each arm did on each question: the table that utility routing is trained and tested on.

An arm is a model, a candidate set or a mode. Letters: Q questions, A arms. Knows no file and no router.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...data.errors import ForethoughtError
from ...data.identity import Split, split_of

MOST_COST = 1e30  # sums of dearer ones have no end


class InvalidRoutingTable(ForethoughtError):
    """A table of outcomes that no router can be trained, tested or asked with: what is wrong with it, and where."""


@dataclass(frozen=True)
class Outcomes:
    """`quality` (0..1) and `cost` (in whatever unit the table has), (Q, A) each, both NaN in a cell that is missing.

    A missing cell is an arm that is not available for that question. Each question has one available arm at least, and
    each arm one question; `left_out` counts rows in which no arm was. `images` are names of pictures, None without one.
    `columns_left_out` tell an arm's quality without its cost, or the other way round; `cut_off` counts broken last lines.
    """

    arms: tuple[str, ...]
    ids: tuple[str, ...]
    questions: tuple[str, ...]
    slices: tuple[str, ...]
    images: tuple[str | None, ...]
    quality: np.ndarray
    cost: np.ndarray
    left_out: int = 0
    columns_left_out: tuple[str, ...] = ()
    cut_off: int = 0

    @property
    def available(self) -> np.ndarray:
        """(Q, A) bool."""
        return ~np.isnan(self.quality)

    @property
    def arm_costs(self) -> np.ndarray:
        """(A,): what each arm costs on average."""
        return np.nanmean(self.cost, axis=0)

    def rows(self, chosen: np.ndarray) -> "Outcomes":
        """The questions `chosen` (Q,) bool."""
        places = np.flatnonzero(chosen)
        return replace(
            self,
            ids=tuple(self.ids[place] for place in places),
            questions=tuple(self.questions[place] for place in places),
            slices=tuple(self.slices[place] for place in places),
            images=tuple(self.images[place] for place in places),
            quality=self.quality[places],
            cost=self.cost[places],
        )

    def with_arms(self, arms: Sequence[str]) -> "Outcomes":
        """These arms in this order, each once; questions that none of them answered are left out."""
        named = tuple(dict.fromkeys(arms))
        unknown = [arm for arm in named if arm not in self.arms]
        if unknown:
            raise InvalidRoutingTable(
                f"{', '.join(unknown)}: no such arm; the table has {', '.join(self.arms)}"
            )
        columns = [self.arms.index(arm) for arm in named]
        fewer = replace(
            self, arms=named, quality=self.quality[:, columns], cost=self.cost[:, columns]
        )
        return _checked(fewer, "the table")

    def between(self, arms: Sequence[str]) -> "Outcomes":
        """`with_arms` in the table's own order, so that no figure depends on the order in which a user names them."""
        unknown = [arm for arm in arms if arm not in self.arms]
        return self.with_arms([*(arm for arm in self.arms if arm in arms), *unknown])

    def in_split(self, split: Split) -> np.ndarray:
        """(Q,) bool, by the hash of the question, so that one question is never in two splits."""
        return np.array([split_of(question) is split for question in self.questions], dtype=bool)


def outcomes_of(table: Outcomes, where: str) -> Outcomes:
    """`table`, checked, half cells made missing, rows without an available arm left out and counted.

    `where` it comes from is said in the error. InvalidRoutingTable for fewer than two arms, arms without a name or with another's,
    for ids that stand twice, for qualities outside 0..1, costs outside 0..MOST_COST, and for an arm without a single cell.
    """
    if twice := _twice(table.ids):
        raise InvalidRoutingTable(f"{where}: the id {twice!r} stands twice; give each row its own")
    if twice := _twice(table.arms):
        raise InvalidRoutingTable(
            f"{where}: the arm {twice!r} stands twice; give each its own name"
        )
    if not all(arm.strip() for arm in table.arms):
        raise InvalidRoutingTable(f"{where}: an arm has no name; give it one")
    missing = np.isnan(table.quality) | np.isnan(table.cost)
    whole = replace(
        table,
        quality=np.where(missing, np.nan, table.quality),
        cost=np.where(missing, np.nan, table.cost),
    )
    return _checked(whole, where)


def require_cells(
    quality: np.ndarray, cost: np.ndarray, ids: Sequence[str], arms: Sequence[str], where: str
) -> None:
    """InvalidRoutingTable for the first of the cells (Q, A) of these `ids` and `arms` that is neither missing nor in bounds."""
    with np.errstate(invalid="ignore"):
        within = (quality >= 0) & (quality <= 1) & (cost >= 0) & (cost <= MOST_COST)
    outside = np.argwhere(~within & ~(np.isnan(quality) & np.isnan(cost)))
    if len(outside):
        row, arm = outside[0]
        raise InvalidRoutingTable(
            f"{where}: {ids[row]}, {arms[arm]}: quality {quality[row, arm]:g} and cost {cost[row, arm]:g};"
            f" a quality is 0 to 1, a cost a number from 0 to {MOST_COST:g}"
        )


def _twice(names: Sequence[str]) -> str | None:
    """The first that stands there more than once."""
    counts = Counter(names)
    return next((name for name in counts if counts[name] > 1), None)


def _checked(table: Outcomes, where: str) -> Outcomes:
    if len(table.arms) < 2:
        told = ", ".join(table.arms) or "none"
        left = "; no whole arm: " + ", ".join(table.columns_left_out)
        raise InvalidRoutingTable(
            f"{where}: routing needs two arms or more, and it has {told}{left if table.columns_left_out else ''}"
        )
    require_cells(table.quality, table.cost, table.ids, table.arms, where)
    kept = table.rows(np.asarray(table.available.any(axis=1)))
    kept = replace(kept, left_out=table.left_out + len(table.ids) - len(kept.ids))
    if not kept.ids:
        raise InvalidRoutingTable(f"{where}: no arm is available for any question")
    idle = [
        arm
        for arm, used in zip(kept.arms, np.asarray(kept.available.any(axis=0)), strict=True)
        if not used
    ]
    if idle:
        raise InvalidRoutingTable(
            f"{where}: {', '.join(idle)} has not one quality with its cost; leave the arm out"
        )
    return kept
