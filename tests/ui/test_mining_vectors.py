"""What is wrong with the vectors that mining goes by is told by turn, and kept out of the fit."""

import json

import numpy as np
import pytest
from embedders import HashingEmbedder
from runs import AGAIN, ANSWER, run, runs

from forethought.data.store import Store
from forethought.miner.embed import CachedEmbedder
from forethought.ui import cli
from forethought.ui.auditing import Corpus
from forethought.ui.comparing import coverage_report
from forethought.ui.growing import grow_set
from forethought.ui.mining import MiningRequest, mine_set

NONE = {"num_texts": 5, "truncated": [], "nan": [], "infinite": [], "zero": [], "constant": []}
FAULTS = {"nan": np.nan, "infinite": np.inf, "zero": 0.0, "constant": 0.125}


class Flawed(HashingEmbedder):
    """Gives a vector of one value for `text`, and reads no more than `most` characters."""

    name = "flawed"

    def __init__(self, text: str = "", value: float = 0.0, most: int = 10_000) -> None:
        self.text, self.value, self.most = text, value, most
        self.asked: list[str] = []

    def embed(self, texts):
        vectors = super().embed([text[: self.most] for text in texts])
        vectors[[text == self.text for text in texts]] = self.value
        return vectors

    def truncated(self, texts):
        self.asked += texts
        return np.array([len(text) > self.most for text in texts], bool)


@pytest.fixture
def store(tmp_path):
    store = Store.open(tmp_path / "runs.db")
    store.add(runs(90))
    return store


def thought(store: Store, turn: str) -> str:
    trace, _, index = turn.rpartition(":")
    return store.trace(trace).turns[int(index)].thoughts[0]


def told(store: Store, embedder) -> dict:
    mine_set(store, "moves", embedder, MiningRequest(6))
    return store.candidate_set("moves").manifest["embedding"]


def test_where_nothing_is_wrong_nothing_is_told(store):
    found = told(store, HashingEmbedder())

    assert found == NONE | {"num_texts": found["num_texts"]}
    assert found["num_texts"] > 3


@pytest.mark.parametrize("fault", FAULTS)
def test_a_thought_without_a_vector_is_named_by_its_turn_and_the_others_are_mined(store, fault):
    found = told(store, Flawed(AGAIN, FAULTS[fault]))

    (turn,) = found[fault]
    assert thought(store, turn) == AGAIN
    assert found == NONE | {"num_texts": found["num_texts"], fault: [turn]}
    mined = store.candidate_set("moves")
    assert ANSWER in [candidate.text for candidate in mined.candidates]
    assert mined.manifest["unusable"] == 1


def test_a_thought_that_is_not_read_to_the_end_is_named_and_mined(store):
    found = told(store, Flawed(most=len(AGAIN) - 1))

    (turn,) = found["truncated"]
    assert thought(store, turn) == AGAIN
    assert AGAIN in [candidate.text for candidate in store.candidate_set("moves").candidates]


def test_growing_and_auditing_go_on_beside_a_vector_that_is_none(store):
    flawed = Flawed(AGAIN, np.nan)
    told(store, flawed)
    store.add(run(number) for number in range(1000, 1030))

    assert grow_set(store, "moves", flawed, budget=2).num_placed > 0
    corpus = Corpus.of(list(store.traces()), flawed)
    report = coverage_report(corpus, store.candidate_set("moves"))
    assert AGAIN in {one["text"] for one in report["uncovered"]}
    assert 0 < report["semantic_coverage"]["value"] < 1


def test_the_cache_remembers_what_was_not_read_to_the_end(store, tmp_path):
    first, again = Flawed(most=30), Flawed(most=30)
    found = told(store, CachedEmbedder(first, tmp_path / "vectors"))

    assert told(store, CachedEmbedder(again, tmp_path / "vectors")) == found
    assert found["truncated"] and again.asked == []


def test_shards_that_do_not_tell_are_asked_about_and_kept(tmp_path):
    cached = CachedEmbedder(Flawed(most=5), tmp_path)
    cached.embed(["short", "rather long"])
    (shard,) = cached.folder.glob("*.npz")
    with np.load(shard) as stored:
        np.savez(shard, keys=stored["keys"], vectors=stored["vectors"])
    again = CachedEmbedder(inner := Flawed(most=5), tmp_path)

    assert again.truncated(["rather long", "short", "new and long"]).tolist() == [True, False, True]
    assert sorted(inner.asked) == ["new and long", "rather long", "short"]
    assert shard.exists()


def test_the_command_tells_counts_in_both_forms(store, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        "forethought.ui.mining_commands.make_embedder", lambda spec, where: Flawed(most=40)
    )
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path / "cache"))

    def printed(*more: str) -> str:
        command = ["forethought", "mine", "--store", str(tmp_path / "runs.db"), *more]
        monkeypatch.setattr("sys.argv", command)
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        assert not stopped.value.code
        return capsys.readouterr().out

    counts = json.loads(printed("--json"))["embedding"]
    ids = store.candidate_set("mined").manifest["embedding"]
    assert counts == {"texts": ids["num_texts"]} | {
        fault: len(ids[fault]) for fault in ("truncated", *FAULTS)
    }
    assert counts["truncated"] > 0
    assert f"{counts['truncated']} of {counts['texts']} distinct thoughts" in printed()
