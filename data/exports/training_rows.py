"""The rows of each training target, out of labelled turns: to imitate, to compare, or to be asked.

imitate   the context, then the label and the action
compare   the same action after the label, and after another candidate of the set, drawn by a seed
ask       the context alone, with what a reward needs beside it
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from ..candidates import Candidate, CandidateSet
from ..identity import canonical
from ..library import library_hash
from ..render import answer_text, render_action, render_thought
from ..traces import ANSWER, Outcome, Trace
from .conversation import Message, Repair
from .examples import Example, Examples, Writing, examples_of
from .labelled import LabelledTrace, LabelledTraces, LeftOut
from .row_shape import IMAGES, RowShape, Unit

Row = dict[str, Any]


@dataclass(frozen=True)
class Source:
    """What rows are made of."""

    labelled: LabelledTraces
    candidate_set: CandidateSet
    writing: Writing
    seed: int = 0


@dataclass(frozen=True)
class Made:
    """Rows, and an account: `turns` is how many labelled turns are in them, `pictures` the names of the files they need.

    `traces` are all that something in the rows comes from; `seen` counts the pictures that were seen before the rows end, shown or not.
    """

    rows: Sequence[Row]
    turns: int
    left_out: Counter[LeftOut]
    repairs: Counter[Repair] = field(default_factory=Counter)
    pictures: Sequence[str] = ()
    traces: Sequence[Trace] = ()
    seen: int = 0


Maker = Callable[[RowShape, Source], Made]


def imitating(shape: RowShape, source: Source) -> Made:
    """A row an example, with what names it."""
    examples = examples_of(source.labelled, shape.unit, source.writing)
    has_pictures = bool(examples.pictures)
    rows = [
        shape.row(one.conversation, with_pictures=has_pictures) | _names(one, shape.unit, source)
        for one in examples.made
    ]
    return _made(rows, examples)


def comparing(shape: RowShape, source: Source) -> Made:
    """A row a labelled turn. The other candidate is one that announces another action, where there is one."""
    examples = examples_of(source.labelled, shape.unit, source.writing)
    has_pictures = bool(examples.pictures)
    rows: list[Row] = []
    kept = Examples(left_out=examples.left_out)
    for example in examples.made:
        other = _other(example, source)
        if other is None:
            kept.left_out[LeftOut.NO_OTHER] += 1
            continue
        kept.made.append(example)
        rejected = shape.written([_instead(example, other)], with_pictures=has_pictures)
        row = shape.row(example.conversation, with_pictures=has_pictures)
        images = {IMAGES: row.pop(IMAGES)} if has_pictures else {}
        named = _names(example, shape.unit, source) | {"rejected_candidate": other.id}
        rows.append(row | {"rejected": rejected} | images | named)
    return _made(rows, kept)


def asking(shape: RowShape, source: Source) -> Made:
    """A row a labelled turn: its context, and the action that was taken there, which a reward may compare with."""
    examples = examples_of(source.labelled, shape.unit, source.writing)
    has_pictures = bool(examples.pictures)
    rows = []
    for one in examples.made:
        asked = replace(one.conversation, messages=one.conversation.messages[:-1])
        action = one.labelled.trace.turns[one.turns[0]].actions[0]
        told = {
            "action": render_action(action).text,
            "kind": action.kind,
            "answer": _answer(one.labelled.trace) or "",
        }
        rows.append(
            shape.row(asked, with_pictures=has_pictures) | told | _names(one, shape.unit, source)
        )
    return _made(rows, examples)


def asking_questions(shape: RowShape, source: Source) -> Made:
    """A row a question to which a successful run knows the answer, in verl's words; here traces are counted, not turns."""
    answers: dict[str, list[str]] = {}
    answering: dict[str, list[Trace]] = {}
    left_out = Counter(source.labelled.closed)
    for trace in source.labelled.admitted:
        answer = _answer(trace)
        if answer is None:
            left_out[LeftOut.NO_ANSWER] += 1
            continue
        key = canonical(trace.question)
        left_out[LeftOut.SAME_QUESTION] += key in answering
        answering.setdefault(key, []).append(trace)
        answers.setdefault(key, []).append(answer)
    examples = Examples(left_out=+left_out)
    for trace, *_ in answering.values():
        labelled = LabelledTrace(trace, {})
        asked = source.writing.asked(labelled)
        if isinstance(asked, LeftOut):
            examples.left_out[asked] += 1
        else:
            examples.made.append(Example(labelled, (), asked))
    has_pictures = bool(examples.pictures)
    rows = [
        shape.row(one.conversation, with_pictures=has_pictures)
        | _reward(one.labelled.trace, answers[canonical(one.labelled.trace.question)], source)
        for one in examples.made
    ]
    asked_of = [canonical(one.labelled.trace.question) for one in examples.made]
    traces = [trace for question in asked_of for trace in answering[question]]
    return replace(_made(rows, examples), traces=traces)


