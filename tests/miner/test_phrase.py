"""Phrases are sentences of the traces that stand on their own."""

from runs import AGAIN, ANSWER, NEXT, runs

from forethought.miner.abstract import Generalizer
from forethought.miner.lint import lint
from forethought.miner.mask import Mask
from forethought.miner.phrase import phrases_of
from forethought.miner.thoughts import thoughts_of

THOUGHTS = list(thoughts_of(runs(60)))
MASK = Mask.fit(THOUGHTS)
GENERAL = Generalizer(MASK)


def test_the_habitual_sentences_are_found_with_their_counts():
    found = {phrase.text: phrase for phrase in phrases_of(THOUGHTS, GENERAL)}

    assert found[AGAIN].count == 20
    assert found[ANSWER].questions == 60
    assert NEXT in found


def test_no_phrase_carries_a_word_of_an_instance_and_a_written_one_was_written():
    for phrase in phrases_of(THOUGHTS, GENERAL):
        found = any(phrase.text in thought.text for thought in THOUGHTS)
        assert found or not phrase.is_written
        assert MASK.leaked_words(phrase.text) == ()
        assert lint(phrase.text) == []


def test_a_sentence_of_a_longer_thought_counts_too():
    texts = [phrase.text for phrase in phrases_of(THOUGHTS, GENERAL)]

    assert "I should try a different search." in texts
