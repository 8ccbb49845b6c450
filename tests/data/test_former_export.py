"""An export into a folder where one lies: the folder holds the new one alone, and nothing that somebody made is lost."""

import json
from hashlib import sha256
from itertools import permutations

import pytest

from forethought.data.candidates import CandidateSet, written
from forethought.data.exports.bundle import Bundle, write_bundle
from forethought.data.exports.dialects import DIALECTS, export
from forethought.data.exports.export_inputs import ExportInputs, TokenizedSet
from forethought.data.exports.labelled import TurnScope
from forethought.data.traces import Action, Outcome, Trace, Turn, turn_id

SEARCH = written("I should look it up.", ["search"])
ANSWER = written("I know enough now.", ["answer"])
RUN = Trace(
    "Who built it?",
    (
        Turn(("raw",), (Action("search", {"input": "x"}),), ("found",)),
        Turn(("raw",), (Action("finish", {"input": "Eiffel"}),)),
    ),
    Outcome.SUCCESS,
)
INPUTS = ExportInputs(
    CandidateSet("s", (SEARCH, ANSWER)),
    [RUN],
    {turn_id(RUN.id, 0): SEARCH.id, turn_id(RUN.id, 1): ANSWER.id},
    TurnScope(include_test=True),
    tokens=TokenizedSet("made", "1", "0" * 64, {SEARCH.id: [1], ANSWER.id: [2]}),
)
NAMES = [dialect.name for dialect in DIALECTS]


def files_in(folder) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def entries(folder) -> set[str]:
    """Files, and folders that hold none."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("first", NAMES)
def test_a_folder_holds_what_its_manifest_lists_whatever_lay_there(first, tmp_path):
    for second in NAMES:
        folder = tmp_path / second
        export(first, INPUTS, folder)
        manifest = export(second, INPUTS, folder)

        assert files_in(folder) == {*manifest["files"], "manifest.json"}
        export(second, INPUTS, tmp_path / "alone" / second)
        assert entries(folder) == entries(tmp_path / "alone" / second)


def test_what_was_removed_is_told_by_name(tmp_path):
    export("csv", INPUTS, tmp_path)

    assert export("jsonl", INPUTS, tmp_path)["before"] == {
        "dialect": "csv",
        "removed": ["candidates.csv"],
        "kept": [],
    }
    assert "before" not in export("jsonl", INPUTS, tmp_path)


@pytest.mark.parametrize(("first", "second"), [*permutations(["hub", "swift", "csv"], 2)])
def test_what_no_manifest_lists_is_left_alone(first, second, tmp_path):
    export(first, INPUTS, tmp_path)
    own = {"notes.txt": "n", "images/mine.png": "m", "turns/own.parquet": "p", "trained/x": "x"}
    for name, text in own.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    manifest = export(second, INPUTS, tmp_path)

    assert files_in(tmp_path) == {*manifest["files"], "manifest.json", *own}
    assert {name: (tmp_path / name).read_text() for name in own} == own


@pytest.mark.parametrize("second", ["swift", "csv"])
def test_a_file_that_somebody_filled_in_is_set_aside_each_time(second, tmp_path):
    texts = ["mine", "mine again"]
    for text in texts:
        export("swift", INPUTS, tmp_path)
        (tmp_path / "tools.py").write_text(text)
        manifest = export(second, INPUTS, tmp_path)
    kept = manifest["before"]["kept"]

    assert kept == ["tools.py.before", "tools.py.before-2"]
    assert [(tmp_path / name).read_text() for name in kept] == texts
    assert files_in(tmp_path) == {*manifest["files"], "manifest.json", *kept}
    assert (
        export(second, INPUTS, tmp_path)["before"]["kept"] == kept
    )  # told as long as they lie there


def test_a_foreign_file_with_a_new_files_name_is_set_aside(tmp_path):
    own = {"README.md": "of a project", "manifest.json": '{"name": "an app"}'}
    for name, text in own.items():
        (tmp_path / name).write_text(text)
    export("swift", INPUTS, tmp_path)

    assert {name: (tmp_path / f"{name}.before").read_text() for name in own} == own


def test_an_export_that_was_killed_before_its_manifest_is_written_again(tmp_path):
    export("swift", INPUTS, tmp_path / "whole")
    manifest = (tmp_path / "whole" / "manifest.json").read_text()
    export("csv", INPUTS, tmp_path / "whole")  # what lies there now but for the manifest
    (tmp_path / "whole" / "manifest.json").write_text(manifest)
    made = export("csv", INPUTS, tmp_path / "whole")

    assert files_in(tmp_path / "whole") == {*made["files"], "manifest.json"}


@pytest.mark.parametrize("name", ["../precious", "/{}/precious", "linked/precious", "\0"])
def test_a_manifest_removes_nothing_outside_of_its_folder(name, tmp_path):
    name = name.format(str(tmp_path).lstrip("/"))
    (tmp_path / "precious").write_text("p")
    write_bundle(Bundle({"a.txt": ["a"]}), tmp_path / "out")
    (tmp_path / "out" / "linked").symlink_to(tmp_path)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    manifest["files"][name] = {"sha256": sha256(b"p").hexdigest()}
    manifest["before"] = {"kept": [name]}
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(manifest))
    write_bundle(Bundle({"b.txt": ["b"]}), tmp_path / "out")

    assert (tmp_path / "precious").read_text() == "p"
    assert not (tmp_path / "out" / "a.txt").exists()


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"files": {"a": 3}}', '{"files": {"a": {"sha256": ""}}}', '{"before": 3, "files": {}}']
)  # fmt: skip
def test_a_manifest_that_is_none_of_ours_lists_nothing(text, tmp_path):
    (tmp_path / "manifest.json").write_text(text)
    (tmp_path / "a").write_text("")
    manifest = export("csv", INPUTS, tmp_path)

    assert (tmp_path / "a").read_text() == ""
    assert manifest["before"]["kept"] == ["manifest.json.before"]
