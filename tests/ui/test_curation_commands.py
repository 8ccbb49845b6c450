"""The verbs of curation: each is a command of the store, told as JSON and in words, refused in one line."""

import json

import pytest
from curated_store import TEXTS, curated, mined
from typer.testing import CliRunner

from forethought.data.identity import candidate_id
from forethought.data.store import Store
from forethought.ui.cli import app

FIRST, SECOND, THIRD = (candidate_id(text) for text, _ in TEXTS)
TURN = "t_1:0"


@pytest.fixture
def store(tmp_path):
    store = curated(tmp_path / "a.db")
    yield store
    assert store.check() == []
    store.close()


@pytest.fixture
def run(store):
    """Runs a verb on the store and gives its JSON."""

    def call(*words: str, code: int = 0):
        result = CliRunner().invoke(app, [*words, "--store", store.database.location, "--json"])
        assert result.exit_code == code, (result.output, result.exception)
        return json.loads(result.stdout)

    return call


def fails(store: Store, *words: str) -> str:
    result = CliRunner().invoke(app, [*words, "--store", store.database.location])
    assert result.exception is not None
    assert "\n" not in str(result.exception)
    return str(result.exception)


def status(store: Store) -> list[str]:
    return [candidate.status.value for candidate in store.candidate_set("search-v1").candidates]


def test_decisions_on_several_are_one_command_with_one_undo(store, run):
    decided = run("candidates", "accept", "search-v1", FIRST[:6], SECOND, "--actor", "ann")
    assert decided == {"applied": [FIRST, SECOND], "conflicts": []}
    assert status(store) == ["accepted", "accepted", "proposed"]

    run("undo", "search-v1", "--actor", "ann")
    assert status(store) == ["proposed"] * 3
    run("redo", "search-v1")
    run("candidates", "reject", "search-v1", THIRD, "--reason", "too vague")
    run("candidates", "needs-work", "search-v1", FIRST)
    assert status(store) == ["needs_work", "accepted", "rejected"]
    newest, rejected, *_ = run("sets", "log", "search-v1")["commands"]
    assert (newest["command"], rejected["reason"]) == ("decide_many", "too vague")


def test_a_decision_on_another_version_than_shown_is_left_alone(store, run):
    run("candidates", "edit", "search-v1", FIRST, "--text", "I should look it up.")

    decided = run("candidates", "accept", "search-v1", FIRST, "--version", "1", code=3)

    assert decided["applied"] == []
    assert decided["conflicts"][0]["theirs"]["text"] == "I should look it up."
    assert "changed meanwhile" in fails(
        store, "candidates", "edit", "search-v1", FIRST, "--text", "Mine.", "--version", "1"
    )


def test_editing_rewords_moves_and_tells_the_actions(store, run):
    edited = run(
        *("candidates", "edit", "search-v1", THIRD, "--text", "I can answer."),
        *("--expect", "answer", "--expect", "finish", "--place", "0"),
    )["candidates"][0]

    (first, *_) = store.candidate_set("search-v1").candidates
    assert (first.id, first.text, first.expected_actions) == (
        THIRD,
        "I can answer.",
        ("answer", "finish"),
    )
    assert edited["version"] == first.version == 4
    assert "nothing to edit" in fails(store, "candidates", "edit", "search-v1", THIRD)


def test_merge_split_add_and_restore(store, run, tmp_path):
    merged = run("candidates", "merge", "search-v1", FIRST, SECOND)["candidates"][0]
    assert merged["aliases"] == [TEXTS[1][0]]
    binned = run("candidates", "list", "search-v1", "--bin")
    assert [(c["id"], c["is_member"]) for c in binned["candidates"]] == [(SECOND, False)]
    assert run("candidates", "restore", "search-v1", SECOND)["candidates"][0]["id"] == SECOND

    turns = merged["support"]
    parts = [{"text": TEXTS[0][0], "support": turns[:1]}, {"text": "More.", "support": turns[1:]}]
    (tmp_path / "parts.json").write_text(json.dumps(parts))
    made = run("candidates", "split", "search-v1", FIRST, "--parts", str(tmp_path / "parts.json"))
    assert [len(part["support"]) for part in made["candidates"]] == [1, len(turns) - 1]

    added = run(
        *("candidates", "add", "search-v1", "I should compare.", "--expect", "search"),
        *("--support", turns[0], "--from", FIRST),
    )["candidates"][0]
    assert (added["support"], added["questions"]) == ([turns[0]], 1)
    texts = [c.text for c in store.candidate_set("search-v1").candidates]
    assert texts == [TEXTS[0][0], "More.", TEXTS[2][0], TEXTS[1][0], "I should compare."]


