"""From an action to the next screen, ready, in a real browser: a store of 100,000 turns and a set of 1,000 candidates.

    python benchmarks/app_speed.py                       # builds the store in a temporary folder, about two minutes
    python benchmarks/app_speed.py --folder out/speed    # keeps it there, and finds it again

Needs playwright (`pip install playwright`) and a Chromium (--chromium, by default /usr/bin/chromium). The store is made by the
store's own functions; a screen is ready when its script has run, the server is quiet, and what was asked for is on the
page with nothing of it still to be drawn. Prints Markdown; exits 1 where a bar is missed.
"""

import argparse
import os
import platform
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from forethought.data.candidates import Candidate, CandidateSet
from forethought.data.identity import Split, candidate_id
from forethought.data.store import Store
from forethought.data.traces import Action, Outcome, Trace, Turn, turn_id
from forethought.ui.serving import Serving, app_command, app_environment

TURNS_A_TRACE, SUPPORT = 5, 100
BARS = {"first page": 2.0}  # seconds at the 95th percentile; one for everything else
BAR = 1.0
NOUNS = ("river", "treaty", "engine", "novel", "island", "composer", "theorem", "bridge")
DOUBTS = ("is not in these results", "is still missing", "is not told here", "may be elsewhere")
READY = (
    "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
    " && !document.querySelector('[data-stale=true], [data-testid=stSkeleton]')"
)
QUIET = 40  # milliseconds without a message from the server, part of each time
WATCH = """
window.__messages = 0;
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", () => { window.__messages += 1; window.__last = performance.now(); });
  }
};
"""


