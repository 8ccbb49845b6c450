"""A bench's report.html, its rows and its terminal table: nothing claimed on a floor, any text letter by letter, any figure missing."""

import copy
import json
import math
import re

import pytest
from bench_reports import bench_report
from curated_store import HOSTILE, mined
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from report_page import Page, assert_self_contained

from forethought.data.published_results import published
from forethought.ui.bench_commands import _smaller
from forethought.ui.bench_report import bench_html, write_bench_report
from forethought.ui.bench_rows import pooled, spared
from forethought.ui.bench_settings import settings as settings_of
from forethought.ui.bench_summary import cards, claim, share_table
from forethought.ui.bench_table import show_bench
from forethought.ui.pareto import ParetoPoint, frontier, left_out, pareto_points

SET = mined()
REPORT = bench_report(SET)
FLOOR = bench_report(SET, succeeds=lambda mode, n: False)
EMPTY = [
    {},
    {"modes": None, "benchmarks": None, "plan": None, "judge": "x"},
    {"modes": {"select": {}}, "benchmarks": {"a": {"modes": {"select": None}}}, "mean": {"b": 3}},
    bench_report(SET, questions=0),
    bench_report(SET, benchmarks=()),
]
leaves = st.sampled_from([None, math.nan, math.inf, -math.inf, "text", [], {}, True, -1, 10**400])


def text_of(html: str) -> str:
    return " ".join(Page(html).text.split())


def spoiled(report: dict, draw) -> dict:
    """The report with some of its leaves and branches replaced by anything."""

    def walk(value):
        if draw(st.integers(0, 9)) == 0:
            return draw(leaves)
        return {key: walk(one) for key, one in value.items()} if isinstance(value, dict) else value

    return {key: walk(one) for key, one in report.items()}


def test_the_page_is_well_formed_and_tells_every_table():
    page = Page(bench_html(REPORT))
    text = " ".join(page.text.split())

    assert_self_contained(page)
    assert page.tags.count("svg") == 1
    for said in (
        "Success by benchmark",
        "Success against time",
        "How long it takes",
        "Selecting against each other mode",
        "Action agreement",
        "What was selected",
        "How runs end",
        "Published, not run here, other harness",
        "No judge was at hand",
        "unusable 2",
        *(candidate.text for candidate in SET.active),
    ):
        assert said in text, said
    assert "65.0\u00a0%" in page.text  # select on 20 questions each
    assert text.index("Published, not run") > text.index("How runs end")


def test_on_a_floor_nothing_is_claimed_and_agreement_leads():
    text = text_of(bench_html(FLOOR))

    assert "Floor: no claim." in text
    assert text.index("Action agreement") < text.index("Success by benchmark")
    assert "time saved" not in text
    assert "more than chance" not in text
    assert "what nothing beats" not in text, "there is no frontier of noughts"


def test_a_floor_of_one_benchmark_is_told_where_the_rest_has_none():
    report = copy.deepcopy(REPORT)
    report["benchmarks"]["infoseek"]["floor"] = True

    assert "On 1 of 2 benchmarks no mode succeeds on a tenth" in claim(report)


def test_a_difference_within_its_interval_may_be_chance():
    assert "which may be chance" in claim(REPORT)
    sure = bench_report(SET, succeeds=lambda mode, n: mode == "select")
    assert "more than chance explains" in claim(sure)


@pytest.mark.parametrize(
    "succeeds", [lambda mode, n: n % 2 > 0, lambda mode, n: False], ids=["half", "floor"]
)
def test_of_few_questions_nothing_is_claimed(succeeds):
    few = bench_report(SET, ("mmsearch",), questions=29, succeeds=succeeds)

    assert claim(few).startswith("Too few questions to claim anything: 29.")
    assert "Selecting" not in claim(few)


def test_of_a_mode_that_was_asked_little_nothing_is_claimed():
    report = copy.deepcopy(REPORT)
    against = report["select_against"]
    against["think-65"] = copy.deepcopy(against["think"])
    against["think-65"]["success_difference"]["n"] = 20

    assert "Selecting less think-65: too few questions to claim anything: 20." in claim(report)
    assert "Selecting less think: success" in claim(report)


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        (0.25, "saves 25.0\u00a0% of the reasoning time a turn"),
        (-3.632, "takes 4.6 times the reasoning time a turn"),
        (None, None),
    ],
)
def test_time_is_saved_or_taken_or_not_spoken_of(saved, said, capsys):
    report = copy.deepcopy(REPORT)
    report["select_against"]["think"] |= {"reasoning_saved": saved, "model_saved": None}
    show_bench(report, as_json=False)
    told = (claim(report), capsys.readouterr().out.replace("\n", " "))

    for text in told:
        line = re.split("less think|against think", text)[1].split("select against")[0]
        line = line.split("select ends")[0]
        assert (said in line) if said else not {"saves", "takes"} & set(line.split())
        assert "the model's time" not in line
    assert "−363" not in bench_html(report)
    assert [card.what for card in cards(report)[2:]] == (
        [] if saved is None else ["reasoning time saved" if saved > 0 else "reasoning time"]
    )
    assert spared(pooled(report).against[0]) == ([said] if said else [])