def _reward(trace: Trace, answers: Sequence[str], source: Source) -> Row:
    return {
        "data_source": trace.source or "forethought",
        "agent_name": "ssr_select",
        "ability": "agent",
        "reward_model": {"style": "rule", "ground_truth": list(dict.fromkeys(answers))},
        "extra_info": {
            "index": trace.id,
            "split": trace.split.value,
            "need_tools_kwargs": False,
            "library_sha256": library_hash(source.candidate_set),
            "alpha": 1.0,
            "tau": 1.0,
        },
    }


def _names(example: Example, unit: Unit, source: Source) -> Row:
    """What a row says of where it comes from."""
    trace, labels = example.labelled.trace, example.labelled.labels
    candidates = [labels[turn].id for turn in example.turns]
    one: Row = {"turn": example.turns[0], "candidate": candidates[0]}
    several: Row = {"turns": list(example.turns), "candidates": candidates}
    return {
        "trace": trace.id,
        **(one if unit is Unit.TURN else several),
        "split": trace.split.value,
        "set_hash": library_hash(source.candidate_set),
    }


def _other(example: Example, source: Source) -> Candidate | None:
    """Drawn by the seed, the trace and the turn, whatever other rows there are."""
    (turn,) = example.turns
    label = example.labelled.labels[turn]
    kind = example.labelled.trace.turns[turn].actions[0].kind
    others = [one for one in source.candidate_set.active if one.id != label.id]
    unfit = [one for one in others if not one.expects(kind)]

    def draw(one: Candidate) -> bytes:
        key = f"{source.seed}:{example.labelled.trace.id}:{turn}:{one.id}"
        return blake2b(key.encode(), digest_size=8).digest()

    return min(unfit or others, key=draw, default=None)


def _instead(example: Example, other: Candidate) -> Message:
    """The turn's message, with the other candidate for its thought."""
    (turn,) = example.turns
    last = example.conversation.messages[-1]
    label = render_thought(example.labelled.labels[turn].text)
    return replace(last, text=render_thought(other.text) + last.text.removeprefix(label))


def _answer(trace: Trace) -> str | None:
    """What a successful run answered in the end."""
    if trace.outcome is not Outcome.SUCCESS or not trace.turns:
        return None
    answers = [action for action in trace.turns[-1].actions if action.kind == ANSWER]
    return answer_text(answers[-1]).strip() or None if answers else None


def _made(rows: Sequence[Row], examples: Examples) -> Made:
    traces = _traces(examples)
    return Made(
        rows,
        examples.num_turns,
        examples.left_out,
        examples.repairs,
        examples.pictures,
        list(traces.values()),
        _seen(examples),
    )


def _seen(examples: Examples) -> int:
    """Of each trace once, up to its last turn there; where no turn is, up to the agent's first words."""
    last: dict[str, int] = {}
    found = _traces(examples)
    for one in examples.made:
        id = one.labelled.trace.id
        last[id] = max(last.get(id, 0), *one.turns, 0)
    return sum(len(turn.images) for id, at in last.items() for turn in found[id].turns[: at + 1])


def _traces(examples: Examples) -> dict[str, Trace]:
    """By their ids."""
    return {one.labelled.trace.id: one.labelled.trace for one in examples.made}
