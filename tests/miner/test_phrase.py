"""Phrases are sentences of the traces that stand on their own."""

import pytest
from runs import AGAIN, ANSWER, NEXT, runs

from forethought.miner.mask import Mask
from forethought.miner.phrase import lint, phrases_of
from forethought.miner.thoughts import thoughts_of

THOUGHTS = list(thoughts_of(runs(60)))
MASK = Mask.fit(THOUGHTS)


def test_the_habitual_sentences_are_found_with_their_counts():
    found = {phrase.text: phrase for phrase in phrases_of(THOUGHTS, MASK)}

    assert found[AGAIN].count == 20
    assert found[ANSWER].questions == 60
    assert NEXT in found


def test_no_phrase_carries_a_word_of_an_instance_or_is_invented():
    for phrase in phrases_of(THOUGHTS, MASK):
        assert any(phrase.text in thought.text for thought in THOUGHTS)
        assert MASK.leaked_words(phrase.text) == ()
        assert lint(phrase.text) == []


def test_a_sentence_of_a_longer_thought_counts_too():
    texts = [phrase.text for phrase in phrases_of(THOUGHTS, MASK)]

    assert "I should try a different search." in texts


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("I see.", "2 words"),
        ("Searching again would help here.", "first person"),
        ("It says that I need more.", "points at something"),
        ("I should look up his birth date.", "only its run knows"),
        ("Should I search for it again?", "whole statement"),
        ("I should use <answer> to end this.", "reserved tag"),
        ("I should open [5] and read it.", "brackets"),
        ("I " * 40 + ".", "40 words"),
    ],
)
def test_the_lint_says_what_is_wrong(text, problem):
    assert any(problem in said for said in lint(text))


def test_a_good_candidate_has_no_complaint():
    assert lint("I do not know this yet, so I should look it up.") == []
