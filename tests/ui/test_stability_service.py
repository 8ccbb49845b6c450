"""`forethought stability` and `families`: a stored set, mined again from what it was mined from."""

import json

import pytest
from embedders import HashingEmbedder
from runs import AGAIN, ANSWER, runs

from forethought.data import commands
from forethought.data.candidates import CandidateSet, written
from forethought.data.errors import ForethoughtError, NothingToDo
from forethought.data.store import Store
from forethought.miner.stability import Draws
from forethought.miner.wishes import Wishes
from forethought.ui import cli
from forethought.ui.auditing import Corpus
from forethought.ui.families import families_json, families_of
from forethought.ui.mining import MiningRequest, mine_set
from forethought.ui.stability import stability_report
from forethought.ui.stability_commands import show_families, show_sweep
from forethought.ui.wiring import make_embedder

EMBEDDER = HashingEmbedder()
WISH = "I should ask somebody who knows this."


@pytest.fixture
def store(tmp_path):
    store = Store.open(tmp_path / "runs.db")
    store.add(runs(70))
    wishes = Wishes((WISH,))
    mine_set(store, "moves", EMBEDDER, MiningRequest(4, source="bridges", wishes=wishes))
    return store


def report(store, runs=2, embedder=EMBEDDER):
    return stability_report(store, store.candidate_set("moves"), embedder, Draws(runs))


def test_every_candidate_is_told_with_what_was_found_instead(store):
    found = report(store)
    rows = {row["text"]: row for row in found["candidates"]}

    assert found["shuffle"] == {"identical": True}
    assert found["ari"]["min"] <= found["ari"]["mean"] <= found["ari"]["max"] <= 1
    assert list(rows) == [c.text for c in store.candidate_set("moves").active]
    assert (rows[AGAIN]["found_again"], rows[AGAIN]["same_text"]) == (2, 2)
    assert [match["text"] for match in rows[AGAIN]["matches"]] == [AGAIN, AGAIN]
    assert found["shaky"] == sum(bool(row["shaky"]) for row in found["candidates"])


def test_it_is_mined_as_the_set_was_and_from_the_same_traces(store):
    before = report(store)
    store.add(runs(100)[70:])

    assert report(store) == before
    assert max(before["sizes"]) <= 4
    assert before["candidates"][0]["text"] == WISH
    assert before["candidates"][0]["same_text"] in (2, None)  # None where no turn is like it


def test_what_people_did_since_is_compared_too(store):
    again = next(c for c in store.candidate_set("moves").active if c.text == AGAIN)
    answer = next(c for c in store.candidate_set("moves").active if c.text == ANSWER)
    wording = "This does not hold what I need, so I should search with other words."
    commands.reword(store, commands.Edit("moves", again.id, again.version, "ada"), wording)
    commands.reject(store, commands.Edit("moves", answer.id, answer.version, "ada"))

    rows = {row["text"]: row for row in report(store)["candidates"]}

    assert (rows[wording]["found_again"], rows[wording]["same_text"]) == (2, 0)
    assert ANSWER not in rows


def test_a_written_set_and_another_embedder_are_one_plain_line(store):
    by_hand = CandidateSet("hand", (written("I should look this up."),))
    with pytest.raises(NothingToDo, match="'hand' was not mined"):
        stability_report(store, by_hand, EMBEDDER, Draws())

    other = HashingEmbedder()
    other.name = "another"
    with pytest.raises(ForethoughtError, match="was mined with hashing, not another"):
        report(store, embedder=other)


def test_a_cliff_stands_at_the_value_behind_it(capsys):
    points = [
        {"value": value, "candidates": size, "coverage": 1.0, "assigned": 1.0}
        for value, size in ((150, 53), (160, 3))
    ]
    show_sweep("some_setting", {"own": 150, "cliffs": [[150, 160]], "points": points})

    lines = capsys.readouterr().out.splitlines()
    assert next(line for line in lines if " 53 " in line).count("as mined")
    assert next(line for line in lines if " 3 " in line).count("cliff from 150")


def test_families_hold_every_active_candidate_once(store):
    candidate_set = store.candidate_set("moves")
    corpus = Corpus.of(list(store.traces()), EMBEDDER)

    found = families_json(candidate_set, families_of(corpus, candidate_set))

    ids = [id for family in found["families"] for id in family["candidates"]]
    assert sorted(ids) == sorted(c.id for c in candidate_set.active)
    assert found["set"] == "moves"
    with pytest.raises(NothingToDo, match="no active candidate"):
        families_of(corpus, CandidateSet("empty", ()))


def test_a_short_list_is_not_indented_and_a_long_one_is(store, capsys):
    twins = [written(f"I should check place {number}.", ("go",)) for number in range(8)]
    corpus = Corpus.of(list(store.traces()), EMBEDDER)
    for size, indented in ((7, False), (8, True)):
        show_families("places", families_of(corpus, CandidateSet("places", tuple(twins[:size]))))
        assert ("  I should check place 1." in capsys.readouterr().out) == indented


def test_the_commands_print_json_or_a_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("forethought.miner.sweep.STEPS", {"budget": (3,)})
    url = tmp_path / "own.db"
    store = Store.open(url)
    store.add(runs(24))
    mine_set(store, "moves", make_embedder(None), MiningRequest(4))

    def printed(*arguments: str) -> str:
        monkeypatch.setattr("sys.argv", ["forethought", *arguments, "--store", str(url)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        assert not stopped.value.code
        return capsys.readouterr().out

    document = json.loads(printed("stability", "moves", "--runs", "1", "--sweep", "--json"))
    assert (document["set"], document["runs"]) == ("moves", 1)
    assert document["sweep"]["budget"]["own"] == 4
    assert [point["value"] for point in document["sweep"]["budget"]["points"]] == [3, 4]
    shown = printed("stability", "moves", "--runs", "1")
    assert "Shuffling the rows gives the same set" in shown
    assert "budget" not in shown
    assert json.loads(printed("families", "moves", "--json"))["set"] == "moves"
    assert "moves" in printed("families", "moves")
