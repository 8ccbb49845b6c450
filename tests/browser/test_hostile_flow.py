"""Hostile texts on every screen: shown letter by letter, nothing is fetched, nothing runs, no page breaks.

What would leave this machine or run is noted by the `Visitor`, who fails for it when the window is closed.
"""

import pytest
from curated_store import HOSTILE
from hostile_store import ATTACK, LONG, MARK, NAME, TEXTS, hostile_store
from playwright.sync_api import expect
from served_app import served
from visitor import Visitor

from forethought.ui.charts import legible

pytestmark = pytest.mark.browser

MANY = len(TEXTS)


@pytest.fixture(scope="module")
def attacked(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    hostile_store(folder / "store.db").close()
    with served(folder / "store.db", folder) as app:
        yield app


@pytest.fixture
def ann(visit, attacked) -> Visitor:
    return visit("ann", attacked.address)


def is_whole(ann: Visitor, *texts: str) -> None:
    """The page has run to its end without a fault, and holds these texts letter by letter."""
    ann.ready()
    expect(ann.page.locator("[data-testid=stException]")).to_have_count(0)
    assert ann.main.get_by_text("This page cannot be shown").count() == 0
    shown = ann.page.evaluate(
        "document.body.innerText + [...document.querySelectorAll('textarea, input')].map(e => e.value).join()"
    )
    for text in texts:
        assert legible(text) in shown, text[:80]


def choose(ann: Visitor, label: str) -> None:
    ann.main.get_by_text(label, exact=True).first.click()
    ann.ready()


def test_overview(ann):
    ann.open("Overview", NAME)
    is_whole(ann, ATTACK, NAME)


def test_review_and_all_beside_it(ann):
    ann.open("Review", NAME)
    expect(ann.wording).to_have_value(f"{ATTACK} drafted")
    is_whole(ann, MARK, NAME)
    for label in ("Similar", "Effect", "History"):
        choose(ann, label)
        is_whole(ann, MARK)
    choose(ann, "Evidence")
    choose(ann, "Before it, and the whole trace")
    is_whole(ann, ATTACK)
    ann.press("Escape", "m")
    ann.sees("This one survives")
    is_whole(ann, ATTACK)
    ann.press("b")
    ann.has_open(1, MANY)
    ann.press("s")
    ann.sees("Parts")
    is_whole(ann, MARK)


def test_the_longest_text(ann):
    ann.open("Review", NAME)
    ann.has_open(1, MANY)
    ann.press("Escape", "ArrowLeft")
    ann.has_open(MANY, MANY)
    ann.ready()
    expect(ann.wording).to_have_value(LONG)
    is_whole(ann)


def test_gaps_and_map(ann):
    ann.open("Gaps", NAME)
    ann.click("Find the gaps")
    ann.sees("are uncovered")
    is_whole(ann)
    ann.go("Map")
    ann.click("Draw the map")
    expect(ann.map).to_be_visible()
    is_whole(ann)


def test_table(ann):
    ann.open("Table", NAME)
    choose(ann, "Saved views")
    is_whole(ann, MARK)
    ann.press("Escape")
    ann.page.get_by_text(f"all {MANY} that match").click()
    ann.click("Accept …")
    expect(ann.page.get_by_role("dialog")).to_contain_text(MARK)
    is_whole(ann)


def test_play(ann):
    ann.open("Play", NAME)
    is_whole(ann, HOSTILE[2])


def test_versions(ann):
    ann.open("Versions", NAME)
    is_whole(ann)
    choose(ann, "Releases")
    is_whole(ann, ATTACK)
    choose(ann, "Compare")
    is_whole(ann, ATTACK)
    choose(ann, "History of a candidate")
    is_whole(ann, ATTACK)


@pytest.mark.parametrize("dialect", ["ssr-library", "csv", "jsonl", "trl-sft"])
def test_export(ann, dialect):
    ann.open("Export", NAME)
    choose(ann, dialect)
    is_whole(ann, *([] if dialect == "trl-sft" else ["<img src=x onerror=attacked()>"]))


def test_traces(ann):
    ann.open("Traces", NAME)
    is_whole(ann)
    grid = ann.main.locator("[data-testid=stDataFrame]").first.bounding_box()
    ann.page.mouse.click(grid["x"] + 12, grid["y"] + 45)  # the box of the first row
    ann.sees("Question")
    is_whole(ann, MARK)
    choose(ann, "Thoughts")
    is_whole(ann)
    choose(ann, "Quarantine")
    is_whole(ann, ATTACK)


def test_runs(ann):
    ann.open("Runs", NAME)
    ann.page.get_by_role("textbox", name="Files, folders or patterns").fill(f"{ATTACK}.jsonl")
    ann.press("Tab")
    ann.click("Import")
    ann.main.get_by_text("failed", exact=True).wait_for()
    choose(ann, "Log and files")
    is_whole(ann, ATTACK)