def made_up_traces(count: int) -> Iterator[Trace]:
    """`count` runs of TURNS_A_TRACE turns."""
    for number in range(count):
        noun, doubt = NOUNS[number % len(NOUNS)], DOUBTS[number // len(NOUNS) % len(DOUBTS)]
        turns = [
            Turn(
                (f"What I need of {noun} {number} {doubt}, so I should look at page {step}.",),
                (Action("search", {"input": f"{noun} {number} page {step}"}),),
                (f"Page {step} about {noun} {number}: nothing of note. " * 8,),
            )
            for step in range(TURNS_A_TRACE - 1)
        ]
        last = Turn(("I have the answer now.",), (Action("finish", {"input": noun}),))
        yield Trace(
            question=f"Which {noun} is number {number}?",
            turns=(*turns, last),
            outcome=Outcome.SUCCESS if number % 3 else Outcome.FAILURE,
            source=f"made-up-{number % 4}",
            file=f"runs-{number % 50}.jsonl",
            position=number,
        )


def build(path: Path, turns: int, candidates: int) -> None:
    """The store, unless it is there."""
    if path.exists():
        return
    partial = path.with_suffix(".part")
    store = Store.open(partial)
    store.add(made_up_traces(turns // TURNS_A_TRACE))
    mine = [t.id for t in made_up_traces(turns // TURNS_A_TRACE) if t.split is Split.MINE]
    made = []
    for number in range(candidates):
        noun, doubt = NOUNS[number % len(NOUNS)], DOUBTS[number // len(NOUNS) % len(DOUBTS)]
        text = f"The {noun} {doubt}, so I should search another way, number {number}."
        picked = [mine[(number * 37 + place * 11) % len(mine)] for place in range(SUPPORT)]
        support = tuple(dict.fromkeys(turn_id(id, number % 4) for id in picked))
        made.append(
            Candidate(
                candidate_id(text), text, ("search",), support=support, questions=len(support)
            )
        )
    store.save_set(CandidateSet("large", tuple(made)))
    store.close()
    partial.rename(path)


@contextmanager
def served(path: Path) -> Iterator[str]:
    """The app on a free port; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    serving = Serving(str(path), port, headless=True)
    environment = app_environment(serving) | {"HF_HUB_OFFLINE": "1"}
    with subprocess.Popen(
        app_command(serving), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait_for(port, process)
            yield serving.address
        finally:
            process.terminate()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("the app did not start; run `forethought ui` to see why")


class Watch:
    """A person at the page: acts, and waits until the screen that follows is ready; seconds of each action by name."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.seconds: dict[str, list[float]] = {}

    def time(self, name: str, act: Callable[[], object], shows: str) -> None:
        """`shows`: JavaScript that is true of the screen that is waited for."""
        before = self.page.evaluate("window.__messages")
        started = time.perf_counter()
        act()
        self.page.wait_for_function(
            f"window.__messages > {before} && performance.now() - window.__last > {QUIET} && {READY} && ({shows})",
            polling=20,
            timeout=120_000,
        )
        self.seconds.setdefault(name, []).append(time.perf_counter() - started)

    def open(self, name: str, address: str, shows: str) -> None:
        started = time.perf_counter()
        self.page.goto(address)
        self.page.wait_for_function(f"{READY} && ({shows})", polling=20, timeout=120_000)
        self.seconds.setdefault(name, []).append(time.perf_counter() - started)


def says(text: str) -> str:
    """JavaScript: the page's main part says `text`."""
    return f"document.querySelector('[data-testid=stMain]').innerText.includes({text!r})"


def first_pages(browser: Any, address: str, watch: Watch, rounds: int) -> None:
    """A new tab each time, as a person comes to it."""
    for _ in range(rounds):
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        watch.page = page
        watch.open("first page", address, says("Candidates"))
        page.close()


def review(watch: Watch, rounds: int) -> None:
    page = watch.page
    link = page.get_by_role("link", name="Review", exact=True)
    watch.time("open Review", link.click, says("Candidate 1 of"))
    for number in range(1, rounds + 1):
        page.locator("h1").click()  # the cursor is in no field
        press = lambda: page.keyboard.press("a")  # noqa: E731
        watch.time("accept, next candidate", press, says(f"Candidate {number + 1} of"))


def table(watch: Watch, rounds: int) -> None:
    page = watch.page
    link = page.get_by_role("link", name="Table", exact=True)
    watch.time("open Table", link.click, says(" match, "))
    search = page.get_by_role("textbox", name="Search")
    for number in range(rounds):
        search.fill(f"{NOUNS[number % len(NOUNS)]} number {number}")
        watch.time("Table: search", lambda: search.press("Enter"), says(" match, "))
    search.fill("")
    search.press("Enter")
    page.wait_for_timeout(1500)
    for number in range(rounds):
        toggle = page.get_by_text("Descending")
        watch.time("Table: sort", toggle.click, says(" match, "))
        following = page.locator("[data-testid=stPagination] button").get_by_text(
            str(number % 3 + 2), exact=True
        )
        first = 50 * (number % 3 + 1) + 1
        watch.time("Table: page", following.first.click, says(f"{first} to"))


def traces(watch: Watch, rounds: int) -> None:
    page = watch.page
    link = page.get_by_role("link", name="Traces", exact=True)
    watch.time("open Traces", link.click, says("found"))
    page.get_by_text("Thoughts", exact=True).click()
    page.wait_for_timeout(2000)
    words = page.get_by_role("textbox", name="Words")
    for number in range(rounds):
        words.fill(f"{NOUNS[number % len(NOUNS)]} {number + 11} missing")
        watch.time("Traces: search thoughts", lambda: words.press("Enter"), says("ound"))


def measure(address: str, chromium: str, rounds: int) -> dict[str, list[float]]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.add_init_script(WATCH)
        watch = Watch(context.new_page())
        watch.open("first page of all", address, says("Candidates"))
        page = watch.page
        review(watch, rounds)
        table(watch, rounds)
        traces(watch, rounds)
        page.close()
        first_pages(browser, address, watch, max(3, rounds // 4))
        browser.close()
    return watch.seconds


def markdown(seconds: dict[str, list[float]], options: argparse.Namespace) -> str:
    lines = [
        f"{options.turns:,} turns, {options.candidates:,} candidates; {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f} at the end, Python {platform.python_version()}.",
        "",
        "| action | times | p50 | p95 | bar |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, values in seconds.items():
        p50, p95 = np.percentile(values, [50, 95])
        lines.append(f"| {name} | {len(values)} | {p50:.2f} s | {p95:.2f} s | {bar_of(name)} |")
    return "\n".join(lines)


def bar_of(name: str) -> str:
    """As the table says it; the first page of all loads the libraries, which is the start of the app."""
    return "" if name == "first page of all" else f"{BARS.get(name, BAR):.0f} s"


def misses(seconds: dict[str, list[float]]) -> list[str]:
    """What is over its bar."""
    return [
        name
        for name, values in seconds.items()
        if bar_of(name) and np.percentile(values, 95) > BARS.get(name, BAR)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--candidates", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=20, help="times each action is done")
    parser.add_argument("--folder", type=Path, help="where the store is kept and found again")
    parser.add_argument("--each", action="store_true", help="every single time, too")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"app-{options.turns}-{options.candidates}.db"
        build(path, options.turns, options.candidates)
        served_store = Path(shutil.copy(path, Path(temporary) / "served.db"))  # decisions change it
        with served(served_store) as address:
            seconds = measure(address, options.chromium, options.rounds)
    print(markdown(seconds, options))
    if options.each:
        for name, values in seconds.items():
            print(name, *(f"{value:.2f}" for value in values))
    missed = misses(seconds)
    if missed:
        print(f"over the bar: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
