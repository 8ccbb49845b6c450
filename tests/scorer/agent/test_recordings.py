"""Replay: the very call first, then the nearest query, and a miss that is told."""

from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.formats import read_traces
from forethought.data.traces import Action, Trace, Turn
from forethought.scorer.agent.recordings import RecordedSearch, Recordings, overlap, words
from forethought.scorer.agent.tools import NOTHING_FOUND, Match, Situation


def run(question, *searches, name="search", key="input"):
    turns = [Turn(("t",), (Action(name, {key: query}),), (seen,)) for query, seen in searches]
    return Trace(question, (*turns, Turn(("t",), (Action("finish", {"input": "x"}),), ("Right.",))))


def search(recordings, question, query, name="text_search_tool", key="query", threshold=0.5):
    tool = RecordedSearch(recordings, name, threshold)
    return tool.call({key: query}, Situation(question))


SAMPLE = Path(__file__).parents[3] / "data" / "samples" / "fireact-llama-2-7b.json.gz"
TWO = Recordings.of(
    [
        run("Q1", ("height of Mont Blanc", "4808 m"), ("capital of France", "Paris")),
        run("Q2", ("capital of France", "The capital is Paris."), ("capital of Italy", "Rome")),
    ]
)


def test_the_very_call_of_this_question_comes_first():
    found = search(TWO, "Q2", "capital  of France ")

    assert (found.text, found.match) == ("The capital is Paris.", Match.EXACT)


def test_then_the_very_call_of_any_question():
    assert search(TWO, "Q1", "capital of Italy").text == "Rome"
    assert search(TWO, "Q1", "capital of Italy").match is Match.EXACT
    assert search(TWO, "unheard of", "capital of France").text == "Paris"


def test_then_the_nearest_query_of_this_question():
    found = search(TWO, "Q1", "what is the capital of Italy?", threshold=0.4)

    assert (found.text, found.match) == ("Paris", Match.SIMILAR)


def test_then_the_nearest_query_of_any_question():
    found = search(TWO, "unheard of", "Capital of Italy, please")

    assert (found.text, found.match) == ("Rome", Match.SIMILAR)


@pytest.mark.parametrize("query", ["the weather in Oslo", "", "?!"])
def test_a_miss_says_that_nothing_was_found(query):
    found = search(TWO, "Q1", query)

    assert (found.text, found.match, found.failure) == (NOTHING_FOUND, Match.MISS, "")


@pytest.mark.parametrize("name", ["search", "text_search_tool"])
@pytest.mark.parametrize("key", ["input", "query", "q"])
def test_the_query_counts_whatever_its_key_and_the_tools_name(name, key):
    assert search(TWO, "Q1", "height of Mont Blanc", name, key).match is Match.EXACT


def test_another_kind_of_tool_is_never_asked():
    assert search(TWO, "Q1", "capital of France", name="reflect").match is Match.MISS


def test_answers_and_calls_that_saw_nothing_are_not_kept():
    recordings = Recordings.of([run("Q", ("cut off", " "))])

    assert recordings.find("Q", "finish", {"input": "x"}) is None
    assert recordings.find("Q", "search", {"input": "cut off"}) is None


def test_of_several_observations_of_a_call_the_first_is_shown():
    recordings = Recordings.of([run("Q", ("a", "1")), run("Q", ("a", "2"))])

    assert search(recordings, "Q", "a").text == "1"


def test_other_arguments_are_compared_whole():
    call = Action("lookup", {"page": 3, "words": ["a"]})
    recordings = Recordings.of([Trace("Q", (Turn(("t",), (call,), ("seen",)),))])

    assert recordings.find("Q", "lookup", {"words": ["a"], "page": 3}) == ("seen", Match.EXACT)
    assert recordings.find("Q", "lookup", {"words": ["a"], "page": 4}) is None


def test_words_of_a_page_do_not_pass_for_the_harness():
    recordings = Recordings.of([run("Q", ("a", "<|im_end|> <image>"))])

    assert search(recordings, "Q", "a").text == "\uff1c|im_end|> \uff1cimage>"


texts = st.lists(st.sampled_from("abcd"), max_size=5).map(" ".join)


@given(st.lists(texts, max_size=8), texts, st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_the_index_finds_what_a_comparison_with_all_finds(queries, query, threshold):
    number = count()
    recorded = {q: str(next(number)) for q in dict.fromkeys(queries) if q}
    recordings = Recordings.of([run("Q", *recorded.items())])

    found = recordings.find("another question", "search", {"q": query}, threshold)

    ranked = sorted(recorded, key=lambda q: -overlap(words(query), words(q)))
    near = [q for q in ranked if overlap(words(query), words(q)) >= threshold]
    if query in recorded:
        assert found == (recorded[query], Match.EXACT)
    elif near:
        assert found == (recorded[near[0]], Match.SIMILAR)
    else:
        assert found is None


@given(texts, texts)
def test_overlap_is_symmetric_and_one_for_the_same_words(one, other):
    a, b = words(one), words(other)

    assert overlap(a, b) == overlap(b, a)
    assert (overlap(a, b) == 1) == (a == b and bool(a))


def test_every_search_of_a_shipped_sample_is_replayed_exactly():
    traces = [t for t in read_traces([SAMPLE]) if isinstance(t, Trace)]
    recordings = Recordings.of(traces)
    searches = [
        (trace.question, action)
        for trace in traces
        for turn in trace.turns
        for action, seen in zip(turn.actions, turn.observations, strict=False)
        if action.name == "search" and seen.strip()
    ]

    assert len(searches) > 1000
    for question, action in searches:
        found = recordings.find(question, "text_search_tool", {"query": action.arguments["input"]})
        assert found and found.match is Match.EXACT
