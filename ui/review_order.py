"""In which order candidates are reviewed: the set's own, what matters most first, or what is most doubtful first."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from ..data.candidates import Status
from .likeness import NEAR_AT, Vectors
from .roster import Roster


class Order(StrEnum):
    POSITION = "set's order"
    IMPACT = "impact"
    DOUBT = "doubt"


def ordered(roster: Roster, order: Order, doubts: Mapping[str, float]) -> list[str]:
    """The ids of all candidates; of equals the set's order counts. Impact is how many turns stand behind one."""
    ids = [one.id for one in roster.candidates]
    if order is Order.IMPACT:
        return sorted(ids, key=lambda id: -roster.by_id[id].num_support)
    if order is Order.DOUBT:
        return sorted(ids, key=lambda id: -doubts.get(id, 0.0))
    return ids


def doubts_of(
    roster: Roster,
    problems: Callable[[str], Sequence[str]],
    vectors: Vectors | None,
    contested: Mapping[str, float],
) -> dict[str, float]:
    """By id: one for each thing that the lint has against the text, up to one for a near twin, and up to one for turns
    that another candidate would take nearly as well (`contested`: their share by id)."""
    twins = _nearness(vectors) if vectors is not None else {}
    return {
        one.id: len(problems(one.text)) + twins.get(one.id, 0.0) + contested.get(one.id, 0.0)
        for one in roster.candidates
    }


def next_to_review(roster: Roster, ids: Sequence[str], after: str | None) -> str | None:
    """The next proposed candidate of `ids` behind `after`, from the start again at the end."""
    start = ids.index(after) + 1 if after in ids else 0
    for id in (*ids[start:], *ids[:start]):
        if roster.by_id[id].status is Status.PROPOSED:
            return id
    return None


def _nearness(vectors: Vectors) -> dict[str, float]:
    """By id, 0 where the nearest other is no nearer than NEAR_AT, 1 where it is the same."""
    if len(vectors.ids) < 2:
        return {}
    found = {}
    for place, (id, row) in enumerate(zip(vectors.ids, vectors.rows, strict=True)):
        cosine = vectors.rows @ row
        cosine[place] = -1.0
        found[id] = max(0.0, (float(cosine.max()) - NEAR_AT) / (1 - NEAR_AT))
    return found
