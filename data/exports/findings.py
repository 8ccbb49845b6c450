"""What looks like a secret or like somebody's address in rows that are about to leave: rules as data, and a search by them.

A rule errs on the side of finding: a person decides. What was found is told by its place and its first characters, never whole.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

SHOWN = 4  # characters of what was found that a report repeats
SECRET, PERSONAL = "secret", "personal"


class Rule(NamedTuple):
    """`hint` is a lower-case piece of every text in which the pattern can be found ("" for none): most texts have none, and it is quick."""

    name: str
    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]


RULES = (
    Rule(
        "private key",
        SECRET,
        re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----"),
        ("private key",),
    ),
    Rule(
        "AWS key",
        SECRET,
        re.compile(r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b"),
        ("akia", "asia", "aroa", "aida"),
    ),
    Rule(
        "GitHub token",
        SECRET,
        re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})"),
        ("gh", "github_pat_"),
    ),
    Rule("Hugging Face token", SECRET, re.compile(r"\bhf_[A-Za-z]{30,}\b"), ("hf_",)),
    Rule(
        "API key",
        SECRET,
        re.compile(
            r"\b[sr]k-(?:proj-|ant-|or-|live-)?[A-Za-z0-9_-]{20,}|\b[sr]k_live_[A-Za-z0-9]{16,}"
        ),
        ("sk-", "rk-", "k_live_"),
    ),
    Rule("Google key", SECRET, re.compile(r"\bAIza[A-Za-z0-9_-]{35}"), ("aiza",)),
    Rule("Slack token", SECRET, re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"), ("xox",)),
    Rule(
        "web token",
        SECRET,
        re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
        ("eyj",),
    ),
    Rule(
        "authorisation",
        SECRET,
        re.compile(r"\b(?:[Bb]earer|[Bb]asic)\s+[A-Za-z0-9+/._~-]{24,}=*"),
        ("bearer", "basic"),
    ),
    Rule(
        "password in an address",
        SECRET,
        re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{1,100}:[^\s/@\"'<>]{3,100}@"),
        ("://",),
    ),
    Rule(
        "assigned secret",
        SECRET,
        re.compile(
            r"\b(?:api[_-]?key|secret(?:[_-]?key)?|passwd|password|access[_-]?token)\b[\"']?\s*[=:]\s*[\"']?[A-Za-z0-9+/_.-]{12,}",
            re.IGNORECASE,
        ),
        ("key", "secret", "passw", "token"),
    ),
    Rule(
        "e-mail address",
        PERSONAL,
        re.compile(
            r"\b[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?!example\.(?:com|org|net)\b)(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}\b"
        ),
        ("@",),
    ),
    Rule(
        "phone number",
        PERSONAL,
        re.compile(
            r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{2,4}(?:[ .-]\d{2,4}){2,4}|\+\d{10,14}|\(\d{3}\) ?\d{3}-\d{4}|\d{3}-\d{3}-\d{4})(?![\w-])"
        ),
        ("+", "-"),
    ),
    Rule(
        "card number",
        PERSONAL,
        re.compile(r"(?<![\d.-])(?:\d{4}[ -]){3}\d{4}(?![\d-])|(?<![\d.])[3456]\d{15}(?!\d)"),
        ("3", "4", "5", "6"),
    ),
)


@dataclass(frozen=True)
class Finding:
    """One kind of thing in a row of a file, rows counted from 1; `beginning` is how the first of `count` begins."""

    file: str
    row: int
    rule: str
    kind: str
    count: int
    beginning: str

    def as_json(self) -> dict[str, Any]:
        return dict(vars(self))


def findings_in(file: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[Finding]:
    """In the rows' order, at most one a rule and row."""
    for number, row in enumerate(rows, start=1):
        text = "\n".join(texts_in(row))
        folded = text.lower()
        for rule in RULES:
            if not any(hint in folded for hint in rule.hints):
                continue
            found = [one for one in rule.pattern.findall(text) if _counts(rule, one)]
            if found:
                yield Finding(
                    file, number, rule.name, rule.kind, len(found), f"{found[0][:SHOWN]}..."
                )


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a row, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)


def _counts(rule: Rule, found: str) -> bool:
    """A card's digits sum up by Luhn's rule; other long numbers are none."""
    if rule.name != "card number":
        return True
    digits = [int(one) for one in found if one.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
