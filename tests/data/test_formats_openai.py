"""OpenAI chat messages: where a thought may stand, what is an action, and which reply answers it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.formats.openai_chat import is_openai_chat, read_openai_chat
from forethought.data.formats.tags import tagged
from forethought.data.traces import Action, Outcome


def read(*messages, **fields):
    document = {"messages": [{"role": "user", "content": "Who?"}, *messages], **fields}
    assert is_openai_chat(document)
    return read_openai_chat(document)


def agent(content=None, *calls, **fields):
    return {"role": "assistant", "content": content, "tool_calls": list(calls) or None, **fields}


def user(content):
    return {"role": "user", "content": content}


def tool(content, id=None):
    return {"role": "tool", "content": content, "tool_call_id": id}


def call(name, arguments="{}", id=None):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning_content": "a"},
        {"reasoning": "a"},
        {"reasoning": "a", "reasoning_content": None},
        {"reasoning": "a", "reasoning_content": "a"},
        {"reasoning": "", "reasoning_content": "a"},
        {"reasoning": "b", "reasoning_content": "a"},
    ],
)
def test_the_first_reasoning_field_with_text_is_the_thought(fields):
    (turn,) = read(agent("1932", **fields)).turns
    assert turn.thoughts == ("a",)
    assert turn.actions == (Action("answer", {"input": "1932"}),)


def test_a_text_that_stands_twice_is_one_thought():
    (turn,) = read(agent("<think>a</think>a", call("zoom"), reasoning="a")).turns
    assert turn.thoughts == ("a",)


def test_text_beside_a_call_is_a_thought_and_alone_it_is_an_act():
    trace = read(
        agent("look closer", call("zoom")),
        tool("big"),
        agent("Which one?"),
        user("That"),
        agent("Ok"),
    )
    zoom, ask, answer = trace.turns
    assert (zoom.thoughts, zoom.actions) == (("look closer",), (Action("zoom", {}),))
    assert zoom.observations == ("big",)
    assert (ask.thoughts, ask.actions) == ((), (Action("respond", {"content": "Which one?"}),))
    assert ask.observations == ("That",)
    assert answer.actions == (Action("answer", {"input": "Ok"}),)


def test_a_call_of_a_think_tool_is_a_thought_and_its_empty_result_is_dropped():
    thinking = call("think", '{"thought": "a"}', "c1")
    first, second = read(
        agent(None, thinking, call("zoom", "{}", "c2")),
        tool("", "c1"),
        tool("big", "c2"),
        agent("Ok"),
    ).turns
    assert (first.thoughts, first.actions) == (("a",), (Action("zoom", {}),))
    assert first.observations == ("big",)
    (alone,) = read(agent(None, thinking), tool("", "c1")).turns
    assert (alone.thoughts, alone.actions, alone.observations) == (("a",), (), ())


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('{"q": "x"}', {"q": "x"}),
        ({"q": "x"}, {"q": "x"}),
        ("", {}),
        (None, {}),
        ("{q: x", {"raw": "{q: x"}),
        ("[1]", {"raw": "[1]"}),
        ([1], {"raw": "[1]"}),
        ('{"q": "\\ud800"}', {"q": "\ufffd"}),
    ],
)
def test_arguments_come_as_an_object_and_else_are_kept_raw(written, arguments):
    (turn,) = read(agent(None, call("zoom", written))).turns
    assert turn.actions == (Action("zoom", arguments),)


@given(st.permutations(["a", "b", "c"]), st.sets(st.sampled_from("abc")))
def test_each_call_gets_the_result_with_its_id_in_whatever_order_they_come(order, lost):
    results = [tool(f"result {id}", id) for id in order if id not in lost]
    (turn,) = read(agent(None, *[call("f", "{}", id) for id in "abc"]), *results).turns
    assert turn.observations == tuple("" if id in lost else f"result {id}" for id in "abc")


def test_an_id_used_again_in_a_later_message_belongs_to_that_message():
    one = read(
        agent(None, call("f", "{}", "c")),
        tool("1", "c"),
        agent(None, call("f", "{}", "c")),
        tool("2"),
    )
    assert [turn.observations for turn in one.turns] == [("1",), ("2",)]


def test_a_result_of_an_id_that_was_not_called_answers_nothing():
    (turn,) = read(agent(None, call("f", "{}", "c")), tool("x", "other")).turns
    assert turn.observations == ("",)


def test_inline_calls_are_answered_by_the_users_result_blocks():
    calls = "<think>a</think><tool_call>{}</tool_call>".format(
        '{"name": "f", "arguments": {"x": 1}}'
    )
    results = "<tool_response>\none\n</tool_response>\n<tool_response>two</tool_response>"
    (turn,) = read(agent(calls + calls[calls.index("<tool_call>") :]), user(results)).turns
    assert turn.actions == (Action("f", {"x": 1}), Action("f", {"x": 1}))
    assert turn.observations == ("one", "two")


@pytest.mark.parametrize(
    ("text", "thoughts", "actions"),
    [
        ("<think>a</think><answer>b</answer>", ["a"], [("answer", {"input": "b"})]),
        ("<thinking>a</thinking>\n<answer>b</answer>", ["a"], [("answer", {"input": "b"})]),
        ("<THINK x=1>a</Think>", ["a"], []),
        ("a</think><answer>b</answer>", ["a"], [("answer", {"input": "b"})]),
        ("<think>a", ["a"], []),
        ("<think>a <answer>b</answer>", ["a"], [("answer", {"input": "b"})]),
        ('<think>a<tool_call>{"name": "f"}</tool_call>', ["a"], [("f", {})]),
        ("<think>a <answer>no</answer></think>", ["a <answer>no</answer>"], []),
        ("<think>a</think><think>b</think>", ["a", "b"], []),
        ("<think></think><search>q</search>", [], [("search", {"input": "q"})]),
        ("<tool_call>{oops</tool_call>", [], [("tool_call", {"raw": "{oops"})]),
        ("<answer>b", [], [("answer", {"input": "b"})]),
        ("<reason>a</reason><search><img></search>", ["a"], [("image_search", {})]),
        ("<text_search>q</text_search>", [], [("text_search", {"input": "q"})]),
        (
            "<tool_call>\n<function=f>\n<parameter=x>\n1\n2\n</parameter>\n</function>\n</tool_call>",
            [],
            [("f", {"x": "1\n2"})],
        ),
        (
            "<tool_call><function=f></function><function=g></function></tool_call>",
            [],
            [("f", {}), ("g", {})],
        ),
        ("<tool_call>{} <think></tool_call>", [], [("tool_call", {"raw": "{} <think>"})]),
    ],
)
def test_tags_are_read_tolerantly(text, thoughts, actions):
    found = tagged(text)
    assert found.thoughts == thoughts
    assert [(action.name, action.arguments) for action in found.actions] == actions
    assert found.rest == []


@given(st.text())
def test_text_without_tags_is_all_rest(text):
    plain = text.replace("<", "(")
    assert tagged(plain).rest == ([plain.strip()] if plain.strip() else [])


def test_the_question_is_what_users_say_first_and_content_parts_are_joined():
    parts = [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "x"}}]
    listed = [{"role": "user", "content": parts}, user("b"), agent("c")]
    assert read_openai_chat({"messages": listed}).question == "a\nb"
    greeted = [agent("Hello!"), user("Who?"), agent("He.")]
    trace = read_openai_chat({"messages": greeted})
    assert trace.question == "Who?"
    assert trace.turns[0].observations == ("Who?",)


def test_worked_examples_in_prompts_are_no_thoughts():
    system = {"role": "system", "content": "<think>example</think><answer>x</answer>"}
    listed = [
        system,
        user("<think>example</think>\nQuestion: Who?"),
        agent("<think>own</think>He."),
    ]
    trace = read_openai_chat({"messages": listed})
    assert trace.question == "Who?"
    assert [turn.thoughts for turn in trace.turns] == [("own",)]


@pytest.mark.parametrize(("reward", "outcome"), [(1.0, Outcome.SUCCESS), (0.0, Outcome.FAILURE)])
def test_the_reward_of_a_benchmark_is_the_outcome(reward, outcome):
    assert read(agent("x"), reward=reward).outcome is outcome
    assert read(agent("x")).outcome is None
