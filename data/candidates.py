"""Candidates and candidate sets: frozen values, and the pure edits that curation is made of."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from .errors import InvalidCandidate, NotFound
from .identity import candidate_id, canonical
from .traces import kind_of

MINED_AT = "1970-01-01T00:00:00Z"  # the authors' hash covers it: a mined set has no clock
RESERVED = (
    "<thinking>",
    "</thinking>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<answer>",
    "</answer>",
    "<image>",
    "<video>",
    "<audio>",
    "<|",
)


class Status(StrEnum):
    """Where a candidate stands in curation. A rejected one is kept, but is no part of the set."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    NEEDS_WORK = "needs_work"
    REJECTED = "rejected"


@dataclass(frozen=True)
class Candidate:
    """One reusable sentence an agent can select as its thought.

    `expected_actions` are kinds of action, `support` ids of the turns it was mined from (turn_id),
    `questions` the number of distinct questions among them, `aliases` texts of the candidates that were
    merged into it.
    """

    id: str
    text: str
    expected_actions: tuple[str, ...] = ()
    status: Status = Status.PROPOSED
    support: tuple[str, ...] = ()
    questions: int = 0
    created_at: str = MINED_AT
    version: int = 1
    aliases: tuple[str, ...] = ()

    def expects(self, kind: str) -> bool:
        """Whether an action of this kind is what the candidate announces."""
        return kind_of(kind) in {kind_of(name) for name in self.expected_actions}


@dataclass(frozen=True)
class CandidateSet:
    """An ordered list of candidates; the order breaks ties in selection, as in SSR."""

    name: str
    candidates: tuple[Candidate, ...]
    note: str = ""
    version: str = "v1"
    manifest: Mapping[str, object] = field(default_factory=dict)

    @property
    def active(self) -> tuple[Candidate, ...]:
        """The candidates that a model may select: all but the rejected."""
        return tuple(c for c in self.candidates if c.status is not Status.REJECTED)

    def get(self, id: str) -> Candidate:
        for candidate in self.candidates:
            if candidate.id == id:
                return candidate
        raise NotFound(f"set {self.name!r} has no candidate {id!r}")

    def first(self, size: int) -> "CandidateSet":
        """The same set cut to its first `size` active candidates (mined sets are nested)."""
        return replace(self, name=f"{self.name}[:{size}]", candidates=self.active[:size])


@dataclass(frozen=True)
class Release:
    """A candidate set frozen under its hash; never changed after. `at` is UTC."""

    set_name: str
    number: int
    hash: str
    candidates: tuple[Candidate, ...]
    notes: str = ""
    actor: str = ""
    at: str = ""


def written(text: str, expected_actions: Iterable[str] = ()) -> Candidate:
    """A candidate that a person wrote rather than mined."""
    return Candidate(candidate_id(text), check_text(text), tuple(expected_actions))


def check_text(text: str) -> str:
    """`text` as a candidate may carry it, or InvalidCandidate with the reason."""
    if not canonical(text):
        raise InvalidCandidate("a candidate's text is empty; write a sentence or reject it")
    for tag in RESERVED:
        if tag in text:
            raise InvalidCandidate(f"a candidate may not contain {tag!r}: {canonical(text)[:80]!r}")
    return text
