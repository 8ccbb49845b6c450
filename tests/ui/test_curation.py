"""The decisions of curation, without a screen: what a Desk does to the store, and what it keeps."""

import pytest
from curated_store import TEXTS, curated, mined
from hypothesis import given
from hypothesis import strategies as st

from forethought.data import commands
from forethought.data.candidates import CandidateSet, Status
from forethought.data.commands import Edit
from forethought.data.listing import ListedCandidate
from forethought.data.store import Store
from forethought.ui import fitted
from forethought.ui.access import Role, guarded
from forethought.ui.conflict import Resolution
from forethought.ui.curation import Decision, Desk
from forethought.ui.review_order import next_to_review
from forethought.ui.roster import Roster
from forethought.ui.wording import wording_problems

NAME = "search-v1"


@pytest.fixture
def store(tmp_path) -> Store:
    return curated(tmp_path / "store.db")


@pytest.fixture
def desk(store) -> Desk:
    return Desk(store, NAME, "ann")


def statuses(store: Store) -> list[Status]:
    return [candidate.status for candidate in store.candidate_set(NAME).candidates]


def change_elsewhere(store: Store, text: str) -> None:
    first = store.candidate_set(NAME).candidates[0]
    commands.reword(store, Edit(NAME, first.id, first.version, "bob"), text)


@pytest.mark.parametrize(
    ("decision", "status"),
    [
        (Decision.ACCEPT, Status.ACCEPTED),
        (Decision.REJECT, Status.REJECTED),
        (Decision.NEEDS_WORK, Status.NEEDS_WORK),
    ],
)
def test_a_decision_is_stored_under_its_author_and_the_next_candidate_opens(
    store, desk, decision, status
):
    desk.decide(desk.look(), decision)

    first = store.candidate_set(NAME).candidates[0]
    assert first.status is status
    assert store.revisions(NAME, first.id)[-1].actor == "ann"
    assert desk.look().number == 2


def test_after_the_last_decision_the_desk_says_that_all_is_reviewed(store, desk):
    for _ in TEXTS:
        desk.decide(desk.look(), Decision.ACCEPT)

    assert set(statuses(store)) == {Status.ACCEPTED}
    assert "Every candidate is reviewed" in desk.notice.text


def test_undo_and_redo_go_to_the_candidate_they_change(store, desk):
    desk.decide(desk.look(), Decision.REJECT)
    desk.undo()
    assert statuses(store)[0] is Status.PROPOSED
    assert desk.look().number == 1

    desk.step(1)
    desk.redo()
    assert statuses(store)[0] is Status.REJECTED
    assert desk.look().number == 1


def test_undo_with_nothing_to_undo_says_so(desk):
    desk.undo()

    assert desk.notice.text == "Nothing to do."
    assert "undo" in desk.notice.detail


def test_a_wording_waits_through_next_and_previous_until_it_is_saved(store, desk):
    desk.type(desk.look(), "I should look this up.")
    desk.step(1)
    desk.step(-1)
    assert desk.look().wording == "I should look this up."
    assert store.candidate_set(NAME).candidates[0].text == TEXTS[0][0]

    desk.reword(desk.look())
    assert store.candidate_set(NAME).candidates[0].text == "I should look this up."
    assert desk.look().draft is None


def test_typing_the_stored_text_back_leaves_no_draft(desk):
    desk.type(desk.look(), "something else")
    desk.type(desk.look(), TEXTS[0][0])

    assert desk.look().draft is None


def test_accepting_saves_the_wording_that_is_on_the_desk(store, desk):
    desk.type(desk.look(), "I should look this up.")
    desk.decide(desk.look(), Decision.ACCEPT)

    first = store.candidate_set(NAME).candidates[0]
    assert (first.text, first.status) == ("I should look this up.", Status.ACCEPTED)


def test_a_wording_that_no_candidate_may_have_is_refused_and_kept(store, desk):
    desk.type(desk.look(), "I <thinking> again.")
    desk.decide(desk.look(), Decision.ACCEPT)

    assert statuses(store)[0] is Status.PROPOSED
    assert desk.look().wording == "I <thinking> again."
    assert "<thinking>" in desk.notice.detail


