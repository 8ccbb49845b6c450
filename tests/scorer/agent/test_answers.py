"""Answers by their words, against the published scripts' functions written again here, and the rules that they leave open."""

import re
import string
from collections import Counter

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from forethought.scorer.agent.answers import (
    Span,
    exact_match,
    last_answer,
    normalised,
    relaxed_match,
    token_f1,
)

words = st.sampled_from(["the", "A", "an", "Paris,", "paris", "yes", "no", "noanswer", "U.S.", "é", "?", "  ", "\n"])  # fmt: skip
texts = st.one_of(st.text(max_size=30), st.lists(words, max_size=6).map(" ".join))
plain = st.text(string.ascii_letters + " .,", max_size=20)
numbers = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))
positive = st.floats(0.01, 1e6).map(lambda x: round(x, 2))


def squad_normalised(s):
    """The recipe of SQuAD v1.1's evaluation, step by step."""
    s = "".join(ch for ch in s.lower() if ch not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", s).split())


def hotpot_f1(prediction, truth):
    """HotpotQA's: SQuAD's F1, but nothing for half of a yes, a no or a noanswer."""
    prediction, truth = squad_normalised(prediction), squad_normalised(truth)
    if prediction in ["yes", "no", "noanswer"] and prediction != truth:
        return 0
    if truth in ["yes", "no", "noanswer"] and prediction != truth:
        return 0
    common = Counter(prediction.split()) & Counter(truth.split())
    num_same = sum(common.values())
    if num_same == 0:
        return 0
    precision = 1.0 * num_same / len(prediction.split())
    recall = 1.0 * num_same / len(truth.split())
    return (2 * precision * recall) / (precision + recall)


def infoseek_numbers(prediction, low, high):
    """InfoSeek's rule for one or two numbers that were read, against the range of a quantity."""
    if len(prediction) == 1 or prediction[0] > prediction[1]:
        return low <= prediction[0] <= high
    if low <= prediction[0] <= high and low <= prediction[1] <= high:
        return True
    overlap = max(0.0, min(prediction[1], high) - max(prediction[0], low))
    length, other = prediction[1] - prediction[0] + 1e-12, high - low + 1e-12
    return overlap / (length + other - overlap) >= 0.5 - 1e-12


@given(texts)
def test_normalisation_is_the_one_of_squad(text):
    assert normalised(text) == squad_normalised(text)


@given(texts)
def test_normalising_twice_changes_nothing_more(text):
    once = normalised(text)

    assert normalised(once) == once


@given(texts, st.lists(texts, max_size=4))
def test_exact_match_is_the_one_of_squad_where_words_are_left(answer, truths):
    assume(all(map(squad_normalised, [answer, *truths])))

    assert exact_match(answer, truths) == any(
        squad_normalised(answer) == squad_normalised(truth) for truth in truths
    )


@given(texts, st.lists(texts, max_size=3))
def test_a_text_matches_itself_whatever_the_other_truths(text, others):
    assert exact_match(text, [*others, text])
    assert relaxed_match(text, [text, *others])


@pytest.mark.parametrize("answer", ["", " ", "the", "?!"])
def test_an_answer_without_words_is_not_the_choice_a(answer):
    assert not exact_match(answer, ["A"])
    assert exact_match("a", ["A"])


@given(texts, st.lists(texts, max_size=4))
@example("yes it is", ["yes"])
@example("no", ["no, never"])
def test_f1_is_the_best_of_hotpotqas(answer, truths):
    expected = max((hotpot_f1(answer, truth) for truth in truths), default=0)

    assert token_f1(answer, truths) == pytest.approx(expected)


@given(texts, texts)
def test_f1_is_symmetric_between_zero_and_one(answer, truth):
    assert 0 <= token_f1(answer, [truth]) == token_f1(truth, [answer]) <= 1


@given(texts)
def test_without_truths_nothing_is_right(answer):
    assert not exact_match(answer, [])
    assert token_f1(answer, []) == 0
    assert not relaxed_match(answer, [])


@given(plain, plain, plain)
def test_the_last_whole_answer_counts(before, first, last):
    text = f"{before}<answer>{first}</answer> then <answer>{last}</answer>"

    assert last_answer(text) == last.strip()
    assert last_answer(f"{text} and <answer>{first}") == last.strip()
    assert last_answer(f"{text} </answer>") == last.strip()


@given(plain)
def test_an_answer_that_begins_again_is_what_it_ends_as(answer):
    assert last_answer(f"<answer>lost <answer>{answer}</answer>") == answer.strip()


@pytest.mark.parametrize(
    "text", ["", "Paris", "<answer>Paris", "Paris</answer>", "</answer><answer>"]
)
def test_a_text_without_a_whole_answer_has_none(text):
    assert last_answer(text) is None


def test_an_answer_may_run_over_lines_hold_other_tags_and_be_empty():
    assert last_answer("<answer>\n5 < 10\n<b>\n</answer>") == "5 < 10\n<b>"
    assert last_answer("<answer> </answer>") == ""


@given(positive, positive, positive, positive)
def test_numbers_are_compared_as_infoseek_compares_them(first, second, low, high):
    low, high = sorted((low, high))
    truths = [Span(low, high)]

    assert relaxed_match(f"about {first} m", truths) == infoseek_numbers([first], low, high)
    assert relaxed_match(f"{first}-{second} m", truths) == infoseek_numbers([first, second], low, high)  # fmt: skip


@given(numbers, st.floats(-0.3, 0.3))
def test_a_number_is_right_within_ten_percent_on_either_side_of_zero(truth, off):
    assume(abs(abs(off) - 0.1) > 1e-3 and abs(truth) > 1)

    assert relaxed_match(f"{truth * (1 + off):.9f}", [f"{truth:.3f}"]) == (abs(off) < 0.1)


@pytest.mark.parametrize(
    ("answer", "truth", "is_right"),
    [
        ("about 1,100 people", "1,000", True),
        ("1,101", "1,000", False),
        ("120 to 170 cm", "120-170", True),
        ("145", "120 - 170", True),
        ("171", "120\u2013170", False),
        ("100-160", "120-170", True),  # overlap 40 of 70
        ("0-1000", "120-170", False),
        (".5", "0.5", True),
        ("-95", "-100", True),
        ("-120", "-100", False),
        ("2e3", "2,100", True),
        ("no idea", "0", False),
        ("0", "0", True),
        ("1.2.3", "1.2", True),
        ("12", "12 apostles", False),
        ("1940", "1935", False),
        ("1935", "1935", True),
        ("1915", "1914-1918", False),
        ("1940", "1,935", True),
    ],
)
def test_what_is_a_quantity_and_what_fits_it(answer, truth, is_right):
    assert relaxed_match(answer, [truth]) == is_right


@given(st.text(alphabet="0123456789.,-+eE to\u2013\u0663", max_size=30), st.text(alphabet="0123456789.,-+eE to", max_size=20))  # fmt: skip
@example("9" * 400, "9" * 400 + "1")
@example("1e999-1e999", "1e999")
def test_no_text_of_digits_and_signs_breaks_the_reading(answer, truth):
    assert relaxed_match(answer, [truth]) in (True, False)
