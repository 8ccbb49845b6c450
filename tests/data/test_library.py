"""The authors' library file: their bytes, their hash, their refusals; ours beside it."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_strategies import candidate_sets

from forethought.data.candidates import CandidateSet, Status
from forethought.data.errors import InvalidLibrary, NotFound
from forethought.data.library import (
    LIBRARIES,
    builtin,
    library_hash,
    library_json,
    library_text,
    read_library,
    side_json,
    side_path,
)

THEIR_HASH = "685fe90dd039a20dc60a49879e5d85ccf802de043ffeb379164ab0d6c4f04808"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("library")


def write(candidate_set, path):
    path.write_text(library_text(library_json(candidate_set)), encoding="utf-8")


def test_the_papers_library_has_the_authors_hash_and_bytes():
    library = builtin("ssr")

    assert library_hash(library) == THEIR_HASH
    assert library_text(library_json(library)).encode() == (LIBRARIES / "ssr.json").read_bytes()
    assert [c.id for c in library.candidates][:2] == ["r_GENERAL_KNOW", "r_ANSWER_FROM_IMAGE"]


def test_the_handwritten_set_is_there():
    assert len(builtin("handwritten").candidates) == 6


def test_an_unknown_builtin_names_those_there_are():
    with pytest.raises(NotFound, match="handwritten, ssr"):
        builtin("../ssr")


@given(candidate_set=candidate_sets().filter(lambda s: s.active))
def test_writing_then_reading_a_set_changes_nothing(folder, candidate_set):
    path = folder / "set.json"
    side_path(path).unlink(missing_ok=True)
    write(candidate_set, path)
    side = library_text(side_json(candidate_set, "2026-11-30T00:00:00Z"))
    side_path(path).write_text(side, encoding="utf-8")

    read = read_library(path)

    assert read == replace(candidate_set, candidates=candidate_set.active)
    assert library_hash(read) == library_hash(candidate_set)


@given(candidate_set=candidate_sets(), random=st.randoms())
def test_the_hash_sees_neither_order_nor_rejected_candidates(candidate_set, random):
    active = list(candidate_set.active)
    random.shuffle(active)

    assert library_hash(CandidateSet("other", tuple(active))) == library_hash(candidate_set)


def test_a_library_without_a_side_file_is_proposed(tmp_path):
    write(builtin("ssr"), tmp_path / "a.json")

    read = read_library(str(tmp_path / "a.json"))

    assert read == builtin("ssr")
    assert {c.status for c in read.candidates} == {Status.PROPOSED}


def test_a_library_changed_by_hand_does_not_take_the_old_side_file(tmp_path):
    library = builtin("ssr")
    write(library.first(3), tmp_path / "a.json")
    side_path(tmp_path / "a.json").write_text(library_text(side_json(library, "")))

    with pytest.raises(InvalidLibrary, match="another version.*delete a.forethought.json"):
        read_library(tmp_path / "a.json")


def entry(**changes):
    return {"text": "Look.", "expected_actions": ["search"], "created_at": ""} | changes


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "no reasoning library"),
        ("[]", "not a JSON object"),
        ("{}", "no entries"),
        ('{"entries": {"r": {}, "r": {}}}', "'r' stands twice"),
        ({"entries": {}}, "no entries"),
        ({"entries": {"r_A": "Look."}}, "r_A"),
        ({"entries": {"r_A": entry(text=" ")}}, "r_A"),
        ({"entries": {"r_A": entry(text=None)}}, "r_A"),
        ({"entries": {"r_A": entry(text="a <answer> b")}}, "r_A"),
        ({"entries": {"r_A": entry(text="\ud83d")}}, "r_A"),
        ({"entries": {"r_A": entry(expected_actions="search")}}, "r_A"),
        ({"entries": {"r_A": entry(colour="red")}}, "colour"),
        ({"entries": {"r_A": entry()}, "version": 1}, "version"),
        ({"entries": {"r_A": entry()}, "candidates": []}, "candidates"),
    ],
)
def test_what_no_library_may_be_is_refused_with_its_place(tmp_path, content, named):
    path = tmp_path / "a.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))

    with pytest.raises(InvalidLibrary, match=named) as error:
        read_library(path)

    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_library_is_not_found(tmp_path):
    with pytest.raises(NotFound):
        read_library(tmp_path / "none.json")


def test_a_folder_or_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "a.json").write_bytes(b"\xff\xfe")

    for path in (tmp_path, tmp_path / "a.json"):
        with pytest.raises(InvalidLibrary):
            read_library(path)
