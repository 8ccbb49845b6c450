"""What is wrong with a text as a candidate, rule by rule; every mined, rewritten or hand-written text meets it.

Knows the text, and what `LintSettings` hand in: tools, instance words, a way to count tokens. It knows no model and
no trace. Each rule is a row of RULES. A *blocking* problem keeps a text out of an automatic set; a *flag* asks a person to
look. The rules that read English are left out for other languages, and one flag says so.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

import numpy as np

from ..data.candidates import RESERVED
from ..data.identity import canonical
from . import cues
from .language import ENGLISH, language, language_of, words
from .split import IS_STEP, WIDE

CHINESE = "zh"
MIN_WORDS = 4
TOKENS_PER_WORD = 1.3  # English prose under common BPE vocabularies
QUOTED = 8  # words that a message lists
LONGEST = 2_000  # characters; a longer text is no candidate, whatever else it is

WHOLE = re.compile(r"[.!。！।۔][\"'”’)]?$")
PLACEHOLDER = re.compile(
    r"<[^<>]{1,40}>|\[[^\[\]]{0,40}\]|\{[^{}]{0,40}\}|_{2,}|\b[A-Z]{2,}_\d+\b|\b[XYZ]\b|\b(?:XXX|TODO|TBD)\b|\.{3}|…"
)
MARKUP = re.compile(r"[\n\r\t`*#|~\\]|https?://|www\.|[\x00-\x1f\x7f]")
FILLED = re.compile(
    r"\b(?:the|an?|this|that|these|those|my|its?|his|her|their|which|what|more|other|another|first|second)\s+it\b(?!\s+(?:is|was|'s)\b)"
    r"|\bit\s+(?:it|of|and\s+it)\b",
    re.IGNORECASE,
)
NAME = re.compile(r"(?<![.!?:]\s)(?<!^)(?<![\"'“(])\b(?!I\b|[A-Z]{2,4}\b)[A-ZÀ-ÖØ-Þ][^\W\d_]+|\d+")
SENTENCE_START = re.compile(r"(?:^|[.!?]\s+)[\"'“(]?([^\W\d_])")
PROSE = re.compile(r"[^\W\d_A-Z]+(?: [^\W\d_A-Z]+)*")
DOUBLED = re.compile(r"\b(\w+)\s+\1\b", re.IGNORECASE)
PAIRS = (("(", ")"), ("“", "”"), ("[", "]"), ("«", "»"))


class Severity(StrEnum):
    """What a problem does: keep the text out, or ask a person to look."""

    BLOCKING = "blocking"
    FLAG = "flag"


@dataclass(frozen=True)
class Problem:
    """One complaint: the rule's name, and a message that goes after "this text ..."."""

    rule: str
    message: str
    severity: Severity = Severity.BLOCKING

    def __str__(self) -> str:
        return self.message


def names(text: str) -> Sequence[str]:
    """Names and numbers by their form alone, where a capital says name: what a mask would know better."""
    found = NAME.findall(text)
    return found if found and language(language_of(text)).capitals_name else ()


def estimated_tokens(text: str) -> int:
    """Words times 1.3, rounded up; a character of a script without spaces is a token."""
    num_unspaced = len(WIDE.findall(text))
    return num_unspaced + ceil(TOKENS_PER_WORD * len(words(WIDE.sub(" ", text))))


@dataclass(frozen=True)
class LintSettings:
    """What a lint is told besides the text.

    `tools` are kinds of action as traces name them; `leaks` gives the instance words of a text: `Mask.leaked_words`
    where there is a mask, else names and numbers by their form. `rare` gives words that are no instance's for sure, but that
    hardly any thought uses.
    """

    tools: frozenset[str] = frozenset()
    leaks: Callable[[str], Sequence[str]] = names
    rare: Callable[[str], Sequence[str]] = lambda text: ()
    count_tokens: Callable[[str], int] = estimated_tokens
    max_tokens: int = 45
    max_similarity: float = 0.9  # two texts of a set may be no closer


DEFAULT = LintSettings()


