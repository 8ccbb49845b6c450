"""Mask rules as data: an ordered list of patterns, each with examples it must take and examples it must leave.

Knows nothing of questions or vocabularies. Patterns may come from a user: one that takes too long on a text is refused
by name rather than waited for.
"""

import tomllib
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import regex

from ..data.errors import InvalidRules
from ..data.identity import content_id

SHIPPED = Path(__file__).with_name("mask_rules.toml")
KIND = regex.compile("[A-Z]{2,20}")
TIME_LIMIT = 0.3  # seconds of the process that one rule may take on one text,
TIME_LIMIT_A_CHARACTER = 0.6e-6  # and this for each of its characters
TRIES = 4  # before a rule is blamed: the clock runs on while other threads of the process have their turn
KEYS = {"name", "kind", "pattern", "takes", "leaves"}
OPTIONAL = {"needs"}
LISTS = ("leaves", "needs", "takes")
SHOWN = 60  # characters of an example in an error


class Rule(NamedTuple):
    """What matches `pattern` is taken out as a slot of `kind`; where `needs` is given, only texts in which it is found are
    searched. `begin` are the characters that what it needs begins with."""

    name: str
    kind: str
    pattern: regex.Pattern
    needs: regex.Pattern | None = None
    begin: frozenset[str] = frozenset()


class Taken(NamedTuple):
    """Characters [start, stop) of a text, taken by `rule`."""

    start: int
    stop: int
    rule: Rule


# A text may hold what looks like one of our slots. It becomes a slot itself, so that filling slots is always exact.
SLOT = regex.compile(r"<[A-Z]+_[0-9]+>")
LOOKS_LIKE_SLOT = Rule("slot", "CODE", SLOT, regex.compile("<"), frozenset("<"))


class MaskRules:
    """Rules in order of precedence, and the TOML `text` that they were read from."""

    def __init__(self, rules: Sequence[Rule], text: str = "") -> None:
        self.rules = (LOOKS_LIKE_SLOT, *rules)
        self.text = text

    @cached_property
    def digest(self) -> str:
        """Of all that decides a mask: equal for files that differ in comments and examples only."""
        parts = [
            [r.name, r.kind, r.pattern.pattern, r.needs and r.needs.pattern] for r in self.rules
        ]
        return content_id("rules", parts)

    def take(self, text: str) -> list[Taken]:
        """What the rules take out of `text`, disjoint and in order; InvalidRules names a rule that takes too long."""
        taken = bytearray(len(text))
        found: list[Taken] = []
        held = frozenset(text)
        for rule in self.rules:
            if rule.needs and (held.isdisjoint(rule.begin) or not rule.needs.search(text)):
                continue
            for start, stop in _spans(rule, text):
                if start < stop and taken.find(1, start, stop) < 0:
                    taken[start:stop] = b"\1" * (stop - start)
                    found.append(Taken(start, stop, rule))
        return sorted(found)


def read_rules(path: Path | str = SHIPPED) -> MaskRules:
    """The rules in a TOML file like the shipped one; InvalidRules says which rule is wrong and how."""
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRules(f"{path}: no rules can be read from it ({error})") from error
    return parse_rules(text, str(path))


def parse_rules(text: str, where: str) -> MaskRules:
    """The rules in the text of such a file; InvalidRules begins with `where` it stands."""
    try:
        listed = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidRules(f"{where}: no rules can be read from it ({error})") from error
    tables = listed.get("rule")
    if listed.keys() != {"rule"} or not isinstance(tables, list):
        raise InvalidRules(f"{where}: holds {_names(listed)}; a rules file is a list of [[rule]]")
    rules = [_rule(table, f"{where}, rule {i + 1}") for i, table in enumerate(tables)]
    names = [rule.name for rule in rules]
    for name in names:
        if names.count(name) > 1:
            raise InvalidRules(f"{where}: two rules are called {name!r}")
    return MaskRules(rules, text)


@cache
def shipped_rules() -> MaskRules:
    return read_rules()


def _rule(table: Any, where: str) -> Rule:
    """The rule in a table of the file, held against its own examples."""
    if not isinstance(table, dict) or not KEYS <= table.keys() <= KEYS | OPTIONAL:
        raise InvalidRules(f"{where}: has {_names(table)}; a rule has {_names(KEYS)}")
    where = f"{where} ({table['name']!r})"
    for key, value in sorted(table.items()):
        texts = value if key in LISTS else [value]
        if not isinstance(texts, list) or not texts or not all(_is_text(v) for v in texts):
            shape = "a list of texts" if key in LISTS else "a text"
            raise InvalidRules(f"{where}: {key} must be {shape}")
    if not KIND.fullmatch(table["kind"]):
        raise InvalidRules(f"{where}: kind {table['kind']!r} is not 2 to 20 capital letters")
    try:
        pattern = regex.compile(table["pattern"])
    except regex.error as error:
        raise InvalidRules(f"{where}: its pattern is no regular expression ({error})") from error
    needed = table.get("needs", ())
    needs = regex.compile("|".join(map(regex.escape, needed))) if needed else None
    begin = frozenset(text[0] for text in needed)
    rule = Rule(table["name"], table["kind"], pattern, needs, begin)
    _check_examples(rule, table["takes"], table["leaves"], where)
    return rule


def _check_examples(rule: Rule, takes: list[str], leaves: list[str], where: str) -> None:
    for example in takes:
        taken = [(one.start, one.stop) for one in MaskRules([rule]).take(example)]
        if taken != [(0, len(example))]:
            raise InvalidRules(f"{where}: does not take the whole of {example[:SHOWN]!r}")
    for example in leaves:
        if MaskRules([rule]).take(example):
            raise InvalidRules(
                f"{where}: finds something in {example[:SHOWN]!r}, which it must leave"
            )


def _spans(rule: Rule, text: str) -> list[tuple[int, int]]:
    limit = TIME_LIMIT + TIME_LIMIT_A_CHARACTER * len(text)
    for _ in range(TRIES):
        with suppress(TimeoutError):
            return [match.span() for match in rule.pattern.finditer(text, timeout=limit)]
    raise InvalidRules(
        f"mask rule {rule.name!r} takes over {limit:.1f} s on a text of {len(text)} characters; "
        "bound its repetitions or make them possessive"
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _names(found: object) -> str:
    """The names in a table or set, for an error."""
    return (
        ", ".join(sorted(map(str, found))) if isinstance(found, (dict, set)) and found else "none"
    )
