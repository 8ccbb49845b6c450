"""Traces -> each conversational export -> import: the same thoughts (labels), actions and observations."""

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from trace_strategies import traces

from forethought.data.candidates import CandidateSet, written
from forethought.data.exports.conversation import Form
from forethought.data.exports.examples import Writing
from forethought.data.exports.labelled import TurnScope, label_traces
from forethought.data.exports.row_shape import SHAPES, Container
from forethought.data.exports.training_bundle import parquet_pieces
from forethought.data.exports.training_rows import Source, imitating
from forethought.data.formats import read_traces
from forethought.data.render import answer_text
from forethought.data.traces import ANSWER, Action, Trace, Turn, turn_id

FIRST = written("I should look it up.", ["search", "lookup", "image_zoom_in_tool"])
SECOND = written("I know enough now.", ["answer"])
SET = CandidateSet("s", (FIRST, SECOND))
EVERYTHING = TurnScope(include_failures=True, include_test=True, must_expect=False)
SYSTEM = "You reason step by step.\n<tools>\n</tools>"
TARGETS = sorted(SHAPES.keys() - {"trl-grpo", "verl-rl"})


def exported(target: str, given_traces, labels, folder):
    """The file of a chat export, and what it was made of."""
    shape = SHAPES[target]
    labelled = label_traces(given_traces, labels, SET, EVERYTHING)
    writing = Writing(Form.CHAT, lambda trace: SYSTEM, EVERYTHING)
    made = imitating(shape, Source(labelled, SET, writing))
    path = folder / f"rows.{shape.container.value}"
    if not made.rows:
        path.unlink(missing_ok=True)
    elif shape.container is Container.PARQUET:
        path.write_bytes(b"".join(parquet_pieces(made.rows)))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in made.rows), "utf-8")
    return path, made


def texted(text: str) -> str:
    """As an export writes a text down and an import reads it."""
    return text.encode("utf-8", "replace").decode().strip()


def acted(action: Action) -> tuple[str, str]:
    if action.kind == ANSWER:
        return (ANSWER, clean(answer_text(action)).strip())
    return (clean(action.name), clean(json.dumps(dict(action.arguments), ensure_ascii=False)))


def clean(text: str) -> str:
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


def told(trace: Trace, labels, until: int) -> list:
    """What must come back: of each turn that says something its label, actions, and what they gave; of the last no results."""
    rows = []
    for index, turn in enumerate(trace.turns[: until + 1]):
        label = labels.get(turn_id(trace.id, index)) if turn.is_plain else None
        thought = [SET.get(label).text] if label else []
        if turn.actions or thought:
            seen = [clean(one).strip() for one in turn.observations[: len(turn.actions)]]
            seen += [""] * (len(turn.actions) - len(seen))
            rows.append((thought, [acted(one) for one in turn.actions], seen))
    thought, actions, seen = rows[-1]
    return [*rows[:-1], (thought, actions, [""] * len(actions))]


def came_back(trace: Trace) -> list:
    return [
        (list(turn.thoughts), [acted(one) for one in turn.actions], list(turn.observations))
        for turn in trace.turns
    ]


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=25)
@given(data=st.data())
def test_thoughts_actions_and_observations_come_back(target, tmp_path_factory, data):
    one = data.draw(traces())
    assume(texted(one.question) and all(not turn.images for turn in one.turns))
    labels = {
        turn_id(one.id, i): data.draw(st.sampled_from((FIRST.id, SECOND.id, None)))
        for i in range(len(one.turns))
    }
    path, made = exported(target, [one], labels, tmp_path_factory.getbasetemp())
    if not made.rows:
        return

    found = list(read_traces([path]))

    assert [type(trace) for trace in found] == [Trace] * len(made.rows), found
    for row, trace in zip(made.rows, found, strict=True):
        until = row["turn"] if "turn" in row else row["turns"][-1]
        assert came_back(trace) == told(one, labels, until)


def test_a_long_run_comes_back_from_every_target(tmp_path):
    turns = tuple(
        Turn((f"raw {n}",), (Action("search", {"input": f"x {n}", "n": n}),), (f"found {n}",))
        for n in range(4)
    )
    one = Trace("Who built it?", (*turns, Turn(("raw",), (Action("finish", {"input": "Eiffel"}),))))
    labels = {turn_id(one.id, i): FIRST.id for i in range(4)} | {turn_id(one.id, 4): SECOND.id}

    for target in TARGETS:
        path, made = exported(target, [one], labels, tmp_path)
        found = list(read_traces([path]))
        assert all(isinstance(trace, Trace) for trace in found), target
        longest = max(found, key=lambda trace: len(trace.turns))
        assert came_back(longest) == told(one, labels, 4), target
        assert longest.question == one.question, target
