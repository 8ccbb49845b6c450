"""`forethought mask`: what masking takes out of a store's thoughts."""

import json

import numpy as np
import pytest
from runs import runs

from forethought.data.errors import InvalidRules, InvalidVectors, NotFound
from forethought.data.store import Store
from forethought.miner.mask_rules import SHIPPED
from forethought.miner.slots import fill
from forethought.ui import cli
from forethought.ui.masking import preview
from forethought.ui.wiring import make_embedder


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "runs.db"
    Store.open(path).add(runs(60))
    return path


def test_a_preview_shows_original_typed_and_masked_with_counts_over_all(url):
    found = preview(Store.open(url), limit=3)

    assert len(found.shown) == 3 < found.num_thoughts
    assert found.kinds.total() == found.rules.total() == found.owners.total() > 0
    assert found.num_whole > 0
    assert found.kept_types < found.word_types
    for _, masked in found.shown:
        assert fill(masked.typed, masked.values) == masked.original


def test_a_users_rules_are_used(url, tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text(SHIPPED.read_text("utf-8").replace('name = "number"', 'name = "mine"'))

    counts = preview(Store.open(url), 0, rules).rules

    assert counts["mine"] > 0 and counts["number"] == 0


def test_mistakes_are_told(url, tmp_path):
    with pytest.raises(NotFound, match="no traces of source 'elsewhere'; there are: bridges"):
        preview(Store.open(url), 1, source="elsewhere")
    with pytest.raises(InvalidRules, match="nowhere.toml"):
        preview(Store.open(url), 1, tmp_path / "nowhere.toml")


def test_the_command_prints_json_a_table_or_the_rules(url, monkeypatch, capsys):
    def printed(*arguments: str) -> str:
        monkeypatch.setattr("sys.argv", ["forethought", "mask", "--store", str(url), *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        assert not stopped.value.code
        return capsys.readouterr().out

    document = json.loads(printed("--limit", "2", "--json"))
    assert [set(one) for one in document["shown"]] == [
        {"turn", "original", "typed", "masked", "slots"}
    ] * 2
    assert set(document["shown"][0]["slots"][0]) == {
        "kind",
        "start",
        "stop",
        "text",
        "owner",
        "rule",
    }
    assert "word types remain" in printed("--limit", "1")
    assert printed("--print-rules") == SHIPPED.read_text("utf-8")


def test_an_embedder_is_a_model_a_model_with_a_prompt_or_a_file_of_vectors(tmp_path, monkeypatch):
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path))
    np.savez(tmp_path / "own.npz", texts=np.array(["a", "b"]), vectors=np.eye(2))
    packaged = make_embedder(None)

    assert make_embedder("::query: ").name == f"{packaged.name} with 'query: '"
    assert make_embedder(str(tmp_path / "own.npz")).embed(["b"]).tolist() == [[0, 1]]
    with pytest.raises(InvalidVectors, match="lacks 1 of 1 texts"):
        make_embedder(str(tmp_path / "own.npz")).embed(["c"])
