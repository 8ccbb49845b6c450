"""What language and script say about words: where they begin and end, which are grammar, what a capital means.

The language is told by letters (Chinese, Russian ...) or else by counting function words, and is English in doubt: a
guess that is good for choosing a word list, and for nothing finer. Scripts that write no spaces (Chinese, Japanese,
Thai, Lao, Khmer, Burmese) have no words here but overlapping pairs of characters: pairs need no dictionary, and most
Chinese words are pairs.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

import regex
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

ENGLISH = "en"
FUNCTION_WORDS = Path(__file__).with_name("function_words.toml")
UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
LETTER = rf"[^\W_{UNSPACED}]"
WORD = regex.compile(rf"(?P<unspaced>[{UNSPACED}]+)|{LETTER}+(?:['’\u200c]{LETTER}+)*")
ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")  # WORD in a text of nothing else
ASCII_LETTERS = re.compile("[A-Za-z0-9]+")
LETTERS = regex.compile(rf"{LETTER}+")
CAPITALS = regex.compile(r"\p{Lu}{2}")
LATIN_WORD = regex.compile(r"\p{Latin}{2,}")
SCRIPTS = regex.compile(
    r"(?P<Latin>\p{Latin}+)|(?P<Kana>[\p{Hiragana}\p{Katakana}ー])|(?P<Han>\p{Han})|(?P<Thai>\p{Thai})"
    r"|(?P<Cyrillic>\p{Cyrillic}+)|(?P<Arabic>\p{Arabic}+)|(?P<Hebrew>\p{Hebrew}+)|(?P<Greek>\p{Greek}+)"
    r"|(?P<Hangul>\p{Hangul}+)|(?P<Devanagari>[\p{Devanagari}]+)"
)
WordMatch: TypeAlias = re.Match[str] | regex.Match
MIN_EVIDENCE = 2  # function words of another language before a text is not taken for English
KANA_SHARE = 0.1  # of the characters of a text in Han and kana that make it Japanese


class Language(NamedTuple):
    """`words` are its function words; `capitals_name` says that a capital inside a sentence marks a name."""

    words: frozenset[str]
    capitals_name: bool


class Span(NamedTuple):
    """A word's place in its text and its folded form; pairs of characters overlap."""

    start: int
    stop: int
    word: str


def words(text: str) -> list[str]:
    """The words of `text`, case-folded, in order."""
    if text.isascii():  # the same, ten times faster; observations are long
        return ASCII_WORD.findall(text.lower())
    return [span.word for match in WORD.finditer(text) for span in spans_of(match)]


def word_matches(text: str) -> Iterator[WordMatch]:
    """The matches of WORD in `text`."""
    return ASCII_WORD.finditer(text) if text.isascii() else WORD.finditer(text)


def spans_of(match: WordMatch) -> list[Span]:
    """The words within a match of WORD: itself, or the pairs of characters of a script without spaces."""
    start, stop = match.span()
    text = match.group()
    if match.lastgroup is None:
        return [Span(start, stop, fold(text))]
    if len(text) == 1:
        return [Span(start, stop, text)]
    return [Span(start + i, start + i + 2, text[i : i + 2]) for i in range(len(text) - 1)]


def fold(word: str) -> str:
    return word.casefold().replace("’", "'")


@lru_cache(maxsize=4096)
def language_of(text: str) -> str:
    """A language's code as in function_words.toml, else the name of the script; English in doubt."""
    script = "Latin" if text.isascii() else _script(text)
    if script != "Latin":
        return _by_script().get(script, script)
    found = (ASCII_LETTERS if text.isascii() else LETTERS).findall(
        text
    )  # as written: "Der" is none
    spoken_in = _spoken_in()
    evidence = [codes for word in found if (codes := spoken_in.get(word))]
    if sum(codes != (ENGLISH,) for codes in evidence) < MIN_EVIDENCE:
        return ENGLISH
    counts = Counter(code for codes in evidence for code in codes)
    english = counts.pop(ENGLISH, 0)
    best = max(sorted(counts), key=lambda code: counts[code], default=ENGLISH)
    return best if counts.get(best, 0) >= max(MIN_EVIDENCE, english + 1) else ENGLISH


@cache
def language(code: str) -> Language:
    """What is known of a language: function words (English ones always count, for mixed texts) and capitals."""
    known = _known().get(code, {})
    listed = known.get("words", "") + _known()[ENGLISH]["words"]
    return Language(
        frozenset(listed.split()) | ENGLISH_STOP_WORDS, known.get("capitals") != "nouns"
    )


def is_shouted(text: str) -> bool:
    """Most words are all capitals, so that capitals say nothing."""
    if not CAPITALS.search(text):
        return False
    found = LATIN_WORD.findall(text)
    return 2 * sum(word.isupper() for word in found) > len(found) > 1


def _script(text: str) -> str:
    """The script of most words; a character counts as a word where no spaces are written."""
    counts = Counter(match.lastgroup or "" for match in SCRIPTS.finditer(text))
    counts["Han"] += counts["Kana"]
    best = max(sorted(counts), key=lambda name: counts[name])
    if best == "Han" and counts["Kana"] >= KANA_SHARE * counts["Han"]:
        return "Kana" if counts["Han"] else "Latin"
    return best if counts[best] else "Latin"


@cache
def _known() -> dict[str, dict[str, str]]:
    return tomllib.loads(FUNCTION_WORDS.read_text("utf-8"))


@cache
def _by_script() -> dict[str, str]:
    return {known["script"]: code for code, known in _known().items() if "script" in known}


@cache
def _spoken_in() -> dict[str, tuple[str, ...]]:
    """Each function word of a language in Latin letters, with the languages that have it."""
    lists = {
        code: known["words"].split() for code, known in _known().items() if "script" not in known
    }
    found: dict[str, list[str]] = {}
    for code, listed in {**lists, ENGLISH: sorted(ENGLISH_STOP_WORDS)}.items():
        for word in dict.fromkeys(listed):
            found.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in found.items()}