def test_a_decision_from_an_older_version_shows_all_three_and_writes_nothing(store, desk):
    shown = desk.look()
    change_elsewhere(store, "I should search first.")
    desk.decide(shown, Decision.REJECT)

    assert statuses(store)[0] is Status.PROPOSED
    conflict = desk.conflict_of(desk.look())
    assert conflict.base.text == TEXTS[0][0]
    assert conflict.theirs.text == "I should search first."
    assert conflict.yours.status is Status.REJECTED
    assert conflict.fields == ("text", "status")
    assert desk.look().number == 1


def test_what_only_one_side_changed_is_proposed_as_that_side_has_it(store, desk):
    shown = desk.look()
    change_elsewhere(store, "I should search first.")
    desk.decide(shown, Decision.REJECT)
    conflict = desk.conflict_of(desk.look())
    proposed = {field: conflict.proposal(field) for field in conflict.fields}

    assert proposed == {"text": "I should search first.", "status": Status.REJECTED}
    desk.settle(conflict, Resolution(proposed))
    first = store.candidate_set(NAME).candidates[0]
    assert (first.text, first.status) == ("I should search first.", Status.REJECTED)
    assert desk.conflict_of(desk.look()) is None


def test_accepting_a_reworded_candidate_that_changed_loses_neither_wording_nor_decision(
    store, desk
):
    desk.type(desk.look(), "I should look this up.")
    shown = desk.look()
    change_elsewhere(store, "I should search first.")
    desk.decide(shown, Decision.ACCEPT)

    yours = desk.conflict_of(desk.look()).yours
    assert (yours.text, yours.status) == ("I should look this up.", Status.ACCEPTED)


def test_in_a_conflict_of_wordings_neither_is_lost(store, desk):
    desk.type(desk.look(), "I should look this up.")
    change_elsewhere(store, "I should search first.")
    desk.reword(desk.look())

    view = desk.look()
    assert view.changed_meanwhile
    assert (view.candidate.text, view.wording) == (
        "I should search first.",
        "I should look this up.",
    )

    desk.settle(desk.conflict_of(view), Resolution({"text": view.wording}))
    assert store.candidate_set(NAME).candidates[0].text == "I should look this up."
    assert desk.look().draft is None


def test_what_changes_again_while_a_conflict_is_settled_is_a_new_conflict(store, desk):
    desk.type(desk.look(), "I should look this up.")
    change_elsewhere(store, "I should search first.")
    conflict = desk.conflict_of(desk.look())
    change_elsewhere(store, "I should search.")
    desk.settle(conflict, Resolution({"text": "I should look up both."}))

    again = desk.conflict_of(desk.look())
    assert again.theirs.text == "I should search."
    assert again.yours.text == "I should look up both."


def test_theirs_can_be_taken_in_a_conflict(store, desk):
    desk.type(desk.look(), "I should look this up.")
    change_elsewhere(store, "I should search first.")

    desk.take_theirs(desk.conflict_of(desk.look()))

    assert desk.look().wording == "I should search first."
    assert desk.conflict_of(desk.look()) is None


def test_a_move_in_the_order_makes_no_conflict_of_a_draft(store, desk):
    desk.type(desk.look(), "I should look this up.")
    first = store.candidate_set(NAME).candidates[0]
    commands.place(store, Edit(NAME, first.id, first.version, "bob"), 2)

    assert not desk.look().changed_meanwhile
    desk.reword(desk.look())
    assert store.candidate_set(NAME).candidates[2].text == "I should look this up."


def test_drafts_outlive_the_desk(store, desk):
    desk.type(desk.look(), "I should look this up.")

    assert Desk(store, NAME, "ann").look().wording == "I should look this up."
    assert Desk(store, NAME, "bob").look().wording == TEXTS[0][0]


def test_a_wording_that_was_begun_in_another_tab_is_told_before_it_is_replaced(store, desk):
    other, shown = Desk(store, NAME, "ann"), desk.look()
    other.type(other.look(), "I should search.")
    desk.type(shown, "I should look this up.")

    assert desk.look().wording == "I should look this up."
    assert desk.notice.detail == "I should search."


def test_expected_actions_are_edited(store, desk):
    desk.expect(desk.look(), ["answer", "search"])

    assert store.candidate_set(NAME).candidates[0].expected_actions == ("answer", "search")


