"""Edits by people: versioned, attributed, undoable, and never lost to each other."""

import subprocess
import sys
from threading import Thread

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from forethought.data import commands
from forethought.data.candidates import CandidateSet, Status, written
from forethought.data.commands import Edit, StaleEdit
from forethought.data.errors import Conflict, InvalidCandidate, NotFound, NothingToDo
from forethought.data.store import Store

FIRST, SECOND = written("Look it up.", ["search"]), written("I know it.", ["answer"])
DECISIONS = {
    commands.accept: Status.ACCEPTED,
    commands.reject: Status.REJECTED,
    commands.needs_work: Status.NEEDS_WORK,
}


def edit(version: int, candidate=FIRST, actor="ann", reason="") -> Edit:
    return Edit("s", candidate.id, version, actor, reason)


@pytest.fixture
def store(store_url):
    store = Store.open(store_url)
    store.save_set(CandidateSet("s", (FIRST, SECOND)))
    yield store
    assert store.check() == []
    store.close()


@pytest.mark.parametrize("command", DECISIONS)
def test_a_decision_is_kept_with_who_and_why(store, command):
    candidate = command(store, edit(1, reason="since it is"))

    assert candidate == store.candidate_set("s").get(FIRST.id)
    assert (candidate.status, candidate.version) == (DECISIONS[command], 2)
    made, revision = store.revisions("s", FIRST.id)
    assert (made.actor, made.before, made.after["position"]) == ("miner", {}, 0)
    assert (revision.actor, revision.reason) == ("ann", "since it is")
    assert (revision.before, revision.after) == (
        {"status": "proposed"},
        {"status": DECISIONS[command]},
    )


def test_deciding_the_same_again_changes_nothing(store):
    commands.accept(store, edit(1))

    assert commands.accept(store, edit(2, actor="bob")).version == 2
    assert len(store.revisions("s", FIRST.id)) == 2


def test_rewording_keeps_the_id(store):
    candidate = commands.reword(store, edit(1), "I should look it up.")

    assert (candidate.id, candidate.text) == (FIRST.id, "I should look it up.")


@pytest.mark.parametrize("text", ["", " \n", "a</thinking>", "<|im_end|>"])
def test_a_text_no_candidate_may_have_is_refused(store, text):
    with pytest.raises(InvalidCandidate):
        commands.reword(store, edit(1), text)


def test_a_text_that_another_candidate_has_is_refused(store):
    with pytest.raises(InvalidCandidate, match=SECOND.id):
        commands.reword(store, edit(1), "i  KNOW it.")


def test_an_edit_from_an_old_version_tells_base_theirs_and_yours(store):
    commands.reword(store, edit(1, actor="bob"), "Look it up first.")

    with pytest.raises(Conflict) as error:
        commands.reword(store, edit(1), "Search for it.")

    conflict = error.value
    assert isinstance(conflict, StaleEdit)
    assert conflict.base == FIRST
    assert (conflict.theirs.text, conflict.theirs.version) == ("Look it up first.", 2)
    assert conflict.yours.text == "Search for it."
    for text in ("Look it up.", "Look it up first.", "Search for it."):
        assert text in str(conflict)
    assert store.candidate_set("s").get(FIRST.id) == conflict.theirs


def test_a_version_that_never_was_conflicts_too(store):
    with pytest.raises(StaleEdit) as error:
        commands.accept(store, edit(7))

    assert error.value.base is None


@pytest.mark.parametrize("edited", [Edit("none", "c", 1, "a"), Edit("s", "c_none", 1, "a")])
def test_what_is_not_there_cannot_be_edited(store, edited):
    with pytest.raises(NotFound):
        commands.accept(store, edited)


def test_undo_and_redo_walk_through_the_edits(store):
    commands.accept(store, edit(1))
    commands.reword(store, edit(2), "Look it up first.")

    assert commands.undo(store, "s", "ann").text == "Look it up."
    assert commands.undo(store, "s", "ann").status is Status.PROPOSED
    with pytest.raises(NothingToDo):
        commands.undo(store, "s", "ann")
    assert commands.redo(store, "s", "ann").status is Status.ACCEPTED
    assert commands.redo(store, "s", "ann").text == "Look it up first."
    with pytest.raises(NothingToDo):
        commands.redo(store, "s", "ann")
    assert commands.undo(store, "s", "ann").text == "Look it up."


