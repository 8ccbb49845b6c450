"""The app is killed at random moments while somebody decides: what the page acknowledged is in the store."""

import random
import re

import pytest
from curated_store import mined
from land_runs import RUNS
from playwright.sync_api import expect
from served_app import ServedApp
from typer.testing import CliRunner

from forethought.data.candidates import Status
from forethought.data.store import Store
from forethought.ui.cli import app as command_line

pytestmark = [pytest.mark.browser, pytest.mark.slow]

KILLS, MOST_KEYS = 20, 6
NAME = "search-v1"
MANY = [(f"I should look at shelf number {n}.", ("search",)) for n in range(400)]
REVIEWED = re.compile(r"(\d+) of 400 reviewed")


@pytest.fixture
def served_set(tmp_path):
    store = Store.open(tmp_path / "store.db")
    store.add(RUNS["town"])
    store.save_set(mined(NAME, MANY, RUNS["town"]))
    app = ServedApp(tmp_path / "store.db", tmp_path)
    yield app, store
    app.kill()
    store.close()


def decided(store: Store) -> int:
    found = store.candidate_set(NAME).candidates
    return sum(one.status is not Status.PROPOSED for one in found)


def acknowledged(ann) -> int:
    """Decisions that the page tells of."""
    told = REVIEWED.search(ann.main.inner_text())
    return int(told.group(1)) if told else 0


def test_every_acknowledged_decision_outlives_a_killed_app(served_set, visit):
    app, store = served_set
    rng, told = random.Random(0), 0
    for _ in range(KILLS):
        app.start()
        ann = visit("ann", app.address)
        ann.open("Review", NAME)
        expect(ann.button("Accept")).to_be_enabled()
        assert acknowledged(ann) == decided(store)
        for _ in range(rng.randrange(1, MOST_KEYS)):
            before = acknowledged(ann)
            ann.press(rng.choice("axn"))
            ann.sees(f"{before + 1} of 400 reviewed")
        ann.press(rng.choice("axn"))
        ann.page.wait_for_timeout(rng.uniform(0, 400))  # the moment is what is random
        told = acknowledged(ann)
        app.kill()
        assert decided(store) >= told
    assert decided(store) >= KILLS
    checked = CliRunner().invoke(command_line, ["check", "--store", str(app.serving.store)])
    assert checked.exit_code == 0, checked.output