def test_a_list_is_filtered_sorted_and_paged(store, run):
    run("candidates", "accept", "search-v1", SECOND)

    found = run("candidates", "list", "search-v1", "--text", "should LOOK", "--action", "search")
    assert [c["id"] for c in found["candidates"]] == [FIRST]
    assert run("candidates", "list", "search-v1", "--status", "accepted")["total"] == 1
    page = run("candidates", "list", "search-v1", "--sort", "text", "--limit", "1", "--offset", "1")
    assert (page["candidates"][0]["id"], page["total"]) == (SECOND, 3)


def test_history_shows_every_change_and_what_was_said(store, run):
    run("candidates", "accept", "search-v1", FIRST, "--actor", "bob")

    told = run("candidates", "comment", "search-v1", FIRST, "is clear", "--actor", "ann")

    assert told == run("candidates", "history", "search-v1", FIRST)
    assert [r["actor"] for r in told["revisions"]] == ["miner", "bob"]
    assert [(c["actor"], c["text"]) for c in told["comments"]] == [("ann", "is clear")]


def test_a_release_is_compared_restored_and_branched_from(store, run):
    released = run("sets", "release", "search-v1", "--notes", "for training", "--actor", "ann")
    assert (released["release"], released["candidates"], released["notes"]) == (
        1,
        3,
        "for training",
    )
    run("candidates", "edit", "search-v1", FIRST, "--text", "I should look it up.")
    run("candidates", "reject", "search-v1", SECOND)

    diff = run("sets", "diff", "search-v1", "1")
    assert diff["reworded"] == [
        {"id": FIRST, "before": TEXTS[0][0], "after": "I should look it up."}
    ]
    assert [c["id"] for c in diff["removed"]] == [SECOND]
    run("sets", "branch", "search-v1", "other", "--at", "1")
    assert [c.text for c in store.candidate_set("other").candidates] == [t for t, _ in TEXTS]
    run("sets", "restore", "search-v1", "1")
    assert run("sets", "diff", "search-v1", "1", "now")["unchanged"] == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("candidates", "accept", "search-v1", "c_zz"), "no candidate 'c_zz'"),
        (("candidates", "accept", "search-v1", "c_"), "several candidates begin with"),
        (("candidates", "list", "none"), "no candidate set 'none'"),
        (("candidates", "split", "search-v1", FIRST, "--parts", "none.json"), "no file of parts"),
        (("candidates", "comment", "search-v1", FIRST, " "), "comment is empty"),
        (("sets", "restore", "search-v1", "7"), "no release 7"),
        (("sets", "diff", "search-v1", "yesterday"), "no version 'yesterday'"),
        (("sets", "branch", "search-v1", "search-v1"), "a set 'search-v1' already"),
        (("undo", "search-v1"), "left to undo"),
        (("undo", "search-v1", "--command", "999"), "no command 999"),
    ],
)
def test_a_mistake_is_one_line(store, words, told):
    assert told in fails(store, *words)


def test_everything_is_told_in_words_too(store):
    said = []
    for words in (
        ("candidates", "edit", "search-v1", FIRST, "--text", "I should look."),
        ("candidates", "accept", "search-v1", SECOND),
        ("candidates", "list", "search-v1"),
        ("candidates", "history", "search-v1", FIRST),
        ("sets", "release", "search-v1"),
        ("candidates", "merge", "search-v1", FIRST, SECOND),
        ("sets", "diff", "search-v1", "1"),
        ("sets", "log", "search-v1"),
    ):
        result = CliRunner().invoke(app, [*words, "--store", store.database.location])
        assert result.exit_code == 0, result.exception
        said.append(result.stdout)

    assert "I should look." in said[0]
    assert "1 candidates changed" in said[1]
    assert "merged into I should look." in " ".join(said[6].split())


def test_a_text_that_steers_the_terminal_is_shown_without(tmp_path):
    hostile = "red \x1b[31m alarm\x07 [bold]x[/bold]"
    store = curated(tmp_path / "b.db", mined(texts=((hostile, ("search",)),)))

    result = CliRunner().invoke(
        app, ["candidates", "list", "search-v1", "--store", store.database.location]
    )

    assert "\x1b[31m" not in result.stdout and "\x07" not in result.stdout
