"""An audit's figures by slice."""

import json

import pytest
from audit_records import record
from hypothesis import given
from hypothesis import strategies as st

from forethought.scorer.recovery import SetView
from forethought.scorer.slices import LEAST_QUESTIONS, SLICED_BY, by_candidate, slices
from forethought.scorer.summary import policy_figures, trial

VIEW = SetView("set", ("a", "b"), {"a": ("search",), "b": ("answer",)})
CHOOSE = [record(f"c{i}", "choose") for i in range(12)]


def turn(number: int, place: int = 0, outcome: str | None = "success", **rest) -> dict:
    facts = {"turn": place, "outcome": outcome, "file": "runs/a.json", "nearest": {"set": 0.7}}
    return record(f"q{number}", **rest) | facts


def cut(test: list[dict], by: str, covered_at: float = 0.6) -> dict:
    return slices(trial([*test, *CHOOSE]), VIEW, covered_at)[by]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 6)), min_size=1, max_size=20))
def test_every_turn_is_in_one_slice_of_each_kind(drawn):
    test = [turn(number, place) for number, place in drawn]
    found = slices(trial([*test, *CHOOSE]), VIEW, 0.6)

    assert found.keys() == SLICED_BY.keys()
    for parts in found.values():
        assert sum(part["turns"] for part in parts.values()) == len(test)


def test_a_slice_of_everything_has_the_figures_of_the_audit():
    test = [turn(number) for number in range(15)]
    whole = policy_figures(trial([*test, *CHOOSE]), VIEW)
    part = cut(test, "source")["s"]

    assert {name: part[name] for name in whole} == whole


def test_slices_are_measured_apart():
    test = [turn(i, kind="search", candidates={"a": 4.0, "b": 0.0}) for i in range(12)]
    test += [turn(i, 1, kind="answer", candidates={"a": 0.0, "b": 0.0}) for i in range(12)]

    by_action = cut(test, "action")
    assert by_action["search"]["assigned_recovery"]["value"] == pytest.approx(1.0)
    assert by_action["answer"]["assigned_recovery"]["value"] == pytest.approx(0.0)
    assert cut(test, "position").keys() == {"1st turn", "2nd turn"}


def test_a_slice_of_few_questions_is_counts_only_however_many_its_turns():
    test = [turn(i % (LEAST_QUESTIONS - 1), i) for i in range(60)]

    assert cut(test, "source")["s"] == {"turns": 60, "questions": LEAST_QUESTIONS - 1}


def test_where_free_thoughts_do_not_surely_help_there_are_nats_and_no_recovery():
    test = [turn(i, free=4.0 if i % 2 else -4.0) for i in range(20)]
    found = cut(test, "source")["s"]["assigned_recovery"]

    assert found["value"] is None
    assert found["nats"] == pytest.approx(2.0)


def test_coverage_goes_by_the_threshold_and_is_not_told_of_records_without_it():
    test = [turn(i) for i in range(12)]
    for one in test[:3]:
        one["nearest"] = {"set": 0.5}

    assert cut(test, "source")["s"]["semantic_coverage"]["value"] == pytest.approx(0.75)
    assert cut(test, "source", 0.5)["s"]["semantic_coverage"]["value"] == pytest.approx(1.0)
    del test[0]["nearest"]
    assert cut(test, "source")["s"]["semantic_coverage"]["value"] is None


def test_what_a_record_does_not_tell_is_unknown_and_the_slices_are_plain_json():
    test = [turn(i, outcome=None) for i in range(12)]

    assert cut(test, "outcome").keys() == {"unknown"}
    assert cut([record("q")], "position").keys() == {"unknown"}
    json.dumps(slices(trial([*test, *CHOOSE]), VIEW, 0.6), allow_nan=False)


def test_a_candidate_is_measured_on_the_turns_that_are_assigned_to_it():
    test = [turn(i, candidates={"a": 4.0, "b": 1.0}) for i in range(12)]
    test += [turn(i, assigned="b", candidates={"a": 4.0, "b": 1.0}) for i in range(12)]
    test += [turn(i, assigned=None) for i in range(3)]
    found = by_candidate(trial([*test, *CHOOSE]), VIEW, 0.6)

    assert found["a"]["assigned_recovery"]["value"] == pytest.approx(1.0)
    assert found["b"]["assigned_recovery"]["value"] == pytest.approx(0.25)
    assert found["unassigned"] == {"turns": 3, "questions": 3}
