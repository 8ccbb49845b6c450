"""Files as they come: folders, globs, gzip, and every kind of damage, each with its one reason."""

import gzip
import json
import os
import tracemalloc

import pytest

from forethought.data.errors import NotFound
from forethought.data.formats import Quarantined, Skipped, read_traces
from forethought.data.traces import Trace


def document(question="Who?", thought="a"):
    return {"instruction": question, "output": f"Thought: {thought}\nAction: finish[b]"}


def line(*args):
    return json.dumps(document(*args)).encode()


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(path, **options):
    return list(read_traces([path], **options))


def questions(found):
    return [entry.question for entry in found if isinstance(entry, Trace)]


def lost(found):
    return [(e.position, e.reason) for e in found if isinstance(e, Quarantined)]


def test_a_folder_is_read_below_in_sorted_order_and_gives_its_name_as_source(tmp_path):
    write(tmp_path / "runs/b.jsonl", line("2"))
    write(tmp_path / "runs/a/z.json.gz", gzip.compress(line("1")))
    write(tmp_path / "runs/.hidden/x.json", line("3"))
    found = read(tmp_path / "runs")
    assert questions(found) == ["1", "2"]
    assert {trace.source for trace in found} == {"runs"}
    assert found[0].file == str(tmp_path / "runs/a/z.json.gz")


def test_a_file_has_its_folder_as_source_unless_one_is_given(tmp_path):
    file = write(tmp_path / "runs/b.jsonl", line())
    assert read(file)[0].source == "runs"
    assert read(file, source="mine")[0].source == "mine"


def test_paths_stay_relative_as_given(tmp_path, monkeypatch):
    write(tmp_path / "runs/b.jsonl", line())
    monkeypatch.chdir(tmp_path)
    assert read("runs")[0].file == "runs/b.jsonl"
    monkeypatch.chdir(tmp_path / "runs")
    assert read(".")[0].source == "runs"


def test_globs_are_expanded_and_a_file_named_twice_is_read_once(tmp_path):
    for name in "ab":
        write(tmp_path / f"{name}.jsonl", line(name))
    pattern = tmp_path / "*.jsonl"
    assert questions(read_traces([pattern, tmp_path / "a.jsonl", tmp_path])) == ["a", "b"]


def test_a_path_that_is_not_there_is_an_error_before_anything_is_read(tmp_path):
    for path in (tmp_path / "none", tmp_path / "*.jsonl"):
        with pytest.raises(NotFound, match="no such file or folder"):
            read_traces([path])


def test_a_named_path_that_can_hold_nothing_is_told_beside_a_good_one(tmp_path):
    good = write(tmp_path / "good.jsonl", line())
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere.jsonl")
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name, told in (
        ("gone", "a link that leads to no file"),
        ("loop", "a link that leads to no file"),
        ("pipe", "neither a file nor a folder"),
    ):
        with pytest.raises(NotFound, match=rf"{name}\.jsonl: {told}"):
            list(read_traces([good, tmp_path / f"{name}.jsonl"]))


def test_files_that_are_no_traces_are_skipped_and_named(tmp_path):
    write(tmp_path / "README.md", "# Runs")
    write(tmp_path / "a.png", b"\x89PNG\r\n")
    write(tmp_path / "package.json", '{"name": "x", "scripts": {"a": "b"}}')
    write(tmp_path / "rows.json", '[{"a": 1}, {"a": 2}]')
    write(tmp_path / "runs.jsonl", line())
    found = read(tmp_path)
    skipped = {one.file.rsplit("/")[-1]: one for one in found if isinstance(one, Skipped)}
    assert list(skipped) == ["README.md", "package.json", "rows.json", "a.png"]
    assert questions(found) == ["Who?"]
    assert lost(found) == []
    assert skipped["package.json"].tried[:3] == ("react-text", "webvoyager", "react-chat")


def test_a_big_file_of_something_else_is_not_read_to_its_end(tmp_path):
    file = write(tmp_path / "rows.jsonl", b'{"a": 1}\n' * 200 + line())
    (entry,) = read(file)
    assert isinstance(entry, Skipped)
    assert "documents looked at: 100" in entry.reason


