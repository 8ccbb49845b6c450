"""`--fail-under`."""

import pytest

from forethought.data.errors import ForethoughtError
from forethought.ui.gates import parse_gate

REPORT = {
    "assigned_recovery": {"value": 0.4},
    "oracle_recovery": {"value": None},
    "selected_recovery": {"raw": {"value": -0.1}},
    "latency": {"select": {"p50": 12.0}},
}


@pytest.mark.parametrize(
    ("gate", "missed"),
    [
        ("assigned_recovery=0.4", False),
        ("assigned_recovery=0.41", True),
        ("selected_recovery.raw=-0.2", False),
        ("selected_recovery.raw=0", True),
        ("oracle_recovery=0", True),
        ("latency.select.p50=1", False),
    ],
)
def test_a_figure_below_its_gate_is_a_miss(gate, missed):
    assert (parse_gate(gate).miss(REPORT) is not None) == missed


@pytest.mark.parametrize("text", ["", "x", "x=", "=1", "x=much", "x=nan"])
def test_a_gate_that_cannot_be_read_is_a_mistake(text):
    with pytest.raises(ForethoughtError, match="METRIC=NUMBER"):
        parse_gate(text)


@pytest.mark.parametrize("metric", ["recovery", "assigned_recovery.value.x", "selected_recovery"])
def test_a_figure_that_does_not_exist_is_a_mistake(metric):
    with pytest.raises(ForethoughtError, match="fail-under"):
        parse_gate(f"{metric}=1").miss(REPORT)
