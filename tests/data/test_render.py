"""The one renderer: what a model reads of a run."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import run, runs
from trace_strategies import traces

from forethought.data.identity import Split
from forethought.data.render import (
    OMITTED,
    kind_beginnings,
    render_action,
    render_context,
    render_trace,
    worked_example,
)
from forethought.data.traces import Action, Outcome, Trace, Turn


def words(text: str) -> int:
    return len(text.split())


def test_a_run_reads_as_the_format_says():
    trace = Trace(
        "Who?",
        (
            Turn(("Look.",), (Action("search", {"input": "x"}),), ("Found.",)),
            Turn(("Done.",), (Action("finish", {"input": "She"}),), ("",)),
        ),
    )

    assert render_trace(trace) == (
        "Question: Who?\n"
        "<thinking>Look.</thinking>\n"
        '<tool_call>{"name": "search", "arguments": {"input": "x"}}</tool_call>\n'
        "Observation: Found.\n"
        "<thinking>Done.</thinking>\n"
        "<answer>She</answer>\n"
    )


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Action("finish", {"input": "A"}), "<answer>A</answer>"),
        (Action("answer", {"answer": "A"}), "<answer>A</answer>"),
        (Action("answer", {}), "<answer></answer>"),
        (Action("zoom", {}), '<tool_call>{"name": "zoom", "arguments": {}}</tool_call>'),
        (
            Action('a"b', {"x": "é"}),
            '<tool_call>{"name": "a\\"b", "arguments": {"x": "é"}}</tool_call>',
        ),
    ],
)
def test_actions_are_answers_or_calls(action, text):
    assert render_action(action).text == text


@given(traces())
@settings(max_examples=50, deadline=None)
def test_a_turns_context_its_thought_and_its_action_are_a_prefix_of_the_whole(trace):
    whole = render_trace(trace)
    for index, turn in enumerate(trace.turns):
        thoughts = "".join(f"<thinking>{thought}</thinking>\n" for thought in turn.thoughts)
        assert whole.startswith(render_context(trace, index) + thoughts)


def test_labels_replace_thoughts_and_an_unlabelled_thought_is_left_out():
    context = render_context(run(6), 2, {0: "LABEL"})

    assert context.count("<thinking>") == 1
    assert "<thinking>LABEL</thinking>" in context
    assert run(6).turns[1].thoughts[0] not in context


def test_the_oldest_observations_go_first_then_the_oldest_turns():
    whole = render_context(run(6), 3)
    budget = words(whole) - 1
    shorter = render_context(run(6), 3, count_tokens=words, budget=budget)
    least = render_context(run(6), 3, count_tokens=words, budget=words(run(6).question) + 1)

    assert words(shorter) <= budget
    assert OMITTED in shorter
    assert run(6).turns[2].observations[0] in shorter
    assert least == f"Question: {run(6).question}\n"


@given(st.integers(0, 200), st.integers(0, 3))
def test_a_budget_is_kept_and_a_large_one_changes_nothing(budget, index):
    context = render_context(run(6), index, count_tokens=words, budget=budget)

    assert words(context) <= max(budget, words(run(6).question) + 1)
    if budget >= words(render_context(run(6), index)):
        assert context == render_context(run(6), index)


def test_a_long_run_is_rendered_without_counting_its_history_again_and_again():
    turns = tuple(
        Turn(("t",), (Action("search", {"input": str(i)}),), ("word " * 50,)) for i in range(300)
    )
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return words(text)

    render_context(Trace("q", turns), 299, count_tokens=count, budget=100)

    assert sum(map(len, counted)) < 10 * len(render_trace(Trace("q", turns)))


def test_the_worked_example_is_a_short_successful_mine_run_with_two_kinds():
    example = worked_example(runs(40))
    fitting = [
        render_trace(trace)
        for trace in runs(40)
        if trace.split is Split.MINE and trace.outcome is Outcome.SUCCESS
    ]

    assert example in fitting
    assert len(example) == min(map(len, fitting))
    assert worked_example(runs(40)[::-1]) == example
    assert worked_example([]) == ""


def test_more_examples_are_the_shortest_in_order():
    three = worked_example(runs(40), 3)
    parts = three.split("\n\n")

    assert len(parts) == 3
    assert parts[0] == worked_example(runs(40)).rstrip("\n")
    assert list(map(len, parts)) == sorted(map(len, parts))
    assert len(worked_example(runs(40), 999).split("\n\n")) < 40


def test_no_example_repeats_a_text_that_is_to_be_avoided():
    traces = runs(40)
    spared = replace(
        traces[3], turns=(Turn(("Quite another thing.",), traces[3].turns[0].actions),) * 2
    )
    said = {thought for trace in traces for turn in trace.turns for thought in turn.thoughts}
    shouted = [f" {text.upper().rstrip('.')}." for text in said]

    assert worked_example(traces, 9, shouted) == ""
    assert worked_example(traces, 9, ["Not said anywhere."]) == worked_example(traces, 9)
    assert "Quite another thing." not in worked_example(
        [*traces, spared], 99, ["quite another thing"]
    )


def test_kinds_have_one_beginning_each_in_their_most_frequent_spelling():
    turns = [
        Turn((), (Action(name, {"input": "x"}),))
        for name in ("search", "search", "text_search_tool", "finish")
    ]

    assert kind_beginnings([Trace("q", tuple(turns))]) == {
        "answer": "<answer>",
        "search": '<tool_call>{"name": "search"',
    }
