"""Working on a set in a browser: many at once, merge, split, a gap filled, a lasso on the map, a release that is exported."""

import json
from pathlib import Path

import pytest
from land_runs import BROKEN, COMPARE
from playwright.sync_api import expect
from visitor import until

from forethought.data.candidates import Status
from forethought.data.exports.candidate_rows import read_candidates
from forethought.data.library import library_hash, read_library

pytestmark = pytest.mark.browser

SIXTY = [f"I should look at shelf number {n}." for n in range(1, 61)]
THREE = [
    "I do not know this fact yet, so I should look it up first.",
    "I lack this fact, so I should look it up.",
    "What I found holds the answer, so I can give it.",
]


def candidates(store, name):
    return store.candidate_set(name).candidates


def statuses(store, name) -> list[Status]:
    return [one.status for one in candidates(store, name)]


def test_all_that_match_are_decided_on_at_once_and_one_undo_takes_it_back(store, make_set, visit):
    name, ann = make_set(SIXTY), visit()
    ann.open("Table", name)
    ann.page.get_by_role("textbox", name="Search").fill("number 1")
    ann.press("Enter")
    ann.sees("15 match, 0 ticked")
    ann.page.get_by_text("all 15 that match").click()
    ann.click("Reject …")
    expect(ann.page.get_by_role("dialog")).to_contain_text("Reject: 15 candidates")
    assert Status.REJECTED not in statuses(store, name), "a preview changes nothing"
    ann.page.get_by_role("button", name="Reject 15", exact=True).click()
    until(lambda: statuses(store, name).count(Status.REJECTED) == 15)
    assert all("1" in c.text for c in candidates(store, name) if c.status is Status.REJECTED)

    expect(ann.page.get_by_role("dialog")).to_have_count(0)
    ann.click("Undo")
    until(lambda: statuses(store, name) == [Status.PROPOSED] * 60)


def test_two_candidates_become_one(store, make_set, visit):
    name, ann = make_set(THREE), visit()
    ann.open("Review", name)
    ann.has_open(1, 3)
    ann.press("m")
    join = ann.main.locator("[data-testid=stCheckbox] label")
    expect(join).to_have_count(2)
    join.first.click()
    ann.sees("What comes of it")
    ann.ready()
    ann.press("y")
    until(lambda: len(candidates(store, name)) == 2)
    survivor = candidates(store, name)[0]
    assert (survivor.text, survivor.aliases) == (THREE[0], (THREE[1],))

    ann.has_open(1, 2)
    ann.press("z")
    until(lambda: [one.text for one in candidates(store, name)] == THREE)


def test_one_candidate_becomes_two(store, make_set, visit):
    name, ann = make_set(["I should go on with it."], "bridge"), visit()
    ann.open("Review", name)
    ann.has_open(1, 1)
    ann.press("s")
    ann.main.get_by_text("by hand", exact=True).click()
    ann.ready()
    broken = ann.main.locator("[data-testid=stVerticalBlock]", has_text=BROKEN).last
    broken.get_by_role("button", name="→ 2").click()
    second = ann.page.get_by_role("textbox", name="Part 2")
    second.fill("The page is broken, so I should take another.")
    ann.press("Tab")
    ann.sees("2 parts. One part keeps the candidate")
    ann.ready()
    ann.click("Split it")
    until(lambda: len(candidates(store, name)) == 2)
    kept, new = candidates(store, name)
    assert kept.text == "I should go on with it."
    assert new.text == "The page is broken, so I should take another."
    thoughts = {
        turn: store.trace(turn.rpartition(":")[0]).turns[0].thoughts[0]
        for turn in (*kept.support, *new.support)
    }
    assert {thoughts[turn] for turn in kept.support} == {COMPARE}
    assert {thoughts[turn] for turn in new.support} == {BROKEN}


def make_second(ann, store, name: str, text: str) -> None:
    """A candidate of what is chosen on the page, beside the one that the set has."""
    ann.page.get_by_role("textbox", name="Wording of a new candidate").fill(text)
    ann.press("Tab")
    ann.ready()
    ann.click("Make a candidate")
    until(lambda: len(candidates(store, name)) == 2)


def test_a_gap_becomes_a_candidate(store, make_set, visit):
    name, ann = make_set(THREE[2:], "river"), visit()
    ann.open("Gaps", name)
    ann.click("Find the gaps")
    make_second(ann, store, name, "I should compare both of them.")
    new = candidates(store, name)[-1]
    assert new.text == "I should compare both of them."
    assert new.expected_actions == ("search",)
    assert len(new.support) > 10
    ann.sees("A new candidate stands at the end of the set")


def test_a_lasso_on_the_map_becomes_a_candidate(store, make_set, visit):
    name, ann = make_set(THREE[2:], "bridge"), visit()
    ann.open("Map", name)
    ann.click("Draw the map")
    expect(ann.map).to_be_visible()
    ann.ready()
    ann.lasso((0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98))
    ann.sees("inside")
    make_second(ann, store, name, "I should think about it.")
    assert candidates(store, name)[-1].text == "I should think about it."
    assert candidates(store, name)[-1].support


def downloaded(ann, number: int) -> Path:
    """The file behind the page's `number`-th button."""
    with ann.page.expect_download() as found:
        ann.button("Download").nth(number).click()
    return Path(found.value.path())


def test_a_release_is_made_and_what_is_exported_is_what_it_holds(store, make_set, visit):
    name, ann = make_set(THREE), visit()
    ann.open("Versions", name, **{"versions-look": "Releases"})
    ann.page.get_by_role("textbox", name="Notes for a new release").fill("the first")
    ann.press("Tab")
    ann.click("Release the set as it is now (3 candidates)")
    until(lambda: bool(store.releases(name)))
    release = store.releases(name)[0]
    assert (release.notes, release.actor) == ("the first", "ann")
    ann.sees(release.hash)

    ann.go("Export")
    expect(ann.button("Download")).to_have_count(2)
    library = downloaded(ann, 0)
    assert library_hash(read_library(library)) == release.hash
    assert [entry["text"] for entry in json.loads(library.read_text())["entries"].values()] == THREE

    ann.main.get_by_text("jsonl", exact=True).click()
    ann.sees("candidates.jsonl")
    ann.ready()
    file = downloaded(ann, 0)
    exact = read_candidates(file.rename(file.with_suffix(".jsonl")))
    assert exact.candidates == candidates(store, name)


def test_an_import_is_started_and_ends(store, visit, tmp_path):
    ann, before = visit(), store.counts()
    samples = Path(__file__).parent.parent / "data" / "samples" / "react-text.alpaca.json"
    ann.open("Runs")
    ann.page.get_by_role("textbox", name="Files, folders or patterns").fill(str(samples))
    ann.page.get_by_role("textbox", name="Name of the collection").fill("samples")
    ann.press("Tab")
    ann.click("Import")
    run = ann.main.locator("[data-testid=stVerticalBlock]", has_text=str(samples)).last
    expect(run).to_contain_text("samples")
    ann.main.get_by_text("done", exact=True).wait_for()
    assert store.counts().traces > before.traces
    assert "samples" in store.sources()
    assert ann.main.get_by_text("failed", exact=True).count() == 0
