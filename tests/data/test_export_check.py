"""An export read again: whatever was changed in its folder is told, by the row."""

import json

import pytest

from forethought.data.candidates import CandidateSet, written
from forethought.data.errors import ForethoughtError, NotFound
from forethought.data.exports.bundle import Bundle, json_lines, write_bundle
from forethought.data.exports.checking import checks_of, read_export
from forethought.data.exports.columns import MixedColumn, parquet_pieces
from forethought.data.exports.conversation import Form
from forethought.data.exports.dialects import LIBRARY, export
from forethought.data.exports.export_inputs import ExportInputs
from forethought.data.exports.labelled import TurnScope
from forethought.data.exports.loaders import loader_checks
from forethought.data.exports.row_shape import SHAPES
from forethought.data.traces import Action, Outcome, Trace, Turn, turn_id

SEARCH = written("I should look it up.", ["search"])
ANSWER = written("I know enough now.", ["answer"])
SET = CandidateSet("s", (SEARCH, ANSWER))
RUN = Trace(
    "Who built it?",
    (
        Turn(("raw",), (Action("search", {"input": "x"}),), ("found",)),
        Turn(("raw",), (Action("finish", {"input": "Eiffel"}),)),
    ),
    Outcome.SUCCESS,
)


@pytest.fixture
def folder(tmp_path):
    written_to(tmp_path, "swift")
    return tmp_path


def written_to(folder, target: str) -> None:
    labels = {turn_id(RUN.id, 0): SEARCH.id, turn_id(RUN.id, 1): ANSWER.id}
    scope = TurnScope(include_test=True)
    export(target, ExportInputs(SET, [RUN], labels, scope, form=Form.CHAT), folder)


def found(folder, **given) -> dict[str, list[str]]:
    checks = checks_of(read_export(folder), **given)
    return {check.name: check.problems for check in checks if check.problems}


def rewritten(folder, change) -> None:
    """Rows changed, and a manifest that knows: only looking at the rows can tell."""
    manifest = json.loads((folder / "manifest.json").read_text())
    rows = [json.loads(line) for line in (folder / "train.jsonl").open()]
    for row in rows:
        change(row)
    facts = {key: value for key, value in manifest.items() if key not in ("files", "forethought")}
    library = [(folder / LIBRARY).read_text()]
    lines = (json.dumps(row) + "\n" for row in rows)
    write_bundle(Bundle({"train.jsonl": lines, LIBRARY.name: library}, facts), folder)


@pytest.mark.parametrize("target", sorted(SHAPES))
def test_what_was_written_is_found_whole(target, tmp_path):
    written_to(tmp_path, target)

    assert found(tmp_path) == {}


@pytest.mark.parametrize("name", ["train.jsonl", "reasoning_library.json", "README.md"])
def test_a_changed_or_missing_file_is_told_by_name(folder, name):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content.replace(b"look", b"LOOK") + b"\n")
    assert any("was changed" in one for one in found(folder)["files"])
    (folder / name).unlink()
    assert found(folder)["files"] == [f"{name}: No such file or directory"]


def test_a_set_that_changed_since_is_told(folder):
    (problem,) = found(folder, current_hash="0" * 64)["set"]

    assert "has changed since" in problem and "export again" in problem


def last_said(row) -> dict:
    return row["messages"][-1]


