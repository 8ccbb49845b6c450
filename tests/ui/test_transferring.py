"""Mined on each source, audited on every other."""

from dataclasses import replace

import pytest
from embedders import CountingEmbedder, HashingEmbedder
from runs import runs
from tiny_models import tiny_model

from forethought.data.errors import NotFound, NothingToDo
from forethought.data.store import Store
from forethought.data.traces import Action, Trace, Turn
from forethought.scorer.audit import AuditModels
from forethought.ui.transferring import TransferPlan, transfer

LOOK = "I should look at the shelf before I take anything from there."
TAKE = "I see what I was told to bring, so I will take that now."


def chores(count: int) -> list[Trace]:
    """Another agent, whose moves have no word in common with a search agent's."""
    look, take = Action("go", {"to": "shelf"}), Action("take", {"what": "cup"})
    turns = (Turn((LOOK,), (look,), ("A cup.",)), Turn((TAKE,), (take,), ("",)))
    return [Trace(f"Bring cup number {i} of the set.", turns, None, "chores") for i in range(count)]


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path))
    opened = Store.open(tmp_path / "a.db")
    opened.add([*runs(60), *chores(60)])
    return opened


def cells(matrix: dict) -> dict:
    return {(cell["mined"], cell["audited"]): cell for cell in matrix["cells"]}


def test_a_set_covers_its_own_source_and_not_one_with_other_moves(store):
    found = cells(transfer(store, HashingEmbedder(), TransferPlan()))

    assert len(found) == 4
    for source, other in (("bridges", "chores"), ("chores", "bridges")):
        own, far = found[source, source], found[other, source]
        assert own["semantic_coverage"]["value"] > far["semantic_coverage"]["value"]
        assert own["assigned"]["value"] > far["assigned"]["value"]
        assert own["turns"] == far["turns"]


def test_run_again_mines_nothing_and_says_the_same(store):
    first = transfer(store, HashingEmbedder(), TransferPlan())
    again = CountingEmbedder()
    again.name = HashingEmbedder.name
    whole = CountingEmbedder()

    assert transfer(store, again, TransferPlan()) == first
    transfer(store, whole, TransferPlan(budget=11))
    assert again.asked < whole.asked


def test_fewer_test_turns_are_counted_and_recovery_is_there_where_models_are(store):
    model = tiny_model()
    plan = TransferPlan(test_turns=3)
    found = transfer(store, HashingEmbedder(), plan, AuditModels(model, model))

    for cell in found["cells"]:
        assert cell["turns"] == 3
        assert {"value", "low", "high", "n", "nats"} <= cell["assigned_recovery"].keys()


def test_a_source_that_cannot_be_mined_is_told_and_the_others_stand(store):
    store.add([replace(trace, turns=trace.turns[:0], source="empty") for trace in runs(3)])
    found = transfer(store, HashingEmbedder(), TransferPlan())

    assert len(found["cells"]) == 4
    assert {f["source"] for f in found["failures"]} == {"empty"}


def test_a_source_that_is_not_there_and_a_store_without_thoughts_are_plain_messages(
    store, tmp_path
):
    with pytest.raises(NotFound, match="bridges, chores"):
        transfer(store, HashingEmbedder(), TransferPlan(sources=("bridge",)))
    with pytest.raises(NothingToDo):
        transfer(Store.open(tmp_path / "b.db"), HashingEmbedder(), TransferPlan())
