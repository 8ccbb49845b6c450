"""The versions, run: what the log says, what differs, and that a release can be made, compared, restored and branched."""

import pytest
from curated_store import HOSTILE, TEXTS, curated, mined
from planted import planted
from streamlit.testing.v1 import AppTest

from forethought.data import commands
from forethought.data.candidates import CandidateSet, Status
from forethought.data.commands import Edit
from forethought.data.store import Store
from forethought.ui.access import Actor, Role
from forethought.ui.cards import ACTOR

NAME = "search-v1"


def past(store):  # AppTest runs the source of this function alone
    from embedders import HashingEmbedder

    from forethought.ui import versions_screen

    versions_screen.show(store, None, HashingEmbedder)


def shown(store: Store, look: str = "Log", actor: Actor | None = None) -> AppTest:
    at = AppTest.from_function(past, kwargs={"store": store}, default_timeout=60)
    if actor:
        at.session_state[ACTOR] = actor
    at.run()
    at.segmented_control(key="versions-look").set_value(look).run()
    assert not at.exception
    return at


def said(at: AppTest) -> list[str]:
    return [element.value for element in (*at.text, *at.success, *at.warning, *at.info)]


def reword(store: Store, text: str, place: int = 0) -> None:
    candidate = store.candidate_set(NAME).candidates[place]
    commands.reword(store, Edit(NAME, candidate.id, candidate.version, "ann", "shorter"), text)


@pytest.fixture
def store(tmp_path) -> Store:
    return curated(tmp_path / "store.db")


def test_the_log_tells_who_did_what_to_which_candidate(store):
    reword(store, "I should look.")
    rows = shown(store).dataframe[0].value.to_dict("records")

    assert [row["what"] for row in rows] == ["reworded", "set stored"]
    assert (rows[0]["who"], rows[0]["about"], rows[0]["why"]) == (
        "ann",
        "I should look.",
        "shorter",
    )


def test_the_last_edit_is_undone_from_the_log(store):
    reword(store, "I should look.")
    at = shown(store)
    at.button(key="undo").click().run()

    assert store.candidate_set(NAME).candidates[0].text == TEXTS[0][0]
    assert "undone by" in at.dataframe[0].value["what"][1]


def test_a_release_is_made_with_notes_and_its_hash_is_shown(store):
    at = shown(store, "Releases")
    at.text_area(key="release-notes").input("for the paper")
    at.button[0].click().run()

    (release,) = store.releases(NAME)
    assert release.notes == "for the paper"
    assert release.hash in [code.value for code in at.code]
    assert "for the paper" in said(at)


def test_what_was_reworded_and_rejected_since_a_release_is_told(store):
    store.release(NAME, "", "ann")
    reword(store, "I should look.")
    third = store.candidate_set(NAME).candidates[2]
    commands.reject(store, Edit(NAME, third.id, third.version, "ann"))
    at = shown(store, "Releases")
    at.button(key="compare-1").click().run()

    assert [sub.value for sub in at.subheader] == ["Reworded: 1", "Removed: 1"]
    assert f"− {TEXTS[0][0]}\n+ I should look." in said(at)


def test_a_command_of_the_log_is_a_version_and_what_is_none_is_told(store):
    reword(store, "I should look.")
    at = shown(store, "Compare")
    assert any("I should look." in text for text in said(at))

    other = AppTest.from_function(past, kwargs={"store": store}, default_timeout=60)
    other.session_state["versions-look"] = "Compare"
    other.session_state["versions-a"] = "no such version"
    other.run()
    assert not other.exception
    assert any("no such version" in code.value for code in other.code)


def test_going_back_asks_first_and_is_undone_by_one_undo(store):
    store.release(NAME, "", "ann")
    reword(store, "I should look.")
    at = shown(store, "Releases")
    at.button(key="restore-1").click().run()
    assert store.candidate_set(NAME).candidates[0].text == "I should look."

    at.button(key="confirm-restore").click().run()
    assert store.candidate_set(NAME).candidates[0].text == TEXTS[0][0]
    assert any("One undo" in text for text in said(at))
    commands.undo(store, NAME, "ann")
    assert store.candidate_set(NAME).candidates[0].text == "I should look."


def test_a_new_set_begins_from_a_release(store):
    store.release(NAME, "", "ann")
    reword(store, "I should look.")
    at = shown(store, "Releases")
    at.text_input(key="branch-name-1").input("search-v2")
    at.button(key="branch-1").click().run()

    assert store.candidate_set("search-v2").candidates[0].text == TEXTS[0][0]
    at.text_input(key="branch-name-1").input("search-v2")
    at.button(key="branch-1").click().run()
    assert any("another name" in text for text in said(at))


def test_two_versions_are_compared_on_the_same_choose_turns(tmp_path):
    store = curated(tmp_path / "store.db")
    store.add(planted(60).traces)
    store.release(NAME, "", "ann")
    third = store.candidate_set(NAME).candidates[2]
    commands.reject(store, Edit(NAME, third.id, third.version, "ann"))
    at = shown(store, "Compare")
    at.button(key="compare-what-both-cover").click().run()
    while not at.metric:
        at.run()

    labels = {metric.label: metric.value for metric in at.metric}
    assert float(labels["Difference, paired"].replace("−", "-")) <= 0
    assert any("choose turns" in caption.value for caption in at.caption)


def test_only_an_admin_releases_and_restores(store):
    store.release(NAME, "", "ann")
    at = shown(store, "Releases", Actor("cara", Role.CURATOR))

    assert at.button(key="restore-1").disabled
    assert any("an admin makes" in text for text in said(at))
    desk = at.session_state[f"archive-{NAME}"]
    desk.release("mine")
    assert "may not release" in desk.notice.detail
    assert len(store.releases(NAME)) == 1


def test_a_candidates_history_stands_with_its_comments(store):
    reword(store, "I should look.")
    first = store.candidate_set(NAME).candidates[0]
    commands.comment(store, Edit(NAME, first.id, first.version, "bob"), "Is it not too short?")
    told = said(shown(store, "History of a candidate"))

    assert "Is it not too short?" in told
    assert f"wording: {TEXTS[0][0]} → I should look." in told


def test_hostile_text_is_text_in_every_part(tmp_path):
    store = curated(tmp_path / "hostile.db", mined(NAME, tuple((t, (t[:50],)) for t in HOSTILE)))
    store.release(NAME, HOSTILE[0], HOSTILE[2])
    candidate = store.candidate_set(NAME).candidates[0]
    edit = Edit(NAME, candidate.id, candidate.version, HOSTILE[2], HOSTILE[1])
    commands.reword(store, edit, f"{HOSTILE[0]} again")
    for look in ("Log", "Releases", "Compare", "History of a candidate"):
        at = shown(store, look)
        kinds = (at.markdown, at.caption, at.title, at.subheader, at.info, at.warning, at.success)
        values = [element.value for kind in kinds for element in kind]
        values += [element.label for element in (*at.button, *at.text_area)]
        assert not any(text[:12] in value for value in values for text in HOSTILE)


def test_without_releases_and_without_candidates_the_page_says_what_to_do(tmp_path):
    store = curated(tmp_path / "none.db", CandidateSet("none", ()))
    assert any("No release yet" in text for text in said(shown(store, "Releases")))
    assert any("no candidate" in text for text in said(shown(store, "History of a candidate")))
    assert Status.PROPOSED not in [c.status for c in store.candidate_set("none").candidates]
    empty = AppTest.from_function(past, kwargs={"store": Store.open(tmp_path / "e.db")}).run()
    assert any("no candidate set" in info.value for info in empty.info)