def test_where_all_questions_differ_alike_there_is_no_interval_and_the_exact_test_tells(capsys):
    always = bench_report(SET, succeeds=lambda mode, n: mode == "select")
    same = bench_report(SET, succeeds=lambda mode, n: True)
    show_bench(always, as_json=False)

    assert "more than chance explains" in claim(always)
    assert "which may be chance" in claim(same)
    assert "+100.0 [–] points" in capsys.readouterr().out.replace("\n", " ")
    assert always["select_against"]["think"]["success_difference"]["low"] is None


@pytest.mark.parametrize("report", EMPTY, ids=["empty", "none", "parts", "no question", "no bench"])
def test_a_bench_of_which_nothing_is_known_is_a_page_and_a_table_all_the_same(report):
    page = Page(bench_html(report))

    assert_self_contained(page)
    assert not {"nan", "None"} & set(page.text.split())
    show_bench(report, as_json=False)


@settings(
    max_examples=12, deadline=None, phases=[Phase.explicit, Phase.generate]
)  # drawing is slow
@given(st.data())
def test_no_figure_that_is_missing_or_no_number_breaks_a_page_or_stands_on_it(data):
    page = Page(bench_html(spoiled(REPORT, data.draw), {"other": spoiled(REPORT, data.draw)}))

    assert not {"nan", "inf", "−inf"} & set(page.text.split())


@settings(deadline=None)
@given(st.data())
def test_no_figure_that_is_missing_or_no_number_breaks_the_terminal_or_the_picture(data):
    report = spoiled(REPORT, data.draw)
    show_bench(report, as_json=False)

    for point in pareto_points(report):
        assert math.isfinite(point.success + point.low + point.high + point.seconds)


def test_hostile_text_is_shown_letter_by_letter_and_short(capsys):
    hostile = mined(HOSTILE[1], tuple((text, (text[:60],)) for text in HOSTILE))
    report = bench_report(hostile, (HOSTILE[0], HOSTILE[3], HOSTILE[5]), ("select", "think"))
    report |= {"model": HOSTILE[2], "judge": {"name": HOSTILE[4], "version": HOSTILE[5]}}
    report["modes"]["select"]["stops"] = report["modes"]["select"]["faults"] = {HOSTILE[0]: 1}
    page = Page(bench_html(report, {HOSTILE[3]: report | {"set": HOSTILE[3]}}))

    assert_self_contained(page)
    assert HOSTILE[2] in page.text
    assert HOSTILE[1] in page.text
    assert not set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\x00\x07\x1b") & set(page.text)
    assert max(len(word) for word in page.pieces) < 400
    show_bench(report, as_json=False)
    assert not set("\x00\x07\x1b\u202e") & set(capsys.readouterr().out)


def test_the_terminal_stays_within_eighty_columns(capsys, monkeypatch):
    modes = ("select", "think", "think-65", "none", "draft", "index", "select@2")
    report = bench_report(SET, ("mmsearch", "hr-mmsearch"), modes)
    monkeypatch.setattr("forethought.ui.terminal.OUT._width", 80)
    show_bench(report, as_json=False)
    lines = capsys.readouterr().out.splitlines()

    tables = [line for line in lines if not line.startswith(("select against", "action as"))]
    assert max(map(len, tables)) <= 80
    assert any("hr-mmsearch" in line and "65.0" in line for line in lines)
    assert any(line.strip().startswith("mean") for line in lines)
    assert any("exact match, not its own metric (judge)" in line for line in lines)


def test_shares_stand_by_benchmark_or_by_mode_where_there_is_one():
    many = share_table(REPORT)
    one = share_table(bench_report(SET, ("mmsearch",)))

    assert many.columns == ("mmsearch", "infoseek")
    assert one.columns == ("select", "select@1")
    assert [row.text for row in many.rows] == [candidate.text for candidate in SET.active]
    for column in range(2):
        assert sum(row.shares[column] for row in many.rows) == pytest.approx(1)
    assert share_table(REPORT | {"texts": {}}).rows[0].text.startswith("c_"), "named by its id"


