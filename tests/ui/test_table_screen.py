"""The table, run: an edit hits the row that was shown, none is dropped, and a decision over many is one command."""

import pytest
from curated_store import HOSTILE, TEXTS, curated, mined
from edited_grid import edit_cells, place_of, shown_rows
from streamlit.testing.v1 import AppTest

from forethought.data import commands
from forethought.data.candidates import CandidateSet, Status
from forethought.data.commands import Edit
from forethought.data.drafts import drafts
from forethought.data.store import Store
from forethought.ui.access import Actor, Role
from forethought.ui.cards import ACTOR

NAME = "search-v1"
MANY = tuple((f"I should look at number {n}.", ("search",)) for n in range(120))


def table(store):  # AppTest runs the source of this function alone
    from forethought.ui import table_screen

    table_screen.show(store)


def shown(store: Store, actor: Actor | None = None) -> AppTest:
    at = AppTest.from_function(table, kwargs={"store": store}, default_timeout=60)
    if actor:
        at.session_state[ACTOR] = actor
    at.run()
    assert not at.exception
    return at


def widget(at: AppTest, kind: str, name: str):
    return getattr(at, kind)(key=f"table-{at.selectbox(key='set').value}-{name}")


def over_all(at: AppTest) -> AppTest:
    return widget(at, "segmented_control", "over_all").set_value(True).run()


def texts(store: Store, name: str = NAME) -> list[str]:
    return [candidate.text for candidate in store.candidate_set(name).candidates]


def statuses(store: Store, name: str = NAME) -> list[Status]:
    return [candidate.status for candidate in store.candidate_set(name).candidates]


@pytest.fixture
def store(tmp_path) -> Store:
    return curated(tmp_path / "store.db")


@pytest.fixture
def long(tmp_path) -> Store:
    store = curated(tmp_path / "long.db", mined("long", MANY))
    return store


def test_an_edit_after_sorting_hits_the_row_that_was_shown(store):
    at = shown(store)
    widget(at, "toggle", "is_descending").set_value(True).run()
    last = TEXTS[2][0]
    assert place_of(at, last) == 0

    edit_cells(at, {place_of(at, last): {"text": "I can answer now."}})

    assert not at.exception
    assert texts(store) == [TEXTS[0][0], TEXTS[1][0], "I can answer now."]


def test_an_edit_that_moves_its_row_leaves_the_next_edit_on_its_own_row(store):
    at = shown(store)
    widget(at, "selectbox", "key").select("status").run()
    for text, word in ((TEXTS[0][0], "rejected"), (TEXTS[2][0], "accepted")):
        edit_cells(at, {place_of(at, text): {"status": word}})
        assert not at.exception

    assert statuses(store) == [Status.REJECTED, Status.PROPOSED, Status.ACCEPTED]


def test_four_edits_in_a_row_are_all_stored(long):
    at = shown(long)
    edited: dict = {}
    for place in range(4):
        edited[place] = {"status": "accepted"}
        edit_cells(at, edited)
    edited[1]["text"] = "I should look elsewhere."
    edit_cells(at, edited)

    assert statuses(long, "long")[:5] == [Status.ACCEPTED] * 4 + [Status.PROPOSED]
    assert texts(long, "long")[1] == "I should look elsewhere."
    assert long.candidate_set("long").candidates[0].version == 2


def test_a_cell_set_back_is_set_back_in_the_store(store):
    at = shown(store)
    edit_cells(at, {0: {"status": "accepted"}})
    edit_cells(at, {0: {"status": "proposed"}})
    assert statuses(store)[0] is Status.PROPOSED

    edit_cells(at, {1: {"status": "accepted"}, 0: {"status": "proposed"}})
    edit_cells(at, {0: {"status": "proposed"}})
    assert statuses(store)[1] is Status.PROPOSED


def test_undo_shows_what_is_stored_and_not_what_was_typed(store):
    at = shown(store)
    edit_cells(at, {0: {"text": "I should look."}})
    at.button(key="undo").click().run()

    assert texts(store)[0] == shown_rows(at)[0]["text"] == TEXTS[0][0]


def test_a_refused_wording_is_told_and_kept_as_a_draft(store):
    at = shown(store)
    edit_cells(at, {0: {"text": TEXTS[1][0]}})

    assert texts(store)[0] == shown_rows(at)[0]["text"] == TEXTS[0][0]
    assert any("Your wording is kept" in warning.value for warning in at.warning)
    (draft,) = drafts(store, NAME, at.session_state["table-search-v1"].actor.name).values()
    assert draft.text == TEXTS[1][0]


def test_an_edit_of_what_someone_changed_meanwhile_shows_both_and_writes_nothing(store):
    at = shown(store)
    first = store.candidate_set(NAME).candidates[0]
    commands.reword(store, Edit(NAME, first.id, first.version, "bob"), "I should search.")
    edit_cells(at, {0: {"text": "I should look."}})

    assert texts(store)[0] == "I should search."
    assert {"I should search.", "I should look."} <= {text.value for text in at.text}
    assert shown_rows(at)[0]["text"] == "I should search."


def test_search_filter_and_pages_are_the_stores(long):
    at = shown(long)
    assert len(shown_rows(at)) == 50
    assert any("1 to 50 of 120" in caption.value for caption in at.caption)

    widget(at, "text_input", "text").input("number 11").run()
    assert [row["text"][-4:-1].strip() for row in shown_rows(at)][:2] == ["11", "110"]
    widget(at, "multiselect", "statuses").select(Status.REJECTED).run()
    assert any("Nothing matches" in info.value for info in at.info)


