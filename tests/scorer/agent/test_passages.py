"""BM25 over a user's passages, against the formula, and files that are none."""

import json
import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.errors import NotFound, ToolUnavailable
from forethought.scorer.agent.passages import Passage, Passages, PassageSearch, read_passages
from forethought.scorer.agent.tools import NOTHING_FOUND, Situation

THREE = Passages(
    [
        Passage("1", "Mont Blanc", "The highest mountain of the Alps, 4808 metres."),
        Passage("2", "Zugspitze", "The highest mountain of Germany."),
        Passage("3", "Seine", "A river through Paris."),
    ]
)


def call(passages, query, top=5):
    return PassageSearch(passages, "text_search_tool", top).call({"query": query}, Situation("Q"))


def bm25(query, passage, passages):
    """The formula in Lucene's form, k1 = 1.5, b = 0.75."""
    mean = sum(map(len, passages)) / len(passages)
    total = 0.0
    for word in query:
        holding = sum(word in other for other in passages)
        if holding:
            weight = math.log(1 + (len(passages) - holding + 0.5) / (holding + 0.5))
            times = passage.count(word)
            total += weight * times / (times + 1.5 * (0.25 + 0.75 * len(passage) / mean))
    return total


def test_the_best_passages_are_shown_as_one_text():
    found = call(THREE, "which mountain of the ALPS is the highest?", top=2)

    assert found.text == (
        "Mont Blanc\nThe highest mountain of the Alps, 4808 metres.\n\n"
        "Zugspitze\nThe highest mountain of Germany."
    )
    assert found.match is None


def test_a_title_counts_too():
    assert [passage.id for passage in THREE.find("seine")] == ["3"]


@pytest.mark.parametrize("query", ["volcano", "the of", "?!"])
def test_where_no_word_is_shared_nothing_was_found(query):
    assert call(THREE, query).text == NOTHING_FOUND


def test_a_call_without_a_query_is_refused():
    found = PassageSearch(THREE, "search").call({}, Situation("Q"))

    assert found.failure == "search takes one query"


def test_equal_passages_come_in_the_files_order():
    same = Passages([Passage(str(i), "", "same words") for i in range(20)])

    assert [passage.id for passage in same.find("words", 3)] == ["0", "1", "2"]


passages_of_words = st.lists(
    st.lists(st.sampled_from(["alps", "river", "paris", "rome"]), min_size=1, max_size=6),
    min_size=1,
    max_size=6,
)


@given(
    passages_of_words, st.lists(st.sampled_from(["alps", "rome", "oslo"]), min_size=1, max_size=3)
)
def test_scores_are_those_of_the_formula(texts, query):
    query = list(dict.fromkeys(query))
    index = Passages([Passage(str(i), "", " ".join(text)) for i, text in enumerate(texts)])

    found = [int(passage.id) for passage in index.find(" ".join(query), 10)]

    scores = [bm25(query, text, texts) for text in texts]
    assert sorted(found) == [i for i, score in enumerate(scores) if score > 0]
    ranked = [scores[i] for i in found]
    assert ranked == pytest.approx(sorted(ranked, reverse=True), rel=1e-5)


def test_passages_are_read_with_and_without_title_and_id(tmp_path):
    file = tmp_path / "passages.jsonl"
    lines = [
        {"id": "a", "title": "T", "text": "x"},
        {"text": "y", "url": "u"},
        {"id": 7, "text": "z", "title": None},
    ]
    file.write_text("\ufeff" + "\n\n".join(map(json.dumps, lines)), "utf-8")

    assert read_passages(file) == [("a", "T", "x"), ("3", "", "y"), ("7", "", "z")]


def test_a_corpus_of_search_r1_is_read_as_its_retriever_shows_it(tmp_path):
    path = tmp_path / "corpus.jsonl"
    rows = [{"id": "0", "contents": '"Teal"\nA colour.'}, {"id": "1", "contents": "No title."}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    assert read_passages(path) == [Passage("0", "Teal", "A colour."), Passage("1", "", "No title.")]


def test_bad_lines_are_named(tmp_path):
    file = tmp_path / "passages.jsonl"
    file.write_bytes(b'{"text": "x"}\n{"text": ""}\n[1]\n\xff\n{"text": "x", "title": 3}\n')

    with pytest.raises(ToolUnavailable) as caught:
        read_passages(file)
    assert str(caught.value) == (
        f"{file}: line 2 has no text; line 3 is no object; line 4 is no JSON and 1 more; "
        'each line is an object with a "text", or with "contents" as in a corpus of Search-R1'
    )


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(NotFound, match="nowhere.jsonl: cannot be read"):
        read_passages(tmp_path / "nowhere.jsonl")


@pytest.mark.parametrize("passages", [[], [Passage("1", "", "the of")]])
def test_passages_without_words_are_refused(passages):
    with pytest.raises(ToolUnavailable, match="hold no words"):
        Passages(passages)


def test_without_the_library_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "bm25s", None)

    with pytest.raises(ToolUnavailable, match=r"pip install 'forethought\[bench\]'"):
        Passages([Passage("1", "", "x")])
