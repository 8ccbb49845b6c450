"""Policies: which text is injected on each turn, and what it gains."""

import numpy as np
import pytest
from audit_records import record

from forethought.scorer import recovery as policy


def test_gains_are_over_the_mean_of_the_neutral_sentences():
    records = [record("q1", free=3.0), record("q2", free=5.0)]

    assert policy.free_gains(records).total.tolist() == [3.0, 5.0]
    assert policy.gains_of(records, ["a", "b"]).total.tolist() == [2.0, 1.0]
    assert policy.gains_of(records, ["a", "b"]).kind.tolist() == [1.0, 0.5]


def test_an_unassigned_turn_gains_nothing_and_stays():
    records = [record("q1", assigned=None), record("q2")]
    choice = policy.assigned_choice(records, "set")

    assert choice == [None, "a"]
    assert policy.gains_of(records, choice).total.tolist() == [0.0, 2.0]


def test_routes_are_chosen_on_choose_turns_and_only_for_frequent_kinds():
    choose = [
        *(record(f"s{i}", "choose", "search", candidates={"a": 2, "b": 0}) for i in range(10)),
        *(record(f"n{i}", "choose", "answer", candidates={"a": -9, "b": 1}) for i in range(10)),
        *(record(f"z{i}", "choose", "zoom", candidates={"a": -1, "b": 5}) for i in range(9)),
    ]
    test = [record("t", kind=kind) for kind in ("search", "answer", "zoom")]

    assert policy.routes(choose, ["a", "b"]) == {"search": "a", "answer": "b"}
    assert policy.best_constant(choose, ["a", "b"]) == "b"
    assert policy.routed_choice(test, choose, ["a", "b"]) == ["a", "b", "b"]


def test_without_choose_turns_nothing_is_routed():
    assert policy.routed_choice([record("q")], [], ["a", "b"]) == [None]


def test_selection_takes_the_highest_score_and_the_first_of_equals():
    equal = record("q")
    equal["scores"]["raw"] = {"a": 1.0, "b": 1.0}

    assert policy.selected_choice([record("q")], ["a", "b"], "raw") == ["b"]
    assert policy.selected_choice([equal], ["b", "a"], "raw") == ["b"]


def test_the_oracle_is_never_below_any_policy():
    rng = np.random.default_rng(0)
    records = [
        record(f"q{i}", candidates=dict(zip("abc", rng.normal(size=3), strict=True)))
        for i in range(30)
    ]
    best = policy.gains_of(records, policy.oracle_choice(records, "abc")).total

    for id in "abc":
        assert (best >= policy.gains_of(records, [id] * 30).total - 1e-12).all()


def test_random_oracles_grow_with_size_up_to_the_best_of_the_pool():
    records = [record(f"q{i}") for i in range(3)]
    means = [policy.random_oracle_gains(records, k, seed=0).total.mean() for k in (1, 2, 4, 8)]

    assert means == sorted(means)
    assert means[-1] == pytest.approx(1.0)
    assert policy.random_oracle_gains(records, 4, 0).total.tolist() == (
        policy.random_oracle_gains(records, 4, 0).total.tolist()
    )


def test_use_counts_kinds_by_candidate():
    records = [record("q1"), record("q2", kind="answer"), record("q3", assigned=None)]
    choice = policy.assigned_choice(records, "set")

    assert policy.use_by_kind(records, choice) == {
        "a": {"search": 1, "answer": 1},
        "unassigned": {"search": 1},
    }


def test_expected_actions_match_by_kind_not_by_name():
    view = policy.SetView("set", ("a",), {"a": ("text_search_tool", "finish")})

    assert view.expects("a", "search")
    assert view.expects("a", "answer")
    assert not view.expects("a", "zoom")
    assert not view.expects("b", "search")
