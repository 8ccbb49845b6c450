"""The measuring commands as a script sees them."""

import json
from dataclasses import replace

import pytest
from runs import AGAIN, ANSWER, NEXT, runs

from forethought.data.candidates import CandidateSet, written
from forethought.data.store import Store
from forethought.scorer.slices import SLICED_BY
from forethought.ui.audit_commands import SlicedBy
from forethought.ui.cli import main


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    path = tmp_path_factory.mktemp("filled") / "runs.db"
    store = Store.open(path)
    store.add(runs(80))
    store.add([replace(trace, source="later") for trace in runs(160)[80:]])
    store.save_set(CandidateSet("moves", tuple(written(text) for text in (AGAIN, ANSWER, NEXT))))
    return path


@pytest.fixture
def call(monkeypatch, capsys, url):
    """Runs a command on the store; its exit code and what it printed."""

    def run_command(*arguments):
        monkeypatch.setattr("sys.argv", ["forethought", *map(str, arguments), "--store", str(url)])
        code = 0
        try:
            main()
        except SystemExit as exit:
            code = int(exit.code or 0)
        return code, capsys.readouterr().out

    return run_command


def test_slices_can_be_asked_for_by_every_kind_that_there_is():
    assert [kind.value for kind in SlicedBy] == list(SLICED_BY)


def test_coverage_lists_the_uncovered_thoughts_in_a_file(call, tmp_path):
    file = tmp_path / "uncovered.jsonl"
    code, out = call("coverage", "moves", "--uncovered", file, "--json")

    found = json.loads(out)
    assert code == 0
    assert [json.loads(line) for line in file.read_text("utf-8").splitlines()] == found["uncovered"]
    assert found["calibration"] is None
    assert "uncovered" in call("coverage", "moves")[1]


def test_pairs_are_json_or_a_sentence(call):
    code, out = call("pairs", "moves", "--json")

    assert code == 0
    assert json.loads(out).keys() == {"set", "pairs", "turns"}
    assert call("pairs", "moves")[0] == 0


def test_drift_says_no_of_the_same_agent_and_exits_0(call):
    code, out = call("drift", "moves", "later", "--json")

    found = json.loads(out)
    assert (code, found["drift"]) == (0, False)
    assert found["changes"].keys() == {"assigned", "covered", "distribution", "groups"}
    assert "no drift" in call("drift", "moves", "later")[1]


def test_a_transfer_matrix_has_a_cell_for_every_pair_of_sources(call):
    code, out = call("transfer", "--test", "5", "--json")

    found = json.loads(out)
    assert code == 0
    assert len(found["cells"]) == len(found["sources"]) ** 2 == 4
    assert "Semantic coverage" in call("transfer", "--test", "5")[1]
