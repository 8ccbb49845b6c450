"""Somebody at the app in a browser: goes to a page, presses keys, reads; and all that must never happen meanwhile.

A page is ready when its script has run. Nothing waits for a time: for a state of the page, or of the store.
"""

import re
import time
from collections.abc import Callable
from urllib.parse import quote, urlsplit

from playwright.sync_api import Browser, Locator, Page, expect

PATIENCE = 60  # seconds, on a machine that others keep busy
READY = "document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
PAINTED = "!document.querySelector('[data-stale=true], [data-testid=stSkeleton]')"
HOOKS = "for (const name of ['alert', 'confirm', 'prompt', 'attacked']) window[name] = () => { window.__ran = true; };"

expect.set_options(timeout=PATIENCE * 1000)


class Visitor:
    """One window at the app at `address`; `name` stands in the history."""

    def __init__(
        self, browser: Browser, address: str, name: str = "ann", theme: str = "light"
    ) -> None:
        self.address, self.name = address, name
        self.context = browser.new_context(
            viewport={"width": 1280, "height": 800}, color_scheme=theme, accept_downloads=True
        )
        self.context.set_default_timeout(PATIENCE * 1000)
        self.context.add_init_script(HOOKS)
        self.foreign: list[str] = []
        self.errors: list[str] = []
        # a pattern, not a function, so that the browser asks only for what is not ours
        self.context.route(re.compile(rf"^(?!{re.escape(address)}/|data:|blob:)"), self._refuse)
        self.page: Page = self.context.new_page()
        self.page.on("request", self._note)
        self.page.on("websocket", lambda socket: self._check(socket.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, screen: str, set_name: str | None = None, **query: str) -> None:
        """The page of this title, as by its address."""
        parts = {"user": self.name, **({"set": set_name} if set_name else {}), **query}
        asked = "&".join(f"{key}={quote(value)}" for key, value in parts.items())
        self.page.goto(f"{self.address}/{screen.lower()}?{asked}")
        expect(self.page.locator("h1")).to_have_text(screen)
        self.ready()

    def go(self, screen: str) -> None:
        """The page of this title, by the app's own links."""
        self.page.get_by_role("link", name=screen, exact=True).click()
        expect(self.page.locator("h1")).to_have_text(screen)
        self.ready()

    def reload(self) -> None:
        self.page.reload()
        expect(self.page.locator("h1")).to_be_visible()
        self.ready()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def button(self, label: str) -> Locator:
        """By what it says; a shortcut stands behind."""
        name = re.compile(rf"^{re.escape(label)}( Shortcut .*)?$")
        return self.page.get_by_role("button", name=name)

    def click(self, label: str) -> None:
        self.button(label).first.click()
        self.ready()

    @property
    def main(self) -> Locator:
        return self.page.locator("[data-testid=stMain]")

    @property
    def heading(self) -> Locator:
        """Of the candidate that is open in the review."""
        return self.main.get_by_role("heading", level=3)

    @property
    def wording(self) -> Locator:
        return self.page.locator(".st-key-wording-box textarea")

    @property
    def map(self) -> Locator:
        """Where one draws on the map's dots."""
        return self.main.locator("[data-testid=stPlotlyChart] .nsewdrag").first

    def sees(self, text: str) -> None:
        """Waits until the page says it."""
        expect(self.main).to_contain_text(text)

    def has_open(self, number: int, total: int) -> None:
        """Waits until this candidate of the review is there to be decided on."""
        expect(self.heading).to_have_text(f"Candidate {number} of {total}")
        expect(self.button("Accept")).to_be_enabled()
        self.page.wait_for_function("window.forethoughtKeyboard === true")

    def lasso(self, *corners: tuple[float, float]) -> None:
        """Draw through these places of the map, as shares of its width and height, and back to the first."""
        box = self.map.bounding_box()
        assert box is not None
        places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        for place in (*places[1:], places[0]):
            self.page.mouse.move(*place, steps=6)
        self.page.mouse.up()

    def ready(self) -> None:
        """Waits until the script has run."""
        self.page.wait_for_function(f"{READY} && {PAINTED}", polling=30)

    def leave(self) -> None:
        """Close the window; nothing may have gone elsewhere, no text of a trace may have run."""
        ran = [page.evaluate("window.__ran === true") for page in self.context.pages]
        self.context.close()
        assert not any(ran), "a text was run as a script"
        assert not self.foreign, self.foreign
        assert not self.errors, self.errors

    def _is_ours(self, url: str) -> bool:
        parts = urlsplit(url)
        return (
            parts.scheme in ("data", "blob", "about")
            or parts.netloc == urlsplit(self.address).netloc
        )

    def _check(self, url: str) -> None:
        if not self._is_ours(url):
            self.foreign.append(url)

    def _note(self, request) -> None:
        self._check(request.url)

    def _refuse(self, route) -> None:
        self._check(route.request.url)
        route.abort()


def until(holds: Callable[[], bool], what: str = "what was waited for") -> None:
    """Waits for a state of the store."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.05)
