"""Mask rules: each holds its own examples, and a file that is wrong says where."""

import tomllib

import pytest

from forethought.data.errors import InvalidRules
from forethought.miner.mask_rules import SHIPPED, MaskRules, read_rules

TABLES = tomllib.loads(SHIPPED.read_text("utf-8"))["rule"]
RULES = {rule.name: rule for rule in read_rules().rules}
GOOD = """
[[rule]]
name = "page"
kind = "PAGE"
pattern = "p[0-9]{1,4}"
takes = ["p12"]
leaves = ["p", "12"]
"""


@pytest.mark.parametrize("table", TABLES, ids=[table["name"] for table in TABLES])
def test_a_shipped_rule_takes_and_leaves_its_examples_inside_a_sentence_too(table):
    rule = MaskRules([RULES[table["name"]]])
    for example in table["takes"]:
        for text in (f"see {example} there", f"见{example}。"):
            assert [text[t.start : t.stop] for t in rule.take(text)] == [example], text


def test_an_earlier_rule_has_what_it_took():
    text = "`a@b.org` at 10:30 on 2026-03-15"

    assert [(t.rule.name, text[t.start : t.stop]) for t in read_rules().take(text)] == [
        ("code span", "`a@b.org`"),
        ("time", "10:30"),
        ("iso date", "2026-03-15"),
    ]


def test_a_users_rules_take_the_place_of_the_shipped_ones(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(GOOD)

    assert [(t.start, t.stop, t.rule.kind) for t in read_rules(path).take("on p12 of 1999")] == [
        (3, 6, "PAGE")
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("p[0-9]{1,4}", "p["), r"rule 1 \('page'\): its pattern is no regular expression"),
        (('"PAGE"', '"page"'), "kind 'page' is not 2 to 20 capital letters"),
        (('["p12"]', '["p12x"]'), "does not take the whole of 'p12x'"),
        (('"12"]', '"see p1"]'), "finds something in 'see p1', which it must leave"),
        (('["p12"]', "[]"), "takes must be a list of texts"),
        (('"page"', "3"), "name must be a text"),
        (("pattern", "patern"), "has kind, leaves, name, patern, takes; a rule has kind, leaves"),
        (("[[rule]]", "[[rules]]"), "holds rules; a rules file is a list of"),
        (("[[rule]]", "[["), "no rules can be read from it"),
        (("[[rule]]", GOOD + "[[rule]]"), "two rules are called 'page'"),
    ],
)
def test_a_rules_file_that_is_wrong_is_one_clear_line(tmp_path, change, message):
    path = tmp_path / "rules.toml"
    path.write_text(GOOD.replace(*change))
    with pytest.raises(InvalidRules, match=message) as caught:
        read_rules(path)

    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_rules_file_that_is_not_there_is_one_clear_line(tmp_path):
    with pytest.raises(InvalidRules, match="nowhere.toml: no rules can be read from it"):
        read_rules(tmp_path / "nowhere.toml")
