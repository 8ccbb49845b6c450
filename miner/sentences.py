"""Sentences of any text, as spans: Latin and CJK full stops, abbreviations, lists, paragraphs, and what is no sentence.

Knows punctuation and layout, no words but abbreviations. Linear in the length of the text, whatever the text.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..data.identity import canonical

HOLES = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"(?s:```.*?(?:```|\Z))",  # code; a block that never closes goes to the end
        r"^[ \t]*(?:Observation|Tool output|Output|Traceback|观察|結果)(?:[ \t]\d+)?[ \t]*[:：(].*(?:\n.+)*",
        r"^[ \t]*(?:>|\||#{1,6}[ \t]|[│├└]|\$[ \t]).*",  # quoted lines, tables, headings, trees, shell
        r"^[ \t]*(?:[-*_=][ \t]*){3,}$",  # rules
    )
)
QUOTED = re.compile(r'"[^"\n]*"|“[^“”\n]*”|「[^「」\n]*」')
MIN_QUOTED = 80  # characters; what is shorter is a title or a name
BRACKET = re.compile(r"[\[\]{}]")
DATA = re.compile(r"\{\s*[\"'{\[\n}]|\[\s*[\"'{\[\n]")  # how JSON begins, and [1] or {name} do not
BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
ITEM = re.compile(
    r"[ \t]*(?:[-*•+–]|\(?(?:\d{1,3}|[a-z])[.)、．])[ \t]+(?=\S)|[ \t]*(?:\d{1,3}[、．])"
)
LABEL = re.compile(
    r"\s*[*_]*(?:Thoughts?|Reasoning|Analysis|(?:New |Next )?Action|Plan|思考|分析)(?: \d+)?[*_]*[:：][*_]*[ \t]*",
    re.IGNORECASE,
)
END = re.compile(
    r"(?<![.!?…\s])[.!?…]++[\"'”’)\]»*_`]*+(?=\s|$)"  # Latin: a space must follow
    r"|(?<=[a-z`)'][a-z`)'])[.!?](?=[A-Z][\w'’]* )"  # or was forgotten
    r"|[。！？｡؟۔।]+[\"'”’）)」』】》\]*]*"
)
WRAPPED = re.compile(r"[^.!?:;…。！？：；\s][ \t\r]*$")
REACH = 50_000  # characters at a text's end that are read
MIN_WRAPPED = 60  # a line as long as this may go on in the next
ABBREVIATION = re.compile(
    r"^\s*\d{1,3}\.$|(?:^|[\s(\"'])(?:[^\W\d_]|e\.g|i\.e|etc|vs|cf|al|approx|mr|mrs|ms|dr|prof|st|nr|fig|jr|sr|sra|ud|p\. ?ej|inc"
    r"|z\. ?b|d\. ?h|bzw|usw|ca|vgl)\.$",
    re.IGNORECASE,
)
LONGEST_ABBREVIATION = 10


class Sentence(NamedTuple):
    """Where a sentence stands, which paragraph it is of, and whether it is an item of a list."""

    start: int
    stop: int
    paragraph: int
    is_item: bool


def sentence_texts(text: str) -> list[str]:
    """The sentences as texts, white space folded; the text itself where it has none."""
    found = [canonical(text[s.start : s.stop]) for s in sentences(text)]
    return [sentence for sentence in found if sentence] or [canonical(text)]


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of `text` in order; code, JSON, tables, headings and long quotations are passed over.

    Of a text longer than REACH, only those of its end.
    """
    masked = _without_holes(text).rstrip()
    at = max(0, len(masked) - REACH)
    masked = masked[:at] + QUOTED.sub(_line_ends_if_long, masked[at:])
    number = 0
    for gap in (*BLANK_LINE.finditer(masked, at), None):
        stop = gap.start() if gap else len(masked)
        for block in _blocks(masked[at:stop], at):
            for begin, end in _cuts(masked, block):
                yield Sentence(begin, end, number, block.is_item)
        number += 1
        at = gap.end() if gap else stop


class _Block(NamedTuple):
    """Lines that are read on end: a paragraph, or an item of a list."""

    start: int
    stop: int
    is_item: bool


def _blocks(paragraph: str, offset: int) -> Iterator[_Block]:
    start, is_item, before = offset, False, ""
    at = offset
    for line in paragraph.splitlines(keepends=True):
        item = ITEM.match(line)
        is_open = len(before) >= MIN_WRAPPED and WRAPPED.search(before[-8:]) is not None
        if item or not is_open:
            yield _Block(start, at, is_item)
            start, is_item = at + (item.end() if item else 0), item is not None
        before = line.rstrip("\r\n")
        at += len(line)
    yield _Block(start, at, is_item)


def _cuts(text: str, block: _Block) -> Iterator[tuple[int, int]]:
    start = block.start
    for end in END.finditer(text, block.start, block.stop):
        tail = text[max(start, end.end() - LONGEST_ABBREVIATION) : end.end()]
        if not (end[0] == "." and ABBREVIATION.search(tail)) and not _goes_on(text, end.end()):
            yield from _stripped(text, start, end.end())
            start = end.end()
    yield from _stripped(text, start, block.stop)


def _goes_on(text: str, at: int) -> bool:
    """Whether the next word is in lower case, as after "etc." or a title with a mark of its own."""
    return text[at : at + 2].strip()[:1].islower()


def _stripped(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """What is left without white space and label, if that says anything."""
    if label := LABEL.match(text, start, stop):
        start = label.end()
    part = text[start:stop]
    start += len(part) - len(part.lstrip())
    if any(map(str.isalnum, part)):
        yield start, start + len(part.strip())


def _without_holes(text: str) -> str:
    """`text` with line ends in place of what is no sentence, so that all offsets stay."""
    for hole in HOLES:
        text = hole.sub(_line_ends, text)
    parts, at = [], 0
    for start, stop in sorted(_data(text)):
        if start >= at:  # else it is inside the one before
            parts += [text[at:start], "\n" * (stop - start)]
            at = stop
    return "".join([*parts, text[at:]])


def _line_ends(found: re.Match[str]) -> str:
    return "\n" * len(found[0])


def _line_ends_if_long(found: re.Match[str]) -> str:
    return _line_ends(found) if len(found[0]) >= MIN_QUOTED else found[0]


def _data(text: str) -> Iterator[tuple[int, int]]:
    """Where closed brackets hold JSON."""
    opened: list[int] = []
    for bracket in BRACKET.finditer(text):
        if bracket[0] in "[{":
            opened.append(bracket.start())
        elif opened and DATA.match(text, start := opened.pop()):
            yield start, bracket.end()
