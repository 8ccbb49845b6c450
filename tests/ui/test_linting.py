"""The lint of whole sets: after mining and growing, and as a check of any set by the command line."""

import json
from dataclasses import replace

import pytest
from embedders import HashingEmbedder
from runs import AGAIN, ANSWER, runs

from forethought.data import commands
from forethought.data.candidates import CandidateSet, written
from forethought.data.errors import NothingToDo
from forethought.data.store import Store
from forethought.data.traces import Action, Trace, Turn
from forethought.miner.lint import LintSettings, Severity, estimated_tokens, is_blocked, lint
from forethought.miner.wishes import Wishes
from forethought.ui import cli
from forethought.ui.growing import grow_set
from forethought.ui.linting import (
    lint_candidates,
    lint_json,
    lint_stored,
    tools_of,
    without_blocked,
)
from forethought.ui.mining import MiningRequest, mine_set

EMBEDDER = HashingEmbedder()
NAMES_TOOL = "I do not know this yet, so I should use the web search."
PLAIN = "I do not know this part yet, so I should look it up."


def with_tool(traces: list[Trace], thought: str = NAMES_TOOL) -> list[Trace]:
    """The same runs with a turn in front that names its tool."""
    turn = Turn((thought,), (Action("web_search", {"input": "x"}),), ("Nothing.",))
    return [replace(trace, turns=(turn, *trace.turns)) for trace in traces]


@pytest.fixture
def store(tmp_path):
    store = Store.open(tmp_path / "runs.db")
    store.add(with_tool(runs(90)))
    return store


def texts(candidate_set: CandidateSet) -> list[str]:
    return [candidate.text for candidate in candidate_set.candidates]


def test_a_sentence_that_names_a_tool_of_the_traces_is_not_mined_and_told(store):
    mine_set(store, "moves", EMBEDDER, MiningRequest(6))

    stored = store.candidate_set("moves")
    assert NAMES_TOOL not in texts(stored)
    assert AGAIN in texts(stored) and ANSWER in texts(stored)
    assert [(one["text"], one["rule"]) for one in stored.manifest["refused"]] == [
        (NAMES_TOOL, "tool")
    ]
    assert stored.manifest["settings"]["wishes"] == {"pinned": (), "banned": ()} or (
        stored.manifest["settings"]["wishes"] == {"pinned": [], "banned": []}
    )


def test_a_mined_set_passes_the_lint_of_the_command(store):
    mine_set(store, "moves", EMBEDDER, MiningRequest(6))

    assert not any(o.is_blocked for o in lint_stored(store.candidate_set("moves"), store, EMBEDDER))


def test_a_pinned_text_stays_and_is_flagged(store):
    mine_set(store, "moves", EMBEDDER, MiningRequest(4, wishes=Wishes((NAMES_TOOL,))))

    stored = store.candidate_set("moves")
    assert texts(stored)[0] == NAMES_TOOL
    assert [(f["id"], f["rule"], f["severity"]) for f in stored.manifest["flags"]] == [
        (stored.candidates[0].id, "tool", "blocking")
    ]


def test_where_every_sentence_is_refused_or_banned_nothing_is_stored(tmp_path):
    store = Store.open(tmp_path / "runs.db")
    store.add(Trace(t.question, t.turns[:1]) for t in with_tool(runs(60)))

    with pytest.raises(NothingToDo, match="all 1 sentences .* are banned or refused by the lint"):
        mine_set(store, "moves", EMBEDDER, MiningRequest(6))
    assert store.set_names() == []


def test_what_growing_proposes_passes_the_lint_too(tmp_path):
    store = Store.open(tmp_path / "runs.db")
    store.add(runs(90))
    mine_set(store, "moves", EMBEDDER, MiningRequest(6))
    store.add(with_tool(runs(1060)[1000:]))

    growth = grow_set(store, "moves", EMBEDDER, budget=4)

    grown = store.candidate_set("moves")
    assert NAMES_TOOL not in texts(grown)
    assert {one["text"] for one in grown.manifest["refused"]} == {NAMES_TOOL}
    assert {one.id for one in growth.added} <= {one.id for one in grown.candidates}
    assert grown.manifest["flags"] == []


def test_a_hand_edited_set_is_held_against_its_sources(store):
    mine_set(store, "moves", EMBEDDER, MiningRequest(6))
    first, second, third, *_ = store.candidate_set("moves").candidates
    for one, text in (
        (first, "I should look for the year of this again."),
        (second, "I should reconsider, and then search again."),
        (third, "I should weigh the evidence again."),
    ):
        commands.reword(store, commands.Edit("moves", one.id, one.version, "ada"), text)

    found = {o.id: o for o in lint_stored(store.candidate_set("moves"), store, EMBEDDER)}

    assert found[first.id].leaked == ("year",)
    assert {p.rule for p in found[first.id].problems} >= {"instance"}
    assert [p.rule for p in found[second.id].problems if p.rule == "one-move"] == ["one-move"]
    assert found[third.id].leaked == () and not found[third.id].is_blocked
    assert [p.rule for p in found[third.id].problems] == ["rare"]