def test_a_new_edit_ends_what_can_be_redone(store):
    commands.accept(store, edit(1))
    commands.undo(store, "s", "ann")
    commands.reject(store, edit(1, SECOND))

    with pytest.raises(NothingToDo):
        commands.redo(store, "s", "ann")


def test_undo_is_of_one_set_only(store):
    store.save_set(CandidateSet("t", (FIRST,)))
    commands.accept(store, edit(1))

    with pytest.raises(NothingToDo):
        commands.undo(store, "t", "ann")


def test_undo_does_not_make_two_candidates_equal(store):
    commands.reword(store, edit(1), "Look it up first.")
    store.save_set(CandidateSet("s", (SECOND, written("look IT up."))))

    with pytest.raises(InvalidCandidate, match="has this text already"):
        commands.undo(store, "s", "ann")


COUNTING = """
import sys
from forethought.data import commands
from forethought.data.errors import Conflict
from forethought.data.store import Store

def count(store, times):
    while times:
        candidate = store.candidate_set("s").candidates[0]
        edit = commands.Edit("s", candidate.id, candidate.version, "counter")
        try:
            commands.reword(store, edit, str(int(candidate.text) + 1))
            times -= 1
        except Conflict:
            pass

if __name__ == "__main__":
    count(Store.open(sys.argv[1]), 15)
"""


def test_no_edit_of_eight_threads_and_two_processes_is_lost(tmp_path):
    store = Store.open(tmp_path / "a.db")
    store.save_set(CandidateSet("s", (written("0"),)))
    counting: dict = {"__name__": "counting"}
    exec(COUNTING, counting)

    processes = [
        subprocess.Popen([sys.executable, "-c", COUNTING, str(tmp_path / "a.db")]) for _ in range(2)
    ]
    threads = [Thread(target=counting["count"], args=(store, 15)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for waited in threads:
        waited.join()
    assert [process.wait() for process in processes] == [0, 0]

    (candidate,) = store.candidate_set("s").candidates
    assert (candidate.text, candidate.version) == ("150", 151)
    assert store.check() == []


class Curation(RuleBasedStateMachine):
    """Against a list of states: undo and redo are moves in it, a new edit cuts off what lies ahead."""

    directory: str

    def __init__(self) -> None:
        super().__init__()
        self.store = Store.open(f"{self.directory}/{id(self)}.db")
        self.store.save_set(CandidateSet("s", (FIRST, SECOND)))
        self.states = [self.now()]
        self.place = 0

    def now(self):
        return [(c.text, c.status) for c in self.store.candidate_set("s").candidates]

    def move_on(self) -> None:
        if self.now() != self.states[self.place]:
            self.states = [*self.states[: self.place + 1], self.now()]
            self.place += 1

    @rule(number=st.integers(0, 1), command=st.sampled_from(list(DECISIONS)))
    def decide(self, number, command):
        candidate = self.store.candidate_set("s").candidates[number]
        command(self.store, edit(candidate.version, candidate))
        self.move_on()

    @rule(number=st.integers(0, 1), suffix=st.integers(0, 2))
    def reword(self, number, suffix):
        candidate = self.store.candidate_set("s").candidates[number]
        commands.reword(self.store, edit(candidate.version, candidate), f"text {number} {suffix}")
        self.move_on()

    @precondition(lambda self: self.place > 0)
    @rule()
    def undo(self):
        commands.undo(self.store, "s", "ann")
        self.place -= 1

    @precondition(lambda self: self.place + 1 < len(self.states))
    @rule()
    def redo(self):
        commands.redo(self.store, "s", "ann")
        self.place += 1

    @invariant()
    def stored_is_where_the_list_stands(self):
        assert self.now() == self.states[self.place]

    def teardown(self):
        assert self.store.check() == []
        self.store.close()


def test_undo_and_redo_are_moves_in_the_list_of_states(tmp_path):
    Curation.directory = str(tmp_path)
    run_state_machine_as_test(
        Curation, settings=settings(max_examples=12, stateful_step_count=20, deadline=None)
    )
