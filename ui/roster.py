"""A set as it lies before a person: every candidate without its turns, read again only after a command has changed the set."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ..data.activity import last_command
from ..data.candidates import Status
from ..data.listing import ListedCandidate
from ..data.store import Store

EVERY = 1_000_000  # candidates: more than any set has


@dataclass(frozen=True)
class Roster:
    """The members of a set in its order, as they were after its command number `state`."""

    candidates: tuple[ListedCandidate, ...]
    state: int

    @cached_property
    def by_id(self) -> dict[str, ListedCandidate]:
        return {one.id: one for one in self.candidates}

    @cached_property
    def counts(self) -> dict[Status, int]:
        """Every status and how many candidates stand there."""
        found = Counter(one.status for one in self.candidates)
        return {status: found[status] for status in Status}

    @cached_property
    def active(self) -> tuple[ListedCandidate, ...]:
        """All but the rejected."""
        return tuple(one for one in self.candidates if one.status is not Status.REJECTED)


def roster_of(store: Store, set_name: str) -> Roster:
    """The set as it is now; NotFound names the sets there are."""
    return _read(store, set_name, last_command(store, set_name))


@lru_cache(maxsize=8)
def _read(store: Store, set_name: str, state: int) -> Roster:
    return Roster(store.candidates_page(set_name, limit=EVERY).candidates, state)
