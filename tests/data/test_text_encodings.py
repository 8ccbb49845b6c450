"""Texts that are not UTF-8, and numbers that are too long: read where they can be, told once in our own words where not."""

import gzip
import json
import sys

import pytest

from forethought.data.errors import InvalidMapping, InvalidOutcomes
from forethought.data.formats import Quarantined, Skipped, read_outcomes, read_traces
from forethought.data.traces import Trace

LONG = "7" * 5001
TOO_LONG = "an integer of more than 4,300 digits, which is too long to be read"


def row(number, thought="größer \U0001f600"):
    answer = {"role": "assistant", "content": f"<think>{thought}</think>x"}
    return {"messages": [{"role": "user", "content": f"{number}"}, answer]}


def lines(*rows):
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in rows)


def read(path):
    return list(read_traces([path]))


def questions(found):
    return [one.question for one in found if isinstance(one, Trace)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("shape", ["lines", "array", "object", "crlf"])
def test_utf_16_is_read_as_what_it_is(tmp_path, encoding, pack, shape):
    """As PowerShell writes what a program prints, with a mark or without."""
    texts = {
        "lines": lines(row(1), row(2)),
        "array": json.dumps([row(1), row(2)], ensure_ascii=False, indent=1),
        "object": json.dumps({"a": row(1), "b": row(2)}, ensure_ascii=False),
        "crlf": "\r\n" + lines(row(1), row(2)).replace("\n", "\r\n"),
    }
    mark = b"\xff\xfe" if encoding == "utf-16-le" and shape == "crlf" else b""
    mark = b"\xfe\xff" if encoding == "utf-16-be" and shape == "crlf" else mark
    (tmp_path / "a.jsonl").write_bytes(pack(mark + texts[shape].encode(encoding)))

    found = read(tmp_path / "a.jsonl")

    assert questions(found) == ["1", "2"]
    assert {one.turns[0].thoughts for one in found} == {("größer \U0001f600",)}


def test_a_log_in_utf_16_is_read(tmp_path):
    trial = "----- BEGIN CORRECT AGENTS -----\n\nQuestion: Who?\nThought 1: I look.\nAction 1: Search[x]\n"
    (tmp_path / "a.log").write_bytes(trial.encode("utf-16"))

    assert questions(read(tmp_path / "a.log")) == ["Who?"]


def test_utf_16_that_breaks_off_in_a_character_costs_its_line(tmp_path):
    text = lines(row(1), row(2)).encode("utf-16")
    (tmp_path / "a.jsonl").write_bytes(text[:-21])

    found = read(tmp_path / "a.jsonl")

    assert questions(found) == ["1"]
    assert [type(one) for one in found] == [Trace, Quarantined]


def test_utf_16_that_is_no_trace_is_told_once(tmp_path):
    (tmp_path / "a.json").write_bytes("{broken".encode("utf-16"))
    (tmp_path / "b.json").write_bytes('{"name": "x"}'.encode("utf-16"))

    broken, other = read(tmp_path)

    assert broken.reason.startswith("not JSON: Expecting")
    assert broken.raw == "broken"
    assert isinstance(other, Skipped)


def test_a_line_in_another_encoding_is_told_as_what_it_is_not(tmp_path):
    content = lines(row(1)).encode() + lines(row(2)).encode("latin-1", "replace")
    (tmp_path / "a.jsonl").write_bytes(content)

    found = read(tmp_path / "a.jsonl")

    assert questions(found) == ["1"]
    assert found[1].reason == "not UTF-8 text"


@pytest.mark.parametrize(
    ("content", "position"),
    [
        (lines(row(1)) + f'{{"n": {LONG}}}\n' + lines(row(3)), 2),
        (f'[{json.dumps(row(1))}, {{"n": {LONG}}}]', 2),
        (f'{{"a": {json.dumps(row(1))}, "b": {{"n": -{LONG}}}}}', 2),
    ],
    ids=["line", "element", "member"],
)
def test_an_integer_of_too_many_digits_is_told_in_our_own_words(tmp_path, content, position):
    (tmp_path / "a.json").write_text(content)

    found = read(tmp_path / "a.json")
    (lost,) = [one for one in found if isinstance(one, Quarantined)]

    assert questions(found)[:1] == ["1"]
    assert lost.reason.startswith(TOO_LONG)
    assert (lost.position, len(lost.raw) <= 500) == (position, True)
    assert sys.get_int_max_str_digits() == 4300


def test_a_call_with_such_an_integer_keeps_its_arguments_word_for_word(tmp_path):
    document = row(1)
    document["messages"][1]["tool_calls"] = [
        {"function": {"name": "count", "arguments": f'{{"n": {LONG}}}'}}
    ]
    (tmp_path / "a.jsonl").write_text(json.dumps(document))

    (trace,) = read(tmp_path / "a.jsonl")

    assert trace.turns[0].actions[0].arguments == {"raw": f'{{"n": {LONG}}}'}
    assert trace.repairs == ("arguments_unparsed",)


def test_files_beside_the_traces_tell_it_so_too(tmp_path):
    (tmp_path / "o.jsonl").write_text(f'{{"id": "a", "reward": {LONG}}}')
    (tmp_path / "m.json").write_text(f'{{"steps": {LONG}}}')
    (tmp_path / "a.json").write_text(lines(row(1)))

    with pytest.raises(InvalidOutcomes, match=f"line 1: not JSON: {TOO_LONG}"):
        read_outcomes(tmp_path / "o.jsonl")
    with pytest.raises(InvalidMapping, match=TOO_LONG):
        list(read_traces([tmp_path / "a.json"], mapping=tmp_path / "m.json"))
