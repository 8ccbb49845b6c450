"""report.html: one well-formed file that refers to nothing outside, and shows any text letter by letter."""

import re

import pytest
from curated_store import HOSTILE, audit_report, mined, trace
from report_page import Page, assert_self_contained

from forethought.data.candidates import CandidateSet
from forethought.data.errors import ForethoughtError
from forethought.ui.charts import legible
from forethought.ui.report import report_html, write_report


@pytest.fixture
def candidate_set() -> CandidateSet:
    return mined(traces=(trace("Which town?"),))


@pytest.fixture
def report(candidate_set) -> dict:
    return audit_report(candidate_set)


def test_the_page_is_well_formed_and_needs_nothing_else(candidate_set, report):
    page = Page(report_html(report, candidate_set, "forethought demo"))

    assert_self_contained(page)
    assert page.tags.count("svg") == 3
    assert "forethought demo" in page.text


def test_the_page_tells_the_set_the_sample_and_every_figure(candidate_set, report):
    text = Page(report_html(report, candidate_set)).text

    for candidate in candidate_set.candidates:
        assert candidate.text in text
    assert "A sample is a sample" in text
    assert "24 test turns" in " ".join(text.split())
    for name in ("search-v1", "ssr", "random-6", "neutral", "best constant"):
        assert name in text
    assert "0.30" in text and "[0.20, 0.40]" in text  # assigned recovery of the set
    assert "95 %" in text  # 50 ms against 1,000 ms
    assert "from 1 turn of 1 question" in text


def test_what_cannot_be_told_stands_in_nats(candidate_set):
    text = Page(report_html(audit_report(candidate_set, told=False), candidate_set)).text

    assert "Recovery is not told" in text
    assert "0.40 nat" in text
    assert "None" not in text and "nan" not in text.split()


def test_hostile_text_is_shown_letter_by_letter():
    hostile = mined(HOSTILE[1], tuple((text, (text[:60],)) for text in HOSTILE))
    report = audit_report(hostile)
    report["sets"][hostile.name]["use"] = {c.id: {c.text: 2} for c in hostile.candidates}
    report["settings"] = {text[:80]: text for text in HOSTILE}
    page = Page(report_html(report, hostile, HOSTILE[0]))

    assert_self_contained(page)
    for text in (*HOSTILE[:4], HOSTILE[5]):
        assert legible(text) in page.text
    assert not set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068") & set(page.text)
    assert "NUL ␀ bell ␇ escape ␛[31m and delete ␡" in page.text
    assert not re.search(r"[\x00-\x08]", page.text)


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"set": "search-v1", "sets": None, "latency": None, "texts": None, "members": None},
        {
            "set": "search-v1",
            "sets": {"search-v1": {}},
            "free_gain": {},
            "turns": {},
            "latency": {},
        },
    ],
    ids=["empty", "all none", "empty parts"],
)
def test_a_report_of_which_nothing_is_known_is_a_page_all_the_same(candidate_set, report):
    text = Page(report_html(report, candidate_set)).text

    assert "latency was not measured" in text


def test_a_set_of_one_and_a_set_of_none():
    for candidate_set in (mined("one", (("I should look.", ()),)), CandidateSet("none", ())):
        assert_self_contained(Page(report_html(audit_report(candidate_set), candidate_set)))


def test_the_same_report_makes_the_same_page(candidate_set, report):
    assert report_html(report, candidate_set) == report_html(report, candidate_set)


def test_the_file_is_written_whole_into_a_folder_that_is_made(tmp_path, candidate_set, report):
    path = tmp_path / "out" / "report.html"
    write_report(path, report, candidate_set)

    assert path.read_text("utf-8") == report_html(report, candidate_set)
    assert [found.name for found in path.parent.iterdir()] == ["report.html"]


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path, candidate_set, report):
    (tmp_path / "file").write_text("")

    with pytest.raises(ForethoughtError, match="cannot write"):
        write_report(tmp_path / "file" / "report.html", report, candidate_set)


def test_slices_stand_in_the_page_and_those_of_few_questions_are_counted_only(
    candidate_set, report
):
    figures = {key: report[key] for key in ("assigned_recovery", "routed_recovery")}
    parts = {HOSTILE: {"turns": 40, "questions": 30, **figures}, "b": {"turns": 7, "questions": 5}}
    html = report_html(
        report | {"slices": {"source": parts, "outcome": {"unknown": parts["b"]}}}, candidate_set
    )
    page = Page(html)

    assert_self_contained(page)
    assert "By source" in page.text
    assert "too few questions" in page.text
    assert "By outcome" not in page.text  # one slice alone tells nothing
