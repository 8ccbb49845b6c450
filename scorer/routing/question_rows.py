"""Questions with what some arms did on each, as files tell them, and the table of outcomes that they make."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .outcomes import Outcomes, outcomes_of


class Asked(NamedTuple):
    """A question of a table, before what the arms did."""

    id: str
    question: str
    slice: str
    image: str | None


class Cell(NamedTuple):
    """What an arm did; NaN for what is not told."""

    quality: float
    cost: float


NOTHING = Cell(math.nan, math.nan)


class Row(NamedTuple):
    """A question, and the cells of the arms of which anything is told."""

    asked: Asked
    cells: Mapping[str, Cell]


def table_of(
    rows: Sequence[Row], where: str, columns_left_out: tuple[str, ...] = (), cut_off: int = 0
) -> Outcomes:
    """The table of one row or more, its arms in order of their names, so that no figure depends on a file's order of columns."""
    arms = tuple(sorted({arm for row in rows for arm in row.cells}))
    cells = [[row.cells.get(arm, NOTHING) for arm in arms] for row in rows]
    numbers = np.array(cells, dtype=float).reshape(len(rows), len(arms), 2)
    ids, questions, slices, images = zip(*(row.asked for row in rows), strict=True)
    quality, cost = numbers[..., 0], numbers[..., 1]
    return outcomes_of(
        Outcomes(arms, ids, questions, slices, images, quality, cost, 0, columns_left_out, cut_off),
        where,
    )
