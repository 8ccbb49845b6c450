"""Logging in by OpenID Connect at a provider of its own: who comes as what, what each may do, who does not come in."""

import json
import os
import socket
import subprocess
import sys
import time

import pytest
from curated_store import curated
from playwright.sync_api import expect
from served_app import ServedApp, free_port
from visitor import until

from forethought.data.candidates import Status
from forethought.ui.serving import Serving

pytestmark = pytest.mark.browser

NAME = "search-v1"
PEOPLE = ("ann@example.org", "carl@example.org", "vera@example.org", "eve@elsewhere.org")
AUTH = """
[auth]
redirect_uri = "http://localhost:{app}/oauth2callback"
cookie_secret = "any long text that nobody guesses"
client_id = "forethought"
client_secret = "secret"
server_metadata_url = "http://localhost:{provider}/.well-known/openid-configuration"

[roles]
"ann@example.org" = "admin"
"carl@example.org" = "curator"
"@example.org" = "viewer"
"""


@pytest.fixture(scope="module")
def provider():
    """The port of an OpenID provider that knows these people."""
    port = free_port()
    claims = [json.dumps({"sub": one.partition("@")[0], "email": one}) for one in PEOPLE]
    known = [part for claim in claims for part in ("--user-claims", claim)]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *known]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.1)
        yield port
        process.kill()


@pytest.fixture(scope="module")
def guarded(browser, provider, tmp_path_factory):
    """The app on a store that one must log in for, and the store."""
    folder = tmp_path_factory.mktemp("guarded")
    store = curated(folder / "store.db")
    app = ServedApp(folder / "store.db", folder)
    port = app.serving.port
    (folder / "auth.toml").write_text(AUTH.format(app=port, provider=provider))
    app.serving = Serving(str(folder / "store.db"), port, auth=folder / "auth.toml", headless=True)
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # the provider speaks plain HTTP
    app.start()
    yield port, store
    app.stop()
    store.close()


@pytest.fixture
def log_in(browser, guarded):
    """A page of the app as somebody sees it after logging in."""
    contexts = []

    def enter(email: str):
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 800}))
        page = contexts[-1].new_page()
        page.goto(f"http://localhost:{guarded[0]}/review?set={NAME}")
        expect(page.get_by_text("Log in to look at this store.")).to_be_visible()
        assert page.get_by_role("link", name="Review").count() == 0, "no page is offered before"
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("button", name=email.partition("@")[0], exact=True).click()
        return page

    yield enter
    for context in contexts:
        context.close()


def opened_review(page):
    page.get_by_role("link", name="Review", exact=True).click()
    expect(page.get_by_role("button", name="Accept")).to_be_enabled()
    page.wait_for_function("window.forethoughtKeyboard === true")
    return page


def test_a_curator_decides_under_the_address_that_was_logged_in(log_in, guarded):
    store = guarded[1]
    page = opened_review(log_in("carl@example.org"))
    expect(page.get_by_text("Logged in as curator")).to_be_visible()
    page.keyboard.press("a")
    until(lambda: store.candidate_set(NAME).candidates[0].status is Status.ACCEPTED)
    first = store.candidate_set(NAME).candidates[0].id
    assert store.revisions(NAME, first)[-1].actor == "carl@example.org"


def test_a_viewer_reads_and_changes_nothing(log_in, guarded):
    store = guarded[1]
    before = store.candidate_set(NAME)
    page = opened_review(log_in("vera@example.org"))
    expect(page.get_by_text("Logged in as viewer")).to_be_visible()
    page.keyboard.press("x")
    expect(page.get_by_text("a viewer may not")).to_be_visible()
    assert store.candidate_set(NAME) == before


def test_who_has_no_role_is_told_so_and_sees_nothing(log_in):
    page = log_in("eve@elsewhere.org")
    expect(page.get_by_text("eve@elsewhere.org has no role here")).to_be_visible()
    assert page.get_by_role("link", name="Review").count() == 0


def test_after_logging_out_nothing_is_shown(log_in):
    page = log_in("ann@example.org")
    expect(page.get_by_text("Logged in as admin")).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("button", name="End session").click()  # at the provider
    expect(page.get_by_text("Log in to look at this store.")).to_be_visible()
