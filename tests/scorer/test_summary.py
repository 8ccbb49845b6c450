"""The report of an audit, from records alone."""

import json

import pytest
from audit_records import record

from forethought.scorer.recovery import SetView
from forethought.scorer.summary import Facts, summarise, trial

VIEW = SetView("set", ("a", "b"), {"a": ("search",), "b": ("answer",)})
LATENCY = {mode: {"p50": 1.0, "p95": 2.0} for mode in ("select", "think", "think_65")}


def report(records: list[dict]) -> dict:
    return summarise(trial(records), [VIEW], {"set": Facts()}, LATENCY)


RECORDS = [record(f"q{i}") for i in range(12)] + [record(f"c{i}", "choose") for i in range(12)]


def test_every_promised_figure_is_there_and_the_report_is_plain_json():
    found = json.loads(json.dumps(report(RECORDS), allow_nan=False))

    for name in (
        *("assigned_recovery", "routed_recovery", "constant_recovery", "oracle_recovery"),
        *("oracle_random", "action_agreement", "semantic_coverage", "reuse", "leakage"),
        *("redundancy", "escape"),
    ):
        assert {"value", "low", "high", "n"} <= found[name].keys(), name
    assert found["selected_recovery"].keys() == {"raw", "pmi", "batch"}
    assert {"top_share", "entropy"} <= found["collapse"].keys()
    assert found["latency"].keys() == {"select", "think", "think_65"}


def test_the_figures_are_over_test_turns_only():
    found = report(RECORDS)

    assert found["turns"] == {"test": 12, "choose": 12}
    assert found["assigned_recovery"]["n"] == 12
    assert found["assigned_recovery"]["value"] == pytest.approx(0.5)


def test_a_set_that_copies_the_free_thought_recovers_all_of_it_and_neutral_text_nothing():
    perfect = report([record(f"q{i}", candidates={"a": 4.0, "b": 0.0}) for i in range(5)])
    neutral = report([record(f"q{i}", candidates={"a": 0.0, "b": 0.0}) for i in range(5)])

    assert perfect["assigned_recovery"]["value"] == pytest.approx(1.0)
    assert neutral["assigned_recovery"]["value"] == pytest.approx(0.0)


def test_without_a_pool_no_oracle_is_printed():
    records = [record(f"q{i}") for i in range(4)]
    for one in records:
        one["lp"]["pool"] = []

    assert report(records)["oracle_recovery"]["value"] is None
    assert report(records)["oracle_random"]["value"] is None


def test_without_choose_turns_there_is_no_constant():
    found = report([record(f"q{i}") for i in range(4)])

    assert found["constant_recovery"]["value"] is None
    assert found["routed_recovery"]["value"] == pytest.approx(0.0)


def test_a_second_set_stands_beside_with_the_paired_difference():
    other = SetView("other", ("b",), {})
    records = [r | {"assignments": {"set": "a", "other": "b"}} for r in RECORDS]
    found = summarise(trial(records), [VIEW, other], {}, LATENCY)

    assert found["differences"]["other"]["assigned_recovery"]["value"] == pytest.approx(0.25)
    assert found["sets"]["other"]["assigned_recovery"]["value"] == pytest.approx(0.25)
