"""Chats of APIs and gateways: what is a thought, what only tells of one, and how one message makes several turns."""

import json

import pytest

from forethought.data.formats.table import FORMATS
from forethought.data.traces import Action

ASKED = {"role": "user", "content": "Who?"}


def read(document, name=None):
    row = next(row for row in FORMATS if row.detects(document))
    assert name in (None, row.name)
    return row.traces(document)


def agent(*blocks, **fields):
    return {"role": "assistant", "content": list(blocks), **fields}


def thinking(text):
    return {"type": "thinking", "thinking": text, "signature": "Eq"}


def use(name, id="t1"):
    return {"type": "tool_use", "id": id, "name": name, "input": {"x": 1}}


def results(*ids):
    content = [{"type": "tool_result", "tool_use_id": id, "content": f"result {id}"} for id in ids]
    return {"role": "user", "content": content}


def test_thinking_between_two_calls_opens_a_turn_and_results_find_their_calls():
    message = agent(thinking("a"), use("f", "1"), thinking("b"), use("g", "2"))
    (trace,) = read({"messages": [ASKED, message, results("2", "1")]}, "anthropic")

    assert [(turn.thoughts, turn.actions[0].name, turn.observations) for turn in trace.turns] == [
        (("a",), "f", ("result 1",)),
        (("b",), "g", ("result 2",)),
    ]


def test_parallel_calls_without_words_between_are_one_turn():
    message = agent(thinking("a"), use("f", "1"), use("g", "2"))
    (trace,) = read({"messages": [ASKED, message, results("2", "1")]})

    assert len(trace.turns) == 1
    assert trace.turns[0].observations == ("result 1", "result 2")


def test_an_answer_after_a_tool_that_the_provider_ran_is_a_turn_of_its_own():
    message = agent(
        {"type": "server_tool_use", "id": "1", "name": "web_search", "input": {"query": "x"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "1",
            "content": [{"type": "text", "text": "y"}],
        },
        {"type": "text", "text": "He."},
    )
    (trace,) = read({"messages": [ASKED, agent(thinking("a"), use("f")), results("t1"), message]})

    assert trace.turns[1].observations == ("y",)
    assert trace.turns[2].actions == (Action("answer", {"input": "He."}),)


@pytest.mark.parametrize(
    ("block", "redacted", "summaries"),
    [
        ({"type": "redacted_thinking", "data": "Em"}, 1, ()),
        ({"type": "thinking", "thinking": "", "signature": "Eq"}, 1, ()),
        ({"type": "reasoning", "reasoning": "", "redacted": True, "signature": "x"}, 1, ()),
        (
            {
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "s"}],
                "encrypted_content": "x",
            },
            0,
            ("s",),
        ),
        ({"type": "reasoning", "summary": [], "encrypted_content": "x"}, 1, ()),
    ],
)
def test_reasoning_that_cannot_be_read_is_recorded_and_is_no_thought(block, redacted, summaries):
    (trace,) = read({"messages": [ASKED, agent(block, use("f")), results("t1")]})
    (turn,) = trace.turns

    assert (turn.thoughts, turn.redacted, turn.summaries) == ((), redacted, summaries)
    assert turn.actions


@pytest.mark.parametrize(
    ("detail", "thoughts", "redacted", "summaries"),
    [
        ({"type": "reasoning.text", "text": "a"}, ("a",), 0, ()),
        ({"type": "reasoning.summary", "summary": "s"}, (), 0, ("s",)),
        ({"type": "reasoning.encrypted", "data": "x"}, (), 1, ()),
    ],
)
def test_a_gateways_details_tell_the_kind(detail, thoughts, redacted, summaries):
    message = {"role": "assistant", "content": "He.", "reasoning_details": [detail]}
    (turn,) = read({"messages": [ASKED, message]})[0].turns

    assert (turn.thoughts, turn.redacted, turn.summaries) == (thoughts, redacted, summaries)


