"""The rows that pictures are drawn from."""

import pytest
from curated_store import audit_report, mined
from hypothesis import given
from hypothesis import strategies as st

from forethought.ui import charts

SET = mined()
REPORT = audit_report(SET)


def test_the_curve_has_each_size_once_in_order_for_both_policies():
    curve = charts.recovery_curve(REPORT)

    assert [(point.policy, point.size) for point in curve] == [
        (policy, size) for policy in ("assigned", "routed") for size in (1, 2, 3)
    ]


def test_the_comparison_has_every_set_whole():
    names = [point.set_name for point in charts.comparison(REPORT) if point.policy == "routed"]

    assert names == ["search-v1", "ssr", "random-6", "neutral"]


@pytest.mark.parametrize(
    ("name", "nested"),
    [("a[:3]", True), ("a", False), ("a[:x]", False), ("b[:3]", False), ("a[:3][:3]", False)],
)
def test_nested_sizes_are_told_by_name(name, nested):
    assert charts.is_nested(name, "a") is nested


def test_figures_that_are_not_told_are_no_points():
    untold = audit_report(SET, told=False)

    assert charts.recovery_curve(untold) == charts.comparison(untold) == []
    assert charts.is_told(REPORT) and not charts.is_told(untold)


def test_use_counts_every_candidate_and_the_unassigned():
    table = charts.use_by_action(REPORT)

    assert [label[:2] for label in table.labels] == ["1.", "2.", "3.", "no"]
    assert table.kinds == ("search", "answer")
    assert table.counts("search") == [5, 5, 5, 1]
    assert table.counts("answer") == [2, 2, 2, 0]


@given(st.dictionaries(st.text(min_size=1), st.integers(1, 9), max_size=20))
def test_no_use_is_lost_when_rare_kinds_are_counted_together(counts):
    report = {"set": "s", "sets": {"s": {"use": {"c": counts}}}, "members": {"s": ["c"]}}
    table = charts.use_by_action(report)

    assert len(table.kinds) <= charts.MAX_KINDS
    assert sum(sum(table.counts(kind)) for kind in table.kinds) == sum(counts.values())


def test_saved_time_is_told_against_each_way_of_generating():
    rows = charts.latencies(REPORT)

    assert [(row.p50, row.saved) for row in rows] == [(50.0, None), (1000.0, 0.95), (2000.0, 0.975)]
    assert charts.latencies({"latency": {"think": {"p50": 3.0}}}) == []


def test_latency_says_what_it_was_measured_on_as_far_as_it_is_told():
    assert charts.latency_conditions({}) == charts.latency_conditions(REPORT) == ""
    latency = {"turns": 4, "context_tokens": 1487.2, "capped": 0.25, "prefill": {"p50": 300.0}}
    assert charts.latency_conditions({"latency": latency}) == (
        "Measured on 4 turns, 1,487 context tokens on average, 25 % of them cut, "
        "a shared prefill of 300 ms (median) on top of every mode."
    )


@given(st.text())
def test_legible_text_has_no_character_that_a_page_cannot_carry(text):
    shown = charts.legible(text)

    shown.encode()
    assert len(shown) == len(text)
    assert all(
        character.isprintable() or character in "\t\n" or ord(character) > 0x9F
        for character in shown
    )


@given(st.text(max_size=200), st.integers(2, 80))
def test_a_shortened_text_is_one_line_within_its_length(text, characters):
    assert len(charts.shortened(text, characters)) <= characters
    assert "\n" not in charts.shortened(text, characters)


def test_a_forced_direction_shows_itself_instead_of_turning_the_text_around():
    assert "\u202e" not in charts.legible("I need \u202egnidaer\u202c to")
    assert charts.legible("I need \u202egnidaer").endswith("gnidaer")