def test_points_are_those_of_the_run_its_sizes_and_other_sets_that_compare():
    other = bench_report(mined("other"), modes=("select", "think"))
    foreign = bench_report(mined("foreign")) | {"model": "another"}
    elsewhere = bench_report(mined("elsewhere"), ("mmsearch",))
    fewer = bench_report(mined("fewer"), questions=5)
    plan = REPORT["plan"] | {"limits": {"turns": 9}}
    others = {one["set"]: one for one in (REPORT, other, foreign, elsewhere, fewer)}
    others["longer"] = bench_report(mined("longer")) | {"plan": plan}
    points = pareto_points(REPORT, others)
    told = left_out(REPORT, others)

    assert told == (
        "Left out of the store's runs: 2 with another model or benchmark, 1 with another number of questions, "
        "1 with other settings."
    )
    assert told in text_of(bench_html(REPORT, others))
    assert left_out(REPORT, {"other": other}) == ""

    assert {point.set_name for point in points} == {"search-v1", "other"}
    assert [point.label for point in points[:4]] == ["select@3", "think", "none", "select@1"]
    for point in points:
        assert point.low <= point.success <= point.high


@given(
    st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.integers(1, 5)), min_size=1, max_size=9)
)
def test_the_frontier_is_what_nothing_beats_in_both(places):
    points = [ParetoPoint("s", "think", None, y, y, y, float(x)) for y, x in places]
    best = frontier(points)

    for point in points:
        assert any(one.success >= point.success and one.seconds <= point.seconds for one in best)
    for one in best:
        assert not any(p.success > one.success and p.seconds <= one.seconds for p in points)
        assert not any(p.success >= one.success and p.seconds < one.seconds for p in points)


def test_what_was_published_is_marked_and_all_there():
    text = text_of(bench_html(REPORT))

    for row in published().success:
        assert row.method in text and f"{row.mean:.2f}" in text
    assert "as SSR's authors reproduced it" in text
    assert "arXiv 2610.01892" in text


def test_a_stored_run_compares_with_the_same_run_before_it_was_stored():
    plan = REPORT["plan"] | {"places": (("mmsearch", None),), "modes": ("select",)}
    report, other = REPORT | {"plan": plan}, bench_report(mined("other")) | {"plan": plan}

    assert left_out(report, {"other": json.loads(json.dumps(other))}) == ""


def test_a_candidate_that_was_not_on_offer_has_no_share():
    report = bench_report(SET, ("mmsearch",), questions=40)
    report["modes"]["select@1"]["shares"] = {SET.active[0].id: 1.0}
    sized = [row.shares[1] for row in share_table(report).rows]

    assert sized == [1.0] + [None] * (len(SET.active) - 1)


def test_words_are_explained_and_settings_have_names():
    text = text_of(bench_html(FLOOR))
    told = settings_of(REPORT | {"plan": {"least_log_z": -40.0, "limits": {"thought_tokens": 9}}})

    for said in ("Agreement is,", "Coverage is", "Floor: every mode succeeds", "A dash (–)"):
        assert said in text
    assert told["covered from log Z (nats)"] == "-40.0"
    assert told["most tokens of a thought"] == "9"


def test_a_size_that_is_the_whole_set_is_told_in_a_line_and_left_out(capsys):
    assert _smaller((9, 2, 4, 2, 3), 4) == (2, 3)
    lines = capsys.readouterr().err.splitlines()

    assert [line.split(" is left out")[0] for line in lines] == ["--size 4", "--size 9"]


def test_where_policies_sent_turns_and_questions_is_told_everywhere(capsys):
    report = bench_report(SET, modes=("select", "think", "margin=0.5", "utility=0.1"))
    report["modes"]["margin=0.5"]["routes"] = {"select": 30, "hand-over": 7}
    report["modes"]["utility=0.1"]["arms"] = {"none": 15, "think": 5}
    report["router"] = {"name": "r.safetensors", "withdrawn": ["nobody"], "trained_on": 3}
    text, told = text_of(bench_html(report)), settings_of(report)
    show_bench(report, as_json=False)
    shown = " ".join(capsys.readouterr().out.split())

    assert "Where policies sent turns and questions" in text
    for counts in ("select 30, hand-over 7", "none 15, think 5"):
        assert counts in text
        assert counts in shown
    assert "utility=0.1 sent questions to: none 15" in shown
    assert "nobody" in shown
    assert "learned from 3 questions of these: no fair test" in shown
    assert told["router"] == "r.safetensors"
    assert told["questions the router learned from"] == "3"
    assert "Where policies sent" not in text_of(bench_html(REPORT))


def test_the_file_is_written_and_the_same_report_makes_the_same_page(tmp_path):
    write_bench_report(tmp_path / "out" / "report.html", REPORT, {})

    assert (tmp_path / "out" / "report.html").read_text("utf-8") == bench_html(REPORT, {})
