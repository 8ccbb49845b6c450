"""Excerpts of files that others published, as they stand there: what each format's own writer makes of it."""

from pathlib import Path

import pytest

from forethought.data.formats import read_traces
from forethought.data.traces import Action, Outcome

SAMPLES = Path(__file__).parent / "samples"


def read(name):
    return list(read_traces([SAMPLES / name]))


@pytest.mark.parametrize(
    ("name", "format", "traces", "thoughts", "actions"),
    [
        ("real-langgraph.json", "langchain", 1, 2, 2),
        ("real-llamafactory.jsonl", "llamafactory", 1, 1, 2),
        ("real-swe-agent.traj", "swe-agent", 1, 5, 5),
        ("real-toolbench-chain.json", "toolbench-chain", 1, 1, 6),
        ("real-toolbench-tree.json", "toolbench-tree", 4, 5, 19),
        ("real-visual-arft.log", "visual-arft-log", 2, 5, 4),
    ],
)
def test_an_excerpt_is_read_whole(name, format, traces, thoughts, actions):
    found = read(name)

    assert [trace.format for trace in found] == [format] * traces
    assert sum(trace.num_thoughts for trace in found) == thoughts
    assert sum(len(turn.actions) for trace in found for turn in trace.turns) == actions


def test_a_thread_thinks_in_its_own_field_and_names_its_model():
    (trace,) = read("real-langgraph.json")

    assert trace.question == "What might be the trends and opportunities in 2026?"
    assert trace.model == "deepseek-v3.2"
    assert trace.turns[0].thoughts[0].startswith("The user is asking about trends")
    assert [turn.actions[0].name for turn in trace.turns] == ["write_todos", "web_search"]
    assert all(turn.observations[0] for turn in trace.turns)


def test_parallel_calls_after_one_thought_are_one_turn():
    (turn,) = read("real-llamafactory.jsonl")[0].turns

    assert [action.name for action in turn.actions] == ["ideas_get_comments"] * 2
    assert len(turn.thoughts) == 1


def test_a_history_without_steps_is_read_by_its_calls():
    (trace,) = read("real-swe-agent.traj")

    assert "missing_colon.py" in trace.question
    assert trace.turns[0].actions == (Action("find_file", {"file_name": "missing_colon.py"}),)
    assert trace.turns[0].observations[0].startswith("Found 1 matches")


def test_a_tree_that_was_won_has_one_path_that_succeeded():
    found = read("real-toolbench-tree.json")

    assert [trace.outcome for trace in found] == [Outcome.FAILURE] * 3 + [Outcome.SUCCESS]
    assert len({trace.question for trace in found}) == 1
    texts = [text for trace in found for turn in trace.turns for text in turn.thoughts]
    assert len(texts) == len(set(texts))


def test_a_chains_calls_are_cut_where_its_authors_cut_them():
    (trace,) = read("real-toolbench-chain.json")
    (cut,) = (turn for turn in trace.turns if turn.thoughts)

    assert trace.run == "1103"
    assert cut.is_cut
    assert len(cut.thoughts[0]) <= 100


def test_no_action_wanted_is_no_action_and_both_thoughts_are_kept():
    first, second = read("real-visual-arft.log")

    assert [turn.actions[0].name for turn in first.turns] == ["answer"]
    assert len(first.turns[0].thoughts) == 2
    assert [turn.actions[0].name for turn in second.turns] == ["problem", "code", "answer"]
