"""What differs between two versions of a set: a comparison of values, which knows no store."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .candidates import Candidate


class Kinship(NamedTuple):
    """A candidate's id, and the one that came out of it by a merge, a split or as an idea."""

    from_id: str
    to_id: str
    kind: str


class Pair(NamedTuple):
    """One candidate as it stood before and as it stands after."""

    before: Candidate
    after: Candidate


class Merged(NamedTuple):
    """Candidates that are gone, and the one that took them in."""

    survivor: Candidate
    others: tuple[Candidate, ...]


class Divided(NamedTuple):
    """A candidate, and those that were split off it."""

    original: Candidate
    parts: tuple[Candidate, ...]


@dataclass(frozen=True)
class SetDiff:
    """From version `a` of a set to version `b`; rejected candidates are in neither.

    Those in `merged` and `split` are not counted again as `removed` or `added`. `moved` are the fewest candidates
    whose moving explains the new order.
    """

    a: str
    b: str
    added: tuple[Candidate, ...] = ()
    removed: tuple[Candidate, ...] = ()
    reworded: tuple[Pair, ...] = ()
    merged: tuple[Merged, ...] = ()
    split: tuple[Divided, ...] = ()
    status: tuple[Pair, ...] = ()
    moved: tuple[Candidate, ...] = ()
    actions: tuple[Pair, ...] = ()
    unchanged: int = field(default=0)

    @property
    def is_empty(self) -> bool:
        changes = (self.added, self.removed, self.reworded, self.merged, self.split)
        return not any((*changes, self.status, self.moved, self.actions))


class Version(NamedTuple):
    """A version's name and its active candidates in order."""

    name: str
    candidates: Sequence[Candidate]


def compare(a: Version, b: Version, lineage: Iterable[Kinship] = ()) -> SetDiff:
    """`lineage` tells of the candidates that are in one version only which came from which."""
    before = {candidate.id: candidate for candidate in a.candidates}
    after = {candidate.id: candidate for candidate in b.candidates}
    lineage = list(lineage)
    merged = _merged(before, after, lineage)
    divided = _divided(before, after, lineage)
    explained = {c.id for one in merged for c in one.others}
    explained |= {c.id for one in divided for c in one.parts}
    pairs = [Pair(before[id], after[id]) for id in before if id in after]
    return SetDiff(
        a.name,
        b.name,
        added=tuple(c for id, c in after.items() if id not in before and id not in explained),
        removed=tuple(c for id, c in before.items() if id not in after and id not in explained),
        reworded=tuple(pair for pair in pairs if pair.before.text != pair.after.text),
        merged=merged,
        split=divided,
        status=tuple(pair for pair in pairs if pair.before.status != pair.after.status),
        moved=_moved(list(before), [after[id] for id in after if id in before]),
        actions=tuple(
            pair for pair in pairs if pair.before.expected_actions != pair.after.expected_actions
        ),
        unchanged=sum(_same(pair) for pair in pairs),
    )


def _same(pair: Pair) -> bool:
    before, after = pair
    return (before.text, before.status, before.expected_actions) == (
        after.text,
        after.status,
        after.expected_actions,
    )


def _merged(
    before: Mapping[str, Candidate], after: Mapping[str, Candidate], lineage: Sequence[Kinship]
) -> tuple[Merged, ...]:
    into = {kin.from_id: kin.to_id for kin in lineage if kin.kind == "merge"}
    others: dict[str, list[Candidate]] = {}
    for id, candidate in before.items():
        survivor = _followed(id, into, after)
        if id not in after and survivor is not None:
            others.setdefault(survivor, []).append(candidate)
    return tuple(Merged(after[id], tuple(gone)) for id, gone in others.items())


def _followed(id: str, into: Mapping[str, str], after: Mapping[str, Candidate]) -> str | None:
    """Who took the candidate in, over several merges."""
    seen = {id}
    while (survivor := into.get(id)) is not None and survivor not in seen:
        if survivor in after:
            return survivor
        seen.add(survivor)
        id = survivor
    return None


def _divided(
    before: Mapping[str, Candidate], after: Mapping[str, Candidate], lineage: Sequence[Kinship]
) -> tuple[Divided, ...]:
    parts: dict[str, list[Candidate]] = {}
    for kin in lineage:
        if (
            kin.kind == "split"
            and kin.from_id in before
            and kin.to_id in after.keys() - before.keys()
        ):
            parts.setdefault(kin.from_id, []).append(after[kin.to_id])
    return tuple(Divided(before[id], tuple(split_off)) for id, split_off in parts.items())


def _moved(old_order: Sequence[str], common: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """All but a longest run of candidates that kept their order."""
    places = {id: place for place, id in enumerate(old_order)}
    ends: list[int] = []  # of the best run of each length, its last place ...
    last: list[int] = []  # ... and its last index in `common`
    back: list[int] = []  # the index before it in its run
    for index, candidate in enumerate(common):
        place = places[candidate.id]
        length = bisect_left(ends, place)
        ends[length:] = [place, *ends[length + 1 :]]
        back.append(last[length - 1] if length else -1)
        last[length:] = [index, *last[length + 1 :]]
    kept, index = set(), last[-1] if last else -1
    while index >= 0:
        kept.add(index)
        index = back[index]
    return tuple(candidate for index, candidate in enumerate(common) if index not in kept)
