"""Choices, grammar, regular expression and token ids say the set's thoughts and nothing else."""

import json
import re

from hypothesis import given
from trace_strategies import candidate_sets

from forethought.data.candidates import Candidate, CandidateSet
from forethought.data.exports.constraints import choices_json, ebnf, regex, tokens_json
from forethought.data.exports.export_inputs import TokenizedSet
from forethought.data.library import library_hash
from forethought.data.render import render_thought

RULE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
ESCAPE = re.compile(r"\\(?:u([0-9A-F]{4})|(.))", re.DOTALL)
NAMED = {"n": "\n", "r": "\r", "t": "\t"}


def thoughts(candidate_set: CandidateSet) -> list[str]:
    return [render_thought(candidate.text) for candidate in candidate_set.active]


def said_by(grammar: str) -> list[str]:
    """All that a grammar of one rule of literals says."""
    head, body = grammar.split("::=", 1)
    assert head.strip() == "root"
    assert set(RULE.sub("", body).split()) <= {"|"}
    return [ESCAPE.sub(_character, found[1]) for found in RULE.finditer(body)]


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else NAMED.get(escape[2], escape[2])


@given(candidate_sets())
def test_a_grammar_parses_into_the_thoughts(candidate_set):
    if candidate_set.active:
        assert said_by(ebnf(candidate_set)) == thoughts(candidate_set)
        assert len(ebnf(candidate_set).splitlines()) == len(candidate_set.active)


@given(candidate_sets())
def test_an_expression_matches_each_thought_and_no_other_text(candidate_set):
    if candidate_set.active:
        line = regex(candidate_set)
        expression = re.compile(line.removesuffix("\n"))
        assert len(line.splitlines()) == 1
        for text in thoughts(candidate_set):
            assert expression.fullmatch(text)
            assert not expression.fullmatch(text + ".") and not expression.fullmatch(text[:-1])


@given(candidate_sets())
def test_choices_are_the_thoughts_in_the_sets_order(candidate_set):
    assert json.loads(choices_json(candidate_set)) == thoughts(candidate_set)


def test_what_means_something_to_a_grammar_is_escaped():
    hostile = 'A "quote", a \\ and\nlines | (a|b)* [x] {2} ^$ .+? é 💩\u2028\x00'
    candidate_set = CandidateSet("s", (Candidate("c_1", hostile), Candidate("c_2", "b")))

    assert said_by(ebnf(candidate_set)) == thoughts(candidate_set)
    assert re.fullmatch(regex(candidate_set)[:-1], render_thought(hostile))


def test_tokens_name_their_tokenizer_and_their_set():
    candidate_set = CandidateSet("s", (Candidate("c_1", "A."), Candidate("c_2", "B.")))
    tokens = TokenizedSet("model", "main", "ab" * 32, {"c_1": [1, 2], "c_2": [3]})

    told = json.loads(tokens_json(candidate_set, tokens))

    assert told["tokenizer"] == {"name": "model", "revision": "main", "sha256": "ab" * 32}
    assert told["set"] == {"name": "s", "hash": library_hash(candidate_set)}
    assert told["candidates"]["c_2"] == {"text": "<thinking>B.</thinking>", "ids": [3]}
