"""A format of a user's own: where things lie in it, and what is wrong with a mapping; and formats that packages add."""

import json
import sys
from importlib.metadata import EntryPoint

import pytest

from forethought.data.errors import InvalidMapping, UnknownTraceFormat
from forethought.data.formats import Quarantined, TraceFormat, read_traces, table
from forethought.data.traces import Action, Outcome, Trace, Turn

STEPS = {
    "name": "mine",
    "question": "task.text",
    "steps": "log",
    "thought": "said",
    "action": "tool.name",
    "arguments": "tool.args",
    "observation": "result",
    "outcome": "ok",
    "model": "meta.0.model",
    "id": "task.id",
    "images": "shots",
}
RUN = {
    "task": {"text": "Who?", "id": 7},
    "log": [
        {
            "said": "I look.",
            "tool": {"name": "search", "args": '{"q": "x"}'},
            "result": {"hits": 2},
            "shots": ["a.png"],
        },
        {"said": "Nothing follows."},
        {"tool": {"name": "finish", "args": "He"}},
        {"note": "no step"},
    ],
    "ok": True,
    "meta": [{"model": "m"}],
}


def mapped(tmp_path, mapping, *rows):
    (tmp_path / "m.json").write_text(json.dumps(mapping))
    folder = tmp_path / "runs"
    folder.mkdir(exist_ok=True)
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return list(read_traces([folder], mapping=tmp_path / "m.json"))


def test_steps_are_read_where_the_mapping_says(tmp_path):
    (trace,) = mapped(tmp_path, STEPS, RUN)

    assert (trace.question, trace.outcome, trace.format) == ("Who?", Outcome.SUCCESS, "mine")
    assert (trace.model, trace.run) == ("m", "7")
    assert trace.turns == (
        Turn(("I look.",), (Action("search", {"q": "x"}),), ('{"hits": 2}',), ("a.png",)),
        Turn(("Nothing follows.",)),
        Turn((), (Action("finish", {"input": "He"}),), ("",)),
    )


def test_what_lies_where_the_mapping_says_is_no_repair(tmp_path):
    (trace,) = mapped(tmp_path, STEPS, RUN)

    assert not [one for one in trace.repairs if one.endswith("not_found")]


@pytest.mark.parametrize("name", sorted(STEPS.keys() - {"name", "steps", "question"}))
def test_a_path_that_leads_nowhere_in_a_run_is_counted_by_its_name(tmp_path, name):
    (trace,) = mapped(tmp_path, STEPS | {name: "no.such.place"}, RUN)

    assert f"{name}_not_found" in trace.repairs


def test_messages_are_read_where_the_mapping_says(tmp_path):
    chat = [
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": "<think>a</think>He."},
    ]
    (trace,) = mapped(tmp_path, {"messages": "deep.chat"}, {"deep": {"chat": chat}})

    assert (trace.question, trace.turns[0].thoughts, trace.format) == ("Who?", ("a",), "m")


def test_what_the_mapping_does_not_fit_is_told(tmp_path):
    _, lost = mapped(tmp_path, STEPS, RUN, {"other": 1})

    assert isinstance(lost, Quarantined)
    assert (lost.reason, lost.tried) == ("no known trace format", ("mine",))


@pytest.mark.parametrize(
    ("mapping", "told"),
    [
        ([], "an object of paths"),
        ({"question": 1}, "an object of paths"),
        ({"questoin": "a", "steps": "b"}, "unknown names questoin"),
        ({"question": "a"}, "either 'steps' or 'messages'"),
        ({"messages": "a", "steps": "b"}, "either 'steps' or 'messages'"),
        ({"steps": "a"}, "'question' and 'action'"),
    ],
)
def test_a_mapping_that_cannot_be_used_says_why(tmp_path, mapping, told):
    with pytest.raises(InvalidMapping, match=told):
        mapped(tmp_path, mapping)


def test_a_mapping_that_is_not_there_or_no_json_says_so(tmp_path):
    for content in (None, "{"):
        if content:
            (tmp_path / "m.json").write_text(content)
        with pytest.raises(InvalidMapping, match=r"m\.json: no mapping"):
            read_traces([tmp_path], mapping=tmp_path / "m.json")


class Plugged:
    """Stands for a module of an installed package."""

    ROW = TraceFormat(
        "wire",
        lambda value: isinstance(value, dict) and "wire" in value,
        lambda value: Trace("Who?", (Turn((value["wire"],)),)),
    )
    ROWS = (ROW,)
    NONE = 5


@pytest.mark.parametrize("name", ["ROW", "ROWS"])
def test_a_package_adds_formats(tmp_path, monkeypatch, name):
    plug_in(monkeypatch, name)
    (tmp_path / "a.jsonl").write_text('{"wire": "a"}')
    (trace,) = read_traces([tmp_path])

    assert (trace.format, trace.turns[0].thoughts) == ("wire", ("a",))


@pytest.mark.parametrize(
    ("name", "told"), [("NONE", "no TraceFormat"), ("GONE", "cannot be loaded")]
)
def test_a_package_that_adds_none_is_named(tmp_path, monkeypatch, name, told):
    plug_in(monkeypatch, name)
    with pytest.raises(UnknownTraceFormat, match=told):
        read_traces([tmp_path])


def plug_in(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "plugged", Plugged)
    entry = EntryPoint("wire", f"plugged:{name}", table.PLUG_INS)
    monkeypatch.setattr(
        table, "entry_points", lambda group: [entry] if group == table.PLUG_INS else []
    )
