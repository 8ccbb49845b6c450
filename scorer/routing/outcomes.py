"""What each arm did on each question: the table that utility routing is trained and tested on.

An arm is a model, a candidate set or a mode. Letters: Q questions, A arms. Knows no file and no router.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...data.errors import ForethoughtError
from ...data.identity import Split, split_of


class InvalidRoutingTable(ForethoughtError):
    """A table of outcomes that no router can be trained, tested or asked with: what is wrong with it, and where."""


@dataclass(frozen=True)
class Outcomes:
    """`quality` (0..1) and `cost` (in whatever unit the table has), (Q, A) each, both NaN in a cell that is missing.

    A missing cell is an arm that is not available for that question. Each question has one available arm at least, and
    each arm one question; `left_out` counts rows in which no arm was. `images` are names of pictures, None without one.
    """

    arms: tuple[str, ...]
    ids: tuple[str, ...]
    questions: tuple[str, ...]
    slices: tuple[str, ...]
    images: tuple[str | None, ...]
    quality: np.ndarray
    cost: np.ndarray
    left_out: int = 0

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
        """These arms in this order; questions that none of them answered are left out."""
        unknown = [arm for arm in arms if arm not in self.arms]
        if unknown:
            raise InvalidRoutingTable(
                f"{', '.join(unknown)}: no such arm; the table has {', '.join(self.arms)}"
            )
        columns = [self.arms.index(arm) for arm in arms]
        fewer = replace(
            self, arms=tuple(arms), quality=self.quality[:, columns], cost=self.cost[:, columns]
        )
        return _checked(fewer, "the table")

    def in_split(self, split: Split) -> np.ndarray:
        """(Q,) bool, by the hash of the question, so that one question is never in two splits."""
        return np.array([split_of(question) is split for question in self.questions], dtype=bool)


def outcomes_of(table: Outcomes, where: str) -> Outcomes:
    """`table`, checked, half cells made missing, rows without an available arm left out and counted.

    `where` it comes from is said in the error. InvalidRoutingTable for fewer than two arms, for ids that stand twice, for
    qualities outside 0..1, costs below 0, and for an arm without a single cell.
    """
    seen: set[str] = set()
    for id in table.ids:
        if id in seen:
            raise InvalidRoutingTable(f"{where}: the id {id!r} stands twice; give each row its own")
        seen.add(id)
    missing = np.isnan(table.quality) | np.isnan(table.cost)
    whole = replace(
        table,
        quality=np.where(missing, np.nan, table.quality),
        cost=np.where(missing, np.nan, table.cost),
    )
    return _checked(whole, where)


def _checked(table: Outcomes, where: str) -> Outcomes:
    if len(table.arms) < 2:
        told = ", ".join(table.arms) or "none"
        raise InvalidRoutingTable(f"{where}: routing needs two arms or more, and it has {told}")
    with np.errstate(invalid="ignore"):
        outside = np.argwhere(
            (table.quality < 0)
            | (table.quality > 1)
            | ~(np.nan_to_num(table.cost) >= 0)
            | np.isinf(table.cost)
        )
    if len(outside):
        row, arm = outside[0]
        raise InvalidRoutingTable(
            f"{where}: {table.ids[row]}, {table.arms[arm]}: quality {table.quality[row, arm]:g} and cost {table.cost[row, arm]:g};"
            " a quality is 0 to 1, a cost a number from 0 on"
        )
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
