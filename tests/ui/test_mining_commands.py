"""`forethought mine` says where its blocks are worked out, and one line where it cannot."""

import sys

import pytest
from embedders import HashingEmbedder
from executors import Backwards
from runs import runs

from forethought.data.store import Store
from forethought.ui.cli import main
from forethought.ui.mining import MiningRequest, mine_set


@pytest.fixture
def refused(monkeypatch, capsys, tmp_path):
    """Mines by the command line, which is a mistake; the line that says so."""
    store = tmp_path / "runs.db"
    Store.open(store).add(runs(20))

    def mine(*arguments):
        monkeypatch.setattr("sys.argv", ["forethought", "mine", "--store", str(store), *arguments])
        with pytest.raises(SystemExit) as exited:
            main()
        assert exited.value.code == 2
        (line,) = capsys.readouterr().err.strip().splitlines()
        return line

    return mine


def test_ray_that_is_not_installed_is_one_line(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)  # as if it were not there

    assert refused("--executor", "ray").endswith("install it with `pip install 'forethought[ray]'`")


def test_a_set_that_grows_asks_for_no_executor(refused):
    assert "leave out --executor" in refused("--grow", "mined", "--executor", "ray")


def test_the_manifest_tells_the_executor_beside_the_settings_that_decide_the_set(tmp_path):
    store = Store.open(tmp_path / "runs.db")
    store.add(runs(90))

    mine_set(store, "plain", HashingEmbedder(), MiningRequest(6))
    mine_set(store, "elsewhere", HashingEmbedder(), MiningRequest(6, executor=Backwards()))

    plain, elsewhere = (store.candidate_set(name) for name in ("plain", "elsewhere"))
    assert (plain.manifest["executor"], elsewhere.manifest["executor"]) == ("plain", "backwards")
    assert plain.manifest["settings"] == elsewhere.manifest["settings"]
    assert plain.manifest["settings"]["resume"] is None
    assert plain.candidates == elsewhere.candidates
