"""The overview, run: with an audit and without, on full, small, hostile and empty stores."""

import json

import pytest
from curated_store import HOSTILE, TEXTS, audit_report, curated, mined
from streamlit.testing.v1 import AppTest

from forethought.data import commands
from forethought.data.commands import Edit
from forethought.data.store import Store
from forethought.ui.cards import PAGE

NAME = "search-v1"


def overview(store):  # AppTest runs the source of this function alone
    from forethought.ui import overview_screen

    overview_screen.show(store)


def shown(store: Store) -> AppTest:
    at = AppTest.from_function(overview, kwargs={"store": store}, default_timeout=60).run()
    assert not at.exception
    return at


def metrics(at: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}


@pytest.fixture
def store(tmp_path) -> Store:
    return curated(tmp_path / "store.db")


@pytest.fixture
def audited(store) -> Store:
    store.put("audit", NAME, audit_report(store.candidate_set(NAME)))
    return store


def test_every_candidate_is_listed_with_its_support(store):
    texts = [text.value for text in shown(store).text]

    assert {text for text, _ in TEXTS} <= set(texts)
    assert "before search · mined from 4 turns of 4 questions" in texts


def test_without_an_audit_the_page_says_how_to_get_one(store):
    at = shown(store)

    assert metrics(at)["Assigned recovery"] == "–"
    assert any("forethought audit search-v1" in text.value for text in at.text)


def test_with_an_audit_its_figures_and_charts_are_there(audited):
    at = shown(audited)

    assert metrics(at)["Assigned recovery"] == "0.30"
    assert metrics(at)["Reasoning time saved"] == "95 %"
    assert [header.value for header in at.header][1:] == [
        "Recovery and coverage",
        "Use by action",
        "Latency of reasoning",
    ]
    assert len(at.get("vega_lite_chart")) == 4


def test_coverage_is_drawn_against_size_and_use_stands_beside_each_candidate(audited):
    report = audited.document("audit", NAME)
    for figures in report["sets"].values():
        figures["semantic_coverage"] = {"value": 0.4, "low": 0.3, "high": 0.5, "n": 24}
    audited.put("audit", NAME, report | {"use": report["sets"][NAME]["use"]})
    at = shown(audited)

    assert len(at.get("vega_lite_chart")) == 5
    assert any("used on 7 of 22 test turns" in text.value for text in at.text)


def test_what_to_do_next_is_told_in_lines(audited):
    texts = [text.value for text in shown(audited).text]

    assert "3 candidates wait for your decision." in texts
    assert "On 10 % of held-out turns no candidate fits." in texts


def test_a_change_after_the_audit_is_told(audited):
    first = audited.candidate_set(NAME).candidates[0]
    commands.reword(audited, Edit(NAME, first.id, first.version, "ann"), "I should look.")

    assert any("has changed since" in warning.value for warning in shown(audited).warning)


def test_figures_that_cannot_be_told_are_not_told(store):
    store.put("audit", NAME, audit_report(store.candidate_set(NAME), told=False))
    at = shown(store)

    assert metrics(at)["Assigned recovery"] == "not told"
    assert any("not told" in info.value for info in at.info)


def test_an_audit_of_which_nothing_is_known_is_shown_all_the_same(store):
    store.put("audit", NAME, {"set": NAME, "latency": None, "sets": {NAME: {"use": None}}})

    assert metrics(shown(store))["Reasoning time saved"] == "not told"


def test_a_set_of_one_candidate(tmp_path):
    one = mined("one", TEXTS[:1])
    store = curated(tmp_path / "one.db", one)
    store.put("audit", "one", audit_report(one))

    assert metrics(shown(store))["Candidates"] == "1"


def test_a_long_set_is_listed_a_page_at_a_time(tmp_path):
    texts = tuple((f"I should look at number {n}.", ()) for n in range(60))
    store = curated(tmp_path / "long.db", mined("long", texts))
    at = shown(store)
    listed = [text.value for text in at.text]

    assert f"I should look at number {PAGE - 1}." in listed
    assert f"I should look at number {PAGE}." not in listed


def test_an_empty_store_says_what_to_do(tmp_path):
    at = shown(Store.open(tmp_path / "empty.db"))

    assert any("no candidate set" in info.value for info in at.info)
    assert "forethought mine" in at.code[0].value


def test_hostile_text_is_shown_letter_by_letter_and_nowhere_else(tmp_path):
    hostile = mined("<b>$x$ :smile:", tuple((text, (text[:50],)) for text in HOSTILE))
    store = curated(tmp_path / "hostile.db", hostile)
    report = audit_report(hostile)
    report["sets"][hostile.name]["use"] = {c.id: {c.text: 1} for c in hostile.candidates}
    store.put("audit", hostile.name, report)
    at = shown(store)

    assert HOSTILE[0] in [text.value for text in at.text]
    said = [e.value for e in (*at.markdown, *at.caption, *at.header, *at.info, *at.warning)]
    assert not any(text[:12] in value for value in said for text in HOSTILE)
    for chart in at.get("vega_lite_chart"):
        json.loads(chart.proto.spec)
