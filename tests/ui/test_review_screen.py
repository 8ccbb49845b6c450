"""The review screen, run: what a click does to the store, and that hostile text is only ever text."""

import pytest
from curated_store import HOSTILE, TEXTS, curated, mined, trace
from streamlit.testing.v1 import AppTest

from forethought.data import commands
from forethought.data.candidates import CandidateSet, Status
from forethought.data.commands import Edit, NewCandidate
from forethought.data.store import Store
from forethought.ui.effects import effects_asked_for
from forethought.ui.likeness import vectors_of
from forethought.ui.roster import roster_of
from forethought.ui.splitting import members_of

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

    at.button(key="write-this").click().run()
    assert store.candidate_set(NAME).candidates[0].text == "I should look it up now."
    assert at.text_area[0].label == "Wording"


def test_in_a_conflict_a_third_wording_can_be_written(store):
    at = shown(store)
    wording(at).set_value("I should look it up now.").run()
    first = store.candidate_set(NAME).candidates[0]
    commands.reword(store, Edit(NAME, first.id, first.version, "bob"), "I should search.")
    at.button(key="save-wording").click().run()

    at.button(key="fill-in-theirs").click().run()
    assert wording(at).value == "I should search."
    wording(at).set_value("I should search for it now.")
    at.button(key="write-this").click().run()

    assert not at.exception
    assert store.candidate_set(NAME).candidates[0].text == "I should search for it now."


def test_a_decision_on_what_changed_meanwhile_is_not_written(store):
    at = shown(store)
    first = store.candidate_set(NAME).candidates[0]
    commands.reword(store, Edit(NAME, first.id, first.version, "bob"), "I should search.")
    at.button(key="reject").click().run()

    assert store.candidate_set(NAME).candidates[0].status is Status.PROPOSED
    assert any("changed while you worked" in warning.value for warning in at.warning)

    at.button(key="write-this").click().run()
    first = store.candidate_set(NAME).candidates[0]
    assert (first.text, first.status) == ("I should search.", Status.REJECTED)


def test_a_draft_survives_a_new_browser(store):
    wording(shown(store)).set_value("I should look it up now.").run()

    assert wording(shown(store)).value == "I should look it up now."


def test_a_comment_and_the_history_stand_beside_the_candidate(store):
    at = shown(store)
    at.segmented_control(key="beside").set_value("History").run()
    at.text_area(key="comment-text").set_value("Too broad **for me**.")
    at.button(key="FormSubmitter:comment-form-Comment").click().run()

    assert not at.exception
    assert "Too broad **for me**." in everything(at)
    assert any("save set · miner" in text for text in everything(at))


def test_find_similar_lists_the_others_and_opens_one(store):
    at = shown(store)
    at.button(key="find-similar").click().run()
    second = store.candidate_set(NAME).candidates[1]
    at.button(key=f"open-{second.id}").click().run()

    assert not at.exception
    assert at.subheader[0].value == "Candidate 2 of 3"


def test_a_wording_that_another_candidate_has_is_told_while_typing(store):
    vectors_of(roster_of(store, NAME), wait=30)
    at = shown(store)
    wording(at).set_value(TEXTS[1][0]).run()

    assert any("Nearly the same is said by" in caption.value for caption in at.caption)
    assert any(TEXTS[1][0] in text for text in everything(at))


def test_the_effect_is_worked_out_when_it_is_asked_for(store):
    at = shown(store)
    at.segmented_control(key="beside").set_value("Effect").run()
    assert not at.metric
    at.button(key="work-out-effect").click().run()
    asked = effects_asked_for(store, NAME, roster_of(store, NAME))
    asked.result(300)
    at.run()

    assert not at.exception
    assert [metric.label for metric in at.metric] == ["Takes", "Lost without it", "Contested"]


