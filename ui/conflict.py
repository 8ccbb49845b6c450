"""Two people, or two tabs, on one candidate: what it was, what is stored now, what was about to be written, field by field."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..data import commands
from ..data.candidates import Candidate, Status
from ..data.commands import Edit
from ..data.store import Store

FIELDS = ("text", "expected_actions", "status")  # what one can settle; a regrouping is given again
DECIDE = {
    Status.ACCEPTED: commands.accept,
    Status.REJECTED: commands.reject,
    Status.NEEDS_WORK: commands.needs_work,
}


@dataclass(frozen=True)
class Conflict:
    """`yours` was begun from `base` (None where that is no longer known) and not written, since `theirs` is stored."""

    base: Candidate | None
    theirs: Candidate
    yours: Candidate

    @property
    def fields(self) -> tuple[str, ...]:
        """What either side changed, in the order of FIELDS."""
        base = self.base or self.theirs
        sides = (self.theirs, self.yours)
        return tuple(f for f in FIELDS if any(getattr(s, f) != getattr(base, f) for s in sides))

    def proposal(self, field: str) -> Any:
        """Of a field that one side changed, its value; where both did, yours."""
        if self.base is not None and getattr(self.yours, field) == getattr(self.base, field):
            return getattr(self.theirs, field)
        return getattr(self.yours, field)


@dataclass(frozen=True)
class Resolution:
    """What the candidate is to be: values of some of FIELDS; the others stay as they are stored."""

    fields: Mapping[str, Any]


def write(
    store: Store, set_name: str, actor: str, conflict: Conflict, resolution: Resolution
) -> Candidate:
    """Make the stored candidate what was resolved, a command a field that differs; StaleEdit if it has changed again."""
    candidate = conflict.theirs

    def edit() -> Edit:
        return Edit(set_name, candidate.id, candidate.version, actor, "settles a conflict")

    wanted = {field: resolution.fields.get(field, getattr(candidate, field)) for field in FIELDS}
    if wanted["text"] != candidate.text:
        candidate = commands.reword(store, edit(), wanted["text"])
    if tuple(wanted["expected_actions"]) != candidate.expected_actions:
        candidate = commands.expect(store, edit(), wanted["expected_actions"])
    if wanted["status"] != candidate.status and wanted["status"] in DECIDE:
        candidate = DECIDE[wanted["status"]](store, edit())
    return candidate
