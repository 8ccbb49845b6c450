"""A set against traces: coverage, confusable candidates, drift."""

from dataclasses import replace

import pytest
from embedders import HashingEmbedder
from runs import AGAIN, ANSWER, NEXT, run, runs, search

from forethought.data.candidates import CandidateSet, Status, written
from forethought.data.errors import ForethoughtError, NotFound, NothingToDo
from forethought.data.identity import Split
from forethought.data.store import Store
from forethought.ui.auditing import Corpus
from forethought.ui.comparing import (
    confusable_pairs,
    coverage_report,
    drift_report,
    read_records,
    released,
    traces_named,
)

TRACES = runs(120)
CORPUS = Corpus.of(TRACES, HashingEmbedder())
MOVES = CandidateSet("moves", tuple(written(text) for text in (AGAIN, ANSWER, NEXT)))
GIVE_UP = "This cannot be settled with what the tool offers, and I will stop looking."


def planted(numbers: range) -> list:
    made = []
    for number in numbers:
        trace = run(number)
        turns = (*trace.turns[:-1], search(GIVE_UP, "nothing", ""), trace.turns[-1])
        made.append(replace(trace, turns=turns if number % 3 == 0 else trace.turns))
    return made


def test_every_held_out_turn_is_covered_or_listed_with_where_it_is():
    found = coverage_report(CORPUS, MOVES)

    coverage = found["semantic_coverage"]
    assert len(found["uncovered"]) == round((1 - coverage["value"]) * coverage["n"])
    by_id = {trace.id: trace for trace in TRACES}
    for one in found["uncovered"]:
        trace = by_id[one["trace"]]
        assert trace.turns[one["turn"]].thoughts == (one["text"],)
        assert trace.split == one["split"] != Split.MINE


def test_a_set_without_candidates_is_a_plain_message():
    rejected = tuple(replace(c, status=Status.REJECTED) for c in MOVES.candidates)

    with pytest.raises(NothingToDo, match="no active candidate"):
        coverage_report(CORPUS, replace(MOVES, candidates=rejected))


def test_two_wordings_of_one_move_are_told_and_different_moves_are_not():
    near = AGAIN.replace("different", "new")
    found = confusable_pairs(CORPUS, CandidateSet("s", (*MOVES.candidates, written(near))))

    assert [(pair["first_text"], pair["second_text"]) for pair in found["pairs"]] == [(AGAIN, near)]
    assert found["pairs"][0]["suggestion"] == "merge"
    assert found["pairs"][0]["selection"] is None


def record(split: str, **scores: float) -> dict:
    texts = dict(zip((c.id for c in MOVES.candidates), scores.values(), strict=True))
    return {"split": split, "scores": {"raw": texts}}


def test_likelihood_that_cannot_tell_two_candidates_is_told_from_choose_records_only():
    close = [record("choose", a=-1.0, b=-1.01, c=-3.0)] * 12
    found = confusable_pairs(CORPUS, MOVES, close)

    assert [pair["selection"] for pair in found["pairs"]] == [
        {"turns": 12, "close": 12, "share": 1.0}
    ]
    with pytest.raises(ForethoughtError, match="another set"):
        confusable_pairs(CORPUS, MOVES, [record("test", a=-1.0, b=-1.01, c=-3.0)])


def test_more_of_the_same_does_not_drift_and_a_planted_move_does():
    same = drift_report(CORPUS, MOVES, [run(number) for number in range(120, 260)])
    new = drift_report(CORPUS, MOVES, planted(range(120, 260)))

    assert not same["drift"]
    assert new["drift"]
    assert new["groups"][0]["text"] == GIVE_UP
    assert new["shares"]["new"].keys() == {*(c.id for c in MOVES.candidates), "unassigned"}


def test_questions_that_were_mined_from_take_no_part_in_a_drift():
    mined = [trace for trace in TRACES if trace.split is Split.MINE]

    with pytest.raises(NothingToDo, match="new corpus"):
        drift_report(CORPUS, MOVES, mined)


def test_new_traces_are_a_stored_source_or_files(tmp_path):
    store = Store.open(tmp_path / "a.db")
    store.add(TRACES[:5])

    assert len(traces_named(store, ["bridges"])) == 5
    with pytest.raises(ForethoughtError):
        traces_named(store, ["bridge"])


def test_a_release_is_compared_as_it_was_frozen(tmp_path):
    store = Store.open(tmp_path / "a.db")
    store.save_set(MOVES)
    store.release("moves", "", "me")

    assert released(store, MOVES, 1).active == store.candidate_set("moves").active
    with pytest.raises(NotFound, match="no release 2; there are: 1"):
        released(store, MOVES, 2)


def test_records_that_cannot_be_read_are_a_plain_message(tmp_path):
    (tmp_path / "r.jsonl").write_text("{", "utf-8")

    for name in ("r.jsonl", "none.jsonl"):
        with pytest.raises(ForethoughtError, match="--records"):
            read_records(tmp_path / name)
