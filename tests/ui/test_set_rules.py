"""A set that was mined with a user's mask rules is measured, grown and judged under the same rules."""

import json
from dataclasses import replace

import pytest
from embedders import HashingEmbedder
from runs import run, runs

from forethought.data.errors import ForethoughtError, InvalidRules
from forethought.data.identity import Split
from forethought.data.library import builtin
from forethought.data.store import Store
from forethought.miner.mask_rules import SHIPPED, parse_rules, read_rules, shipped_rules
from forethought.ui import cli
from forethought.ui.auditing import Corpus
from forethought.ui.comparing import released
from forethought.ui.fitted import mask_of
from forethought.ui.growing import grow_set
from forethought.ui.masking import MASK_RULES, rules_json, rules_of
from forethought.ui.mining import MiningRequest, mine_set
from forethought.ui.transferring import TransferPlan, transfer

EMBEDDER = HashingEmbedder()
ANSWERS = """
# the word that every run of these ends with
[[rule]]
name = "result"
kind = "RESULT"
pattern = "search result"
takes = ["search result"]
leaves = ["result", "search"]
"""
OWN = parse_rules(SHIPPED.read_text("utf-8") + ANSWERS, "rules.toml")
SENTENCE = "The search result does not provide the information I need."


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = Store.open(tmp_path_factory.mktemp("rules") / "runs.db")
    store.add(runs(120))
    mine_set(store, "own", EMBEDDER, MiningRequest(4, rules=OWN))
    mine_set(store, "shipped", EMBEDDER, MiningRequest(4))
    return store


def takes_the_rule(mask) -> bool:
    return "RESULT" in mask.apply(SENTENCE).typed


def test_the_manifest_holds_the_rules_whole_and_the_shipped_ones_by_their_digest(store):
    own, shipped = store.candidate_set("own"), store.candidate_set("shipped")

    assert own.manifest[MASK_RULES] == {"digest": OWN.digest, "toml": OWN.text}
    assert shipped.manifest[MASK_RULES] == {"digest": shipped_rules().digest, "toml": None}
    assert rules_of(own).digest == OWN.digest
    assert rules_of(shipped) is shipped_rules()


def test_the_rules_are_used_for_mining(store):
    texts = [[c.text for c in store.candidate_set(name).candidates] for name in ("own", "shipped")]

    assert not any("search result" in text for text in texts[0])
    assert any("search result" in text for text in texts[1])


def test_comments_and_examples_make_no_other_rules_and_a_pattern_does():
    commented = parse_rules("# mine\n" + SHIPPED.read_text("utf-8"), "copy")

    assert commented.digest == shipped_rules().digest != OWN.digest
    assert rules_json(commented)["toml"] is None


def test_what_is_fitted_for_a_set_masks_by_its_rules(store):
    own, shipped = store.candidate_set("own"), store.candidate_set("shipped")
    traces = list(store.traces())

    assert takes_the_rule(Corpus.of(traces, EMBEDDER, rules_of(own)).mask)
    assert not takes_the_rule(Corpus.of(traces, EMBEDDER, rules_of(shipped)).mask)
    assert takes_the_rule(mask_of(store, "own").result(30))
    assert not takes_the_rule(mask_of(store, "shipped").result(30))


def test_sets_of_other_rules_are_refused_by_name_and_written_ones_go_with_any(store):
    own, shipped, written = (
        store.candidate_set("own"),
        store.candidate_set("shipped"),
        builtin("ssr"),
    )

    assert rules_of(written, own, own.first(2)).digest == OWN.digest
    assert rules_of(written) is rules_of() is shipped_rules()
    with pytest.raises(ForethoughtError, match="'own' and 'shipped' were mined with different"):
        rules_of(own, written, shipped)


def test_a_release_keeps_the_rules_of_its_set(store):
    store.release("own", "", "ada")

    assert rules_of(released(store, store.candidate_set("own"), 1)).digest == OWN.digest


@pytest.mark.parametrize("told", [None, {"toml": 3}, {"toml": "[[rule"}, {}])
def test_a_manifest_that_was_tampered_with_is_one_line(told):
    candidates = replace(builtin("ssr"), name="bent", manifest={MASK_RULES: told})

    with pytest.raises(InvalidRules, match="mask rules of set 'bent': ") as caught:
        rules_of(candidates)
    assert "\n" not in str(caught.value)


def test_a_set_grows_by_its_own_rules(tmp_path):
    store = Store.open(tmp_path / "runs.db")
    store.add(runs(90))
    mine_set(store, "own", EMBEDDER, MiningRequest(4, rules=OWN))
    store.add(run(number) for number in range(1000, 1060))

    growth = grow_set(store, "own", EMBEDDER, budget=2)

    grown = store.candidate_set("own")
    assert growth.num_placed > 0
    assert grown.manifest[MASK_RULES]["digest"] == OWN.digest
    assert not any("search result" in candidate.text for candidate in grown.candidates)


def test_transfer_mines_and_masks_by_the_rules_asked_for(tmp_path):
    store = Store.open(tmp_path / "runs.db")
    store.add(run for run in runs(120))
    store.add(replace(run, source="others") for run in runs(240)[120:])

    own = transfer(store, EMBEDDER, TransferPlan(budget=4, rules=OWN))
    shipped = transfer(store, EMBEDDER, TransferPlan(budget=4))

    assert not any("search result" in text for texts in own["sets"].values() for text in texts)
    assert any("search result" in text for texts in shipped["sets"].values() for text in texts)


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path / "cache"))

    def run_command(*arguments):
        monkeypatch.setattr("sys.argv", ["forethought", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run_command


def test_the_command_takes_a_file_and_every_verb_behind_it_goes_by_it(call, tmp_path):
    url, rules = tmp_path / "runs.db", tmp_path / "rules.toml"
    Store.open(url).add(runs(60))
    rules.write_text(OWN.text, "utf-8")

    code, _, err = call("mine", "--mask-rules", rules, "--store", url, "--json")
    assert (code, err) == (0, "")
    assert call("mine", "--name", "shipped", "--store", url, "--json")[0] == 0
    rules.unlink()  # the set holds them

    for verb in ("coverage", "pairs"):
        assert call(verb, "mined", "--store", url, "--json")[0] == 0
    out = tmp_path / "out"
    assert call("export", "mined", "--to", "ssr-library", "--out", out, "--store", url)[0] == 0
    side = json.loads(next(out.glob("*.forethought.json")).read_text("utf-8"))
    assert side["manifest"][MASK_RULES]["digest"] == OWN.digest
    code, _, err = call("audit", "mined", "shipped", "--store", url)
    assert code == 2 and "'mined' and 'shipped' were mined with different mask rules" in err


def test_rules_that_are_not_there_and_rules_for_a_set_that_has_its_own_are_one_line(call, tmp_path):
    url = tmp_path / "runs.db"
    Store.open(url).add(runs(10))

    code, _, err = call("mine", "--mask-rules", tmp_path / "no.toml", "--store", url)
    assert code == 2 and "no.toml: no rules can be read from it" in err
    code, _, err = call("mine", "--grow", "x", "--mask-rules", SHIPPED, "--store", url)
    assert code == 2 and "grows by the mask rules that it was mined with" in err


def test_only_mine_questions_decide_a_mask(store):
    held = [trace for trace in store.traces() if trace.split is Split.MINE]

    assert Corpus.of(held, EMBEDDER, OWN).mask.shares == mask_of(store, "own").result(30).shares


def test_a_file_reads_the_same_as_its_text(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(OWN.text, "utf-8")

    assert read_rules(path).digest == OWN.digest
    assert read_rules(path).text == OWN.text
