"""A writer's words in a mined set, through a real server."""

import pytest
from embedders import HashingEmbedder
from runs import runs
from writer_server import WriterServer

from forethought.data.errors import ForethoughtError
from forethought.data.store import Store
from forethought.miner.wishes import Wishes
from forethought.ui.mining import MiningRequest, mine_set
from forethought.ui.writing import make_writer


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path / "cache"))
    store = Store.open(tmp_path / "forethought.db")
    store.add(runs(120))
    return store


def test_a_mined_set_tells_what_a_writer_made_of_each_text(store):
    with WriterServer(lambda body: "I should search again with other words.") as server:
        asked = MiningRequest(4, writer=make_writer(server.url, "scripted", None))
        mine_set(store, "written", HashingEmbedder(), asked)

    stored = store.candidate_set("written")
    told = stored.manifest["phrasing"]
    assert [entry["text"] for entry in told] == [c.text for c in stored.candidates]
    assert all(entry["provenance"] or entry["reason"] for entry in told)
    assert server.requests


def test_a_persons_own_text_is_never_asked_about(store):
    own = "I would rather look at the bridge once more."
    with WriterServer(lambda body: "I should search again with other words.") as server:
        asked = MiningRequest(
            3, wishes=Wishes(pinned=(own,)), writer=make_writer(server.url, "scripted", None)
        )
        mine_set(store, "pinned", HashingEmbedder(), asked)

    stored = store.candidate_set("pinned")
    assert stored.candidates[0].text == own
    assert own not in [entry["mined"] for entry in stored.manifest["phrasing"]]


def test_an_endpoint_wants_a_models_name():
    with pytest.raises(ForethoughtError, match="--writer-model"):
        make_writer("http://127.0.0.1:1/v1", None, None)
