"""What an import leaves out, told briefly: pictures that traces show are not left out, and many alike are one line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from forethought.data.formats import FORMATS, Skipped
from forethought.ui.cli import app
from forethought.ui.import_table import skipped_lines

PIXELS = (Path(__file__).parent.parent / "data/samples/screenshot1.png").read_bytes()


def chat(number, *pictures):
    seen = [{"type": "image", "image": place} for place in pictures]
    asked = {"role": "user", "content": [{"type": "text", "text": f"Who is {number}?"}, *seen]}
    return {"messages": [asked, {"role": "assistant", "content": "<think>a</think>b"}]}


@pytest.fixture
def runs(tmp_path):
    """Runs with pictures before and behind the file that names them, and beside them what is none."""
    folder = tmp_path / "runs"
    (folder / "shots").mkdir(parents=True)
    for name in ("a1.png", "shots/z1.png", "shots/z2.png", "lonely.png"):
        (folder / name).write_bytes(PIXELS + name.encode())
    (folder / "fake.png").write_text("no picture")
    rows = [chat(1, "a1.png"), chat(2, "shots/z1.png", "shots/../shots/z2.png", "fake.png")]
    (folder / "b.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return folder


def imported(*words, exit_code=0):
    result = CliRunner().invoke(app, ["import", *map(str, words)])
    assert result.exit_code == exit_code, result.output
    return result.output


def test_pictures_that_traces_show_are_not_skipped(runs, tmp_path):
    store = tmp_path / "s.db"
    for _ in range(2):  # again, when all of them are kept already
        told = json.loads(imported(runs, "--store", store, "--json"))
        assert [(one["file"].split("runs/")[1], one["reason"]) for one in told["skipped"]] == [
            ("fake.png", "a picture that no trace names"),
            ("lonely.png", "a picture that no trace names"),
        ]
    imported(runs / "b.jsonl", runs / "a1.png", "--store", store)  # as a shell spreads runs/*
    imported(runs / "b.jsonl", runs / "lonely.png", "--store", store, exit_code=3)


def test_many_skipped_files_of_one_ending_are_one_line():
    many = [Skipped(f"runs/{n}.md", "not one of .json") for n in range(40)]
    others = [
        Skipped("runs/LICENSE", "not one of .json"),
        Skipped("runs/a.json", "no traces (documents looked at: 1)"),
        Skipped("runs/b.json", "no traces (documents looked at: 2)"),
        *[Skipped(f"runs/NO{n}", "not one of .json") for n in range(4)],
    ]

    assert skipped_lines([*many, *others]) == [
        "skipped 40 .md files, such as runs/0.md: not one of .json",
        "skipped 5 files without an ending, such as runs/LICENSE: not one of .json",
        "skipped runs/a.json: no traces (documents looked at: 1)",
        "skipped runs/b.json: no traces (documents looked at: 2)",
    ]
    assert skipped_lines(many[:2]) == [f"skipped runs/{n}.md: not one of .json" for n in range(2)]


def test_the_formats_that_were_tried_are_told_once(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    rows = [chat(1), *({"colour": n} for n in range(30)), chat(2)]
    (folder / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "b.json").write_text('{"name": "x"}')
    store = tmp_path / "s.db"

    shown = " ".join(imported(folder, "--store", store, exit_code=3).split())
    told = json.loads(imported(folder, "--store", store, "--json", exit_code=3))

    names = [row.name for row in FORMATS]
    assert shown.count(", ".join(names[:5])) == 1
    assert shown.count("no known trace format") == 10
    assert told["formats_tried"] == names
    assert {one["reason"] for one in told["problems"]} == {"no known trace format"}
    assert (
        json.loads(imported(folder / "b.json", "--store", store, "--json", exit_code=3))[
            "formats_tried"
        ]
        == names
    )


def test_where_every_document_is_known_no_format_is_listed(runs, tmp_path):
    assert "formats tried" not in imported(runs, "--store", tmp_path / "s.db")
