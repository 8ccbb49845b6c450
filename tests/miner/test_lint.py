"""The lint: what it blocks, what it flags, and what it must let through."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.library import builtin
from forethought.miner.lint import (
    LintSettings,
    Severity,
    estimated_tokens,
    is_blocked,
    lint,
    lint_set,
)

GOOD = "I do not know this yet, so I should look it up."
OTHER = "I have found what was asked for, so I can give the answer."


def rules(text: str, settings: LintSettings | None = None) -> set[str]:
    return {problem.rule for problem in lint(text, settings or LintSettings())}


@pytest.mark.parametrize("name", ["ssr", "handwritten"])
def test_the_built_in_sets_have_no_complaint(name):
    texts = [candidate.text for candidate in builtin(name).candidates]
    tools = frozenset(kind for c in builtin(name).candidates for kind in c.expected_actions)

    assert lint_set(texts, LintSettings(tools=tools)) == [[] for _ in texts]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "words"),
        (" \n\t", "words"),
        ("🙂 🙂 🙂 🙂.", "words"),
        ("I see.", "length"),
        ("I should do " + "this and " * 40 + "that.", "length"),
        ("Searching again would not help here.", "person"),
        ("This is my favourite of the days.", "says"),
        ("I should search for it and then compare and answer.", "one-move"),
        ("I should open the page, then read the text.", "one-move"),
        ("Look up the first part and compare it with the second.", "one-move"),
        ("I need to find out when Marie Curie was born.", "instance"),
        ("I need to find what happened in 1984.", "instance"),
        ("It says that I need more.", "alone"),
        ("I should look up his birth date.", "alone"),
        ("I need to look up their birth dates.", "alone"),
        ("I have the the answer now.", "grammar"),
        ("I should search again and.", "grammar"),
        ("I need more. so I should search again.", "grammar"),
        ("i should search again with other words.", "grammar"),
        ("Should I search for it again?", "whole"),
        ("I should search again (with other words.", "whole"),
        ("I should search again with other words", "whole"),
        ("I should use <answer> to end this.", "reserved"),
        ("I need to look up <NAME_1> first.", "placeholder"),
        ("I need to look up [X] first.", "placeholder"),
        ("I need to look up NAME_1 first.", "placeholder"),
        ("I need to look up X first.", "placeholder"),
        ("I need to look up ___ first.", "placeholder"),
        ("I need to find the it of this.", "filler"),
        ("I need to find it of it first.", "filler"),
        ("I should open [5] and read it.", "plain"),
        ('I should search for "this" again.', "plain"),
        ("I should open https://here.now again.", "plain"),
        ("I should search again.\nI should search.", "plain"),
        ("**I** should search again for this.", "plain"),
    ],
)
def test_a_text_is_blocked_by_the_rule_that_it_breaks(text, rule):
    problems = lint(text)

    assert rule in {problem.rule for problem in problems}
    assert is_blocked(problems)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        OTHER,
        "I have the answer.",
        "I find the answer.",
        "I need more than this.",
        "Search again with different words.",
        "The result does not say this. I should try a different search.",
        "I cannot tell what the thing is from its looks, so I should look closer.",
        "I need to check what I have before I go on.",
        "I know that that part is right, so I can answer.",
        "The API does not answer, so I should try again.",
        "I can see both parts and I know the rule, so I can answer.",
        "I've found it, so I'll give the answer now!",
    ],
)
def test_a_good_candidate_has_no_complaint(text):
    assert lint(text) == []


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("I should call web_search to find this.", "web_search"),
        ("I should call the web search to find this.", "web_search"),
        ("I should use the image zoom in tool here.", "image_zoom_in_tool"),
        ("I should use getWeather to know this.", "getWeather"),
        ("I should use search[this] again.", "search"),
        ("I should use the search tool again.", "search"),
        ("I should call the lookup function again.", "lookup"),
    ],
)
def test_a_tool_is_named(text, tool):
    assert "tool" in rules(text, LintSettings(tools=frozenset({tool})))
    assert "tool" not in rules(text)


def test_a_tool_that_is_an_ordinary_word_may_be_used_as_one():
    settings = LintSettings(tools=frozenset({"search", "answer", "lookup"}))

    assert lint("I should search again before I answer.", settings) == []


def test_instance_words_and_tokens_are_as_the_caller_counts_them():
    leaks = LintSettings(leaks=lambda text: [w for w in text.split() if w == "bridge"])
    tokens = LintSettings(count_tokens=len, max_tokens=20)

    assert "instance" in rules("I should look at the bridge again.", leaks)
    assert "length" in rules(GOOD, tokens)
    assert "length" not in rules(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        "我需要再次搜索更多信息。",
        "Ich habe die Antwort gefunden.",
        "أحتاج إلى البحث مرة أخرى.",
        "Je dois chercher encore.",
    ],
)
def test_another_language_is_flagged_as_unchecked_and_not_blocked(text):
    problems = lint(text)

    assert [(problem.rule, problem.severity) for problem in problems] == [
        ("language", Severity.FLAG)
    ]


def test_another_language_still_may_hold_no_placeholder_and_no_tag():
    assert is_blocked(lint("我需要再次搜索 <NAME_1> 的信息。"))
    assert is_blocked(lint("我需要再次搜索 <answer> 的信息。"))
    assert is_blocked(lint("我" * 60 + "。"))
    assert "says" in rules("这是一个很好的日子。")


def test_tokens_of_unspaced_scripts_are_their_characters():
    assert estimated_tokens("我需要再次搜索。") == 7
    assert estimated_tokens("one two three") == 4


def test_of_two_equal_texts_the_later_is_blocked_whatever_its_case():
    problems = lint_set([GOOD, OTHER, GOOD.upper().replace("SO I", "so I"), GOOD])

    assert problems[:2] == [[], []]
    assert all("unique" in {p.rule for p in found} for found in problems[2:])


def test_near_texts_are_both_flagged():
    similarity = np.array([[1.0, 0.95, 0.1], [0.95, 1.0, 0.2], [0.1, 0.2, 1.0]])

    found = lint_set([GOOD, OTHER, "I need to search again."], similarity=similarity)

    assert [[p.rule for p in problems] for problems in found] == [["distinct"], ["distinct"], []]
    assert not any(is_blocked(problems) for problems in found)


def test_a_set_of_none_and_of_one():
    assert lint_set([]) == []
    assert lint_set([GOOD], similarity=np.ones((1, 1))) == [[]]


@given(st.text(max_size=200))
def test_any_text_gets_an_answer_and_the_same_one_twice(text):
    settings = LintSettings(tools=frozenset({"search", "a_b", "[", ""}))

    assert lint(text, settings) == lint(text, settings)


@given(st.lists(st.text(max_size=30), max_size=6))
def test_a_set_is_linted_text_by_text_and_only_uniqueness_is_added(texts):
    for text, problems in zip(texts, lint_set(texts), strict=True):
        assert [p for p in problems if p.rule != "unique"] == lint(text)


@pytest.mark.parametrize("piece", [" ", "(", "it ", "and then ", "<", "I should ", "X", "'", "a_"])
def test_a_megabyte_is_refused_at_once(piece):
    assert [p.rule for p in lint(piece * (1_000_000 // len(piece)))] == ["length"]
