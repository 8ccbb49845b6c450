"""What masking keeps and what it takes out."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import AGAIN, runs

from forethought.miner.mask import FILLER, Mask, words
from forethought.miner.thoughts import Stage, Thought, thoughts_of

FITTED = Mask.fit(thoughts_of(runs(60)))


def thought(text: str, question: str = "q", instance: str = "") -> Thought:
    return Thought("t:0", question, text, Stage.OPENING, instance, "search")


@pytest.mark.parametrize("leak", ["Aldo", "Ulm", "1517", "x7", "McKay's"])
def test_names_and_numbers_are_taken_out(leak):
    masked = FITTED.apply(f"I need to search for {leak} again.")

    assert leak not in masked.text
    assert masked.text == f"I need to search for {FILLER} again."
    assert masked.num_words - masked.num_kept == 1


def test_a_habitual_thought_stays_as_it_is():
    masked = FITTED.apply(AGAIN)

    assert masked.text == AGAIN
    assert masked.is_whole


def test_a_word_of_the_question_is_taken_out_where_it_is_not_grammar():
    mask = Mask.fit(thought("I need the capital now.", f"question {i}") for i in range(9))

    assert mask.apply("I need the capital now.", "What is the capital of Peru?").text == (
        f"I need the {FILLER} now."
    )
    assert mask.apply("I need the capital now.", "Who is she?").is_whole


def test_neighbouring_instance_words_become_one_filler():
    assert FITTED.apply("I need to search for Aldo Berta Cecil.").text == (
        f"I need to search for {FILLER}."
    )


def test_leaked_words_name_what_would_be_masked():
    assert FITTED.leaked_words("I need to search for Aldo in 1517.") == ("Aldo", "1517")
    assert FITTED.leaked_words(AGAIN) == ()


def test_fitting_does_not_depend_on_the_order_of_thoughts():
    thoughts = list(thoughts_of(runs(40)))
    shuffled = random.Random(1).sample(thoughts, len(thoughts))

    assert Mask.fit(shuffled).shares == Mask.fit(thoughts).shares


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_masked_without_a_word_more(text, instance):
    masked = FITTED.apply(text, instance)

    assert 0 <= masked.num_kept <= masked.num_words == len(words(text))
    assert masked.is_whole == (not FITTED.leaked_words(text, instance))
    assert set(words(masked.text)) <= set(words(text)) | {FILLER}
