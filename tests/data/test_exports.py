"""Exports: only turns a run may be trained on, every other one counted, files whole or absent."""

import json
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_strategies import traces

from forethought.data.candidates import CandidateSet, Status, written
from forethought.data.errors import ForethoughtError, NotFound, NothingToDo
from forethought.data.exports.bundle import Bundle, write_bundle
from forethought.data.exports.conversation import Form
from forethought.data.exports.dialects import DIALECTS, export
from forethought.data.exports.examples import Writing
from forethought.data.exports.export_inputs import ExportInputs, TokenizedSet
from forethought.data.exports.labelled import LeftOut, TurnScope, label_traces
from forethought.data.exports.row_shape import SHAPES
from forethought.data.exports.training_rows import Made, Source, imitating
from forethought.data.identity import Split, split_of
from forethought.data.library import builtin, library_hash, read_library
from forethought.data.traces import Action, Outcome, Trace, Turn, turn_id

SEARCH = written("I should look it up.", ["search"])
ANSWER = written("I know enough now.", ["answer"])
SET = CandidateSet("s", (SEARCH, ANSWER))
USUAL = TurnScope()


def question(split: Split, number: int = 0) -> str:
    return next(
        text for i in range(number * 100, 10**6) if split_of(text := f"question {i}?") is split
    )


def searching(thought: str = "raw thought one") -> Turn:
    return Turn((thought,), (Action("search", {"input": "x"}),), ("found",))


ANSWERING = Turn(("raw thought two",), (Action("finish", {"input": "1932"}),))


def trace(*turns: Turn, split=Split.MINE, outcome=Outcome.SUCCESS, number=0) -> Trace:
    return Trace(question(split, number), turns, outcome, source="made")


def assign(trace: Trace, *candidates) -> dict[str, str | None]:
    return {turn_id(trace.id, i): c and c.id for i, c in enumerate(candidates)}


def export_sft(traces, labels, candidate_set, scope=USUAL) -> Made:
    labelled = label_traces(traces, labels, candidate_set, scope)
    source = Source(labelled, candidate_set, Writing(Form.PLAIN, scope=scope))
    return imitating(SHAPES["trl-sft"], source)


def test_a_row_is_the_context_then_the_label_and_the_action():
    one = trace(searching(), ANSWERING)

    exported = export_sft([one], assign(one, SEARCH, ANSWER), SET)

    assert not exported.left_out
    first, second = exported.rows
    assert first["prompt"] == [{"role": "user", "content": f"Question: {one.question}\n"}]
    (completion,) = second["completion"]
    assert completion["role"] == "assistant"
    assert completion["content"] == (
        "<thinking>I know enough now.</thinking>\n<answer>1932</answer>"
    )
    assert second["prompt"][0]["content"] == (
        f"Question: {one.question}\n<thinking>I should look it up.</thinking>\n"
        '<tool_call>{"name": "search", "arguments": {"input": "x"}}</tool_call>\nObservation: found\n'
    )
    ids = {key: second[key] for key in ("trace", "turn", "candidate", "set_hash", "split")}
    assert ids == {
        "trace": one.id,
        "turn": 1,
        "candidate": ANSWER.id,
        "set_hash": library_hash(SET),
        "split": "mine",
    }


def test_an_unlabelled_thought_is_not_in_a_later_context():
    one = trace(searching(), searching("raw thought three"), ANSWERING)

    (row,) = export_sft([one], assign(one, None, ANSWER, ANSWER), SET).rows

    assert "<thinking>" not in row["prompt"][0]["content"]
    assert "raw" not in json.dumps(row)


@pytest.mark.parametrize(
    ("turn", "label", "reason"),
    [
        (searching(), None, LeftOut.NO_LABEL),
        (searching(), ANSWER, LeftOut.UNEXPECTED),
        (searching(), written("Not in the set."), LeftOut.NOT_IN_SET),
        (Turn(("a", "b"), searching().actions), SEARCH, LeftOut.NOT_PLAIN),
        (Turn((), searching().actions), SEARCH, LeftOut.NOT_PLAIN),
        (Turn(("a",), searching().actions * 2), SEARCH, LeftOut.NOT_PLAIN),
    ],
)
def test_a_turn_that_teaches_nothing_is_left_out_with_its_reason(turn, label, reason):
    one = trace(turn)

    exported = export_sft([one], assign(one, label), SET)

    assert (list(exported.rows), dict(exported.left_out)) == ([], {reason: 1})


def test_a_rejected_candidate_is_no_label():
    rejected = CandidateSet("s", (written("I should look it up.", ["search"]),))
    rejected = CandidateSet("s", tuple(_rejected(c) for c in rejected.candidates))
    one = trace(searching())

    assert export_sft([one], assign(one, SEARCH), rejected).left_out == {LeftOut.NOT_IN_SET: 1}


def _rejected(candidate):
    return type(candidate)(candidate.id, candidate.text, ("search",), Status.REJECTED)


