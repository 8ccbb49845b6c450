"""What language a text is taken for, and where its words are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.miner.language import WORD, language_of, spans_of, words


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "I need to search for the capital of Peru."),
        ("en", "Search for Universidad de la Habana"),
        ("en", "Der Spiegel and Die Zeit"),
        ("en", "I should look up 北京 next"),
        ("en", ""),
        ("en", "😀 42"),
        ("de", "Ich muss zuerst nach der Hauptstadt von Peru suchen."),
        ("fr", "Je dois chercher la capitale du Pérou."),
        ("es", "Tengo que buscar la capital de Perú."),
        ("ru", "Мне нужно найти столицу Перу"),
        ("ar", "أحتاج إلى البحث عن عاصمة بيرو"),
        ("zh", "我需要搜索 DeerFlow GitHub repository"),
        ("ja", "ペルーの首都を検索する必要があります"),
        ("Hangul", "페루의 수도를 찾아야 한다"),
    ],
)
def test_a_text_is_taken_for_the_language_of_its_letters_or_of_its_function_words(code, text):
    assert language_of(text) == code


def test_words_keep_their_marks_and_apostrophes():
    assert words("Don’t नमस्ते e\u0301t\u0301") == ["don't", "नमस्ते", "e\u0301t\u0301"]


def test_scripts_without_spaces_are_read_in_pairs():
    assert words("我们查Python吧") == ["我们", "们查", "python", "吧"]


@given(st.text(max_size=80) | st.text(alphabet="aB'1_ é’", max_size=30))
def test_the_quick_way_to_words_is_the_same_as_the_spans(text):
    assert words(text) == [span.word for match in WORD.finditer(text) for span in spans_of(match)]
