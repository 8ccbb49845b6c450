"""For the flows in a browser: one Chromium and one app for all, a set of its own in the one store for each.

They are skipped where no Chromium is, unless FORETHOUGHT_REQUIRE_CHROMIUM is set.
"""

import os
import shutil
from dataclasses import replace

import pytest
from curated_store import mined
from land_runs import RUNS
from playwright.sync_api import sync_playwright
from served_app import served
from visitor import Visitor

from forethought.data.store import Store

OPTIONS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="session")
def browser():
    program = shutil.which("chromium")
    if program is None:
        missing = "no Chromium here; install Debian's package chromium"
        (pytest.fail if os.environ.get("FORETHOUGHT_REQUIRE_CHROMIUM") else pytest.skip)(missing)
    with sync_playwright() as player:
        chromium = player.chromium.launch(executable_path=program, args=OPTIONS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def shared(browser, tmp_path_factory):
    """The app on a store that all flows share, and the store."""
    folder = tmp_path_factory.mktemp("shared")
    store = Store.open(folder / "store.db")
    for runs in RUNS.values():
        store.add(runs)
    store.save_set(mined(traces=RUNS["town"]))
    with served(folder / "store.db", folder) as app:
        yield app, store
    store.close()


@pytest.fixture
def store(shared) -> Store:
    return shared[1]


@pytest.fixture
def make_set(store, request):
    """Saves a set of these texts, supported by all runs of a source, under the test's name; its name."""

    def make(texts, source: str = "town") -> str:
        name = request.node.name
        made = mined(name, [(text, ("search",)) for text in texts], RUNS[source])
        store.save_set(replace(made, manifest={"source": source}))
        return name

    return make


@pytest.fixture
def visit(browser, request):
    """Opens a window at the shared app, or at another one's address; all of them are looked after in the end."""
    visitors = []

    def open_window(name: str = "ann", address: str | None = None) -> Visitor:
        at = address or request.getfixturevalue("shared")[0].address
        visitors.append(Visitor(browser, at, name))
        return visitors[-1]

    yield open_window
    for visitor in visitors:
        visitor.leave()
