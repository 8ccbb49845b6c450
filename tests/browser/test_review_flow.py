"""Reviewing in a browser: by keyboard alone, with drafts that outlive the page, and two people on one candidate."""

import pytest
from playwright.sync_api import expect
from visitor import until

from forethought.data import drafts
from forethought.data.candidates import Status

pytestmark = pytest.mark.browser

KEYS = {"a": Status.ACCEPTED, "x": Status.REJECTED, "n": Status.NEEDS_WORK}
FIFTY = [f"I do not know fact number {n} yet, so I should look it up." for n in range(1, 51)]
TYPED = " Then axn, msf and wz."  # every letter that decides, moves or opens something


def statuses(store, name) -> list[Status]:
    return [one.status for one in store.candidate_set(name).candidates]


def draft_of(store, name, actor="ann") -> list[str]:
    return [draft.text for draft in drafts.drafts(store, name, actor).values()]


def test_fifty_candidates_are_reviewed_by_keyboard_alone(store, make_set, visit):
    name, ann = make_set(FIFTY), visit()
    before = [len(store.revisions(name, one.id)) for one in store.candidate_set(name).candidates]
    ann.open("Review", name)
    pressed = ["axn"[number % 3] for number in range(50)]
    for number, key in enumerate(pressed, start=1):
        ann.has_open(number, 50)
        ann.press(key)
    ann.sees("Every candidate is reviewed.")

    assert statuses(store, name) == [KEYS[key] for key in pressed]
    revisions = [store.revisions(name, one.id) for one in store.candidate_set(name).candidates]
    assert [len(found) - n for found, n in zip(revisions, before, strict=True)] == [1] * 50
    assert {found[-1].actor for found in revisions} == {"ann"}

    ann.press("z")
    until(lambda: statuses(store, name)[49] is Status.PROPOSED)
    ann.sees("Undone: reject.")
    ann.press("z")
    until(lambda: statuses(store, name)[48] is Status.PROPOSED)
    ann.has_open(49, 50)
    ann.press("Shift+Z")
    until(lambda: statuses(store, name)[48] is KEYS[pressed[48]])
    ann.sees("Done again.")
    ann.press("Shift+Z")
    until(lambda: statuses(store, name) == [KEYS[key] for key in pressed])


def test_two_keys_at_once_make_no_conflict_with_oneself(store, make_set, visit):
    """The second is for the next candidate where that is there already, and for nothing where it is not."""
    name, ann = make_set(FIFTY[:3]), visit()
    ann.open("Review", name)
    ann.has_open(1, 3)
    ann.press("a", "x")
    expect(ann.heading).not_to_have_text("Candidate 1 of 3")
    ann.ready()

    assert statuses(store, name)[0] is Status.ACCEPTED
    assert statuses(store, name)[1] in (Status.PROPOSED, Status.REJECTED)
    expect(ann.main).not_to_contain_text("changed")
    ann.press("ArrowLeft")
    ann.ready()
    expect(ann.main).not_to_contain_text("changed")


def test_what_is_typed_never_decides_and_outlives_the_browser(store, make_set, visit):
    name, ann = make_set(FIFTY[:3]), visit()
    ann.open("Review", name)
    ann.has_open(1, 3)
    ann.press("e")
    expect(ann.wording).to_be_focused()
    ann.page.keyboard.type(TYPED)
    until(lambda: draft_of(store, name) == [FIFTY[0] + TYPED], "the draft")
    assert statuses(store, name) == [Status.PROPOSED] * 3

    ann.reload()
    expect(ann.wording).to_have_value(FIFTY[0] + TYPED)
    assert store.candidate_set(name).candidates[0].text == FIFTY[0], "a draft is no edit"

    ann.has_open(1, 3)
    ann.press("w")
    until(lambda: store.candidate_set(name).candidates[0].text == FIFTY[0] + TYPED)
    ann.sees("Wording saved.")
    ann.press("z")
    until(lambda: store.candidate_set(name).candidates[0].text == FIFTY[0])
    expect(ann.wording).to_have_value(FIFTY[0])
    assert not draft_of(store, name)


def test_two_people_on_one_candidate_settle_it_and_lose_nothing(store, make_set, visit):
    name = make_set(FIFTY[:3])
    ann, bob = visit("ann"), visit("bob")
    theirs, yours = "I should ask an almanac.", "I should ask a librarian."
    for visitor in (ann, bob):
        visitor.open("Review", name)
        visitor.has_open(1, 3)
    bob.wording.fill(yours)
    until(lambda: draft_of(store, name, "bob") == [yours], "bob's draft")
    ann.wording.fill(theirs)
    until(lambda: draft_of(store, name, "ann") == [theirs], "ann's draft")
    ann.press("Escape", "w")
    until(lambda: store.candidate_set(name).candidates[0].text == theirs)

    bob.press("Escape", "w")
    bob.sees("This candidate changed while you worked on it.")
    for text in (FIFTY[0], theirs, yours):
        bob.sees(text)
    assert store.candidate_set(name).candidates[0].text == theirs
    bob.click("Write this")
    until(lambda: store.candidate_set(name).candidates[0].text == yours)

    versions = [found.after["text"] for found in store.revisions(name, _first(store, name))]
    assert versions[-2:] == [theirs, yours]
    assert [found.actor for found in store.revisions(name, _first(store, name))][-2:] == [
        "ann",
        "bob",
    ]


def _first(store, name) -> str:
    return store.candidate_set(name).candidates[0].id