def test_without_traces_a_set_is_judged_by_its_form(tmp_path):
    own = CandidateSet(
        "own", (written(PLAIN), written("I need to find Lotte again."), written("No"))
    )
    empty = Store.open(tmp_path / "empty.db")

    for store in (None, empty):
        found = lint_stored(own, store, EMBEDDER)
        assert [o.is_blocked for o in found] == [False, True, True]
        assert [o.leaked for o in found] == [None] * 3
    assert lint_candidates(CandidateSet("none", ()), LintSettings(), EMBEDDER) == []


def test_near_twins_are_flagged_and_vectors_that_are_none_are_near_to_nothing():
    class Broken:
        name = "broken"

        def embed(self, texts):
            vectors = EMBEDDER.embed(["the same"] * len(texts)).copy()
            vectors[-1] = float("nan")
            return vectors

    own = CandidateSet("own", (written(PLAIN), written(ANSWER), written(AGAIN)))
    found = lint_json(own, lint_candidates(own, LintSettings(), Broken()))

    assert [[p["rule"] for p in one["problems"]] for one in found["candidates"]] == [
        ["distinct"],
        ["distinct"],
        [],
    ]
    assert found["ok"]


def test_a_thing_is_made_anew_until_nothing_in_it_is_blocked():
    asked = []

    def make(refused):
        asked.append(refused)
        return [t for t in (NAMES_TOOL, "No", PLAIN) if t not in refused][:1]

    def judged(made):
        own = CandidateSet("own", tuple(map(written, made)))
        return lint_candidates(own, LintSettings(frozenset({"web_search"})), EMBEDDER)

    made, refused = without_blocked(make, judged)

    assert made == [PLAIN]
    assert asked == [(), (NAMES_TOOL,), (NAMES_TOOL, "No")]
    assert [one.text for one in refused] == [NAMES_TOOL, "No"]


def test_tools_are_known_by_their_own_names_and_by_their_kinds():
    turn = Turn(("x",), (Action("text_search_tool", {}), Action("go to", {})), ("", ""))
    tools = tools_of([Trace("q", (turn,))])

    assert tools == {"text_search_tool", "search", "go to"}
    assert not is_blocked(lint("I should go to the place that is left.", LintSettings(tools)))
    assert is_blocked(lint("I should use the go to action here.", LintSettings(tools)))


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


def test_the_command_is_a_gate_with_a_row_for_each_text(call, store, tmp_path):
    mine_set(store, "moves", EMBEDDER, MiningRequest(3, wishes=Wishes((NAMES_TOOL,))))
    url = tmp_path / "runs.db"

    code, out, _ = call("lint", "moves", "--store", url, "--json")
    found = json.loads(out)
    assert code == 1 and found["set"] == "moves" and not found["ok"]
    assert [one["blocked"] for one in found["candidates"]] == [True, False, False]
    assert set(found["candidates"][0]) == {"id", "text", "blocked", "problems", "leaked"}
    assert found["candidates"][0]["problems"][0]["rule"] == "tool"

    code, out, _ = call("lint", "moves", "--store", url)
    assert code == 1 and "names the tool web_search" in out and "1 texts blocked" in out
    code, out, err = call("lint", "handwritten", "--store", tmp_path / "none.db", "--json")
    assert code == 0 and json.loads(out)["ok"], err
    assert call("lint", "nothing", "--store", url)[0] == 2


def test_a_candidate_that_few_questions_need_is_marked(tmp_path):
    store = Store.open(tmp_path / "runs.db")
    store.add(runs(90))
    mine_set(store, "moves", EMBEDDER, MiningRequest(6))
    first, *rest = store.candidate_set("moves").candidates
    few = CandidateSet("few", (replace(first, questions=4), replace(rest[0], questions=5)))

    found = lint_candidates(few, LintSettings(), EMBEDDER)

    assert [[(p.rule, p.severity) for p in one.problems] for one in found] == [
        [("rarely-used", Severity.FLAG)],
        [],
    ]


def test_a_set_keeps_to_a_budget_of_tokens(store):
    mine_set(store, "wide", EMBEDDER, MiningRequest(6))
    mine_set(store, "narrow", EMBEDDER, MiningRequest(6, tokens=20))

    narrow = texts(store.candidate_set("narrow"))
    assert 0 < sum(map(estimated_tokens, narrow)) <= 20
    assert sum(map(estimated_tokens, texts(store.candidate_set("wide")))) > 20
    assert store.candidate_set("narrow").manifest["settings"]["tokens"] == 20
