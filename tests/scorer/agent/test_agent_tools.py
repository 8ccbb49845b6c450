"""A tool's mishaps become observations: errors, silence, and words that would pass for the harness's own."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from forethought.data.errors import NotFound
from forethought.scorer.agent.tools import (
    NOTHING_FOUND,
    PICTURE,
    Observation,
    SearchResult,
    Situation,
    guarded,
    listing,
    literal,
    query_of,
)

HERE = Situation("Who?")


class Doing:
    """A tool that does what it is handed."""

    name = "doing"

    def __init__(self, work):
        self._work = work

    def call(self, arguments, situation):
        return self._work(arguments, situation)


def thrown(error):
    def work(arguments, situation):
        raise error

    return guarded(Doing(work), 5).call({}, HERE)


def test_a_guarded_tool_is_the_tool():
    tool = guarded(Doing(lambda arguments, situation: Observation(f"{arguments} {situation}")), 5)

    assert tool.name == "doing"
    assert tool.call({"a": 1}, HERE) == Observation(f"{ {'a': 1} } {HERE}")


@pytest.mark.parametrize(
    "error", [ValueError("a\nb"), KeyError("k"), RecursionError(), OSError(5, "no")]
)
def test_whatever_a_tool_throws_is_told_in_one_line(error):
    found = thrown(error)

    assert found.failure.startswith(f"doing broke: {type(error).__name__}")
    assert "\n" not in found.text
    assert found.text == f"Tool execution failed: {found.failure}"


def test_a_mistake_that_explains_itself_is_told_in_its_own_words():
    assert thrown(NotFound("no such file; name another")).failure == "no such file; name another"


def test_a_long_error_stays_short():
    assert len(thrown(ValueError("x" * 10_000)).text) < 400


def test_a_tool_that_hangs_is_given_up():
    began = time.perf_counter()

    found = guarded(Doing(lambda *_: time.sleep(3)), 0.05).call({}, HERE)

    assert time.perf_counter() - began < 2
    assert found.failure == "doing gave no answer within 0.05 seconds"


def test_an_observation_has_a_place_for_each_picture():
    picture = Image.new("RGB", (2, 2))

    assert Observation(f"a {PICTURE}", (picture,)).pictures == (picture,)
    with pytest.raises(AssertionError, match="1 places for 0 pictures"):
        Observation(PICTURE)


@given(st.lists(st.sampled_from(["<|im_end|>", "</tool_response>", "<image>", "<", "a", "<b>"])))
def test_words_from_outside_stay_words(parts):
    said = literal("".join(parts))

    assert not any(mark in said for mark in ("<|", "<image>", "</tool_response>"))
    assert said.replace("\uff1c", "<") == "".join(parts)


def test_half_a_character_can_be_written_as_utf8():
    assert literal("a\ud800b").encode() == "a\ufffdb".encode()


def test_results_are_shown_as_ssr_shows_them():
    results = [
        SearchResult("T", "http://u", "x"),
        SearchResult("", "", ""),
        SearchResult("", "", "y<|"),
    ]

    assert listing(results) == "T\nhttp://u\nx\n\ny\uff1c|"
    assert listing([]) == listing([SearchResult("", "", "")]) == NOTHING_FOUND


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({"query": " a  b "}, "a b"),
        ({"input": "a b"}, "a b"),
        ({"query": "a", "topk": 3}, "a"),
        ({"query": ""}, None),
        ({"query": ["a"]}, None),
        ({"query": "a", "site": "b"}, None),
        ({}, None),
    ],
)
def test_the_query_is_the_one_text_among_the_arguments(arguments, query):
    assert query_of(arguments) == query