def test_the_order_of_review_can_be_by_impact(tmp_path):
    store = curated(tmp_path / "impact.db")
    first = store.candidate_set(NAME).candidates[0]
    parts = (NewCandidate(first.text, first.support[:1]), NewCandidate("More.", first.support[1:]))
    commands.split(store, Edit(NAME, first.id, first.version, "ann"), parts)
    at = shown(store)
    assert at.subheader[0].value == "Candidate 1 of 4"
    at.segmented_control(key=f"order-{NAME}").set_value("impact").run()

    assert wording(at).value == TEXTS[1][0]


def test_the_keys_are_shown_on_demand(store):
    at = shown(store)
    assert not at.table
    at.button(key="keys").click().run()

    assert len(at.table) == 1


def test_merging_two_side_by_side(store):
    first, second, _ = store.candidate_set(NAME).candidates
    at = shown(store)
    at.button(key="merge").click().run()
    assert at.button(key="merge-them").disabled
    at.checkbox(key=f"join-{first.id}-{second.id}").check().run()
    at.button(key="use-text-1").click().run()
    assert wording(at).value == TEXTS[1][0]
    at.button(key="use-its-own-text").click().run()
    at.button(key="merge-them").click().run()

    assert not at.exception
    merged = store.candidate_set(NAME).candidates
    assert [one.text for one in merged] == [TEXTS[0][0], TEXTS[2][0]]
    assert merged[0].aliases == (TEXTS[1][0],)
    assert any("2 candidates merged" in success.value for success in at.success)

    at.button(key="undo").click().run()
    assert [one.text for one in store.candidate_set(NAME).candidates] == [t for t, _ in TEXTS]


def test_a_merge_of_what_changed_meanwhile_keeps_what_was_chosen(store):
    first, second, _ = store.candidate_set(NAME).candidates
    at = shown(store)
    at.button(key="merge").click().run()
    at.checkbox(key=f"join-{first.id}-{second.id}").check().run()
    commands.reword(store, Edit(NAME, second.id, second.version, "bob"), "I should search.")
    at.button(key="merge-them").click().run()

    assert len(store.candidate_set(NAME).candidates) == 3
    assert any("Nothing was written" in found.value for found in at.warning)
    assert "I should search." in everything(at)
    at.button(key="merge-them").click().run()
    assert store.candidate_set(NAME).candidates[0].aliases == ("I should search.",)


def test_splitting_by_hand(tmp_path):
    thoughts = ["I should look it up first.", "I should compare both of them."]
    runs = tuple(trace(f"Town {n}?", thoughts[n % 2]) for n in range(12))
    store = curated(tmp_path / "split.db", mined("one", TEXTS[:1], runs))
    store.add(runs)
    whole = store.candidate_set("one").candidates[0]
    members_of(store, "one", whole).result(60)
    at = shown(store)
    at.button(key="split").click().run()
    assert not at.exception
    at.segmented_control(key=f"split-how-{whole.id}").set_value("by hand").run()
    at.button(key=f"move-{whole.id}-1-1").click().run()
    own, other = at.text_area
    new = other if own.value == TEXTS[0][0] else own
    new.set_value("I should compare them.").run()
    at.button(key="split-it").click().run()

    assert not at.exception
    parts = store.candidate_set("one").candidates
    assert {part.text for part in parts} == {TEXTS[0][0], "I should compare them."}
    assert sorted(turn for part in parts for turn in part.support) == sorted(whole.support)


def test_a_written_candidate_cannot_be_split(store):
    store.save_set(mined("written"))
    at = shown(store)
    at.selectbox(key="set").select("written").run()
    at.button(key="split").click().run()

    assert not at.exception
    assert any("nothing to divide" in info.value for info in at.info)
    at.button(key="back").click().run()
    assert at.subheader[0].value == "Candidate 1 of 3"


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


def test_what_a_candidate_announces_is_changed_at_once(store):
    at = shown(store)
    first = store.candidate_set(NAME).candidates[0]
    at.multiselect(key=f"announces-{first.id}-{first.version}").select("answer").run()

    assert not at.exception
    assert store.candidate_set(NAME).candidates[0].expected_actions == ("search", "answer")
