"""How runs ended, out of a file beside them: by id, file or question, with both sides' leftovers counted."""

import json

import pytest

from forethought.data.errors import InvalidOutcomes
from forethought.data.formats import read_outcomes
from forethought.data.traces import Outcome, Trace, Turn


def trace(question="Who?", run="", file="runs/task 7/messages.json"):
    return Trace(question, (Turn(("a",)),), run=run, file=file)


def told(tmp_path, text, name="o.csv"):
    (tmp_path / name).write_text(text)
    return read_outcomes(tmp_path / name)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("id", "r1"),
        ("instance_id", "task 7"),
        ("id", "messages"),
        ("file", "runs/task 7/messages.json"),
        ("file", "task 7/messages.json"),
        ("question", "  Who? "),
    ],
)
def test_a_run_is_found_by_what_its_row_names(tmp_path, column, value):
    outcomes = told(tmp_path, f"{column},success\n{value},true\nelse,false\n")

    assert outcomes.judged(trace(run="r1")).outcome is Outcome.SUCCESS
    assert (outcomes.matched, outcomes.traces_without, outcomes.rows_without) == (1, 0, 1)


def test_the_traces_own_id_finds_it(tmp_path):
    one = trace()
    assert told(tmp_path, f"trace_id,reward\n{one.id},1.0\n").judged(one).outcome is Outcome.SUCCESS


def test_a_run_without_a_row_stays_as_it_was_and_is_counted(tmp_path):
    outcomes = told(tmp_path, "id,success\nx,true\n")
    one = trace()

    assert outcomes.judged(one) is one
    assert (outcomes.matched, outcomes.traces_without, outcomes.rows_without) == (0, 1, 1)


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        (True, Outcome.SUCCESS),
        ("resolved", Outcome.SUCCESS),
        (1, Outcome.SUCCESS),
        ("1.0", Outcome.SUCCESS),
        (0.5, Outcome.FAILURE),
        ("No", Outcome.FAILURE),
    ],
)
def test_json_lines_say_it_as_words_or_numbers(tmp_path, value, outcome):
    outcomes = told(tmp_path, json.dumps({"id": "r1", "reward": value}) + "\n", "o.jsonl")

    assert outcomes.judged(trace(run="r1")).outcome is outcome


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        ("", "o.csv", "no outcomes in it"),
        ("id,success\n", "o.csv", "no outcomes in it"),
        ("id,success\na,\n", "o.csv", "no outcomes in it"),
        ("colour,success\nred,true\n", "o.csv", "row 2: names no run"),
        ("id,colour\na,red\n", "o.csv", "row 2: says no outcome"),
        ("id,success\na,perhaps\n", "o.csv", "row 2: 'perhaps' is no outcome"),
        ("id,success\na,true\na,false\n", "o.csv", "row 3: another row says otherwise of 'a'"),
        ("{", "o.jsonl", "line 1: not JSON"),
        ("[1]", "o.jsonl", "line 1: no object"),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_why(tmp_path, text, name, reason):
    with pytest.raises(InvalidOutcomes, match=reason):
        told(tmp_path, text, name)


def test_a_file_that_is_not_there_says_so(tmp_path):
    with pytest.raises(InvalidOutcomes, match="no outcomes that can be read"):
        read_outcomes(tmp_path / "none.csv")
