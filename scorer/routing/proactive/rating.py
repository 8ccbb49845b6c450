"""A rating: a small candidate set that says how likely success is, scored where a thought would stand and never written down.

PRP has a model generate one or two rating tokens. Here the levels are sentences, scored like any set after a context that is computed
anyway, so a rating costs no second prefill and no decoding step. Knows no outcome and no route.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from ...agent.session import Scores, Session
from ...compiled_set import CompiledSet, compile_set
from ...model import LanguageModel
from ...plain import totals
from ...score import Scored
from ...selection import select

INSIDE = 0.24  # of a level's width, to either side, that its probability moves a rating: buckets stay apart, those of a difference of two, too


@dataclass(frozen=True)
class Scale:
    """Levels of one chance, from the worst to the best: two or more sentences."""

    levels: tuple[str, ...]

    def compiled(self, model: LanguageModel) -> CompiledSet:
        return compile_set(model, self.levels)


OWN = Scale(("I cannot do this as I am.", "I can do this as I am."))
JOINT = Scale(("More thinking would not do this.", "More thinking would do this."))


class Rating(NamedTuple):
    """The likeliest level of a scale, by its place, and every level's probability given that one of them is said.

    `log_odds` are of that level against all others: they go on telling where a probability is 1 to rounding.
    """

    level: int
    chances: tuple[float, ...]
    log_odds: float

    @classmethod
    def of(cls, sums: np.ndarray) -> "Rating":
        """From summed log-probabilities (levels,), in nats."""
        found = select(sums)
        others = np.delete(sums, found.selected)
        odds = float(sums[found.selected] - np.logaddexp.reduce(others))
        return cls(found.selected, tuple(found.probabilities.tolist()), odds)

    @property
    def value(self) -> float:
        """Grows with the chance of success: the level, and inside it the model's own probability of that level.

        A level of the lower half is worse the surer the model is of it. The probability enters by its odds, squeezed, which orders
        ratings in the same way.
        """
        is_high = 2 * self.level >= len(self.chances) - 1
        sure = self.log_odds / (1 + abs(self.log_odds))  # -1..1
        return self.level + INSIDE * (sure if is_high else -sure)


class Rated(NamedTuple):
    """A rating of each scale, and how many tokens the model was given for them (None: an engine does not tell)."""

    ratings: tuple[Rating, ...]
    forwarded: int | None


def rate(session: Session, scales: Sequence[Scale]) -> Rated:
    """All scales in one pass after a settled session, which stays as it is."""
    state = session.length, session.computed
    assert session.computed == session.length, "a rating follows what is computed anyway"
    sets = [scale.compiled(session.model) for scale in scales]
    sequences = [ids for one in sets for ids in one.ids]
    scored = session.score(sequences)
    assert (session.length, session.computed) == state, "a rating leaves no token behind"
    sums = iter(totals(scored.log_probs))
    ratings = tuple(Rating.of(np.array([*islice(sums, len(one.ids))])) for one in sets)
    return Rated(ratings, _forwarded(scored, sum(map(len, sequences))))


def _forwarded(scored: Scores, most: int) -> int | None:
    if not isinstance(scored, Scored):
        return None
    rows = sum(run.nodes_run for run in scored.runs)
    assert rows <= most, f"{rows} tokens were forwarded for ratings of {most}"
    return rows
