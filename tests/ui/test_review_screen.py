"""The review screen, run: what a click does to the store, and that hostile text is only ever text."""

import pytest
from curated_store import HOSTILE, TEXTS, curated, mined, trace
from streamlit.testing.v1 import AppTest

from forethought.data import commands
from forethought.data.candidates import CandidateSet, Status
from forethought.data.commands import Edit
from forethought.data.store import Store

NAME = "search-v1"


def review(store):  # AppTest runs the source of this function alone
    from forethought.ui import review_screen

    review_screen.show(store)


def shown(store: Store) -> AppTest:
    at = AppTest.from_function(review, kwargs={"store": store}, default_timeout=60).run()
    assert not at.exception
    return at


def wording(at: AppTest):
    return at.text_area[0]


def everything(at: AppTest) -> list[str]:
    return [element.value for element in (*at.text, *at.code)]


@pytest.fixture
def store(tmp_path) -> Store:
    return curated(tmp_path / "store.db")


@pytest.mark.parametrize(
    ("key", "status"),
    [("accept", Status.ACCEPTED), ("reject", Status.REJECTED), ("needs-work", Status.NEEDS_WORK)],
)
def test_one_click_decides_and_opens_the_next_candidate(store, key, status):
    at = shown(store)
    at.button(key=key).click().run()

    assert not at.exception
    assert store.candidate_set(NAME).candidates[0].status is status
    assert at.subheader[0].value == "Candidate 2 of 3"
    assert wording(at).value == TEXTS[1][0]


def test_undo_and_redo_by_click(store):
    at = shown(store)
    at.button(key="accept").click().run()
    at.button(key="undo").click().run()
    assert store.candidate_set(NAME).candidates[0].status is Status.PROPOSED
    assert at.subheader[0].value == "Candidate 1 of 3"

    at.button(key="redo").click().run()
    assert store.candidate_set(NAME).candidates[0].status is Status.ACCEPTED


def test_next_and_previous_go_round(store):
    at = shown(store)
    at.button(key="previous").click().run()
    assert at.subheader[0].value == "Candidate 3 of 3"

    at.button(key="next").click().run()
    assert at.subheader[0].value == "Candidate 1 of 3"


def test_a_new_wording_is_linted_as_typed_and_stored_when_saved(store):
    at = shown(store)
    wording(at).set_value("Looking here").run()
    assert any("does not speak in the first person" in text for text in everything(at))
    assert store.candidate_set(NAME).candidates[0].text == TEXTS[0][0]

    wording(at).set_value("I should look it up now.").run()
    at.button(key="save-wording").click().run()
    assert store.candidate_set(NAME).candidates[0].text == "I should look it up now."


def test_typing_and_clicking_in_one_go_loses_nothing(store):
    at = shown(store)
    wording(at).set_value("I should look it up now.")
    at.button(key="accept").click().run()

    first = store.candidate_set(NAME).candidates[0]
    assert (first.text, first.status) == ("I should look it up now.", Status.ACCEPTED)


def test_a_conflict_shows_theirs_and_yours_and_writes_nothing(store):
    at = shown(store)
    wording(at).set_value("I should look it up now.").run()
    first = store.candidate_set(NAME).candidates[0]
    commands.reword(store, Edit(NAME, first.id, first.version, "bob"), "I should search.")
    at.button(key="save-wording").click().run()

    assert not at.exception
    assert {"I should search.", "I should look it up now."} <= set(everything(at))
    assert store.candidate_set(NAME).candidates[0].text == "I should search."

    at.button(key="go-on-with-mine").click().run()
    at.button(key="save-wording").click().run()
    assert store.candidate_set(NAME).candidates[0].text == "I should look it up now."


def test_a_decision_on_what_changed_meanwhile_is_not_written(store):
    at = shown(store)
    first = store.candidate_set(NAME).candidates[0]
    commands.reword(store, Edit(NAME, first.id, first.version, "bob"), "I should search.")
    at.button(key="reject").click().run()

    assert store.candidate_set(NAME).candidates[0].status is Status.PROPOSED
    assert any("changed this candidate meanwhile" in warning.value for warning in at.warning)


def test_evidence_stands_beside_the_candidate(store):
    at = shown(store)

    assert "Which town is number 0?" in everything(at)
    assert any("<tool_call>" in text for text in everything(at))


def test_a_written_candidate_says_that_nothing_stands_behind_it(store):
    store.save_set(mined("written"))
    at = shown(store)
    at.selectbox(key="set").select("written").run()

    assert not at.exception
    assert any("written, not mined" in info.value for info in at.info)


def test_hostile_text_is_shown_letter_by_letter_and_nowhere_else(tmp_path):
    texts = tuple((text, (text[:50],)) for text in HOSTILE)
    runs = tuple(trace(text, text, tool=text[:50]) for text in HOSTILE)
    store = curated(tmp_path / "hostile.db", mined("<b>$x$", texts, runs))
    store.add(runs)
    at = shown(store)
    for text in HOSTILE:
        assert wording(at).value == text
        at.button(key="next").click().run()
        assert not at.exception
    markup = [e.value for e in (*at.markdown, *at.caption, *at.title, *at.subheader, *at.warning)]
    labels = [e.label for e in (*at.button, *at.expander, *at.text_area, *at.selectbox)]
    for said in (*markup, *labels):
        assert not any(text[:12] in said for text in HOSTILE)
    assert any(HOSTILE[0] in text for text in everything(at))
    assert not any("\x00" in text for text in everything(at))


def test_a_trace_with_a_broken_surrogate_can_be_looked_at(tmp_path):
    run = trace("Which one? \ud83d", "I should \udc00 look.")
    store = curated(tmp_path / "broken.db", mined(traces=(run,)))
    store.add([run])

    assert any("I should \ufffd look." in text for text in everything(shown(store)))


def test_a_set_of_one_and_a_set_of_none(tmp_path):
    store = curated(tmp_path / "one.db", mined("one", TEXTS[:1]))
    at = shown(store)
    at.button(key="next").click().run()
    assert at.subheader[0].value == "Candidate 1 of 1"

    at.button(key="accept").click().run()
    assert any("Every candidate is reviewed" in success.value for success in at.success)

    store.save_set(CandidateSet("none", ()))
    at.run()
    at.selectbox(key="set").select("none").run()
    assert any("no candidate" in info.value for info in at.info)


def test_support_that_names_no_stored_trace_is_told(tmp_path):
    store = curated(tmp_path / "gone.db", mined(traces=(trace("Never imported?"),)))

    assert any("no longer in the store" in warning.value for warning in shown(store).warning)
