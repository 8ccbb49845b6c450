"""Sentences as spans, over scripts and layouts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.miner.sentences import sentences


def said(text):
    return [text[s.start : s.stop] for s in sentences(text)]


@given(st.text(max_size=300))
def test_sentences_are_spans_in_order_that_say_something(text):
    at = 0
    for sentence in sentences(text):
        assert at <= sentence.start < sentence.stop <= len(text)
        part = text[sentence.start : sentence.stop]
        assert part == part.strip()
        assert any(map(str.isalnum, part))
        at = sentence.stop


@given(st.lists(st.sampled_from(("It rains", "Was 3.5 enough", "Dr. Who left")), min_size=1))
def test_plain_sentences_are_found_again(parts):
    assert said(". ".join(parts) + ".") == [f"{part}." for part in parts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("没有结果。我应该再查一下！好吗？好", ["没有结果。", "我应该再查一下！", "好吗？", "好"]),
        ("結果がない。もう一度調べる。", ["結果がない。", "もう一度調べる。"]),
        ("No hay datos. ¿Qué falta? Buscaré.", ["No hay datos.", "¿Qué falta?", "Buscaré."]),
        ("Das gilt z. B. hier. Ich suche weiter.", ["Das gilt z. B. hier.", "Ich suche weiter."]),
        ("لا توجد نتائج. ما هو الاسم؟ سأبحث.", ["لا توجد نتائج.", "ما هو الاسم؟", "سأبحث."]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        (
            "See J. Smith et al. for 3.5 etc. and so on.",
            ["See J. Smith et al. for 3.5 etc. and so on."],
        ),
        ("I like Yahoo! very much. Wait... what?", ["I like Yahoo! very much.", "Wait... what?"]),
        (
            "It worked as we wish.This means success.",
            ["It worked as we wish.", "This means success."],
        ),
        ("Run `ls .` now. Use os.path here.", ["Run `ls .` now.", "Use os.path here."]),
        ("So the answer is no. I am done.", ["So the answer is no.", "I am done."]),
        ("Plan:\n1. Search it. Read it.\n2. Answer", ["Search it.", "Read it.", "Answer"]),
        ("Thought: I know it.\nAction: search it", ["I know it.", "search it"]),
    ],
)
def test_boundaries(text, expected):
    assert said(text) == expected


def test_a_wrapped_line_goes_on_and_a_short_one_does_not():
    long = "This line is wrapped by an editor at about seventy characters and then\ngoes on here."

    assert said(long) == [long]
    assert said("A title\nA sentence.") == ["A title", "A sentence."]


@pytest.mark.parametrize(
    "hole",
    [
        "```python\nprint('I will. Do it.')\n```",
        "```\nnever closed. Never.",
        '{"query": "I will search. Now."}',
        '[{"a": {"b": [1, 2]}},\n {"c": "Let me."}]',
        "> What was quoted. All of it.",
        "Observation 3: The page says.\nI will never be read.",
        "| a | b |\n| - | - |",
        "## A heading",
        "├── src. More.",
        "----",
        '"' + "Somebody else wrote this. " * 4 + '"',
    ],
)
def test_what_is_no_sentence_of_the_thought_is_passed_over(hole):
    assert said(f"It is so.\n\n{hole}") == ["It is so."]
    assert said(f"{hole}") == []


def test_brackets_of_prose_are_no_data():
    text = "Click [5] or {name} and search[x]."

    assert said(text) == [text]


def test_items_of_lists_are_told_apart():
    text = "Options:\n- One thing.\n  2) Another.\n（no item）\n3、第三\n\nEnd."

    assert [s.is_item for s in sentences(text)] == [False, True, True, False, True, False]
    assert [s.paragraph for s in sentences(text)] == [0, 0, 0, 0, 0, 1]
