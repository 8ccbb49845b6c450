"""What masking keeps and what it takes out."""

import random
import time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from runs import AGAIN, runs

from forethought.data.errors import InvalidRules
from forethought.miner.mask import FILLER, Mask, words
from forethought.miner.mask_rules import MaskRules, Rule
from forethought.miner.slots import Owner, fill
from forethought.miner.thoughts import Instance, Stage, Thought, thoughts_of

FITTED = Mask.fit(thoughts_of(runs(60)))


def thought(text: str, question: str = "q", instance: Instance | str = "") -> Thought:
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


TEXTS = st.text(max_size=200) | st.text(
    alphabet="<_>NAME1 aB'\"`我们é\u0301\u200f😀\n", max_size=60
)


@given(TEXTS, TEXTS)
def test_any_text_is_masked_without_a_word_more(text, instance):
    masked = FITTED.apply(text, instance)

    assert 0 <= masked.num_kept <= masked.num_words == len(words(text))
    assert masked.is_whole == (not masked.slots)
    assert len(FITTED.leaked_words(text, instance)) == masked.num_words - masked.num_kept
    assert set(words(masked.text)) <= set(words(text)) | {FILLER}


@given(TEXTS, TEXTS)
def test_filling_the_slots_gives_the_original_again(text, instance):
    masked = FITTED.apply(text, instance)

    assert fill(masked.typed, masked.values) == text
    assert all(text[slot.start : slot.stop] == slot.text for slot in masked.slots)
    assert all(a.stop <= b.start for a, b in zip(masked.slots, masked.slots[1:], strict=False))


def test_slots_say_what_was_taken_and_who_owns_it():
    masked = FITTED.apply(
        "I need to search for Aldo Moro, a@b.org and https://a.example on May 3, 1517.",
        Instance("Who was Aldo Moro?", ("a@b.org",), ("see May 3, 1517 and more",)),
    )

    assert [(slot.kind, slot.text, slot.owner) for slot in masked.slots] == [
        ("NAME", "Aldo Moro", Owner.QUESTION),
        ("EMAIL", "a@b.org", Owner.ACTION),
        ("URL", "https://a.example", Owner.UNSEEN),
        ("DATE", "May 3, 1517", Owner.OBSERVATION),
    ]
    assert masked.typed == "I need to search for <NAME_1>, <EMAIL_1> and <URL_1> on <DATE_1>."


def test_the_same_value_has_the_same_slot():
    assert FITTED.apply("I need Aldo, then Berta, then Aldo again.").typed == (
        "I need <NAME_1>, then <NAME_2>, then <NAME_1> again."
    )


def test_a_name_of_several_words_is_one_value():
    assert FITTED.apply("I need Aldo & Berta Cecil-Dora, then Ulm.").typed == (
        "I need <NAME_1>, then <NAME_2>."
    )


def test_a_text_that_holds_our_slots_is_filled_in_all_the_same():
    masked = FITTED.apply("I need <NAME_1> and Aldo.")

    assert masked.typed == "I need <CODE_1> and <NAME_1>."
    assert fill(masked.typed, masked.values) == "I need <NAME_1> and Aldo."


@pytest.mark.parametrize(
    "text",
    ["a" * 10**6, '"' * 10**6, "“" * 10**6, "`" * 10**6],
    ids=["a", "quote", "curly", "tick"],
)
def test_a_megabyte_of_one_character_is_masked_at_once(text):
    started = time.process_time()
    FITTED.apply(text)

    assert time.process_time() - started < 1


def test_a_pattern_that_never_ends_is_refused_by_name():
    rules = MaskRules([Rule("endless", "CODE", regex.compile("^(?:a|a|aa)+$"))])

    with pytest.raises(InvalidRules, match=r"'endless' takes over 0.3 s on a text of 41 char"):
        Mask.fit([], rules).apply("a" * 40 + "b")


def test_shares_are_counted_within_a_language():
    english = [thought(f"I need to search {i}.", f"q{i}") for i in range(100)]
    chinese = [thought(f"我需要搜索第{i}页", f"z{i}") for i in range(20)]
    mask = Mask.fit([*english, *chinese])

    assert mask.apply("我需要搜索第1页").text == f"我需要搜索第 {FILLER} 页"
    assert mask.apply("我需要阅读第1页").text == f"我需要 {FILLER} 页"
    assert mask.apply("I need to search.").is_whole


def test_a_chinese_name_goes_whole_though_pairs_across_its_border_are_unknown_to_the_question():
    mask = Mask.fit(thought("我需要先查北京的天气", f"q{i}") for i in range(3))

    masked = mask.apply("我需要先查北京的天气", "北京 天气")

    assert "北" not in masked.text and "京" not in masked.text and "天气" not in masked.text
    assert masked.text.startswith("我需要先查")


def test_a_capital_says_name_in_english_but_noun_in_german():
    german = "Ich muss zuerst die Antwort suchen, weil sie nicht bekannt ist."
    mask = Mask.fit(thought(german, f"q{i}") for i in range(30))

    assert mask.apply(german).is_whole
    assert not FITTED.apply("I need the Antwort.").is_whole


def test_of_few_questions_a_word_that_most_runs_hold_belongs_to_none():
    held = ["search the bridge of Ulm", "search the opera of Bonn", "search the harbour of Kiel"]
    mask = Mask.fit(thought("I need to search the bridge.", text, text) for text in held)

    assert (
        mask.apply("I need to search the bridge.", held[0]).text
        == f"I need to search the {FILLER}."
    )


def test_a_negation_is_grammar_though_the_run_holds_it():
    assert "don't" in FITTED.apply("I don't need to search.", "They don't search.").text


def test_capitals_say_nothing_where_all_shout():
    mask = Mask.fit(thought(AGAIN, f"q{i}") for i in range(30))

    assert mask.apply(AGAIN.upper()).is_whole
    assert not mask.apply("The search result does not provide NASA").is_whole


def test_right_to_left_text_keeps_its_common_words_and_its_order():
    arabic = "أحتاج إلى البحث عن عاصمة بيرو"
    mask = Mask.fit(thought(arabic, f"q{i}") for i in range(3))

    masked = mask.apply(arabic, "عاصمة بيرو")

    assert masked.text == f"أحتاج إلى البحث عن {FILLER}"
    assert fill(masked.typed, masked.values) == arabic


def test_leakage_names_words_of_the_sources_and_not_a_writers_own():
    source = thought(
        "I need the bridge.", instance=Instance("Who built the bridge of Ulm?", ("Aldo",))
    )

    assert FITTED.leakage("I should peruse what Aldo of Ulm and Zeno wrote.", [source]) == (
        "Aldo",
        "Ulm",
    )
    assert FITTED.leakage(AGAIN, [source]) == ()
    assert FITTED.leakage("I should peruse what Aldo wrote.", []) == ()
