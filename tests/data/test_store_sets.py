"""Stored candidate sets: kept as given, re-mined without losing a person's work, released for good."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from trace_strategies import candidate_sets

from forethought.data import commands
from forethought.data.candidates import Candidate, CandidateSet, Status, written
from forethought.data.commands import Edit
from forethought.data.errors import InvalidCandidate, NotFound, NothingToDo
from forethought.data.library import builtin, library_hash
from forethought.data.store import Store

A, B, C, D = (written(text) for text in ("Look.", "Look again.", "Answer.", "Compare."))


@pytest.fixture
def store(store_url):
    store = Store.open(store_url)
    yield store
    assert store.check() == []
    store.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    store = Store.open(tmp_path_factory.mktemp("shared") / "a.db")
    yield store
    assert store.check() == []


def mined(*candidates: Candidate) -> CandidateSet:
    return CandidateSet("s", candidates)


def unused(store: Store) -> str:
    return f"set {len(store.set_names())}"


def texts(store: Store) -> list[str]:
    return [candidate.text for candidate in store.candidate_set("s").candidates]


@settings(deadline=None)
@given(candidate_set=candidate_sets())
def test_a_stored_set_comes_back_equal(shared, candidate_set):
    candidate_set = replace(candidate_set, name=unused(shared))

    shared.save_set(candidate_set)

    assert shared.candidate_set(candidate_set.name) == candidate_set


@settings(deadline=None, max_examples=40)
@given(first=candidate_sets(), second=candidate_sets())
def test_mining_again_keeps_what_a_person_touched_and_replaces_the_rest(shared, first, second):
    name = unused(shared)
    first, second = replace(first, name=name), replace(second, name=name)
    shared.save_set(first)
    shared.save_set(second)
    shared.save_set(second)

    stored = {c.id: replace(c, version=1) for c in shared.candidate_set(name).candidates}
    touched = {c.id: c for c in first.candidates if c.status is not Status.PROPOSED}
    kept_texts = {" ".join(c.text.split()).casefold() for c in touched.values()}
    for id, candidate in touched.items():
        assert stored.pop(id) == candidate
    for id, candidate in stored.items():
        assert candidate == second.get(id)
    for candidate in second.candidates:
        is_kept_text = " ".join(candidate.text.split()).casefold() in kept_texts
        assert candidate.id in stored or candidate.id in touched or is_kept_text


def test_saving_the_same_set_again_changes_no_candidate(store):
    store.save_set(builtin("ssr"))
    name = builtin("ssr").name
    commands.accept(store, Edit(name, "r_ZOOM_DETAIL", 1, "ann"))
    before = store.candidate_set(name)

    store.save_set(builtin("ssr"))

    assert store.candidate_set(name) == before


def test_an_accepted_candidate_stays_in_front_when_it_is_not_mined_again(store):
    store.save_set(mined(A, B, C))
    commands.accept(store, Edit("s", C.id, 1, "ann"))

    store.save_set(mined(D, A), reason="more data")

    assert texts(store) == ["Answer.", "Compare.", "Look."]
    assert store.revisions("s", B.id)[-1].after == {"position": None}
    assert store.revisions("s", C.id)[-1].reason == "more data"


def test_a_reworded_candidate_keeps_its_words_and_place_when_mined_again(store):
    store.save_set(mined(A, B, C))
    commands.reword(store, Edit("s", B.id, 1, "ann"), "Look once more.")

    store.save_set(mined(C, B, replace(D, text="look once MORE.")))

    assert texts(store) == ["Answer.", "Look once more."]


def test_a_rejected_candidate_stays_rejected(store):
    store.save_set(mined(A, B))
    commands.reject(store, Edit("s", A.id, 1, "ann"))

    store.save_set(mined(A, B))

    assert [c.id for c in store.candidate_set("s").active] == [B.id]


def test_an_edit_taken_back_leaves_the_candidate_to_the_miner(store):
    store.save_set(mined(A, B))
    commands.reword(store, Edit("s", A.id, 1, "ann"), "Look there.")
    commands.undo(store, "s", "ann")

    store.save_set(mined(B))

    assert texts(store) == ["Look again."]


def test_a_candidate_that_returns_goes_on_with_its_history(store):
    store.save_set(mined(A, B))
    store.save_set(mined(B))
    store.save_set(mined(replace(A, questions=5), B))

    assert store.candidate_set("s").get(A.id) == replace(A, questions=5, version=3)
    assert [r.version for r in store.revisions("s", A.id)] == [1, 2, 3]


@pytest.mark.parametrize(
    "candidates",
    [(A, replace(B, text="LOOK. ")), (A, replace(B, id=A.id)), (replace(A, text="<think>"),)],
)
def test_a_set_that_cannot_be_selected_from_is_refused_whole(store, candidates):
    with pytest.raises(InvalidCandidate):
        store.save_set(mined(C, *candidates))

    assert store.set_names() == []


def test_an_unknown_set_names_those_there_are(store):
    with pytest.raises(NotFound, match="forethought mine"):
        store.candidate_set("none")
    store.save_set(mined(A))
    with pytest.raises(NotFound, match="there are: s"):
        store.candidate_set("none")
    with pytest.raises(NotFound, match="never had"):
        store.revisions("s", "c_none")


def test_a_release_keeps_what_was_released(store):
    store.save_set(mined(A, B, C))
    commands.reject(store, Edit("s", B.id, 1, "ann"))

    first = store.release("s", "for training", "ann")
    commands.reword(store, Edit("s", A.id, 1, "ann"), "Look there.")
    second = store.release("s", "", "ann")

    assert store.releases("s") == [first, second]
    assert (first.number, second.number, first.notes) == (1, 2, "for training")
    assert first.candidates == (A, C)
    assert first.hash == library_hash(mined(A, C)) != second.hash
    assert first.hash != second.hash


def test_nothing_is_not_released(store):
    store.save_set(mined(A))
    commands.reject(store, Edit("s", A.id, 1, "ann"))

    with pytest.raises(NothingToDo):
        store.release("s", "", "ann")


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (
            "UPDATE candidate SET text = 'other' WHERE position = 0",
            "does not lead to what is stored",
        ),
        ("UPDATE candidate SET position = 7 WHERE position = 0", "does not lead to"),
        ("UPDATE candidate SET num_support = 7 WHERE position = 0", "listed with 7 turns"),
        ("UPDATE candidate SET version = 2", "every version from 1 to 2"),
        ("UPDATE candidate SET text = 'same'", "have the same text"),
        ("DROP TRIGGER release_no_update; UPDATE release SET hash = ''", "not what its hash says"),
    ],
)
def test_check_finds_what_no_command_did(tmp_path, damage, problem):
    store = Store.open(tmp_path / "a.db")
    store.save_set(mined(A, B))
    store.release("s", "", "ann")
    with store.database.writing() as session:
        for statement in damage.split(";"):
            session.connection().exec_driver_sql(statement)

    assert any(problem in found for found in store.check())
