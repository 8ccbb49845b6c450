"""Candidates as CSV and JSON lines: nothing that a spreadsheet would compute, and every text back to the letter."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.candidates import Candidate, CandidateSet, Status
from forethought.data.errors import ForethoughtError, InvalidLibrary, NotFound
from forethought.data.exports.candidate_rows import (
    FORMULA,
    candidates_csv,
    candidates_jsonl,
    guard,
    read_candidates,
    unguard,
)
from forethought.data.exports.dialects import ExportInputs, export
from forethought.data.identity import canonical
from forethought.ui.wiring import find_set

BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
FORMULAS = (
    *(f"{beginning}1+1" for beginning in BEGINNINGS),
    *(f"'{beginning}1" for beginning in BEGINNINGS),
    "- check the file first",
    '=HYPERLINK("http://127.0.0.1:9/?"&A1,"x")',
    "=cmd|' /C calc'!A0",
    "'tis so",
    'a "quoted", text\r\nof two lines',
)
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.builds("".join, st.lists(st.sampled_from((*BEGINNINGS, "'", '"', ",", "a")), max_size=6)),
)


def set_of(*texts: str) -> CandidateSet:
    return CandidateSet(
        "list",
        tuple(
            Candidate(f"c{n}", text, (text,), Status.ACCEPTED, ("t:0",), 1, aliases=(text,))
            for n, text in enumerate(texts)
        ),
    )


def through(candidate_set: CandidateSet, name: str) -> CandidateSet:
    """The set written and read again."""
    written = candidates_csv if name.endswith("csv") else candidates_jsonl
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes("".join(written(candidate_set)).encode())
        return read_candidates(path)


@given(TEXT)
def test_a_guarded_cell_is_no_formula_and_comes_back(text):
    assert unguard(guard(text)) == text
    assert not guard(text).startswith(BEGINNINGS)


@given(TEXT)
def test_what_is_no_formula_stays_as_it_is(text):
    if not FORMULA.match(text):
        assert guard(text) == text


@given(st.lists(TEXT.filter(canonical), min_size=1, max_size=3))
def test_json_lines_hold_everything_and_csv_all_but_the_turns(texts):
    some = set_of("I look.", *(text for text in texts if "<" not in text))

    assert through(some, "list.jsonl") == some
    without = tuple(replace(c, support=()) for c in some.candidates)
    assert through(some, "list.csv") == replace(some, candidates=without)


def test_no_cell_of_a_csv_begins_like_a_formula():
    text = "".join(candidates_csv(set_of(*FORMULAS)))
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))

    assert len(rows) == len(FORMULAS) + 1
    assert not any(cell.startswith(BEGINNINGS) for row in rows for cell in row)
    assert "'- check the file first" in text
    assert "'tis so" in text and "''tis so" not in text


def test_json_lines_are_exact():
    lines = list(candidates_jsonl(set_of(*FORMULAS)))

    assert [json.loads(line)["text"] for line in lines] == list(FORMULAS)


@pytest.mark.parametrize(("to", "file"), [("csv", "candidates.csv"), ("jsonl", "candidates.jsonl")])
def test_an_exported_list_can_be_named_where_a_set_is(to, file, tmp_path):
    some = set_of("I should look it up.", "- check the file first")
    export(to, ExportInputs(some), tmp_path)
    found = find_set(None, str(tmp_path / file))

    assert [c.text for c in found.candidates] == [c.text for c in some.candidates]
    assert [c.id for c in found.candidates] == [c.id for c in some.candidates]


def test_a_list_typed_by_hand_needs_texts_alone(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text('text,expected_actions\nI should look it up.,"search, lookup"\n\'-1 fits.,\n')
    first, second = read_candidates(path).candidates

    assert first.expected_actions == ("search", "lookup")
    assert (second.text, second.status) == ("-1 fits.", Status.PROPOSED)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"", "no column `text`"),
        ("a.csv", b"text\n", "no row"),
        ("a.csv", b"text,status\nI look.,maybe\n", "row 1"),
        ("a.csv", b"text,version\nI look.,two\n", "not a number"),
        ("a.csv", b"id,text\nx,I look.\nx,I see.\n", "two rows"),
        ("a.csv", b'text\n"I look.', "no CSV"),
        ("a.csv", b"text\n\xff\n", "UTF-8"),
        ("a.csv", b"text\n<think> I look.\n", "row 1"),
        ("a.jsonl", b"{", "line 1 is no JSON"),
        ("a.jsonl", b"[1]\n", "no JSON object"),
        ("a.jsonl", b'{"text": 1}\n', "no text"),
        ("a.jsonl", b'{"text": "I look.", "aliases": 3}\n', "no candidate"),
        ("a.jsonl", b'{"text": "I look.", "aliases": [3]}\n', "no candidate"),
        ("a.jsonl", b'{"text": "\\ud800"}\n', "lone surrogate"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidLibrary, match=said) as told:
        read_candidates(tmp_path / name)

    assert isinstance(told.value, ForethoughtError)
    assert str(tmp_path / name) in str(told.value)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(NotFound):
        read_candidates(tmp_path / "none.csv")