def lint(text: str, settings: LintSettings = DEFAULT) -> list[Problem]:
    """What is wrong with `text` as a candidate, in the order of RULES; empty when nothing is. Never raises."""
    if len(text) > LONGEST:
        return [
            Problem("length", f"has {len(text)} characters; a candidate is one or two sentences")
        ]
    found = words(text)
    if not found:
        return [Problem("words", "has no words")]
    spoken = language_of(text)
    problems = [
        Problem(rule.name, message, rule.severity)
        for rule in RULES
        if (rule.reads is None or spoken in rule.reads)
        and (message := rule.finds(text, found, settings))
    ]
    if spoken != ENGLISH:
        problems.append(
            Problem("language", "is not checked for sense: it is not English", Severity.FLAG)
        )
    return problems


def is_blocked(problems: Sequence[Problem]) -> bool:
    """Whether any of them keeps the text out of an automatic set."""
    return any(problem.severity is Severity.BLOCKING for problem in problems)


def lint_set(
    texts: Sequence[str],
    settings: LintSettings = DEFAULT,
    similarity: np.ndarray | None = None,
) -> list[list[Problem]]:
    """The problems of each text by itself and among the others.

    `similarity` (texts, texts) is handed in by whoever has an embedder. Of two equal texts the later is blocked; two that
    are only near are both flagged, since which of them is better a person decides.
    """
    result = [lint(text, settings) for text in texts]
    first: dict[str, int] = {}
    for row, text in enumerate(texts):
        original = first.setdefault(" ".join(words(text)) or canonical(text), row)
        if original != row:
            result[row].append(
                Problem("unique", f"says the same as text {original + 1} of the set")
            )
        elif similarity is not None:
            result[row] += _too_near(row, similarity, settings.max_similarity)
    return result


def _too_near(row: int, similarity: np.ndarray, most: float) -> list[Problem]:
    others = np.delete(np.arange(len(similarity)), row)
    if not len(others):
        return []
    nearest = int(others[similarity[row, others].argmax()])
    if similarity[row, nearest] <= most:
        return []
    message = f"is hard to tell from text {nearest + 1} of the set ({similarity[row, nearest]:.2f})"
    return [Problem("distinct", message, Severity.FLAG)]


Finder = Callable[[str, list[str], LintSettings], str | None]


@dataclass(frozen=True)
class Rule:
    """`finds` takes the text, its case-folded words and the settings, and gives the message or None; `reads` the
    languages that it can read, None any."""

    name: str
    finds: Finder
    severity: Severity = Severity.BLOCKING
    reads: tuple[str, ...] | None = None


def _length(text: str, found: list[str], settings: LintSettings) -> str | None:
    tokens = settings.count_tokens(text)
    if tokens > settings.max_tokens:
        return f"has about {tokens} tokens; a candidate has at most {settings.max_tokens}"
    if len(found) < MIN_WORDS and not WIDE.search(text):
        return f"has {len(found)} words; a candidate has at least {MIN_WORDS}"
    return None


def _person(text: str, found: list[str], settings: LintSettings) -> str | None:
    if cues.FIRST_PERSON & set(found) or found[0] in cues.ACTION_VERBS:
        return None
    return "does not speak in the first person, nor begins with what to do"


def _says(text: str, found: list[str], settings: LintSettings) -> str | None:
    if cues.says(text) or found[0] in cues.ACTION_VERBS:
        return None
    return "says neither what is known or missing nor what to do next"


def _one_move(text: str, found: list[str], settings: LintSettings) -> str | None:
    """Two steps joined: after the first step, an "and", a "then" and another verb of action."""
    steps = [match.start() for match in IS_STEP.finditer(text)]
    start = steps[0] if steps else 0 if found[0] in cues.ACTION_VERBS else None
    if start is None:
        return None
    for match in cues.JOINED.finditer(text, start + 1):
        if match["verb"].casefold() in cues.ACTION_VERBS:
            return f"joins two moves at {' '.join(match.group().split())!r}"
    return None


def _tool(text: str, found: list[str], settings: LintSettings) -> str | None:
    named = [tool for tool in sorted(settings.tools) if _names_tool(text, tool)]
    return f"names the tool {', '.join(named[:QUOTED])}" if named else None