@pytest.mark.parametrize(
    ("change", "check", "told"),
    [
        (lambda row: last_said(row).update(content=" "), "messages", "a trained message is empty"),
        (lambda row: last_said(row).update(loss=False), "messages", "no message is trained"),
        (lambda row: row["messages"].pop(), "messages", "the speakers are user"),
        (lambda row: row["messages"].pop(0), "messages", "the speakers are assistant"),
        (lambda row: last_said(row).update(content="<image>"), "pictures", "1 places for 0"),
        (lambda row: row.update(images=["../a.png"]), "pictures", "is not in images/"),
        (lambda row: row.update(images=["images/a.png"]), "pictures", "is missing"),
        (lambda row: row.update(candidate="c_other"), "labels", "c_other is not in"),
        (lambda row: row.update(set_hash="12"), "labels", "the set of hash 12"),
        (lambda row: row.update(trace="\ud800"), "texts", "a lone surrogate"),
        (lambda row: row.pop("messages"), "messages", "is no row of swift (KeyError"),
        (lambda row: row.update(messages=[3]), "messages", "is no row of swift (TypeError"),
        (lambda row: row.update(turn=str(row["turn"]) if row["turn"] else 0), "columns", "turn is text and whole"),
        (lambda row: row.update(turn=float("nan")), "rows", "cannot be read (NaN is no JSON)"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_row_is_told(folder, change, check, told):
    rewritten(folder, change)

    assert any(told in problem for problem in found(folder)[check]), found(folder)


def test_rows_that_are_missing_are_told(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "train.jsonl").write_text((folder / "train.jsonl").read_text().split("\n")[0] + "\n")
    (folder / "manifest.json").write_text(json.dumps(manifest))

    assert found(folder)["rows"] == ["train.jsonl: 1 rows, not 2"]


def test_what_is_no_export_is_told_in_one_line(tmp_path):
    with pytest.raises(NotFound, match="name the folder of an export"):
        read_export(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(ForethoughtError, match="export again"):
        read_export(tmp_path)


@pytest.mark.parametrize(
    "changed",
    [[], {}, {"files": 3}, {"files": {"a": 3}}]
    + [{"files": {}, name: 3} for name in ("set", "tables", "pictures")]
    + [{"files": {}, "set": {"hash": 3}}],
)
def test_a_manifest_of_something_else_is_told_in_one_line(changed, tmp_path):
    (tmp_path / "manifest.json").write_text(json.dumps(changed))

    with pytest.raises(ForethoughtError, match="name the folder of an export"):
        read_export(tmp_path)


class Template:
    """A tokenizer that writes messages down one after another, a token a character."""

    def __init__(self, write) -> None:
        self.write = write

    def apply_chat_template(self, messages, tokenize, add_generation_prompt) -> str:
        return self.write(messages) + ("[assistant]" if add_generation_prompt else "")

    def __call__(self, text, add_special_tokens):
        return {"input_ids": [*map(ord, text)]}


def all_of(messages) -> str:
    return "".join(f"[{one['role']}]{one['content']}" for one in messages)


def without_history(messages) -> str:
    """As templates do that drop earlier thoughts."""
    kept = [one for one in messages[:-1] if one["role"] != "assistant"]
    return all_of([*kept, messages[-1]])


def with_count(messages) -> str:
    return f"{len(messages)}{all_of(messages)}"


@pytest.mark.parametrize("target", sorted(SHAPES))
@pytest.mark.parametrize(
    ("write", "told"),
    [(all_of, None), (without_history, "loses or changes 1 of 4"), (with_count, "not the first")],
)
def test_a_template_must_keep_what_was_said_and_where_it_ended(target, write, told, tmp_path):
    written_to(tmp_path, target)

    problems = found(tmp_path, tokenizer=Template(write)).get("chat template", [])

    if told is None:
        assert problems == []
    elif not SHAPES[target].is_asked:
        assert any(told in one for one in problems)


@pytest.mark.parametrize("target", sorted(SHAPES))
def test_hugging_face_datasets_read_the_same_rows(target, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    written_to(tmp_path, target)

    check = loader_checks(read_export(tmp_path))[0]

    assert (check.name, check.problems, check.skipped) == ("loaded by datasets", [], "")
    assert check.of == sum(map(len, read_export(tmp_path).tables.values()))


def test_a_hubs_folder_loads_part_by_part_as_its_card_says(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from datasets import load_dataset

    written_to(tmp_path / "out", "hub")
    folder, cache = str(tmp_path / "out"), str(tmp_path / "cache")

    turns = load_dataset(folder, "turns", cache_dir=cache)
    candidates = load_dataset(folder, "candidates", cache_dir=cache)["train"]

    assert {name: len(rows) for name, rows in turns.items()} == {RUN.split.value: 2}
    assert candidates["text"] == [SEARCH.text, ANSWER.text]
    assert candidates["support"] == [[], []]


def test_a_loader_that_is_not_there_says_so(tmp_path):
    written_to(tmp_path, "verl-sft")

    (check,) = loader_checks(read_export(tmp_path))[1:]

    assert check.skipped and not check.of


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([1, "a"], "text and whole"),
        ([1, 2.5], "number and whole"),
        ([["a"], [1]], r"a\[\] holds text and whole"),
        ([2**63], "over 64 bits"),
        ([{}], "objects without keys"),
        ([{"b": 1}, {"b": "x"}], r"a\.b holds"),
    ],
)
def test_a_column_without_one_type_is_refused_by_name(values, told):
    with pytest.raises(MixedColumn, match=told):
        list(parquet_pieces([{"a": value} for value in values]))


def test_nothing_is_filled_in_but_null():
    from io import BytesIO

    from pyarrow import parquet

    rows = [{"a": [], "b": None}, {"a": ["x"], "b": {"c": 1}}, {"a": None, "b": {"c": None}}]
    (content,) = parquet_pieces(rows)

    assert parquet.read_table(BytesIO(content)).to_pylist() == rows
    assert "".join(json_lines(rows)).count("\n") == 3
