"""Labelled turns as TRL's conversational prompt and completion rows, for supervised fine-tuning.

The prompt is one user message, the context; the completion one assistant message, the label in thinking
tags and the action. Earlier thoughts in the context are their labels, so that training reads what a
selecting agent will have written; an unlabelled thought is left out of it.

The label of a turn is the candidate assigned to it, if the set has it and it announces the action taken.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..candidates import Candidate, CandidateSet
from ..identity import Split
from ..library import library_hash
from ..render import CONTEXT_TOKENS, render_action, render_context, render_thought
from ..traces import Outcome, Trace, turn_id


class LeftOut(StrEnum):
    """Why a turn is not in the export; each turn has one reason, the first that holds."""

    FAILURE = "failure"
    TEST = "test"
    NOT_PLAIN = "not plain"
    NO_LABEL = "no label"
    NOT_IN_SET = "label not in set"
    UNEXPECTED = "action not expected"


@dataclass(frozen=True)
class SftOptions:
    """What is let in beyond the default, and the context's budget where a token counter is given."""

    include_failures: bool = False
    include_test: bool = False
    count_tokens: Callable[[str], int] | None = None
    budget: int = CONTEXT_TOKENS


@dataclass(frozen=True)
class Exported:
    """Rows ready for JSON lines; `len(rows)` and all of `left_out` add up to the turns given.

    `traces` counts the traces given, by source.
    """

    rows: Sequence[Mapping[str, Any]]
    left_out: Counter[LeftOut]
    traces: Counter[str]


def export_sft(
    traces: Iterable[Trace],
    labels: Mapping[str, str | None],
    candidate_set: CandidateSet,
    options: SftOptions = SftOptions(),
) -> Exported:
    """One row a labelled turn, in the order given. `labels`: turn_id -> id of the assigned candidate."""
    rows: list[Mapping[str, Any]] = []
    left_out: Counter[LeftOut] = Counter()
    sources: Counter[str] = Counter()
    active = {candidate.id: candidate for candidate in candidate_set.active}
    set_hash = library_hash(candidate_set)
    for trace in traces:
        sources[trace.source] += 1
        judged = [_label(trace, i, labels, active) for i in range(len(trace.turns))]
        closed = _closed(trace, options)
        if closed is not None:
            left_out[closed] += len(judged)
            continue
        left_out.update(label for label in judged if isinstance(label, LeftOut))
        kept = {i: label for i, label in enumerate(judged) if isinstance(label, Candidate)}
        rows += [row | {"set_hash": set_hash} for row in _rows(trace, kept, options)]
    return Exported(rows, left_out, sources)


def _closed(trace: Trace, options: SftOptions) -> LeftOut | None:
    if trace.outcome is Outcome.FAILURE and not options.include_failures:
        return LeftOut.FAILURE
    if trace.split is Split.TEST and not options.include_test:
        return LeftOut.TEST
    return None


def _label(
    trace: Trace, index: int, labels: Mapping[str, str | None], active: Mapping[str, Candidate]
) -> Candidate | LeftOut:
    turn = trace.turns[index]
    if not turn.is_plain:
        return LeftOut.NOT_PLAIN
    assigned = labels.get(turn_id(trace.id, index))
    if assigned is None:
        return LeftOut.NO_LABEL
    if assigned not in active:
        return LeftOut.NOT_IN_SET
    candidate = active[assigned]
    return candidate if candidate.expects(turn.actions[0].kind) else LeftOut.UNEXPECTED


def _rows(
    trace: Trace, labels: Mapping[int, Candidate], options: SftOptions
) -> Iterator[dict[str, Any]]:
    thoughts = {index: candidate.text for index, candidate in labels.items()}
    for index, candidate in labels.items():
        context = render_context(trace, index, thoughts, options.count_tokens, options.budget)
        action = render_action(trace.turns[index].actions[0]).text
        target = f"{render_thought(candidate.text)}\n{action}"
        yield {
            "prompt": [{"role": "user", "content": context}],
            "completion": [{"role": "assistant", "content": target}],
            "trace": trace.id,
            "turn": index,
            "candidate": candidate.id,
            "split": trace.split.value,
        }