def _names_tool(text: str, tool: str) -> bool:
    """A tool whose name is ordinary words ("search", "go to") is named only where it is called or called a tool."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", tool)
    if not PROSE.fullmatch(tool) and (len(parts) > 1 or not tool.isalpha()):
        apart = r"[\W_]?".join(map(re.escape, parts)) or re.escape(tool)
        return re.search(rf"(?<!\w){apart}(?!\w)", text, re.IGNORECASE) is not None
    name = re.escape(tool)
    called = rf"(?<!\w){name}[\[(]|[`'\"“]{name}[`'\"”]|(?<!\w){name}(?:\s+|-)(?:tool|action|function|command|api|call)\b"
    return re.search(called, text, re.IGNORECASE) is not None


def _instance(text: str, found: list[str], settings: LintSettings) -> str | None:
    leaked = list(dict.fromkeys(settings.leaks(text)))
    return (
        f"has words that belong to few questions: {', '.join(leaked[:QUOTED])}" if leaked else None
    )


def _rare(text: str, found: list[str], settings: LintSettings) -> str | None:
    rare = list(dict.fromkeys(settings.rare(text)))
    return f"has words that hardly any thought uses: {', '.join(rare[:QUOTED])}" if rare else None


def _alone(text: str, found: list[str], settings: LintSettings) -> str | None:
    if found[0] in cues.DANGLING_START:
        return f"begins with {found[0]!r}, which points at something before it"
    if cues.PERSONS & set(found):
        return "speaks of a person that only its run knows"
    if not (cues.THINGS & set(found)):
        return None
    pronoun = min(found.index(word) for word in cues.THINGS & set(found))
    antecedents = {"the", "this", "these", "those", "each"} & set(found[: max(0, pronoun - 1)])
    return None if antecedents else "speaks of a thing that only its run knows"


def _grammar(text: str, found: list[str], settings: LintSettings) -> str | None:
    for match in DOUBLED.finditer(text):
        if match[1].casefold() not in cues.MAY_DOUBLE:
            return f"doubles the word {match[1]!r}"
    if found[-1] in cues.DANGLING_END:
        return f"ends with {found[-1]!r}, which leads on to nothing"
    starts = SENTENCE_START.findall(text.strip())
    if not starts or any(letter.islower() for letter in starts):
        return "has a sentence that does not begin with a capital"
    return None


def _whole(text: str, found: list[str], settings: LintSettings) -> str | None:
    if not WHOLE.search(text.strip()):
        return "is not a whole statement"
    for opening, closing in PAIRS:
        if text.count(opening) != text.count(closing):
            return f"has an unbalanced {opening} or {closing}"
    return "has an unbalanced quote" if text.count('"') % 2 else None


def _reserved(text: str, found: list[str], settings: LintSettings) -> str | None:
    tags = [tag for tag in RESERVED if tag in text.casefold()]
    return f"holds the reserved tag {tags[0]}" if tags else None


def _placeholder(text: str, found: list[str], settings: LintSettings) -> str | None:
    match = PLACEHOLDER.search(text)
    return f"holds a placeholder: {match.group()}" if match else None


def _filler(text: str, found: list[str], settings: LintSettings) -> str | None:
    match = FILLED.search(text)
    return f"holds the mask's filler: {match.group()!r}" if match else None


def _plain(text: str, found: list[str], settings: LintSettings) -> str | None:
    if MARKUP.search(text) or any(mark in text for mark in '[]{}<>"“”'):
        return "holds brackets, quotes, markup, an address or several lines"
    return None


RULES = (
    Rule("length", _length),
    Rule("person", _person, reads=(ENGLISH,)),
    Rule("says", _says, reads=(ENGLISH, CHINESE)),
    Rule("one-move", _one_move, reads=(ENGLISH,)),
    Rule("tool", _tool),
    Rule("instance", _instance),
    Rule("rare", _rare, Severity.FLAG),
    Rule("alone", _alone, reads=(ENGLISH,)),
    Rule("grammar", _grammar, reads=(ENGLISH,)),
    Rule("whole", _whole),
    Rule("reserved", _reserved),
    Rule("placeholder", _placeholder),
    Rule("filler", _filler, reads=(ENGLISH,)),
    Rule("plain", _plain),
)
