"""What looks like a secret or personal is found, what only looks so to a machine is not, and a hub is refused it."""

import json
from pathlib import Path

import pytest

from forethought.data.candidates import CandidateSet, written
from forethought.data.exports.dialects import export
from forethought.data.exports.export_inputs import ExportInputs
from forethought.data.exports.findings import RULES, findings_in
from forethought.data.exports.labelled import TurnScope
from forethought.data.exports.licences import UNKNOWN, licence_of
from forethought.data.exports.training_bundle import FindingsRefused
from forethought.data.formats import read_traces
from forethought.data.traces import Action, Outcome, Trace, Turn, turn_id

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
SEARCH = written("I should look it up.", ["search"])


def joined(*parts: str) -> str:
    """Put together here, so that nothing that searches this file for secrets finds one."""
    return "".join(parts)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("private key", joined("-----BEGIN RSA PRI", "VATE KEY-----")),
        ("AWS key", joined("AKIA", "IOSFODNN7", "EXAMPLE")),
        ("GitHub token", joined("ghp", "_", "a1B2" * 9)),
        ("Hugging Face token", joined("hf", "_", "abCDefGHij" * 4)),
        ("API key", joined("sk", "-proj-", "a1B2c3D4e5" * 3)),
        ("Google key", joined("AIza", "SyA1b2C3d4E5" * 3)[:39]),
        ("Slack token", joined("xoxb", "-123456789012-abcdef")),
        ("web token", joined("eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0NSJ9", ".SflKxwRJSMeKKF2QT4")),
        ("authorisation", joined("Bearer ", "a1B2c3D4" * 5)),
        ("password in an address", joined("postgres://ann:", "hunter22", "@db.local/x")),
        ("assigned secret", joined("api_key = '", "0123456789abcdef", "'")),
        ("e-mail address", joined("ann.lee+x", "@", "mail.example.org")),
        ("phone number", "+44 20 7946 0958"),
        ("phone number", "(555) 123-4567"),
        ("phone number", "555-123-4567"),
        ("card number", "4111 1111 1111 1111"),
    ],
)  # fmt: skip
def test_each_rule_finds_its_own_and_shows_only_its_beginning(rule, text):
    rows = [{"a": "nothing"}, {"b": [{"content": f"before {text}, after"}]}]

    found = [one for one in findings_in("train.jsonl", rows) if one.rule == rule]

    assert [(one.row, one.count) for one in found] == [(2, 1)]
    assert text not in json.dumps([one.as_json() for one in found])


def test_every_rule_has_a_test():
    marks = test_each_rule_finds_its_own_and_shows_only_its_beginning.pytestmark
    (cases,) = (mark.args[1] for mark in marks if mark.name == "parametrize")

    assert {rule for rule, _ in cases} == {rule.name for rule in RULES}


@pytest.mark.parametrize(
    "text",
    [
        "1987-1993, 12-15 and 2004-05-06",
        "ISBN 978-3-16-148410-0",
        "t_0042378feb9a5722 and c_f7299cf3a3c694fe",
        "ann@example.com wrote",
        "https://en.wikipedia.org/wiki/Eiffel_Tower@2x",
        "The score was 1234 5678 9012 3456.",
        "a key secret of the password manager: it is hard",
        "11,380,000 people (2019) in 41.9 km; +3.5 % and -7",
        "basic understanding of the bearer of this letter",
        "risk-averse and task-oriented-people",
    ],
)
def test_ordinary_words_and_numbers_are_none(text):
    assert list(findings_in("f", [{"a": text}])) == []


def test_the_traces_that_ship_have_none():
    rows = (
        {"question": one.question, "seen": [list(turn.observations) for turn in one.turns]}
        for one in read_traces([SAMPLES])
    )

    found = list(findings_in("samples", rows))

    assert [(one.rule, one.beginning) for one in found] == []


def exported(target: str, folder, **given):
    one = Trace(
        "Who?",
        (Turn(("raw",), (Action("search", {"input": "x"}),), ("a",)),
         Turn(("raw",), (Action("search", {"input": "x"}),), (joined("ann", "@", "mail.org"),)),
         Turn(("raw",), (Action("search", {"input": "x"}),), ("b",))),
        Outcome.SUCCESS,
    )  # fmt: skip
    labels = {turn_id(one.id, i): SEARCH.id for i in range(3)}
    scope = TurnScope(include_test=True)
    return export(
        target, ExportInputs(CandidateSet("s", (SEARCH,)), [one], labels, scope, **given), folder
    )


def test_a_hub_is_refused_what_looks_personal_until_told_otherwise(tmp_path):
    with pytest.raises(FindingsRefused, match=r"e-mail address in turns/\w+\.parquet row 3"):
        exported("hub", tmp_path / "a")
    assert not (tmp_path / "a").exists()

    manifest = exported("hub", tmp_path / "b", allows_findings=True)
    assert manifest["findings"]["rules"] == {"e-mail address": 1}


def test_other_targets_tell_it_in_their_manifest(tmp_path):
    manifest = exported("trl-sft", tmp_path)

    (found,) = manifest["findings"]["first"]
    assert (found["file"], found["row"], found["rule"]) == ("train.jsonl", 3, "e-mail address")


def test_a_licence_is_known_where_all_files_are_ours():
    shipped = [f"data/samples/{path.name}" for path in SAMPLES.glob("*.json.gz")]

    assert licence_of(shipped).name == "MIT"
    assert "CC BY-SA" in licence_of(shipped).terms
    assert licence_of([*shipped, "runs/mine.jsonl"]).name == UNKNOWN
    assert licence_of([]).name == UNKNOWN
