"""Masking: takes out of a thought what belongs only to its question, so that moves and not topics are compared.

First the mask rules take what is an instance by its looks (dates, URLs, quotes, code). Then each word is judged: it is
kept if enough different questions' thoughts of its language use it (document frequency over questions) and this run does
not own it. Words with digits, names (a capital inside a sentence, in languages where that says name) and words of the
question, the earlier actions or observations go, unless they are function words or so common that they carry grammar
rather than topic.

What was taken stands in typed slots, from which the original can be filled in again. For the embedder each becomes FILLER,
which never reaches a candidate.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import regex

from .language import (
    Language,
    Span,
    WordMatch,
    fold,
    is_shouted,
    language,
    language_of,
    spans_of,
    word_matches,
    words,
)
from .mask_rules import MaskRules, shipped_rules
from .ownership import Owned, owned_by
from .slots import MaskedThought, Slot
from .thoughts import Instance, Thought

FILLER = "it"
MIN_SHARE = (
    0.03  # of questions whose thoughts use a word; about 166 of 4,239 word types pass on FireAct
)
COMMON_SHARE = (
    0.20  # above this a word is grammar ("the", "search") even where the question has it too
)
MIN_QUESTIONS = 20  # fewer questions than this say nothing about which words are common
FEW_RUNS = 3  # of fewer, a word that they share may be their topic
MOST_KNOWN = 200_000  # words of a language of which is remembered what they are

JOINTS = (" ", "-", "\u2011", " & ")  # between two parts of one name
LOOSE, TAKEN, KEPT, OWNED, SHARED = range(5)  # what is known of a character; of a word, that too
STRETCH = [bytes([mark]) for mark in range(4)]
MASKED = regex.compile(rb"[\0\3]+")  # LOOSE and OWNED


class Mask:
    """Word shares over questions by language, fitted once on *mine* thoughts, and the rules that go before."""

    def __init__(
        self, shares: Mapping[str, Mapping[str, float]], rules: MaskRules | None = None
    ) -> None:
        self.shares = shares
        self.rules = rules or shipped_rules()
        self._lexicons: dict[str, _Lexicon] = {}

    @classmethod
    def fit(cls, thoughts: Iterable[Thought], rules: MaskRules | None = None) -> "Mask":
        """Counts in how many questions' thoughts of its language each word occurs.

        Of few questions ownership decides, less the words that most of their runs hold: those belong to no run.
        """
        thoughts = sorted(thoughts, key=lambda thought: thought.question)
        spoken: defaultdict[str, Counter[str]] = defaultdict(
            Counter
        )  # by language: word -> questions
        questions = Counter[str]()
        for _, asked in groupby(thoughts, key=lambda thought: thought.question):
            found: defaultdict[str, set[str]] = defaultdict(set)
            for thought in asked:
                found[language_of(thought.text)].update(words(thought.text))
            questions.update(found.keys())
            for code, held in found.items():
                spoken[code].update(held)
        few = {code for code in spoken if questions[code] < MIN_QUESTIONS}
        shares = {c: _shares(spoken[c], questions[c]) for c in sorted(spoken.keys() - few)}
        for code in sorted(few):
            common = _held_by_most([t for t in thoughts if language_of(t.text) == code])
            shares[code] = {
                w: COMMON_SHARE if w in common else MIN_SHARE for w in sorted(spoken[code])
            }
        return cls(shares, rules)

    def apply(self, text: str, instance: "Instance | Owned | str" = "") -> MaskedThought:
        """`text` with every instance word replaced; runs of them become one FILLER."""
        scan = _Scan(self, text, owned_by(instance))
        return MaskedThought(
            text=scan.masked(),
            num_kept=scan.num_words - len(scan.dropped),
            num_words=scan.num_words,
            original=text,
            slots=scan.slots,
        )

    def leaked_words(self, text: str, instance: Instance | str = "") -> tuple[str, ...]:
        """The instance words that `text` still carries."""
        dropped = _Scan(self, text, owned_by(instance)).dropped
        return tuple(text[span.start : span.stop] for span in dropped)

    def leakage(self, text: str, thoughts: Iterable[Thought]) -> tuple[str, ...]:
        """The words of a candidate that come from its sources: they stand in the instance of one of `thoughts` and are
        no words of moves. A word that nobody's thoughts use and no source holds is the writer's own, and no leak.
        """
        dropped = _Scan(self, text, owned_by("")).dropped
        found = {span.word: text[span.start : span.stop] for span in dropped}
        owners = [owned_by(thought.owned) for thought in thoughts] if found else []
        return tuple(found[word] for word in found if any(word in owned for owned in owners))

    def lexicon(self, text: str) -> "_Lexicon":
        """The words of the language of `text`."""
        code = language_of(text)
        found = self._lexicons.get(code)
        if found is None:
            found = _Lexicon(language(code), self.shares.get(code, {}))
            self._lexicons[code] = found
        return found


class _Word(NamedTuple):
    """What is known of a word wherever it stands: it stays (KEPT), it stays unless the run owns it (SHARED), or it goes (LOOSE);
    a digit makes it go in any case, a capital where that marks a name."""

    folded: str
    verdict: int
    has_digit: bool
    is_capital: bool


class _Lexicon(dict[str, _Word]):
    """The words of a language as they were written, each judged when it is first met."""

    def __init__(self, language: Language, shares: Mapping[str, float]) -> None:
        super().__init__()
        self.language, self.shares = language, shares

    def __missing__(self, written: str) -> _Word:
        if len(self) >= MOST_KNOWN:
            self.clear()
        word = fold(written)
        is_capital = written[0].isupper() and not _is_first_person(written)
        self[written] = found = _Word(word, self._verdict(word), _has_digit(word), is_capital)
        return found

    def pair(self, pair: str, owned: Owned) -> int:
        """KEPT, OWNED or LOOSE for a pair of characters of a script without spaces."""
        if _has_digit(pair):
            return OWNED
        verdict = self._verdict(pair)
        if verdict == KEPT or self.language.words.issuperset(pair):  # of function characters
            return KEPT
        if pair in owned:
            return OWNED
        return KEPT if verdict == SHARED else LOOSE

    def _verdict(self, word: str) -> int:
        share = self.shares.get(word, 0.0)
        if word in self.language.words or share >= COMMON_SHARE:
            return KEPT
        return SHARED if share > 0 else LOOSE


class _Scan:
    """One pass over a text: how many words it has, those of which anything is masked, and the slots."""

    def __init__(self, mask: Mask, text: str, owned: Owned) -> None:
        self.text, self.owned = text, owned
        self.marks = bytearray(len(text))
        self.num_words = 0
        self.dropped: list[Span] = []
        taken = mask.rules.take(text)
        for start, stop, _ in taken:
            self.marks[start:stop] = STRETCH[TAKEN] * (stop - start)
        slots = [self._slot(rule.kind, start, stop, rule.name) for start, stop, rule in taken]
        self.is_broken = bool(taken)
        self.lexicon = mask.lexicon(text)
        self.names = self.lexicon.language.capitals_name and not is_shouted(text)
        for match in word_matches(text):
            slots += self._run(match) if match.lastgroup else self._word(match)
        if len(slots) > 1:
            slots = [*self._with_whole_names(sorted(slots, key=lambda slot: slot.start))]
        self.slots = tuple(slots)

    def masked(self) -> str:
        """The text with FILLER in the place of slots; one for neighbours that at most a comma parts."""
        pieces: list[str] = []
        position = 0
        for slot in self.slots:
            gap = self.text[position : slot.start]
            beside = pieces and self.marks.find(KEPT, position, slot.start) < 0
            if not (beside and len(gap.strip()) <= 1):
                pieces += [_spaced(gap), FILLER]
            position = slot.stop
        return " ".join("".join([*pieces, _spaced(self.text[position:])]).split())

    def _word(self, match: WordMatch) -> Sequence[Slot]:
        """Marks a word as kept, or gives its slot; of one that a rule took part of, nothing is kept."""
        start, stop = match.span()
        word = self.lexicon[match.group()]
        self.num_words += 1
        is_broken = self.is_broken and self.marks.find(TAKEN, start, stop) >= 0
        if not is_broken and self._stays(word, start):
            self.marks[start:stop] = STRETCH[KEPT] * (stop - start)
            return ()
        self.dropped.append(Span(start, stop, word.folded))
        return [*self._gaps(match)] if is_broken else (self._masked(match, start, stop),)

    def _stays(self, word: _Word, start: int) -> bool:
        if word.has_digit:
            return False
        if word.is_capital and self.names and not _opens_sentence(self.text, start):
            return False
        return word.verdict == KEPT or (word.verdict == SHARED and word.folded not in self.owned)

    def _run(self, match: WordMatch) -> Iterator[Slot]:
        """Marks which characters of a run without spaces are kept, and gives the slots between."""
        owned: list[Span] = []
        spans = spans_of(match)
        for span in spans:
            verdict = self.lexicon.pair(span.word, self.owned)
            if verdict == OWNED:
                owned.append(span)
            elif verdict == KEPT:
                self._write(KEPT, span)
        for span in owned:  # last: a pair across the border of a name must not save its character
            self._write(OWNED, span)
        self.num_words += len(spans)
        self.dropped += [s for s in spans if self.marks[s.start : s.stop].strip(STRETCH[KEPT])]
        yield from self._gaps(match)

    def _write(self, mark: int, span: Span) -> None:
        """Marks a pair of which no rule took anything; of one that was broken, nothing is kept."""
        start, stop, _ = span
        if self.marks.find(TAKEN, start, stop) < 0:
            self.marks[start:stop] = STRETCH[mark] * (stop - start)

    def _gaps(self, match: WordMatch) -> Iterator[Slot]:
        """What no rule took and nobody keeps of a word or a run."""
        for gap in MASKED.finditer(self.marks, match.start(), match.end()):
            yield self._masked(match, gap.start(), gap.end())

    def _masked(self, match: WordMatch, start: int, stop: int) -> Slot:
        """The slot of characters [start, stop) of the match."""
        word = self.text[start:stop]
        if _has_digit(word):
            return self._slot("NUMBER" if word[0].isdigit() else "ID", start, stop, "digit")
        if self.names and word[0].isupper() and self._is_named(match):
            return self._slot("NAME", start, stop, "capital")
        return self._slot("WORD", start, stop, "topic")

    def _is_named(self, match: WordMatch) -> bool:
        """A capital says name, at the beginning of a sentence only for what the run holds."""
        return not _opens_sentence(self.text, match.start()) or fold(match.group()) in self.owned

    def _with_whole_names(self, slots: Iterable[Slot]) -> Iterator[Slot]:
        """Neighbouring names as one."""
        last: Slot | None = None
        for slot in slots:
            gap = self.text[last.stop : slot.start] if last else ""
            if last and last.kind == slot.kind == "NAME" and gap in JOINTS:
                last = self._slot("NAME", last.start, slot.stop, slot.rule)
                continue
            if last:
                yield last
            last = slot
        if last:
            yield last

    def _slot(self, kind: str, start: int, stop: int, rule: str) -> Slot:
        text = self.text[start:stop]
        return Slot(kind, start, stop, text, self.owned.owner(words(text)), rule)


def _shares(counts: Mapping[str, int], num_questions: int) -> dict[str, float]:
    """Share of questions for each word that enough of them use."""
    floor = MIN_SHARE * num_questions
    return {w: n / num_questions for w, n in sorted(counts.items()) if n >= floor}


def _held_by_most(thoughts: Iterable[Thought]) -> set[str]:
    """The words that stand in the instances of at least half of the questions, and of FEW_RUNS."""
    held: defaultdict[str, set[str]] = defaultdict(set)
    for thought in thoughts:
        for _, piece in owned_by(thought.owned).pieces:
            held[thought.question] |= piece
    counts = Counter(word for found in held.values() for word in found)
    return {word for word, n in counts.items() if n >= max(FEW_RUNS, len(held) / 2)}


def _has_digit(word: str) -> bool:
    return not word.isalpha() and any(map(str.isdigit, word))


def _spaced(gap: str) -> str:
    """A kept stretch of text, set off from the filler where no spaces are written."""
    before = " " if gap[:1].isalnum() else ""
    return before + gap + (" " if gap[-1:].isalnum() else "")


def _is_first_person(word: str) -> bool:
    return word == "I" or word[:2] in ("I'", "I’")


def _opens_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 16) : start].rstrip(" \t\"'“(*#•-")
    return (not before and start <= 16) or before[-1:] in tuple(".!?:\n。！？：…؟।")
