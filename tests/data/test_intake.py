"""Traces into a store, anew and out of it, in each kind of database."""

from dataclasses import replace

import pytest

from forethought.data.candidates import Candidate, CandidateSet
from forethought.data.removal import StillNeeded
from forethought.data.store import BATCH, Added, Store
from forethought.data.trace_spool import TraceSpool
from forethought.data.traces import Action, Outcome, Trace, Turn, turn_id

KEPT = f"{'0123456789abcdef' * 4}.png"


def run(number, thought="I should look.", images=(), **facts):
    turn = Turn((thought,), (Action("search", {"input": "x"}),), ("found",), images)
    facts = {"source": "made", "format": "test", "file": "f.json"} | facts
    return Trace(f"question {number}?", (turn,), position=number, **facts)


@pytest.fixture
def store(store_url):
    store = Store.open(store_url)
    yield store
    assert store.check() == []
    store.close()


def test_what_was_unknown_is_told_and_what_was_known_stays(store):
    store.add([run(1), run(2, outcome=Outcome.FAILURE)])

    told = store.add([run(n, outcome=Outcome.SUCCESS) for n in (1, 2)])

    assert told == Added(0, 0, 0, duplicates=2, outcomes=1)
    assert {t.position: t.outcome for t in store.traces()} == {
        1: Outcome.SUCCESS,
        2: Outcome.FAILURE,
    }


def test_a_picture_turns_up_at_its_place_only(store):
    store.add([run(1, images=("a.png",)), run(1, images=("b.png",), file="g.json")])

    told = store.add([run(1, images=(KEPT,))])

    assert told == Added(0, 0, 0, duplicates=1, pictures=1)
    found = {trace.file: trace for trace in store.traces()}
    assert found["f.json"].id == run(1, images=("a.png",)).id
    assert [found[file].turns[0].images for file in ("f.json", "g.json")] == [(KEPT,), ("b.png",)]


def test_a_file_is_read_anew_over_the_borders_of_batches(store):
    store.add(run(n) for n in range(2 * BATCH + 1))
    store.add([run(1, file="other.json")])

    reread = store.take_anew(run(n, thought=f"{n}") for n in range(BATCH + 1))

    assert (reread.added.traces, reread.removed.traces, reread.kept) == (
        BATCH + 1,
        2 * BATCH + 1,
        0,
    )
    assert {trace.turns[0].thoughts[0] for trace in store.traces()} == {
        str(n) for n in range(BATCH + 1)
    }


def test_nothing_changes_where_a_candidate_stands_on_what_would_go(store):
    store.add(run(n) for n in range(3))
    one = Candidate("c_1", "I should look.", support=(turn_id(run(2).id, 0),), questions=1)
    store.save_set(CandidateSet("s", (one,)))
    before = list(store.traces())

    for change in (
        lambda: store.remove({trace.id for trace in before}),
        lambda: store.take_anew([run(0), run(7)]),
    ):
        with pytest.raises(StillNeeded, match="1 candidate stands on 1 turn of"):
            change()
    assert list(store.traces()) == before

    assert store.remove([run(2).id], force=True).standing == (("s", "c_1", 1),)
    assert store.take_anew([run(0), run(7)]).removed.traces == 1
    assert sorted(trace.position for trace in store.traces()) == [0, 7]


def test_a_spool_gives_back_what_it_was_given_as_often_as_it_is_asked():
    turn = Turn(
        ("\U0001f600",), (Action("a", {"x": float("1e300"), "y": None}),), ("",), is_cut=True
    )
    given = [
        replace(run(1), turns=(turn, Turn(images=("a",), known_as=()))),
        run(2, outcome=Outcome.SUCCESS, model="m", run="r", repairs=("implied_open",)),
    ]
    spool = TraceSpool()

    spool.keep(given[:1])
    spool.keep(given[1:])

    assert list(spool) == given == list(spool)
    spool.close()