def test_an_unknown_document_among_traces_is_quarantined_wherever_it_stands(tmp_path):
    file = write(tmp_path / "a.jsonl", b"\n".join([b'{"a": 1}', line("1"), b"null", line("2")]))
    found = read(file)
    assert questions(found) == ["1", "2"]
    assert [position for position, _ in lost(found)] == [1, 3]
    assert found[0].raw == '{"a": 1}'
    assert found[0].reason.startswith("no known trace format")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (document(question=" "), "no question"),
        ({"messages": [{"role": "user", "content": "Who?"}]}, "no turns"),
        ({"messages": [{"role": "assistant", "content": "He."}]}, "no question"),
    ],
)
def test_a_trace_without_a_question_or_turns_is_quarantined(tmp_path, row, reason):
    found = read(write(tmp_path / "a.json", json.dumps([row, document()])))
    assert lost(found) == [(1, reason)]
    assert found[1].position == 2


def test_a_trace_without_thoughts_is_a_trace(tmp_path):
    row = {"instruction": "Who?", "output": "Action: finish[b]"}
    (trace,) = read(write(tmp_path / "a.json", json.dumps(row)))
    assert trace.num_thoughts == 0


LINES = [line("1"), line("2")]
KEYED = json.dumps({"x": document("1"), "y": document("2")}, indent=1).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"\n".join(LINES),
        b"\r\n".join(LINES) + b"\r\n",
        b"\n\n  \n".join(LINES),
        b"\xef\xbb\xbf" + b"\n".join(LINES),
        b"[" + b",".join(LINES) + b"]",
        b"\xef\xbb\xbf[\r\n" + b",\r\n".join(LINES) + b"\r\n]\r\n",
        KEYED,
        KEYED.replace(b"\n", b""),
        b"\n".join(json.dumps(json.loads(row), indent=2).encode() for row in LINES),
        gzip.compress(b"\n".join(LINES)),
    ],
    ids=[
        "lf",
        "crlf",
        "blank",
        "bom",
        "array",
        "bom-crlf-array",
        "keyed",
        "flat",
        "pretty",
        "gzip",
    ],
)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.ndjson", "a.JSON", "a.jsonl.gz"])
def test_a_file_is_read_by_what_it_holds_whatever_it_is_called(tmp_path, name, content):
    found = read(write(tmp_path / name, content))
    assert questions(found) == ["1", "2"]
    assert lost(found) == []


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.json.gz"])
@pytest.mark.parametrize(
    "content", [b"", b" \r\n\t\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)]
)
def test_an_empty_file_is_quarantined_as_empty(tmp_path, name, content):
    assert lost(read(write(tmp_path / name, content))) == [(1, "empty file")]


@pytest.mark.parametrize("whole", [KEYED, b"[" + b",\n".join(LINES) + b"]"])
def test_all_whole_elements_before_the_break_of_a_truncated_file_are_read(tmp_path, whole):
    second = whole.index(b"2") - 15
    for end in range(1, len(whole)):
        found = read(write(tmp_path / "a.json", whole[:end]))
        assert len(lost(found)) == 1, end
        assert "cut short" in lost(found)[0][1]
        assert questions(found)[:1] == (["1"] if end > second else questions(found)[:1])
    assert questions(found) == ["1", "2"]


def test_a_break_names_the_element_and_the_place(tmp_path):
    found = read(write(tmp_path / "a.json", KEYED[:-20]))
    ((position, reason),) = lost(found)
    assert position == 2
    assert reason == f"cut short after {len(KEYED) - 20} characters, inside 'y'"
    wrong = b"[" + line("1") + b', {"a": tru}, ' + line("2") + b"]"
    found = read(write(tmp_path / "b.json", wrong))
    ((position, reason),) = lost(found)
    assert (questions(found), position) == (["1"], 2)
    assert reason == f"not JSON: Expecting value at character {wrong.index(b'tru}') + 1}"
    assert found[1].raw.startswith('{"a": tru}')


def test_a_broken_line_costs_no_other_line(tmp_path):
    for bad in (
        b"oops",
        b'{"instruction": "x',
        b'{"a": \xff}',
        b'{"a": ' + b"[" * 100_000,
        b"{} {}",
    ):
        for rows in ([bad, *LINES], [LINES[0], bad, LINES[1]], [*LINES, bad]):
            found = read(write(tmp_path / "a.jsonl", b"\n".join(rows)))
            assert questions(found) == ["1", "2"]
            assert [position for position, _ in lost(found)] == [rows.index(bad) + 1]


def test_bytes_that_are_not_utf8_cost_one_element(tmp_path):
    rows = b",".join([LINES[0], b'{"\xe9": "\xe9"}', LINES[1]])
    keyed = b'{"x": ' + LINES[0] + b', "\xe9": ' + line("3") + b', "z": ' + LINES[1] + b"}"
    found = read(write(tmp_path / "a.json", b"[" + rows + b"]"))
    assert (questions(found), lost(found)) == (["1", "2"], [(2, "not UTF-8 text")])
    found = read(write(tmp_path / "b.json", keyed))
    assert (questions(found), lost(found)) == (["1", "2"], [("\ufffd", "not UTF-8 text")])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\x00", "not JSON: begins with"),
        ("Hi".encode("utf-16"), "not JSON: begins with"),
        (b"\x1f\x8b" + b"garbage" * 9, "damaged gzip"),
        (gzip.compress(line() * 50, mtime=0)[:-30], "damaged gzip"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_gets_one_reason(tmp_path, content, reason):
    found = read(write(tmp_path / "a.json.gz", content))
    assert len(lost(found)) == 1
    assert lost(found)[0][1].startswith(reason)


def test_a_cut_gzip_gives_the_lines_before_the_cut(tmp_path):
    rows = [json.dumps(document(str(n), os.urandom(40).hex())).encode() for n in range(2000)]
    found = read(write(tmp_path / "a.jsonl.gz", gzip.compress(b"\n".join(rows))[:-5000]))
    assert questions(found) == [str(n) for n in range(len(questions(found)))]
    assert 1500 < len(questions(found)) < 2000
    assert lost(found)[-1][1].startswith("damaged gzip")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read_is_quarantined(tmp_path):
    file = write(tmp_path / "a.jsonl", line())
    file.chmod(0)
    assert lost(read(file)) == [(1, "cannot be read: Permission denied")]


@pytest.mark.parametrize("joint", [b"\n", b",\n"], ids=["lines", "array"])
def test_a_line_or_element_over_the_limit_is_quarantined_without_being_held(tmp_path, joint):
    huge = line("huge", "x" * 20_000_000)
    rows = joint.join([line("1"), huge, line("2")])
    content, name = (rows, "a.jsonl") if joint == b"\n" else (b"[" + rows + b"]", "a.json")
    file = write(tmp_path / name, content)
    tracemalloc.start()
    found = read(file, max_bytes=100_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert lost(found) == [(2, lost(found)[0][1])]
    assert "longer than 100,000 bytes" in lost(found)[0][1]
    assert questions(found) == (["1", "2"] if joint == b"\n" else ["1"])
    assert peak < 2_000_000


def test_a_long_array_is_streamed_in_bounded_memory(tmp_path):
    file = tmp_path / "a.json"
    with file.open("wb") as stream:
        stream.write(b"[" + line())
        for _ in range(3000):
            stream.write(b",\n" + line("Who?", "x" * 3000))
        stream.write(b"]")
    tracemalloc.start()
    assert sum(1 for _ in read_traces([file])) == 3001
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000


def test_what_text_may_hold_survives(tmp_path):
    odd = "a\u2028b\u0085c\x00d"
    rows = [
        json.dumps(document("1", odd), ensure_ascii=False).encode(),
        json.dumps(document("2", "lone \ud800 half, whole \U0001f600")).encode(),
        json.dumps({**document("3"), "reward": float("nan"), "em": float("inf")}).encode(),
    ]
    for name, content in (("a.jsonl", b"\n".join(rows)), ("a.json", b"[" + b",".join(rows) + b"]")):
        first, second, third = read(write(tmp_path / name, content))
        assert first.turns[0].thoughts == (odd,)
        assert second.turns[0].thoughts == ("lone \ufffd half, whole \U0001f600",)
        assert third.outcome is None


def test_quarantine_keeps_the_first_500_characters(tmp_path):
    found = read(write(tmp_path / "a.jsonl", line() + b"\n{" + b"x" * 2000))
    assert len(found[1].raw) == 500


def test_numbers_and_nesting_that_python_refuses_are_quarantined(tmp_path):
    rows = [b'{"a": ' + b"9" * 5000 + b"}", b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}", line()]
    found = read(write(tmp_path / "a.jsonl", b"\n".join(rows)))
    assert [position for position, _ in lost(found)] == [1, 2]
    assert questions(found) == ["Who?"]
