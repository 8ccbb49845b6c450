"""A candidate set for what constrains decoding: a list of choices, a grammar, a regular expression, token ids.

Each says: one of the set's thoughts, in its tags, whole. Constrained decoding follows the likeliest next token and may end with
another thought than the likeliest one: it is no selection. The ids are for who scores whole thoughts.
"""

import json
from typing import Any

from ..candidates import CandidateSet
from ..library import library_hash
from ..render import render_thought
from .export_inputs import TokenizedSet

SPECIAL = set(
    "\\.+*?()|[]{}^$"
)  # the same in Python, Rust and ECMAScript; no others are escaped, which some refuse
ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def choices_json(candidate_set: CandidateSet) -> str:
    """The thoughts in the set's order, as a JSON list."""
    texts = [render_thought(candidate.text) for candidate in candidate_set.active]
    return json.dumps(texts, indent=2, ensure_ascii=False) + "\n"


def ebnf(candidate_set: CandidateSet) -> str:
    """A grammar of one rule, in the notation of xgrammar and llama.cpp."""
    texts = (_quoted(render_thought(candidate.text)) for candidate in candidate_set.active)
    return "root ::= " + "\n  | ".join(texts) + "\n"


def regex(candidate_set: CandidateSet) -> str:
    """An expression that a whole thought matches; one line."""
    texts = (_escaped(render_thought(candidate.text)) for candidate in candidate_set.active)
    return "(?:" + "|".join(texts) + ")\n"


def tokens_json(candidate_set: CandidateSet, tokens: TokenizedSet) -> str:
    """The ids of each candidate, delimiters included, tokenised alone, and whose they are."""
    content: dict[str, Any] = {
        "tokenizer": {
            "name": tokens.name,
            "revision": tokens.revision,
            "sha256": tokens.sha256,
        },
        "set": {"name": candidate_set.name, "hash": library_hash(candidate_set)},
        "candidates": {
            candidate.id: {
                "text": render_thought(candidate.text),
                "ids": list(tokens.ids[candidate.id]),
            }
            for candidate in candidate_set.active
        },
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _quoted(text: str) -> str:
    """A literal of a grammar."""
    return '"' + "".join(map(_in_grammar, text)) + '"'


def _in_grammar(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return _in_line(character)


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in SPECIAL else _in_line(c) for c in text)


def _in_line(character: str) -> str:
    """What would break a line, or cannot be seen, by its number."""
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isprintable() or ord(character) > 0xFFFF:
        return character
    return f"\\u{ord(character):04X}"
