"""Versions of a set: compared, restored, branched from; and the comparison itself on plain values."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.data import activity, commands, versions
from forethought.data.candidates import CandidateSet, Status, written
from forethought.data.commands import Edit, NewCandidate
from forethought.data.errors import Conflict, NotFound, NothingToDo
from forethought.data.set_diff import Kinship, Version, compare
from forethought.data.store import Store

TURNS = tuple(f"t_{number // 2}:{number % 2}" for number in range(8))
A, B, C = (
    replace(written(text, [action]), support=TURNS[start : start + 4], questions=2)
    for text, action, start in (
        ("Look.", "search", 0),
        ("Seek.", "find", 2),
        ("Answer.", "answer", 4),
    )
)
MANY = [written(f"I should do number {number}.") for number in range(8)]


@pytest.fixture
def store(store_url):
    store = Store.open(store_url)
    store.save_set(CandidateSet("s", (A, B, C), note="a note", manifest={"seed": 0}))
    store.release("s", "first", "ann")
    yield store
    assert store.check() == []
    store.close()


def edit(store: Store, candidate) -> Edit:
    return Edit("s", candidate.id, store.candidate_set("s").get(candidate.id).version, "ann")


def texts(candidates) -> list[str]:
    return [candidate.text for candidate in candidates]


def test_a_diff_tells_every_kind_of_change(store):
    parts = [NewCandidate("Answer.", TURNS[4:6]), NewCandidate("Compare.", TURNS[6:8])]
    commands.split(store, edit(store, C), parts)
    commands.merge(store, edit(store, A), [edit(store, B)], text="Look well.")
    commands.add(store, "s", NewCandidate("Stop."), "ann")
    commands.accept(store, edit(store, C))
    commands.place(store, edit(store, C), 0)

    diff = versions.diff(store, "s", "1")

    assert texts(diff.added) == ["Stop."]
    assert diff.removed == ()
    assert [(pair.before.text, pair.after.text) for pair in diff.reworded] == [
        ("Look.", "Look well.")
    ]
    (merged,) = diff.merged
    assert (merged.survivor.id, texts(merged.others)) == (A.id, ["Seek."])
    (divided,) = diff.split
    assert (divided.original.id, texts(divided.parts)) == (C.id, ["Compare."])
    assert [pair.after.id for pair in diff.status] == [C.id]
    assert [pair.after.expected_actions for pair in diff.actions] == [("search", "find")]
    assert len(diff.moved) == 1
    assert (diff.a, diff.b) == ("1", "now")
    back = versions.diff(store, "s", "now", "1")
    assert texts(back.removed) == ["Compare.", "Stop."] or len(back.removed) == 2


def test_a_merge_over_two_steps_is_told_once(store):
    commands.merge(store, edit(store, B), [edit(store, C)])
    commands.merge(store, edit(store, A), [edit(store, B)])

    (merged,) = versions.diff(store, "s", "1").merged

    assert (merged.survivor.id, {c.id for c in merged.others}) == (A.id, {B.id, C.id})


def test_any_past_of_a_set_can_be_named(store):
    commands.reject(store, edit(store, B))
    commands.reword(store, edit(store, A), "Look well.")
    reworded, rejected, *_ = activity.log(store, "s").entries

    at = f"@{rejected.command_id}"
    assert texts(versions.candidates_at(store, "s", at)) == ["Look.", "Seek.", "Answer."]
    assert texts(versions.diff(store, "s", "1", at).removed) == ["Seek."]
    assert versions.diff(store, "s", reworded.at, "now").is_empty
    assert versions.candidates_at(store, "s", at)[1].status is Status.REJECTED
    for unknown in ("7", "@0", "1999-01-01", "then", "@x", ""):
        with pytest.raises(NotFound):
            versions.diff(store, "s", unknown)


def test_the_past_is_what_it_was_then(store):
    """After each command, the version of that command is the set as it was read then."""
    seen = {}
    steps = [
        lambda: commands.accept(store, edit(store, A)),
        lambda: commands.merge(store, edit(store, A), [edit(store, B)]),
        lambda: commands.undo(store, "s", "bob"),
        lambda: commands.place(store, edit(store, C), 0),
        lambda: commands.add(store, "s", NewCandidate("Stop."), "ann"),
        lambda: versions.restore_release(store, "s", 1, "ann"),
    ]
    for step in steps:
        step()
        seen[activity.log(store, "s", limit=1).entries[0].command_id] = store.candidate_set("s")

    for command_id, then in seen.items():
        assert versions.candidates_at(store, "s", f"@{command_id}") == then.candidates


def test_a_restored_release_is_the_set_again_and_can_be_undone(store):
    commands.merge(store, edit(store, A), [edit(store, B)], text="Look well.")
    added = commands.add(store, "s", NewCandidate("Stop."), "ann")
    kept_out = commands.add(store, "s", NewCandidate("Wait."), "ann")
    commands.reject(store, edit(store, kept_out))
    before = store.candidate_set("s")

    restored = versions.restore_release(store, "s", 1, "bob", "too far")

    (release,) = store.releases("s")
    assert [replace(c, version=1) for c in restored.active] == list(release.candidates)
    assert versions.diff(store, "s", "1").is_empty
    assert texts(restored.candidates) == ["Look.", "Seek.", "Answer.", "Wait."]
    assert store.revisions("s", added.id)[-1].after == {"position": None}
    with pytest.raises(NothingToDo):
        versions.restore_release(store, "s", 1, "bob")
    commands.undo(store, "s", "bob")
    assert texts(store.candidate_set("s").candidates) == texts(before.candidates)


def test_a_branch_begins_as_the_version_and_goes_its_own_way(store):
    commands.reword(store, edit(store, A), "Look well.")

    branch = versions.branch(store, "s", "1", "t", "ann")

    assert branch.candidates == (A, B, C)
    assert branch.manifest == {"seed": 0, "branched_from": {"set": "s", "version": "1"}}
    commands.accept(store, Edit("t", A.id, 1, "ann"))
    assert store.candidate_set("s").get(A.id).status is Status.PROPOSED
    store.save_set(CandidateSet("t", (B,)))  # a branch is a person's choice: mining again adds only
    assert len(store.candidate_set("t").candidates) == 3
    for name in ("t", "s"):
        with pytest.raises(Conflict):
            versions.branch(store, "s", "now", name, "ann")
    with pytest.raises(NothingToDo):
        versions.branch(store, "s", "now", " ", "ann")


def test_a_set_is_no_different_from_itself():
    assert compare(Version("a", MANY), Version("b", MANY)).is_empty


@given(order=st.permutations(MANY))
def test_what_moved_is_the_least_that_explains_the_new_order(order):
    """Oracle: what is left without the moved keeps its order, and no smaller set of candidates would do."""
    moved = {c.id for c in compare(Version("a", MANY), Version("b", order)).moved}
    places = [MANY.index(c) for c in order if c.id not in moved]
    assert places == sorted(places)
    assert len(MANY) - len(moved) == longest_run([MANY.index(c) for c in order])


def longest_run(places: list[int]) -> int:
    best: list[int] = []
    for index, place in enumerate(places):
        best.append(1 + max((best[i] for i in range(index) if places[i] < place), default=0))
    return max(best, default=0)


def test_lineage_in_a_circle_ends():
    rng = random.Random(0)
    kin = [Kinship(rng.choice(MANY).id, rng.choice(MANY).id, "merge") for _ in range(30)]

    assert compare(Version("a", MANY), Version("b", ()), kin).merged == ()
