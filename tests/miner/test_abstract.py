"""Sentences of one question, said of any."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forethought.miner.abstract import Generalizer, abstractions
from forethought.miner.mask import Mask, words
from forethought.miner.thoughts import Instance, Stage, Thought

COMMON = (
    "i need to search for this that next now find out the does not mention provide answer is it have again "
    "result which so first then these those observation"
).split()
MASK = Mask({"en": {word: 0.5 for word in COMMON}})
QUESTION = "Which magazine was started first, Arthur's Magazine or First for Women?"
OBSERVATION = "The Lady is a British weekly; its publication date is 1885."


def thought(text: str) -> Thought:
    owned = Instance(QUESTION, (), (OBSERVATION,))
    return Thought("t:0", QUESTION, text, Stage.SECOND, owned, "search")


def said(text: str) -> list[str]:
    return list(abstractions(MASK.apply(text, thought(text).owned)))


@pytest.mark.parametrize(
    ("sentence", "general"),
    [
        ("I need to search Arthur's Magazine next.", "I need to search this next."),
        ("I need to search for the magazine started first.", "I need to search for this."),
        (
            "Now I need to find out which magazine was started first.",
            "Now I need to find this out.",
        ),
        ("The result does not mention the publication date.", "The result does not mention that."),
        ("Now I need to search for The Lady again.", "Now I need to search for that again."),
        ("So the answer is The Lady.", "So the answer is that."),
    ],
)
def test_what_belongs_to_the_question_is_this_and_what_the_run_read_is_that(sentence, general):
    assert general in said(sentence)


@pytest.mark.parametrize(
    "sentence",
    ["I need to search again.", "Arthur sleeps magazine lady.", "", "The Lady 1885 weekly dates."],
)
def test_nothing_is_said_where_nothing_can_be_exchanged(sentence):
    assert said(sentence) == []


@given(
    st.lists(
        st.sampled_from([*COMMON, "Arthur's", "Lady", "weekly", "1885", "magazine", ".", ","]),
        max_size=14,
    )
)
@settings(max_examples=200, deadline=None)
def test_what_is_said_holds_no_word_of_the_run_and_invents_none_but_the_pronouns(pieces):
    sentence = " ".join(pieces)
    for general in said(sentence):
        assert MASK.apply(general, thought(sentence).owned).is_whole
        assert set(words(general)) <= set(words(sentence)) | {"this", "that", "these", "those"}


def test_a_thought_in_general_keeps_its_free_sentences_and_masks_what_cannot_be_said():
    text = "The Lady is weekly. I need to search again. I need to search for the magazine started first."

    general = Generalizer(MASK).say(thought(text))

    assert "I need to search again." in general
    assert general.endswith("I need to search for this.")
    assert "Lady" not in general
    assert "weekly" not in general


def test_two_questions_first_steps_are_the_same_sentence_in_general():
    other = Thought(
        "u:0",
        "Who founded Ezhou?",
        "I need to search for who founded Ezhou.",
        Stage.OPENING,
        "Who founded Ezhou?",
        "search",
    )

    mine = thought("I need to search for which magazine was started first.")
    assert Generalizer(MASK).say(other) == Generalizer(MASK).say(mine)


def test_what_every_prompt_makes_agents_say_is_left_out_and_a_common_move_is_not():
    texts = [
        f"After Search {n}, the only possible actions are these. I need to search again."
        for n in range(30)
    ]
    thoughts = [
        Thought(f"t{n}:0", f"question {n}", text, Stage.SECOND, f"question {n}", "search")
        for n, text in enumerate(texts)
    ]

    general = Generalizer.fit(thoughts, Mask.fit(thoughts))

    assert {general.say(thought) for thought in thoughts} == {"I need to search again."}
