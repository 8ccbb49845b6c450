"""What an import tells: formats, models, repairs, reasoning that is no thought, pictures, and outcomes from a side file."""

import base64
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from forethought.data.errors import ForethoughtError
from forethought.data.store import Store
from forethought.data.traces import Outcome
from forethought.ui.cli import app
from forethought.ui.importing import pictures_beside

PIXELS = base64.b64encode(
    (Path(__file__).parent.parent / "data/samples/screenshot1.png").read_bytes()
)
ASKED = {
    "role": "user",
    "content": [
        {"type": "text", "text": "Who?"},
        {"type": "image", "image": f"data:image/png;base64,{PIXELS.decode()}"},
    ],
}
ROWS = [
    {
        "id": "1",
        "model": "m",
        "messages": [ASKED, {"role": "assistant", "content": "a</think>He."}],
    },
    {
        "id": "2",
        "model": "m",
        "messages": [ASKED, {"role": "assistant", "content": "<think>I must"}],
    },
    {
        "id": "3",
        "messages": [
            ASKED,
            {
                "role": "assistant",
                "content": "She.",
                "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}],
            },
        ],
    },
]


@pytest.fixture
def runs(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path / "runs"


def imported(runs, *options):
    store = runs.parent / "s.db"
    result = CliRunner().invoke(
        app, ["import", str(runs), "--store", str(store), "--json", *map(str, options)]
    )
    assert result.exit_code == 0, result.output
    return json.loads(result.output), Store.open(store)


def test_the_report_counts_by_name_all_that_was_read(runs):
    report, store = imported(runs)

    assert report["formats"] == {"openai-chat": 3}
    assert report["models"] == {"m": 2}
    assert report["repairs"] == {"implied_open": 1, "implied_close": 1}
    assert report["reasoning"] == {"cut": 1, "redacted": 1}
    assert (report["images"], report["outcomes"]) == (3, None)
    assert store.check() == []


def test_pictures_lie_beside_the_store_and_none_is_in_it(runs):
    _, store = imported(runs)
    (picture,) = (runs.parent / "s.images").iterdir()

    assert {name for trace in store.traces() for turn in trace.turns for name in turn.images} == {
        picture.name
    }
    assert PIXELS[:60] not in (runs.parent / "s.db").read_bytes()
    assert pictures_beside(store.database.location) == runs.parent / "s.images"
    assert pictures_beside("postgresql://host/db") is None


def test_a_folder_of_pictures_that_is_a_file_is_told_and_nothing_is_imported(runs):
    file = runs.parent / "in.png"
    file.touch()
    store = runs.parent / "s.db"
    call = ["import", str(runs), "--store", str(store), "--images", str(file)]
    result = CliRunner().invoke(app, call)

    assert isinstance(result.exception, ForethoughtError)
    assert "in.png: no folder" in str(result.exception)
    assert not store.exists()


def test_a_store_gives_back_what_a_trace_holds_beside_its_turns(runs):
    _, store = imported(runs)
    kept = {trace.run: trace for trace in store.traces()}

    assert (kept["1"].model, kept["1"].repairs) == ("m", ("implied_open",))
    assert kept["2"].turns[0].is_cut
    assert kept["3"].turns[0].redacted == 1


def test_outcomes_come_from_a_side_file_for_traces_that_are_there_already_too(runs):
    imported(runs)
    outcomes = runs.parent / "o.csv"
    outcomes.write_text("id,resolved\n1,true\n2,false\n9,true\n")
    report, store = imported(runs, "--outcomes", outcomes)

    assert report["outcomes"] == {"matched": 2, "traces_without": 1, "rows_without": 1}
    assert {trace.run: trace.outcome for trace in store.traces()} == {
        "1": Outcome.SUCCESS,
        "2": Outcome.FAILURE,
        "3": None,
    }


def test_a_mistaken_file_of_outcomes_is_one_line_and_nothing_is_imported(runs):
    store = runs.parent / "s.db"
    result = CliRunner().invoke(
        app, ["import", str(runs), "--store", str(store), "--outcomes", str(runs)]
    )

    assert "no outcomes that can be read" in str(result.exception)
    assert not store.exists()
