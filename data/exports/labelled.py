"""Which turns of which traces go into an export, under which candidate, and why every other turn does not.

The label of a turn is a candidate of the set that somebody gave to it: the assignment rule, or an audit. Knows no file and no
trainer.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Any

from ..candidates import Candidate, CandidateSet
from ..identity import Split
from ..traces import Outcome, Trace, turn_id


class LeftOut(StrEnum):
    """Why a turn is not in the export; each turn has one reason, the first that holds."""

    FAILURE = "failure"
    TEST = "test"
    NOT_PLAIN = "not plain"
    NO_LABEL = "no label"
    NOT_IN_SET = "label not in set"
    UNEXPECTED = "action not expected"
    NOT_FINITE = "number not finite"
    NO_PICTURE = "picture missing"
    UNREAD = "pictures not read by the trainer"
    TOO_LONG = "context too long"
    BEHIND = "behind a turn without a label"
    NO_OTHER = "no other candidate"
    NO_ANSWER = "no known answer"
    SAME_QUESTION = "question already there"

    @property
    def meaning(self) -> str:
        """In more words."""
        return MEANINGS[self]


MEANINGS = {
    LeftOut.FAILURE: "the run failed",
    LeftOut.TEST: "its question is for audits alone",
    LeftOut.NOT_PLAIN: "several thoughts or actions, none, or a thought that breaks off",
    LeftOut.NO_LABEL: "no candidate stands for its thought",
    LeftOut.NOT_IN_SET: "its candidate is rejected, or no longer in the set",
    LeftOut.UNEXPECTED: "its candidate announces another action",
    LeftOut.NOT_FINITE: "it, or a turn before it, has a number that JSON does not know",
    LeftOut.NO_PICTURE: "a picture that it has seen is damaged, or was not kept",
    LeftOut.UNREAD: "it has seen pictures, and this trainer reads none",
    LeftOut.TOO_LONG: "over the budget without any observation",
    LeftOut.BEHIND: "to be trained, it would have that turn trained, too",
    LeftOut.NO_OTHER: "there is none to compare with",
    LeftOut.NO_ANSWER: "the run did not end well, or in no answer",
    LeftOut.SAME_QUESTION: "its answer stands in the row of another run",
}


@dataclass(frozen=True)
class TurnScope:
    """What is let in beyond the default, and the context's budget where a token counter is given (None: the form's own).

    `must_expect`: whether a label must announce the action that was taken.
    """

    include_failures: bool = False
    include_test: bool = False
    count_tokens: Callable[[str], int] | None = None
    budget: int | None = None
    must_expect: bool = True


@dataclass(frozen=True)
class LabelledTrace:
    """A trace and the candidate of each turn that may be trained on, by the turn's index."""

    trace: Trace
    labels: Mapping[int, Candidate]

    @property
    def thoughts(self) -> dict[int, str]:
        """What stands in the thoughts' place."""
        return {index: candidate.text for index, candidate in self.labels.items()}


@dataclass
class LabelledTraces:
    """The traces with at least one label; `left_out` counts all other turns, `sources` all traces given, by source.

    `admitted` are the traces that are let in, with a label or none; `closed` counts the other traces.
    """

    traces: Sequence[LabelledTrace]
    left_out: Counter[LeftOut] = field(default_factory=Counter)
    admitted: list[Trace] = field(default_factory=list)
    closed: Counter[LeftOut] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)

    @property
    def num_turns(self) -> int:
        return sum(len(one.labels) for one in self.traces)


def label_traces(
    traces: Iterable[Trace],
    labels: Mapping[str, str | None],
    candidate_set: CandidateSet,
    scope: TurnScope = TurnScope(),
) -> LabelledTraces:
    """In the order given. `labels`: turn_id -> id of its candidate, or None."""
    active = {candidate.id: candidate for candidate in candidate_set.active}
    found: list[LabelledTrace] = []
    result = LabelledTraces(found)
    for trace in traces:
        result.sources[trace.source] += 1
        closed = _closed(trace, scope)
        if closed is not None:
            result.closed[closed] += 1
            result.left_out[closed] += len(trace.turns)
            continue
        result.admitted.append(trace)
        judged = _judged(trace, labels, active, scope)
        result.left_out.update(one for one in judged if isinstance(one, LeftOut))
        kept = {i: one for i, one in enumerate(judged) if isinstance(one, Candidate)}
        if kept:
            found.append(LabelledTrace(trace, kept))
    return result


def is_finite(value: Any) -> bool:
    """False where a number in it is none that JSON knows."""
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, Mapping):
        return all(map(is_finite, value.values()))
    return all(map(is_finite, value)) if isinstance(value, list | tuple) else True


def _closed(trace: Trace, scope: TurnScope) -> LeftOut | None:
    if trace.outcome is Outcome.FAILURE and not scope.include_failures:
        return LeftOut.FAILURE
    if trace.split is Split.TEST and not scope.include_test:
        return LeftOut.TEST
    return None


def _judged(
    trace: Trace,
    labels: Mapping[str, str | None],
    active: Mapping[str, Candidate],
    scope: TurnScope,
) -> list[Candidate | LeftOut]:
    """Each turn's candidate, or why it has none; from a number on that no JSON knows, nothing can be written."""
    judged: list[Candidate | LeftOut] = []
    is_sound = True
    for index, turn in enumerate(trace.turns):
        is_sound = is_sound and all(is_finite(action.arguments) for action in turn.actions)
        one = _label(trace, index, labels, active)
        if isinstance(one, Candidate) and not is_sound:
            one = LeftOut.NOT_FINITE
        elif isinstance(one, Candidate) and scope.must_expect:
            one = one if one.expects(turn.actions[0].kind) else LeftOut.UNEXPECTED
        judged.append(one)
    return judged


def _label(
    trace: Trace, index: int, labels: Mapping[str, str | None], active: Mapping[str, Candidate]
) -> Candidate | LeftOut:
    if not trace.turns[index].is_plain:
        return LeftOut.NOT_PLAIN
    given = labels.get(turn_id(trace.id, index))
    if given is None:
        return LeftOut.NO_LABEL
    return active.get(given, LeftOut.NOT_IN_SET)
