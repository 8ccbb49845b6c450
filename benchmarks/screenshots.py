"""Pictures of every screen, as docs/images holds them: real data, an empty store, light and dark.

    python benchmarks/screenshots.py --store demo-out/forethought.db      # the store that `make demo` leaves

The store is copied and the copy is shown, with the report of a bench of the set where --bench names one (its report.json). Needs a Chromium (--chromium, by default /usr/bin/chromium). Pictures are 1280 x 800
pixels with at most 256 colours, which text and charts do not miss.
"""

import argparse
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from app_speed import READY, served
from PIL import Image

from forethought.data import commands
from forethought.data.commands import Edit
from forethought.data.store import Store
from forethought.ui.bench_rows import KIND

IMAGES = Path(__file__).parent.parent / "docs" / "images"
SIZE = {"width": 1280, "height": 800}
PATIENCE = 600_000  # milliseconds: a map, gaps and a model take their time on a busy machine
DARK = ("overview", "review")  # shown in both themes


class Camera:
    """A window at the app, and where its pictures go."""

    def __init__(self, page: Any, address: str, set_name: str, folder: Path, suffix: str) -> None:
        self.page, self.address, self.set_name = page, address, set_name
        self.folder, self.suffix = folder, suffix
        page.set_default_timeout(PATIENCE)

    def open(self, screen: str, more: str = "") -> None:
        place = "" if screen == "overview" else screen  # the app's first page has no name
        self.page.goto(f"{self.address}/{place}?set={self.set_name}&user=ann{more}")
        self.page.locator("h1").wait_for()
        self.ready()

    def ready(self) -> None:
        self.page.wait_for_function(READY, polling=50)
        self.page.wait_for_function("document.fonts.status === 'loaded'")
        self.page.wait_for_timeout(1500)  # a chart's last frame tells nobody

    def click(self, label: str) -> None:
        self.page.get_by_role("button", name=label).first.click()
        self.ready()

    def choose(self, label: str) -> None:
        self.page.locator("[data-testid=stMain]").get_by_text(label, exact=True).first.click()
        self.ready()

    def take(self, name: str) -> None:
        """The picture, with few colours: a third of the size."""
        path = self.folder / f"{name}{self.suffix}.png"
        self.page.screenshot(path=path)
        with Image.open(path) as picture:
            few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB", flush=True)


def review(camera: Camera) -> None:
    camera.open("review")
    camera.take("review")


def merge(camera: Camera) -> None:
    camera.open("review")
    camera.page.keyboard.press("m")
    camera.page.get_by_text("This one survives").wait_for()
    camera.page.locator("[data-testid=stCheckbox] label").first.click()
    camera.page.get_by_text("What comes of it").wait_for()
    camera.ready()
    camera.take("merge")


def split(camera: Camera) -> None:
    camera.open("review")
    camera.page.keyboard.press("s")
    camera.page.get_by_text("Split it").wait_for()
    camera.ready()
    camera.take("split")


def gaps(camera: Camera) -> None:
    camera.open("gaps")
    camera.click("Find the gaps")
    camera.page.get_by_text("are uncovered").wait_for()
    camera.ready()
    camera.take("gaps")


def map_of_thoughts(camera: Camera) -> None:
    camera.open("map")
    camera.click("Draw the map")
    plot = camera.page.locator("[data-testid=stPlotlyChart] .nsewdrag").first
    plot.wait_for()
    camera.ready()
    box = plot.bounding_box()
    mouse = camera.page.mouse
    for x, y in ((0.3, 0.25), (0.6, 0.3), (0.65, 0.7), (0.35, 0.75), (0.3, 0.25)):
        mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=5)
        mouse.down()
    mouse.up()
    camera.page.get_by_text("inside").wait_for()
    camera.ready()
    camera.take("map")


def play(camera: Camera) -> None:
    camera.open("play")
    camera.click("Score the candidates")
    camera.page.get_by_text("Every candidate").wait_for()
    camera.ready()
    camera.take("play")


def bench(camera: Camera) -> None:
    camera.open("bench")
    camera.page.get_by_text("Success against time").or_(
        camera.page.get_by_text("was not benched")
    ).wait_for()
    camera.ready()
    camera.take("bench")


