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
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import NamedTuple

import regex

from .language import WORD, Language, Span, fold, is_shouted, language, language_of, spans_of, words
from .mask_rules import MaskRules, shipped_rules
from .slots import MaskedThought, Owner, Slot
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

JOINTS = (" ", "-", "\u2011", " & ")  # between two parts of one name
LOOSE, TAKEN, KEPT, OWNED = range(4)  # what is known of a character
STRETCH = [bytes([mark]) for mark in range(4)]
MASKED = regex.compile(rb"[\0\3]+")  # LOOSE and OWNED


class Mask:
    """Word shares over questions by language, fitted once on *mine* thoughts, and the rules that go before."""

    def __init__(
        self, shares: Mapping[str, Mapping[str, float]], rules: MaskRules | None = None
    ) -> None:
        self.shares = shares
        self.rules = rules or shipped_rules()

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
            num_kept=len(scan.spans) - len(scan.dropped),
            num_words=len(scan.spans),
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

    def keeps(self, match: regex.Match, text: str, owned: Container[str]) -> bool:
        """Whether the word that WORD matched in `text` stays, by the words' own rules."""
        spoken = _Spoken.of(text, self)
        spans = spans_of(match)
        return all(self.judge(span, match, text, spoken, owned) == KEPT for span in spans)

    def judge(
        self, span: Span, match: regex.Match, text: str, spoken: "_Spoken", owned: Container[str]
    ) -> int:
        """KEPT, OWNED (this run's: a name, a number, or a word that it holds) or LOOSE (too rare)."""
        if _has_digit(span.word) or (spoken.names and _is_name(match.group(), text, match.start())):
            return OWNED
        share = spoken.shares.get(span.word, 0.0)
        if span.word in spoken.language.words or share >= COMMON_SHARE:
            return KEPT
        if match.lastgroup and spoken.language.words.issuperset(span.word):
            return KEPT  # a pair of function characters
        if span.word in owned:
            return OWNED
        return KEPT if share > 0 else LOOSE


class _Spoken(NamedTuple):
    """How a text speaks: its language, the shares of words in it, and whether capitals mean names here."""

    language: Language
    shares: Mapping[str, float]
    names: bool

    @classmethod
    def of(cls, text: str, mask: Mask) -> "_Spoken":
        code = language_of(text)
        known = language(code)
        return cls(known, mask.shares.get(code, {}), known.capitals_name and not is_shouted(text))


@dataclass(frozen=True)
class Owned:
    """The words of a run by owner, piece by piece, so that pieces are read once for all turns that saw them."""

    pieces: tuple[tuple[Owner, frozenset[str]], ...]

    def __contains__(self, word: object) -> bool:
        return any(word in held for _, held in self.pieces)

    def within(self, words: Collection[str]) -> "Owned":
        """What of it is among `words`; masks a text of these words alike."""
        shared = ((owner, held.intersection(words)) for owner, held in self.pieces)
        return Owned(tuple(dict.fromkeys(piece for piece in shared if piece[1])))

    def owner(self, found: Iterable[str]) -> Owner:
        """The first owner one of whose texts holds all the words."""
        wanted = set(found)
        return next((o for o, held in self.pieces if wanted and wanted <= held), Owner.UNSEEN)


def owned_by(instance: Instance | Owned | str) -> Owned:
    """The words of an instance; those of a str count as the question's."""
    if isinstance(instance, Owned):
        return instance
    if isinstance(instance, str):
        instance = Instance(instance)
    pieces = [(Owner.QUESTION, instance.question)]
    pieces += [(Owner.ACTION, text) for text in instance.actions]
    pieces += [(Owner.OBSERVATION, text) for text in instance.observations]
    return Owned(tuple((owner, _words_of(text)) for owner, text in pieces))


@lru_cache(
    maxsize=2048
)  # a run's turns are masked one after the other, and share their observations
def _words_of(text: str) -> frozenset[str]:
    return frozenset(words(text))


class _Scan:
    """One pass over a text: the words in it, those that are dropped, and the slots."""

    def __init__(self, mask: Mask, text: str, owned: Owned) -> None:
        self.text, self.owned = text, owned
        self.marks = bytearray(len(text))
        self.spans: list[Span] = []
        taken = mask.rules.take(text)
        for start, stop, _ in taken:
            self.marks[start:stop] = STRETCH[TAKEN] * (stop - start)
        slots = [self._slot(rule.kind, start, stop, rule.name) for start, stop, rule in taken]
        spoken = _Spoken.of(text, mask)
        for match in WORD.finditer(text):
            self._mark(match, mask, spoken)
            if self.marks[match.start()] != KEPT or match.lastgroup:
                slots += self._word_slots(match, spoken)
        self.slots = tuple(self._with_whole_names(sorted(slots, key=lambda slot: slot.start)))

    @cached_property
    def dropped(self) -> list[Span]:
        """The words of which anything was masked."""
        return [s for s in self.spans if self.marks[s.start : s.stop].strip(STRETCH[KEPT])]

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

    def _mark(self, match: regex.Match, mask: Mask, spoken: _Spoken) -> None:
        """Writes down which characters of a word, or of a run without spaces, are kept."""
        owned: list[Span] = []
        for span in spans_of(match):
            self.spans.append(span)
            verdict = mask.judge(span, match, self.text, spoken, self.owned)
            if verdict == OWNED:
                owned.append(span)
            elif verdict == KEPT:
                self._write(KEPT, span)
        for span in owned:  # last: a pair across the border of a name must not save its character
            self._write(OWNED, span)

    def _write(self, mark: int, span: Span) -> None:
        """Marks a word of which no rule took anything; of one that was broken, nothing is kept."""
        start, stop, _ = span
        if self.marks.find(TAKEN, start, stop) < 0:
            self.marks[start:stop] = STRETCH[mark] * (stop - start)

    def _word_slots(self, match: regex.Match, spoken: _Spoken) -> Iterator[Slot]:
        """What no rule took and nobody keeps of a word; a whole word unless a rule took part of it."""
        for gap in MASKED.finditer(self.marks, match.start(), match.end()):
            start, stop = gap.start(), gap.end()
            word = self.text[start:stop]
            if _has_digit(word):
                yield self._slot("NUMBER" if word[0].isdigit() else "ID", start, stop, "digit")
            elif spoken.names and word[0].isupper() and self._is_named(match):
                yield self._slot("NAME", start, stop, "capital")
            else:
                yield self._slot("WORD", start, stop, "topic")

    def _is_named(self, match: regex.Match) -> bool:
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
    return not word.isalpha() and any(character.isdigit() for character in word)


def _spaced(gap: str) -> str:
    """A kept stretch of text, set off from the filler where no spaces are written."""
    before = " " if gap[:1].isalnum() else ""
    return before + gap + (" " if gap[-1:].isalnum() else "")


def _is_name(word: str, text: str, start: int) -> bool:
    return word[0].isupper() and not _is_first_person(word) and not _opens_sentence(text, start)


def _is_first_person(word: str) -> bool:
    return word == "I" or word[:2] in ("I'", "I’")


def _opens_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 16) : start].rstrip(" \t\"'“(*#•-")
    return (not before and start <= 16) or before[-1:] in tuple(".!?:\n。！？：…؟।")