def test_tokens_spent_on_reasoning_that_is_not_told_count_as_redacted():
    response = {
        "choices": [{"message": {"role": "assistant", "content": "He."}}],
        "usage": {"completion_tokens_details": {"reasoning_tokens": 64}},
    }
    (told,) = read({"messages": [ASKED], "response": response}, "openai-response")
    assert (told.turns[0].redacted, told.turns[0].thoughts) == (1, ())

    response["choices"][0]["message"]["reasoning_content"] = "a"
    (told,) = read({"messages": [ASKED], "response": response})
    assert (told.turns[0].redacted, told.turns[0].thoughts) == (0, ("a",))


def test_several_choices_are_several_runs_and_what_precedes_them_counts_once():
    before = {"role": "assistant", "content": "<think>a</think>Which one?"}
    choices = [{"message": {"role": "assistant", "content": text}} for text in ("b", "c")]
    first, second = read(
        {"messages": [ASKED, before, {**ASKED, "content": "That"}], "choices": choices}
    )

    assert [turn.thoughts for turn in first.turns] == [("a",), ()]
    assert [turn.thoughts for turn in second.turns] == [(), ()]
    assert (first.turns[1].actions[0].arguments, second.turns[1].actions[0].arguments) == (
        {"input": "b"},
        {"input": "c"},
    )


def test_a_responses_turn_ends_with_the_next_output_and_built_in_tools_are_calls():
    output = [
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "a"}]},
        {"type": "web_search_call", "id": "w", "action": {"type": "search", "query": "x"}},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "He."}],
        },
    ]
    (trace,) = read({"input": "Who?", "model": "m", "output": output}, "openai-responses")
    (turn,) = trace.turns

    assert trace.question == "Who?"
    assert turn.thoughts == ("a", "He.")
    assert turn.actions == (Action("web_search", {"type": "search", "query": "x"}),)


def test_a_message_that_ran_out_of_tokens_in_its_thought_is_cut():
    message = {
        "role": "assistant",
        "reasoning_content": "I must",
        "content": None,
        "finish_reason": "length",
    }
    (turn,) = read({"messages": [ASKED, message]})[0].turns

    assert (turn.thoughts, turn.is_cut) == (("I must",), True)


def test_a_branch_of_a_tree_of_messages_shares_its_beginning_and_a_thought_counts_once():
    def said(text):
        return {"role": "assistant", "content": f"<think>{text}</think><search>{text}</search>"}

    nodes = [
        {"parent": None, "message": ASKED},
        {"parent": 0, "message": said("a")},
        {"parent": 1, "message": {"role": "user", "content": "r"}},
        {"parent": 2, "message": said("b")},
        {"parent": 2, "message": said("c")},
    ]
    one, other = read({"nodes": nodes}, "verifiers")

    assert [turn.thoughts for turn in one.turns] == [("a",), ("b",)]
    assert [turn.thoughts for turn in other.turns] == [(), ("c",)]
    assert other.turns[0].actions == one.turns[0].actions


def test_paths_of_a_tree_of_calls_share_their_beginning_and_a_pruned_one_failed():
    def node(kind, text, *children, **fields):
        return {"node_type": kind, "description": text, "children": list(children), **fields}

    def step(thought, name, *after, **fields):
        return node(
            "Thought", thought, node("Action", name, node("Action Input", "{}", *after, **fields))
        )

    tree = node(
        "Action Input",
        "",
        step("a", "f", step("b", "g", pruned=True), step("c", "Finish", finished=True)),
    )
    dead, alive = read(
        {"win": True, "tree": {"tree": tree}, "answer_generation": {"query": "Who?"}}
    )

    assert [turn.thoughts for turn in dead.turns] == [("a",), ("b",)]
    assert [turn.thoughts for turn in alive.turns] == [(), ("c",)]
    assert (str(dead.outcome), str(alive.outcome)) == ("failure", "success")


def test_a_set_without_thoughts_is_read_without_them():
    rows = [
        {"from": "human", "value": "Who?"},
        {"from": "function_call", "value": json.dumps({"name": "f", "arguments": {}})},
        {"from": "observation", "value": "r"},
        {"from": "gpt", "value": "He."},
    ]
    (trace,) = read({"conversations": rows, "tools": "[]"}, "sharegpt")

    assert trace.num_thoughts == 0
    assert [action.name for turn in trace.turns for action in turn.actions] == ["f", "answer"]
    assert trace.turns[0].observations == ("r",)
