"""What went wrong elsewhere, by the reports' own inputs: each is read, repaired and told, or refused, never silently wrong."""

import json
import tracemalloc

import pytest

from forethought.data.formats import Quarantined, read_traces
from forethought.data.traces import Action, Trace

ASKED = {"role": "user", "content": "Which year?"}
CALL = '<tool_call>{"name":"zoom","arguments":{}}</tool_call>'


def read(tmp_path, *messages, **fields):
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({"messages": [ASKED, *messages], **fields}))
    (trace,) = read_traces([file])
    return trace


def said(content, **fields):
    return {"role": "assistant", "content": content, **fields}


def test_renderers_137_reasoning_without_an_opening_tag(tmp_path):
    trace = read(tmp_path, said("The plaque is too small.\n</think>\n\n<answer>1932</answer>"))
    (turn,) = trace.turns

    assert turn.thoughts == ("The plaque is too small.",)
    assert turn.actions == (Action("answer", {"input": "1932"}),)
    assert trace.repairs == ("implied_open",)


def test_vllm_56850_reasoning_that_never_closes_is_cut_and_never_the_answer(tmp_path):
    trace = read(tmp_path, said("<think>The plaque is too small, so I should"))
    (turn,) = trace.turns

    assert turn.thoughts == ("The plaque is too small, so I should",)
    assert (turn.actions, turn.is_cut, turn.is_plain) == ((), True, False)
    assert trace.repairs == ("implied_close",)


@pytest.mark.parametrize(
    ("arguments", "read_as", "repairs"),
    [
        ('{"bbox":[1,2,3,4]}', {"bbox": [1, 2, 3, 4]}, ()),
        ({"bbox": [1, 2, 3, 4]}, {"bbox": [1, 2, 3, 4]}, ()),
        ("{bbox: [1,2", {"raw": "{bbox: [1,2"}, ("arguments_unparsed",)),
        ("", {}, ()),
        (None, {}, ()),
        ([1, 2], {"raw": "[1, 2]"}, ("arguments_unparsed",)),
        (float("nan"), {"raw": "NaN"}, ("arguments_unparsed",)),
    ],
)
def test_qwen3_1894_arguments_as_string_as_object_or_broken(tmp_path, arguments, read_as, repairs):
    call = {"type": "function", "function": {"name": "zoom", "arguments": arguments}}
    trace = read(tmp_path, said("", tool_calls=[call]))

    assert trace.turns[0].actions == (Action("zoom", read_as),)
    assert trace.repairs == repairs


def test_datasets_7418_content_as_string_and_as_list_in_one_file(tmp_path):
    trace = read(
        tmp_path,
        said([{"type": "text", "text": "<think>a</think>b"}]),
        {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "c"}]},
        said("d"),
    )

    assert [turn.thoughts for turn in trace.turns] == [("a",), ()]
    assert trace.turns[0].observations == ("c",)


def parquet_rows():
    def call(name, arguments):
        return [ASKED, said("", tool_calls=[{"function": {"name": name, "arguments": arguments}}])]

    return [
        {"messages": call("search", {"q": "x"})},
        {"messages": call("zoom", {"bbox": [1, 2, 3, 4]})},
    ]


