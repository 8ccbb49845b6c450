"""Runs in many documents: put together by their id, whatever their order, each message counted once."""

import json
import random
import tracemalloc

import pytest

from forethought.data.formats import Quarantined, gathering, read_traces
from forethought.data.formats.span_fields import unflattened
from forethought.data.traces import Trace


def call(n):
    return {
        "id": f"c{n}",
        "type": "function",
        "function": {"name": "search", "arguments": f'{{"n": {n}}}'},
    }


def spans(run, turns, thought=lambda n: f"thought {n}", pad=""):
    """LangSmith's runs of a conversation: each call repeats all before it, without its reasoning."""
    history = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": f"Question {run}?{pad}"},
    ]
    for n in range(turns):
        answer = {"role": "assistant", "content": None, "tool_calls": [call(n)]}
        told = {**answer, "reasoning_content": thought(n)}
        yield {
            "run_type": "llm",
            "trace_id": run,
            "dotted_order": f"{run}.{n:04}",
            "inputs": {"messages": list(history)},
            "outputs": {"choices": [{"message": told}]},
        }
        history += [answer, {"role": "tool", "tool_call_id": f"c{n}", "content": f"result {n}"}]


def written(tmp_path, rows, name="a.jsonl"):
    (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / name


def thoughts(trace):
    return [thought for turn in trace.turns for thought in turn.thoughts]


def test_a_history_that_each_span_repeats_counts_once_in_whatever_order_spans_come(tmp_path):
    rows = [*spans("a", 5), *spans("b", 3)]
    random.Random(0).shuffle(rows)
    found = {trace.run: trace for trace in read_traces([written(tmp_path, rows)])}

    assert thoughts(found["a"]) == [f"thought {n}" for n in range(5)]
    assert thoughts(found["b"]) == [f"thought {n}" for n in range(3)]
    assert [turn.observations for turn in found["b"].turns] == [("result 0",), ("result 1",), ("",)]


def test_spans_of_a_run_in_several_files_are_one_run(tmp_path):
    rows = list(spans("a", 4))
    written(tmp_path, rows[::2], "1.jsonl")
    written(tmp_path, rows[1::2], "2.jsonl")
    (trace,) = read_traces([tmp_path])

    assert len(thoughts(trace)) == 4


def test_requests_of_a_session_in_a_proxys_log_are_one_run(tmp_path):
    rows = [
        {
            "session_id": "s",
            "created": 10 - n,
            "request": span["inputs"],
            "response": span["outputs"],
        }
        for n, span in enumerate(reversed(list(spans("a", 4))))
    ]
    (trace,) = read_traces([written(tmp_path, rows)])

    assert thoughts(trace) == [f"thought {n}" for n in range(4)]
    assert (trace.run, trace.format) == ("s", "request-log")


def test_a_call_that_goes_back_is_a_run_of_its_own_and_shares_no_thought(tmp_path):
    rows = list(spans("a", 3))
    retried = {**list(spans("a", 3, lambda n: f"other {n}"))[1], "dotted_order": "a.9"}
    retried["outputs"]["choices"][0]["message"]["tool_calls"] = [call(7)]
    first, second = read_traces([written(tmp_path, [*rows, retried])])

    assert thoughts(first) == ["thought 0", "thought 1", "thought 2"]
    assert thoughts(second) == ["other 1"]
    assert [turn.actions[0].arguments["n"] for turn in second.turns] == [0, 7]


def test_a_history_that_was_shortened_brings_no_thought_twice(tmp_path):
    rows = list(spans("a", 4))
    for row in rows:  # a service that keeps reasoning in the history
        for message in row["inputs"]["messages"]:
            for call in message.get("tool_calls", ()):
                message["reasoning_content"] = f"thought {call['id'][1:]}"
    last = rows[3]["inputs"]["messages"]
    rows[3]["inputs"]["messages"] = [*last[:2], {"role": "user", "content": "Summary."}, *last[4:]]
    found = list(read_traces([written(tmp_path, rows)]))

    assert sorted(thought for trace in found for thought in thoughts(trace)) == [
        f"thought {n}" for n in range(4)
    ]


def test_another_agent_in_the_same_trace_is_a_run_of_its_own(tmp_path):
    helper = {**next(spans("x", 1)), "trace_id": "a", "dotted_order": "a.0001.1"}
    first, second = read_traces([written(tmp_path, [*spans("a", 2), helper])])

    assert (first.question, second.question) == ("Question a?", "Question x?")


def test_the_last_result_comes_from_its_tools_span(tmp_path):
    tool = {
        "run_type": "tool",
        "trace_id": "a",
        "dotted_order": "a.9",
        "name": "search",
        "inputs": {},
        "outputs": {"output": "found"},
    }
    (trace,) = read_traces([written(tmp_path, [*spans("a", 2), tool])])

    assert trace.turns[-1].observations == ("found",)


def test_parts_wait_on_disk_and_a_run_that_is_too_long_is_told(tmp_path, monkeypatch):
    rows = [row for n in range(60) for row in spans(str(n), 2, pad="x" * 100_000)]
    file = written(tmp_path, rows)
    tracemalloc.start()
    assert sum(isinstance(found, Trace) for found in read_traces([file])) == 60
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000 < file.stat().st_size

    monkeypatch.setattr(gathering, "MAX_RUN", 10_000)
    found = list(read_traces([file]))
    assert len(found) == 60
    assert all(isinstance(one, Quarantined) and "bytes in its parts" in one.reason for one in found)


def test_lines_of_messages_are_one_run_a_file(tmp_path):
    for name in "ab":
        rows = [
            {"role": "user", "content": name},
            {"role": "assistant", "content": "<think>t</think>He."},
        ]
        written(tmp_path, rows, f"{name}.jsonl")

    assert [trace.question for trace in read_traces([tmp_path])] == ["a", "b"]


def test_responses_that_branch_are_runs_that_share_their_beginning(tmp_path):
    def response(id, after, asked, text):
        reasoning = {
            "type": "reasoning",
            "summary": [],
            "content": [{"type": "reasoning_text", "text": f"t{id}"}],
        }
        message = {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": text}],
        }
        return {
            "input": asked,
            "response": {"id": id, "previous_response_id": after, "output": [reasoning, message]},
        }

    rows = [
        response("1", None, "Who?", "Which one?"),
        response("2", "1", "That.", "He."),
        response("9", None, "Else?", "No."),
        response("3", "1", "This.", "She."),
    ]
    found = {trace.run: trace for trace in read_traces([written(tmp_path, rows)])}

    assert {run: thoughts(trace) for run, trace in found.items()} == {
        "2": ["t1", "t2"],
        "3": ["t3"],
        "9": ["t9"],
    }
    assert {trace.question for trace in found.values()} == {"Who?", "Else?"}
    assert len(found["3"].turns) == 2


def test_a_session_is_a_header_with_its_messages_and_a_file_may_hold_several(tmp_path):
    def session(id):
        yield {"type": "session", "harness": "h", "id": id}
        yield {"type": "message", "message": {"role": "user", "content": "Who?"}}
        yield {"type": "message", "message": {"role": "assistant", "content": f"He, {id}."}}

    found = list(read_traces([written(tmp_path, [*session("1"), *session("2")])]))
    assert [trace.run for trace in found] == ["1", "2"]


def test_a_helpers_messages_in_a_session_are_a_run_of_their_own(tmp_path):
    def message(role, text, **fields):
        return {
            "type": role,
            "sessionId": "s",
            "uuid": text,
            "message": {"role": role, "content": text},
            **fields,
        }

    rows = [
        message("user", "Who?"),
        message("user", "Help.", isSidechain=True, agentId="x"),
        message("assistant", "Yes.", isSidechain=True, agentId="x"),
        message("assistant", "He."),
    ]
    found = list(read_traces([written(tmp_path, rows)]))
    assert [(trace.run, trace.question) for trace in found] == [("s", "Who?"), ("s/x", "Help.")]


def test_flat_keys_are_put_in_the_order_of_their_numbers():
    flat = {f"a.{n}.b": n for n in range(12)} | {"c.d": {"e.f": 1}}

    assert unflattened(flat) == {"a": [{"b": n} for n in range(12)], "c": {"d": {"e": {"f": 1}}}}


@pytest.mark.parametrize("format", ["otel-genai", "langfuse"])
def test_a_format_asked_for_reads_no_other_services_spans(tmp_path, format):
    found = list(read_traces([written(tmp_path, spans("a", 2))], format=format))
    assert not any(isinstance(one, Trace) for one in found)