def test_an_empty_set_has_nothing_on_its_desk(store):
    store.save_set(CandidateSet("empty", ()))
    desk = Desk(store, "empty", "ann")
    desk.step(1)

    assert desk.look() is None


@given(st.lists(st.sampled_from(Status), min_size=1, max_size=6), st.integers(0, 5))
def test_the_next_to_review_is_the_first_proposed_one_going_round(all_statuses, place):
    texts = tuple((f"I should look at {n}.", ()) for n in range(len(all_statuses)))
    found = mined(texts=texts).candidates

    candidates = tuple(
        ListedCandidate(c.id, c.text, (), s, 0, 0, 1, (), 0, is_member=True)
        for c, s in zip(found, all_statuses, strict=True)
    )
    ids = [c.id for c in candidates]
    after = ids[place % len(ids)]
    following = next_to_review(Roster(candidates, 1), ids, after)

    proposed = {c.id for c in candidates if c.status is Status.PROPOSED}
    assert (following is None) == (not proposed)
    assert following is None or following in proposed
    assert following != after or proposed == {after}


def test_advice_names_bad_form_and_words_of_one_question(store):
    mask = fitted.mask_of(store, NAME).result(30)

    assert wording_problems("I should look it up in Lisbon.", mask) == (
        "has words that belong to few questions: Lisbon",
    )
    assert wording_problems("Searching would not help.", None) == (
        "does not speak in the first person, nor begins with what to do",
    )


def test_without_traces_a_wording_is_judged_by_its_form_alone(tmp_path):
    empty = Store.open(tmp_path / "empty.db")
    empty.save_set(mined())

    assert fitted.mask_of(empty, NAME).result(30) is None
    assert wording_problems("I should look it up first.", None) == ()
    assert wording_problems("I should look it up", None) == ("is not a whole statement",)


def test_what_another_tab_of_the_same_name_wrote_is_never_saved_unseen(store):
    """The draft is one for a name: whoever saves must have it on the page."""
    here, there = Desk(store, NAME, "ann"), Desk(store, NAME, "ann")
    before = store.candidate_set(NAME).candidates[0].text
    seen_here, seen_there = here.look(), there.look()
    here.type(seen_here, "I should ask an almanac.")
    there.type(seen_there, "I should ask a librarian.")

    for act in (here.reword, lambda view: here.decide(view, Decision.ACCEPT)):
        act(seen_here)
        assert store.candidate_set(NAME).candidates[0].text == before
        assert here.notice.is_problem
        assert here.notice.detail == "I should ask an almanac.", "nothing typed is lost"
    shown = here.look()
    assert shown.wording == "I should ask a librarian."
    here.reword(shown)
    assert store.candidate_set(NAME).candidates[0].text == "I should ask a librarian."


def test_a_wording_that_cannot_be_stored_as_a_draft_stays_on_the_page(store):
    """As on a full disk; here by a store that may only be read."""
    desk = Desk(guarded(store, Role.VIEWER), NAME, "ann")
    desk.type(desk.look(), "I should ask an almanac.")
    assert desk.notice is not None
    assert desk.look().wording == "I should ask an almanac."
    desk.reword(desk.look())
    assert desk.look().wording == "I should ask an almanac.", "nor does a save that fails lose it"

    desk.store = store
    desk.reword(desk.look())
    assert store.candidate_set(NAME).candidates[0].text == "I should ask an almanac."
    assert desk.look().wording == "I should ask an almanac."


def test_what_somebody_else_did_is_undone_only_when_asked_twice(store, desk):
    change_elsewhere(store, "I should ask an almanac.")
    desk.undo()
    assert store.candidate_set(NAME).candidates[0].text == "I should ask an almanac."
    assert "bob" in desk.notice.detail
    assert "reword" in desk.notice.detail

    desk.undo()
    assert store.candidate_set(NAME).candidates[0].text == TEXTS[0][0]


def test_between_two_undos_another_command_of_somebody_else_asks_anew(store, desk):
    change_elsewhere(store, "I should ask an almanac.")
    desk.undo()
    change_elsewhere(store, "I should ask a librarian.")
    desk.undo()

    assert store.candidate_set(NAME).candidates[0].text == "I should ask a librarian."


def test_an_undo_says_what_it_took_back(store, desk):
    desk.decide(desk.look(), Decision.REJECT)
    desk.undo()

    assert desk.notice.text == "Undone: reject."
