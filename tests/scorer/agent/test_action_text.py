"""One action or the fault it has: whatever stands around it, and whatever a model may write."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.scorer.agent.action_text import Fault, Invalid, ParsedAction, parse_action

words = st.text(st.characters(blacklist_characters="<>", blacklist_categories=["Cs"]), max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(words, words, words)
def test_an_answer_is_read_whatever_stands_around_it(before, answer, after):
    found = parse_action(f"{before}<answer>{answer}</answer>{after}")

    assert found == ParsedAction("answer", {"answer": answer.strip()})
    assert isinstance(found, ParsedAction)
    assert found.answer == answer.strip()


@given(
    st.text(st.characters(categories=["L"]), min_size=1), st.dictionaries(st.text(), json_values)
)
def test_a_call_is_read_as_it_was_written(name, arguments):
    call = json.dumps({"name": name, "arguments": arguments}).replace("<", "\\u003c")

    found = parse_action(f"I will.\n<tool_call>\n{call}\n</tool_call>")
    assert found == ParsedAction(name, arguments)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", Fault.NO_ACTION),
        ("I should search.", Fault.NO_ACTION),
        ("</answer>", Fault.NO_ACTION),
        ("<answer>Lisb", Fault.UNFINISHED),
        ('<tool_call>{"name": "search"', Fault.UNFINISHED),
        ("<answer>a</tool_call>", Fault.UNFINISHED),
        ("<answer>a</answer><answer>b</answer>", Fault.SEVERAL),
        ('<answer>a</answer><tool_call>{"name": "x"}</tool_call>', Fault.SEVERAL),
        ("<answer>a</answer> and then <tool_call>{", Fault.SEVERAL),
        ("<tool_call>search(x)</tool_call>", Fault.BROKEN_JSON),
        ("<tool_call>" + "[" * 100_000 + "</tool_call>", Fault.BROKEN_JSON),
        ("<tool_call>[]</tool_call>", Fault.NO_NAME),
        ('<tool_call>{"arguments": {}}</tool_call>', Fault.NO_NAME),
        ('<tool_call>{"name": 3}</tool_call>', Fault.NO_NAME),
        ('<tool_call>{"name": "  "}</tool_call>', Fault.NO_NAME),
        ('<tool_call>{"name": "x", "arguments": "y"}</tool_call>', Fault.BROKEN_ARGUMENTS),
    ],
)
def test_what_is_no_action_has_a_named_fault(text, fault):
    found = parse_action(text)

    assert isinstance(found, Invalid)
    assert found.fault is fault
    assert "\n" not in found.detail


@given(st.text())
def test_no_text_is_too_strange(text):
    assert isinstance(parse_action(text), ParsedAction | Invalid)