def versions(camera: Camera) -> None:
    camera.open("versions", "&versions-look=Compare")
    camera.click("Compare what both cover")
    camera.page.get_by_text("the same turns").first.wait_for()
    camera.page.wait_for_timeout(5000)
    camera.ready()
    camera.take("versions")


def traces(camera: Camera) -> None:
    camera.open("traces")
    grid = camera.page.locator("[data-testid=stDataFrame]").first.bounding_box()
    camera.page.mouse.click(grid["x"] + 12, grid["y"] + 45)  # the box of the first row
    camera.page.get_by_text("Turn 1", exact=True).wait_for()
    camera.ready()
    camera.take("traces")


def plain(screen: str) -> Callable[[Camera], None]:
    def take(camera: Camera) -> None:
        camera.open(screen)
        camera.take(screen)

    return take


SCREENS: dict[str, Callable[[Camera], None]] = {
    "overview": plain("overview"),
    "review": review,
    "merge": merge,
    "split": split,
    "gaps": gaps,
    "map": map_of_thoughts,
    "table": plain("table"),
    "play": play,
    "bench": bench,
    "versions": versions,
    "export": plain("export"),
    "traces": traces,
    "runs": plain("runs"),
}
EMPTY = ("overview", "traces", "runs")  # what a new store shows


def copied(source: Path, target: Path) -> Path:
    """The store with what its log holds, too."""
    with sqlite3.connect(source) as old, sqlite3.connect(target) as new:
        old.backup(new)
    return target


def lived_in(path: Path, set_name: str) -> None:
    """Some decisions and a release, so that there is a history to show."""
    store = Store.open(path)
    first, second, third, *others = store.candidate_set(set_name).candidates
    for one in (first, second):
        commands.accept(store, Edit(set_name, one.id, one.version, "ann"))
    store.release(set_name, "before the review", "ann")
    commands.reject(store, Edit(set_name, others[-1].id, others[-1].version, "bob"))
    edit = Edit(set_name, third.id, third.version, "bob", "says where it comes from")
    commands.reword(store, edit, "What I found holds the answer.")
    store.close()


def benched(path: Path, report: Path | None) -> None:
    """The store with the report of a bench, as if it had been run on it."""
    if report is not None:
        store, found = Store.open(path), json.loads(report.read_text("utf-8"))
        store.put(KIND, found["set"], found)
        store.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--store", type=Path, default=Path("demo-out/forethought.db"))
    parser.add_argument("--set", dest="set_name", default="demo")
    parser.add_argument("--bench", type=Path, help="report.json of a bench of the set")
    parser.add_argument("--only", nargs="*", help=f"of {', '.join(SCREENS)} and empty")
    parser.add_argument("--theme", choices=("light", "dark"), help="every screen in this theme")
    parser.add_argument("--out", type=Path, default=IMAGES)
    parser.add_argument("--chromium", default=shutil.which("chromium") or "/usr/bin/chromium")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    options.out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder, sync_playwright() as player:
        browser = player.chromium.launch(
            executable_path=options.chromium, args=["--no-sandbox", "--force-color-profile=srgb"]
        )
        store = copied(options.store, Path(folder) / "forethought.db")
        lived_in(store, options.set_name)
        benched(store, options.bench)
        shown(browser, store, options)
        if not options.only or "empty" in options.only:
            empty = Path(folder) / "empty.db"
            Store.open(empty).close()
            with served(empty) as address:
                camera = camera_at(browser, address, options, "light", "-empty")
                for name in EMPTY:
                    SCREENS[name](camera) if name != "traces" else plain("traces")(camera)


def shown(browser: Any, store: Path, options: argparse.Namespace) -> None:
    """Every screen with data, light; some dark."""
    names = [name for name in SCREENS if not options.only or name in options.only]
    with served(store) as address:
        for theme in (options.theme,) if options.theme else ("light", "dark"):
            suffix = "-dark" if theme == "dark" else ""
            camera = camera_at(browser, address, options, theme, suffix)
            for name in names:
                if theme == "light" or options.theme or name in DARK:
                    SCREENS[name](camera)


def camera_at(
    browser: Any, address: str, options: argparse.Namespace, theme: str, suffix: str
) -> Camera:
    context = browser.new_context(viewport=SIZE, color_scheme=theme)
    return Camera(context.new_page(), address, options.set_name, options.out, suffix)


if __name__ == "__main__":
    main()
