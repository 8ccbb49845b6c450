"""ReAct runs, in one string and in chat turns, with the oddities that real files have."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.formats.react import action_in
from forethought.data.formats.react_chat import is_react_chat, read_react_chat
from forethought.data.formats.react_text import is_react_text, read_react_text
from forethought.data.traces import Action, Outcome

HEAD = "Do the task.\n\n### Instruction:\nWho?\n\n### Response:\n"
WORDS = st.text("abc ", min_size=1).map(str.strip).filter(bool)
STEPS = st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=5)


def acts(turn):
    return [(action.name, action.arguments["input"]) for action in turn.actions]


def text(run, **fields):
    document = {"traj": HEAD + run, **fields}
    assert is_react_text(document)
    return read_react_text(document)


def chat(*messages, **fields):
    """A user's message and the agent's by turns."""
    roles = ("user", "assistant") * len(messages)
    listed = [{"role": r, "content": c} for r, c in zip(roles, messages, strict=False)]
    document = {"messages": listed, **fields}
    assert is_react_chat(document)
    return read_react_chat(document)


@given(STEPS)
def test_string_and_chat_layouts_of_a_run_give_the_same_trace(steps):
    moves = [f"Thought: {t}\nAction: search[{a}]" for t, a, _ in steps]
    seen = [f"Observation: {o}" for _, _, o in steps]
    in_string = text("\n".join(f"{m}\n{o}" for m, o in zip(moves, seen, strict=True)))
    in_chat = chat("Who?", *[m for pair in zip(moves, seen, strict=True) for m in pair])
    assert in_string.id == in_chat.id
    assert [t.thoughts + t.observations for t in in_string.turns] == [(t, o) for t, _, o in steps]


@pytest.mark.parametrize(
    ("written", "name", "given"),
    [
        ("search[x]", "search", "x"),
        ("  finish[x]", "finish", "x"),
        ("search[a [b] c]", "search", "a [b] c"),
        ("finish[two\nlines]", "finish", "two\nlines"),
        ("search[x] and a tail", "search", "x"),
        ("search[no end", "search", "no end"),
        ("finish[]", "finish", ""),
        ("Click [5]", "Click", "5"),
        ("Search\nAction Input: x y", "Search", "x y"),
        ("reflect", "reflect", ""),
    ],
)
def test_an_action_has_a_name_and_an_input(written, name, given):
    assert action_in(written) == Action(name, {"input": given})


def test_an_action_of_no_name_is_none():
    assert action_in("") is None
    assert action_in("???") is None


def test_each_thought_of_a_string_is_a_turn():
    trace = text("Thought: a\nThought: b\nAction: search[c]\nObservation: d\nAction: finish[e]")
    assert [turn.thoughts for turn in trace.turns] == [("a",), ("b",), ()]
    assert [acts(turn) for turn in trace.turns] == [[], [("search", "c")], [("finish", "e")]]
    assert [turn.observations for turn in trace.turns] == [(), ("d",), ("",)]


def test_an_empty_thought_is_no_thought():
    (turn,) = text("Thought 1:\nAction 1: search[c]\nObservation 1: d").turns
    assert turn.thoughts == ()


def test_a_label_within_a_line_is_text():
    trace = text("Thought: I reflect. Action: reflect\nThought: b\nAction: finish[c]")
    assert trace.turns[0].thoughts == ("I reflect. Action: reflect",)


def test_worked_examples_before_the_question_are_no_part_of_the_run():
    examples = "Question: q1\nThought 1: example\nAction 1: finish[x]\n\n"
    trace = read_react_text(
        {"traj": f"{examples}Question: q2\nThought 1: own\nAction 1: finish[y]"}
    )
    assert trace.question == "q2"
    assert [turn.thoughts for turn in trace.turns] == [("own",)]
    instructed = "### Instruction:\nq1\n### Response:\nThought: example\nAction: finish[x]\n"
    trace = read_react_text({"traj": instructed + HEAD + "Thought: own\nAction: finish[y]"})
    assert trace.question == "Who?"
    assert [turn.thoughts for turn in trace.turns] == [("own",)]


def test_examples_in_a_user_message_or_in_earlier_chat_turns_are_no_part_of_the_run():
    shot = "Answer.\nQuestion: q1\nThought: example\nAction: finish[x]\n\nQuestion: q2"
    trace = chat(shot, "Thought: own\nAction: finish[y]")
    assert (trace.question, trace.num_thoughts) == ("q2", 1)
    trace = chat(
        "Question: q1", "Thought: example\nAction: finish[x]", "Question: q2", "Thought: own\n"
    )
    assert (trace.question, trace.num_thoughts) == ("q2", 1)


def test_a_question_label_is_dropped_only_as_a_label():
    assert chat("Question: Who?\nA. he\nB. she", "Action: finish[A]").question == (
        "Who?\nA. he\nB. she"
    )
    whole = "Order 5.\nQuestion: is it late?"
    assert chat(whole, "Action: finish[A]").question == whole


def test_an_alpaca_row_adds_its_input_to_the_question():
    row = {"instruction": "Who?", "input": "A or B", "output": "Action: finish[A]"}
    assert is_react_text(row)
    assert read_react_text(row).question == "Who?\nA or B"


def test_invented_pairs_stay_in_one_turn_and_the_first_action_is_answered():
    invented = "Thought: a\nAction: search[b]\nThought: c\nAction: search[d]"
    (turn, last) = chat("Who?", invented, "Observation: e", "Action: finish[f]").turns
    assert turn.thoughts == ("a", "c")
    assert acts(turn) == [("search", "b"), ("search", "d")]
    assert turn.observations == ("e", "")
    assert acts(last) == [("finish", "f")]


def test_a_thought_without_an_action_is_a_turn_of_its_own():
    trace = chat("Who?", "Thought: a", "Observation: unasked", "Thought: b\nAction: finish[c]")
    assert [turn.thoughts for turn in trace.turns] == [("a",), ("b",)]
    assert [turn.observations for turn in trace.turns] == [(), ("",)]


def test_an_assistant_message_that_is_an_observation_is_no_turn_and_the_users_word_counts():
    listed = [
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": "Thought: a\nAction: finish[b]"},
        {"role": "assistant", "content": "Observation: Episode finished, reward = 1"},
        {"role": "user", "content": "Observation: Episode finished, reward = 0."},
    ]
    trace = read_react_chat({"messages": listed})
    assert len(trace.turns) == 1
    assert trace.turns[0].observations == ("",)
    assert trace.outcome is Outcome.FAILURE


def test_a_chat_that_begins_with_the_agent_has_no_question():
    listed = [
        {"role": "assistant", "content": "Would he?\nAction: finish[yes]"},
        {"role": "user", "content": "Observation: Episode finished, reward = 1"},
    ]
    assert is_react_chat({"messages": listed})
    assert read_react_chat({"messages": listed}).question == ""


def test_labels_inside_what_a_user_message_observes_are_its_own():
    trace = chat("Who?", "Action: search[a]", "Observation: x\nThought: y", "Action: finish[b]")
    assert trace.turns[0].observations == ("x\nThought: y",)
    assert trace.num_thoughts == 0


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"em": True, "reward": 0}, Outcome.SUCCESS),
        ({"em": 0, "reward": True}, Outcome.FAILURE),
        ({"reward": 1}, Outcome.SUCCESS),
        ({"reward": 0.5}, Outcome.FAILURE),
        ({"em": math.nan, "reward": math.nan}, None),
        ({"reward": math.inf}, None),
        ({"reward": "1"}, None),
        ({}, None),
    ],
)
def test_the_outcome_comes_from_em_then_reward_and_nan_is_unknown(fields, outcome):
    assert text("Thought: a\nAction: finish[b]", **fields).outcome is outcome


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("True", Outcome.SUCCESS),
        ("1.", Outcome.SUCCESS),
        ("0", Outcome.FAILURE),
        ("False", Outcome.FAILURE),
        ("nan", None),
        ("", None),
    ],
)
def test_else_the_closing_observation_tells_the_outcome_and_is_dropped(said, outcome):
    trace = text(f"Action: finish[b]\nObservation: Episode finished, reward = {said}\n")
    assert trace.outcome is outcome
    assert trace.turns[0].observations == ("",)