def test_failures_and_test_questions_come_only_when_asked_for():
    given = [
        trace(searching(), outcome=Outcome.FAILURE),
        trace(searching(), split=Split.TEST, number=1),
        trace(searching(), outcome=None, number=2),
        trace(searching(), split=Split.CHOOSE, number=3),
    ]
    labels = {key: id for one in given for key, id in assign(one, SEARCH).items()}

    usual = export_sft(given, labels, SET)
    asked = export_sft(given, labels, SET, TurnScope(include_failures=True, include_test=True))

    assert usual.left_out == {LeftOut.FAILURE: 1, LeftOut.TEST: 1}
    assert [row["split"] for row in usual.rows] == ["mine", "choose"]
    assert len(asked.rows) == 4


@given(given=st.lists(traces(), max_size=3), data=st.data())
def test_every_turn_is_a_row_or_counted(given, data):
    labels = {
        turn_id(one.id, i): data.draw(st.sampled_from((None, SEARCH.id, ANSWER.id, "c_other")))
        for one in given
        for i in range(len(one.turns))
    }

    exported = export_sft(given, labels, SET, TurnScope(include_test=True))

    assert len(exported.rows) + exported.left_out.total() == sum(len(one.turns) for one in given)
    for row in exported.rows:
        assert row["completion"][0]["content"].startswith("<thinking>I ")


def inputs(*turns: Turn) -> ExportInputs:
    one = trace(*turns)
    tokens = TokenizedSet("made", "1", "0" * 64, {c.id: [1, 2] for c in SET.candidates})
    labels = assign(one, *[SEARCH] * (len(turns) - 1), ANSWER)
    return ExportInputs(SET, [one], labels, tokens=tokens)


def test_the_manifest_names_every_file_and_what_was_left_out(tmp_path):
    manifest = export("trl-sft", inputs(searching(), ANSWERING, searching()), tmp_path / "out/deep")

    written = json.loads((tmp_path / "out/deep/manifest.json").read_text())
    assert written == json.loads(json.dumps(manifest))
    assert (written["rows"], written["splits"]) == (1, {"mine": 1})
    assert written["left_out"] == {"action not expected": 2}
    assert written["inputs"]["traces"] == {"made": 1}
    assert written["set"]["hash"] == library_hash(SET)
    for name, file in written["files"].items():
        content = (tmp_path / "out/deep" / name).read_bytes()
        assert sha256(content).hexdigest() == file["sha256"]
        assert (len(content), content.count(b"\n")) == (file["bytes"], file["lines"])
    assert sorted(path.name for path in (tmp_path / "out/deep").iterdir()) == sorted(
        [*written["files"], "manifest.json"]
    )


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_the_set_travels_with_every_export(tmp_path, dialect):
    export(dialect.name, inputs(searching(), ANSWERING), tmp_path)

    assert library_hash(read_library(tmp_path / "reasoning_library.json")) == library_hash(SET)


def test_an_exported_library_is_the_authors_file(tmp_path):
    export("ssr-library", ExportInputs(builtin("ssr")), tmp_path)

    assert read_library(tmp_path / "reasoning_library.json") == builtin("ssr")


def test_datasets_loads_the_rows_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    from datasets import load_dataset

    hostile = searching("x")
    hostile = Turn(hostile.thoughts, hostile.actions, ("</script>\u2028 {'é': NaN} 💩\x00",))
    given = inputs(searching(), hostile, ANSWERING)
    export("trl-sft", given, tmp_path / "out")

    loaded = load_dataset(
        "json",
        data_files=str(tmp_path / "out/train.jsonl"),
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )

    rows = export_sft(given.traces, given.labels, SET).rows
    assert loaded.to_list() == [dict(row) for row in rows]
    assert len(rows) == 3


def test_a_lone_surrogate_is_replaced_and_counted(tmp_path):
    broken = Turn(searching().thoughts, searching().actions, ("a \ud83d b",))

    manifest = export("trl-sft", inputs(broken, ANSWERING), tmp_path)

    assert manifest["repairs"] == {"lone surrogate": 1}
    assert "a \ufffd b" in (tmp_path / "train.jsonl").read_text("utf-8")


def test_the_same_inputs_give_the_same_bytes(tmp_path):
    manifests = [
        export("trl-sft", inputs(searching(), ANSWERING), tmp_path / name) for name in "ab"
    ]

    assert manifests[0] == manifests[1]


def test_nothing_is_not_exported(tmp_path):
    with pytest.raises(NothingToDo, match="1 no label"):
        export("trl-sft", ExportInputs(SET, [trace(searching())]), tmp_path / "out")
    with pytest.raises(NothingToDo):
        export("ssr-library", ExportInputs(CandidateSet("empty", ())), tmp_path / "out")

    assert not (tmp_path / "out").exists()


def test_an_unknown_dialect_names_those_there_are(tmp_path):
    with pytest.raises(NotFound, match="ssr-library, csv, jsonl, trl-sft"):
        export("xlsx", ExportInputs(SET), tmp_path)


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(ForethoughtError, match="choose another --out"):
        export("ssr-library", ExportInputs(SET), tmp_path / "file" / "out")


def test_an_export_that_fails_half_way_leaves_the_old_file(tmp_path):
    write_bundle(Bundle({"a.txt": ["old"]}), tmp_path)

    def pieces():
        yield "new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_bundle(Bundle({"a.txt": pieces()}), tmp_path)

    assert (tmp_path / "a.txt").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "manifest.json"]