def test_all_that_match_are_decided_by_one_command_after_a_preview(long):
    at = shown(long)
    widget(at, "text_input", "text").input("number 1").run()
    over_all(at).button(key="accepted-many").click().run()
    assert Status.ACCEPTED not in statuses(long, "long")
    matching = sum("1" in text for text, _ in MANY)
    assert any(f"Accept: {matching} candidates" in sub.value for sub in at.subheader)

    at.button(key="confirm").click().run()
    assert not at.exception
    assert statuses(long, "long").count(Status.ACCEPTED) == matching

    at.button(key="undo").click().run()
    assert Status.ACCEPTED not in statuses(long, "long")


def test_a_preview_that_is_cancelled_changes_nothing(long):
    at = shown(long)
    over_all(at).button(key="rejected-many").click().run()
    at.button(key="cancel").click().run()

    assert set(statuses(long, "long")) == {Status.PROPOSED}
    assert not at.subheader


def test_a_candidate_that_changed_since_the_preview_is_left_alone_and_told(store):
    at = shown(store)
    edit_cells(at, {0: {"tick": True}, 1: {"tick": True}})
    at.button(key="rejected-many").click().run()
    first = store.candidate_set(NAME).candidates[0]
    commands.reword(store, Edit(NAME, first.id, first.version, "bob"), "I should search.")
    at.button(key="confirm").click().run()

    assert statuses(store) == [Status.PROPOSED, Status.REJECTED, Status.PROPOSED]
    assert "I should search." in [text.value for text in at.text]
    assert any("left alone" in caption.value for caption in at.caption)


def test_ticks_survive_paging_and_stand_for_candidates_not_places(long):
    at = shown(long)
    edit_cells(at, {0: {"tick": True}})
    widget(at, "selectbox", "key").select("text").run()
    widget(at, "text_input", "text").input("number 7").run()
    at.button(key="tick-page").click().run()
    at.button(key="accepted-many").click().run()
    at.button(key="confirm").click().run()

    accepted = {
        c.text for c in long.candidate_set("long").candidates if c.status is not Status.PROPOSED
    }
    assert accepted == {MANY[0][0], *(text for text, _ in MANY if "7" in text)}


def test_what_is_rejected_comes_back_out_of_the_recycle_bin(store):
    at = shown(store)
    edit_cells(at, {1: {"status": "rejected"}})
    at.segmented_control(key=f"table-{NAME}-where").set_value("Recycle bin").run()
    assert [row["text"] for row in shown_rows(at)] == [TEXTS[1][0]]

    edit_cells(at, {0: {"tick": True}})
    at.button(key="restore").click().run()
    assert statuses(store) == [Status.PROPOSED] * 3
    assert any("recycle bin holds nothing" in info.value for info in at.info)


def test_a_view_is_kept_for_all_and_shown_again(store):
    at = shown(store)
    widget(at, "text_input", "text").input("holds").run()
    widget(at, "text_input", "view-name").input("$x$ **answers**")
    at.button(key="keep-view").click().run()

    other = shown(store)
    assert len(shown_rows(other)) == 3
    other.button(key="view-0").click().run()
    assert [row["text"] for row in shown_rows(other)] == [TEXTS[2][0]]
    assert widget(other, "text_input", "text").value == "holds"
    other.button(key="drop-view-0").click().run()
    assert not [button for button in shown(store).button if button.key == "view-0"]


def test_a_curator_edits_cells_and_is_not_let_decide_over_many(store):
    at = shown(store, Actor("cara", Role.CURATOR))
    edit_cells(at, {0: {"status": "accepted"}})
    assert statuses(store)[0] is Status.ACCEPTED

    over_all(at)
    assert at.button(key="rejected-many").disabled
    table = at.session_state[f"table-{NAME}"]
    table.propose_all(Status.REJECTED)
    table.confirm()
    assert statuses(store)[1] is Status.PROPOSED
    assert "may not edit many" in table.notice.detail


def test_hostile_text_and_formulas_stand_in_cells_and_nowhere_else(tmp_path):
    wild = (*HOSTILE, "=1+1", "+1", "@cmd", "\u202e-2", "I see " + "x" * 3000)
    store = curated(tmp_path / "hostile.db", mined("<b>$x$", tuple((t, (t[:50],)) for t in wild)))
    at = shown(store)
    cells = [row["text"] for row in shown_rows(at)]
    assert {"=1+1", "+1", "@cmd", HOSTILE[0], HOSTILE[1]} <= set(cells)
    assert not any("\x00" in cell for cell in cells)

    over_all(at).button(key="accepted-many").click().run()
    assert not at.exception
    said = [e.value for e in (*at.markdown, *at.caption, *at.title, *at.subheader, *at.info)]
    assert not any(text[:12] in value for value in said for text in HOSTILE)


def test_a_text_too_long_for_a_cell_is_not_cut_by_an_edit(tmp_path):
    store = curated(tmp_path / "long.db", mined("long", (("I see " + "x" * 3000, ()),)))
    at = shown(store)
    edit_cells(at, {0: {"text": "I see."}})

    assert texts(store, "long") == ["I see " + "x" * 3000]
    assert any("edit it in Review" in text.value for text in at.text)


def test_an_empty_set_and_an_empty_store_say_what_to_do(tmp_path):
    store = curated(tmp_path / "none.db", CandidateSet("none", ()))
    assert any("no candidate" in info.value for info in shown(store).info)
    assert any("no candidate set" in i.value for i in shown(Store.open(tmp_path / "e.db")).info)