def test_slime_255_arguments_that_arrow_filled_with_none(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pylist(parquet_rows())
    pyarrow.parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    filled = table.to_pylist()[0]["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert filled == {"q": "x", "bbox": None}

    first, second = read_traces([tmp_path / "a.parquet"])
    assert first.turns[0].actions == (Action("search", {"q": "x"}),)
    assert second.turns[0].actions == (Action("zoom", {"bbox": [1, 2, 3, 4]}),)


def test_verl_4112_lists_that_come_back_as_arrays(tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = [
        {
            "prompt": [ASKED],
            "completion": [said("<think>a</think><answer>b</answer>")],
            "images": ["1.png"],
            "reward": 1.0,
        }
    ]
    pandas.DataFrame(rows).to_parquet(tmp_path / "a.parquet")
    again = pandas.read_parquet(tmp_path / "a.parquet")
    again.to_parquet(tmp_path / "b.parquet")  # its lists are arrays now

    (trace, same) = read_traces([tmp_path])
    assert (trace.turns[0].thoughts, str(trace.outcome)) == (("a",), "success")
    assert same.id == trace.id


@pytest.mark.parametrize("reward", ["NaN", "Infinity", "-Infinity", "null"])
def test_benchflow_409_a_reward_that_is_no_number_is_unknown_and_no_failure(tmp_path, reward):
    row = {
        "sample_id": "1",
        "input": "Who?",
        "output": "<think>a</think><answer>b</answer>",
        "reward": 0,
    }
    (tmp_path / "a.jsonl").write_text(json.dumps(row).replace('"reward": 0', f'"reward": {reward}'))
    (trace,) = read_traces([tmp_path / "a.jsonl"])

    assert (trace.turns[0].thoughts, trace.outcome) == (("a",), None)


@pytest.mark.parametrize("other", [None, "The plaque says so."])
def test_vllm_50624_reasoning_under_two_names_is_one_thought(tmp_path, other):
    trace = read(tmp_path, said("1932", reasoning="The plaque says so.", reasoning_content=other))

    assert trace.turns[0].thoughts == ("The plaque says so.",)


def test_llamafactory_9107_words_beside_a_call_are_kept(tmp_path):
    call = {"type": "function", "function": {"name": "zoom", "arguments": "{}"}}
    trace = read(tmp_path, said("I should look closer.", tool_calls=[call]))

    assert trace.turns[0].thoughts == ("I should look closer.",)
    assert trace.turns[0].actions == (Action("zoom", {}),)


def test_datasets_2181_a_line_of_megabytes_is_read_and_its_picture_leaves_it(tmp_path):
    picture = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAA" * 150_000
    part = {"type": "image_url", "image_url": {"url": picture}}
    trace = read(tmp_path, said("b"), {"role": "user", "content": [part]}, said("c"))

    assert len(str(trace.turns)) < 1000
    assert trace.turns[1].images[0].endswith(".png")


@pytest.mark.slow
def test_arrow_7835_a_line_of_a_hundred_megabytes_is_quarantined_with_its_number(tmp_path):
    file, good = tmp_path / "a.jsonl", json.dumps({"messages": [ASKED, said("b")]}).encode() + b"\n"
    with file.open("wb") as stream:
        stream.write(good + b'{"messages": "')
        for _ in range(100):
            stream.write(b"x" * 2**20)
        stream.write(b'"}\n' + good)
    tracemalloc.start()
    first, lost, last = read_traces([file])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert isinstance(first, Trace) and isinstance(last, Trace)
    assert isinstance(lost, Quarantined)
    assert (lost.position, lost.reason) == (2, "line longer than 67,108,864 bytes")
    assert peak < 3 * 67_108_864


def test_lmstudio_1592_a_call_inside_a_closed_thought_is_none(tmp_path):
    trace = read(
        tmp_path, said(f"<think>I could emit {CALL} here, but no.</think><answer>1932</answer>")
    )
    (turn,) = trace.turns

    assert turn.thoughts == (f"I could emit {CALL} here, but no.",)
    assert [action.name for action in turn.actions] == ["answer"]


def test_llama_cpp_27462_a_call_closes_a_thought_that_nothing_else_closes(tmp_path):
    trace = read(tmp_path, said(f"<think>I need the plaque.\n{CALL}"))
    (turn,) = trace.turns

    assert (turn.thoughts, turn.is_cut) == (("I need the plaque.",), False)
    assert turn.actions == (Action("zoom", {}),)
    assert trace.repairs == ("implied_close",)


@pytest.mark.parametrize("number", [10**19, -(10**30)])
def test_integers_beyond_64_bits_are_kept(tmp_path, number):
    call = {"type": "function", "function": {"name": "f", "arguments": {"n": number}}}

    assert read(tmp_path, said("", tool_calls=[call])).turns[0].actions[0].arguments == {
        "n": number
    }


def test_a_byte_order_mark_and_line_separators_inside_strings_split_nothing(tmp_path):
    row = json.dumps({"messages": [ASKED, said("a\u2028b\u0085c")]}, ensure_ascii=False)
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + f"{row}\n{row}\n".encode())

    assert [trace.turns[0].actions[0].arguments["input"] for trace in read_traces([tmp_path])] == [
        "a\u2028b\u0085c"
    ] * 2


def test_a_closing_tag_that_strays_into_the_answer_makes_no_thought(tmp_path):
    trace = read(tmp_path, said("All is set up.\n</think>", reasoning_content="a"))

    assert trace.turns[0].thoughts == ("a",)
    assert trace.repairs == ("stray_close",)


WRONG = [
    (said("b", reasoning_content=5), "reasoning_unread"),
    (said("b", reasoning_content=5, reasoning="a"), "reasoning_unread"),
    (said("b", additional_kwargs={"reasoning_content": ["a"]}), "reasoning_unread"),
    (said("b", reasoning_details="a"), "reasoning_unread"),
    (said("b", reasoning_details=[7]), "reasoning_unread"),
    (
        said(
            [{"type": "thinking", "thinking": 5, "signature": "x"}, {"type": "text", "text": "b"}]
        ),
        "reasoning_unread",
    ),
    (said(["b", 5]), "content_unread"),
    (said([{"type": "text", "text": 5}, {"type": "text", "text": "b"}]), "content_unread"),
    (said([{"type": "hologram", "at": "x"}, {"type": "text", "text": "b"}]), "content_unread"),
    (
        said([{"type": "text", "text": "b"}, {"type": "image_url", "image_url": {"url": 5}}]),
        "image_unread",
    ),
    (said([{"type": "text", "text": "b"}, {"type": "image", "image": ["x"]}]), "image_unread"),
    (said("b", tool_calls="search"), "call_unread"),
    (said("b", tool_calls=[{"function": {"name": 5, "arguments": {}}}]), "call_unread"),
    (said("b", function_call=["search"]), "call_unread"),
    (
        {"role": "tool", "content": [{"type": "text", "text": "c"}, {"type": "hologram"}]},
        "content_unread",
    ),
]


@pytest.mark.parametrize(("message", "code"), WRONG, ids=map(str, range(len(WRONG))))
def test_what_has_the_wrong_type_is_counted_by_what_it_should_be(tmp_path, message, code):
    trace = read(tmp_path, said("<think>a</think>b"), message)

    assert trace.repairs == (code,)
    assert trace.turns[0].thoughts == ("a",)


def test_a_number_for_words_is_counted_and_costs_its_message_only(tmp_path):
    trace = read(tmp_path, said(5), said("b"))

    assert [turn.actions[0].arguments for turn in trace.turns] == [{"input": "b"}]
    assert trace.repairs == ("content_unread",)


def test_a_tools_result_in_any_shape_is_kept_as_it_is(tmp_path):
    call = {"id": "1", "function": {"name": "look", "arguments": {}}}
    for result, seen in ((5, "5"), ([7], "[7]"), ({"a": 1}, '{"a": 1}')):
        answer = {"role": "tool", "tool_call_id": "1", "content": result}
        trace = read(tmp_path, said("", tool_calls=[call]), answer)
        assert (trace.turns[0].observations, trace.repairs) == ((seen,), ())


@pytest.mark.parametrize("images", [[5, "b.png"], [{"x": 1}, "b.png"], [{"bytes": 5}, "b.png"]])
def test_a_picture_of_the_wrong_type_leaves_its_place_empty(tmp_path, images):
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    asked = {"role": "user", "content": "<image> What is to the left of <image>"}
    trace = read(tmp_path, asked, said("b"), images=images)

    assert trace.repairs == ("image_unread",)
    assert len(trace.turns[0].images) == 1


def test_pictures_in_a_labelled_chat_are_counted_as_not_read(tmp_path):
    seen = {
        "role": "user",
        "content": [{"type": "text", "text": "Observation: y"}, {"type": "image"}],
    }
    trace = read(tmp_path, said("Thought: a\nAction: Search[x]"), seen, said("Action: Finish[b]"))

    assert (trace.format, trace.repairs) == ("react-chat", ("image_unread",))


def test_who_speaks_in_no_known_role_is_counted(tmp_path):
    nodes = [{"message": one} for one in (ASKED, said("b"), {"role": "critic", "content": "No."})]
    for index, node in enumerate(nodes):
        node |= {"id": index, "parent": index - 1 if index else None}
    (tmp_path / "a.json").write_text(json.dumps({"nodes": nodes}))
    (trace,) = read_traces([tmp_path / "a.json"])

    assert trace.repairs == ("role_unknown",)


def test_a_listed_picture_that_no_message_places_is_counted(tmp_path):
    trace = read(tmp_path, said("b"), images=["a.png"])

    assert trace.repairs == ("image_unseen",)


@pytest.mark.parametrize(
    ("fields", "repairs"),
    [
        ({"reward": "good"}, ("outcome_unread",)),
        ({"reward": [1.0]}, ("outcome_unread",)),
        ({"em": "1"}, ("outcome_unread",)),
        ({"em": True, "reward": "good"}, ()),
        ({"reward": None}, ()),
        ({"reward": float("nan")}, ()),
        ({}, ()),
    ],
)
def test_an_outcome_that_is_no_number_is_counted(tmp_path, fields, repairs):
    assert read(tmp_path, said("b"), **fields).repairs == repairs
