"""The gaps page, run: nothing is computed unasked, a gap becomes a candidate, hostile texts are only ever texts."""

import pytest
from curated_store import HOSTILE, TEXTS, curated, mined, trace
from streamlit.testing.v1 import AppTest

from forethought.data.store import Store
from forethought.ui.gaps import Kind, gaps_of
from forethought.ui.roster import roster_of

NAME = "search-v1"


def gaps(store):  # AppTest runs the source of this function alone
    from forethought.ui import gaps_screen

    gaps_screen.show(store)


def shown(store: Store) -> AppTest:
    at = AppTest.from_function(gaps, kwargs={"store": store}, default_timeout=60).run()
    assert not at.exception
    return at


def found(store: Store, name: str = NAME) -> AppTest:
    """The page once the gaps are worked out."""
    gaps_of(store, name, roster_of(store, name), Kind.FAR).result(300)
    return shown(store)


@pytest.fixture
def store(tmp_path) -> Store:
    """Forty turns say what no candidate does."""
    runs = [
        trace(f"Which town is number {n} of the land?", "We ought to compare both of them.")
        for n in range(80)
    ]
    store = curated(tmp_path / "gaps.db", mined(texts=TEXTS[2:]))
    store.add(runs)
    return store


def test_nothing_is_worked_out_unasked(store):
    at = shown(store)

    assert any("worked out on all mine turns" in info.value for info in at.info)
    at.button(key="find-the-gaps").click().run()
    assert not at.exception


def test_a_gap_becomes_a_candidate(store):
    at = found(store)
    at.text_area[0].set_value("I should compare both of them.").run()
    at.button(key="make-a-candidate").click().run()

    assert not at.exception
    new = store.candidate_set(NAME).candidates[-1]
    assert new.text == "I should compare both of them."
    assert new.expected_actions == ("search",)
    assert len(new.support) > 10
    assert any("stands at the end" in success.value for success in at.success)


def test_a_text_that_the_set_has_already_is_refused_in_one_line(store):
    at = found(store)
    at.text_area[0].set_value(TEXTS[2][0]).run()
    at.button(key="make-a-candidate").click().run()

    assert not at.exception
    assert len(store.candidate_set(NAME).candidates) == 1
    assert any("Nothing was written" in warning.value for warning in at.warning)


def test_the_command_that_mines_the_gap_is_there(store):
    assert any("mine --grow=search-v1" in code.value for code in found(store).code)


def test_a_store_without_traces_says_why_there_are_no_gaps(tmp_path):
    store = Store.open(tmp_path / "empty.db")
    store.save_set(mined())
    asked = gaps_of(store, NAME, roster_of(store, NAME))
    asked._ended.wait(30)
    at = shown(store)

    assert not at.exception
    assert at.error or at.info


def test_hostile_texts_are_shown_letter_by_letter(tmp_path):
    store = curated(tmp_path / "hostile.db", mined("<b>$x$", TEXTS[2:]))
    store.add(trace(f"Town {n}? {HOSTILE[n % 3]}", HOSTILE[n % 3]) for n in range(60))
    at = found(store, "<b>$x$")
    said = [e.value for e in (*at.markdown, *at.caption, *at.info, *at.success, *at.header)]
    labels = [e.label for e in (*at.button, *at.checkbox, *at.text_area, *at.expander)]

    assert not any(text[:12] in value for value in (*said, *labels) for text in HOSTILE)
