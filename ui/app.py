"""The Streamlit script: who looks, at which store, which pages. Screens are modules; this is the only file that Streamlit runs.

$FORETHOUGHT_STORE names the store (default forethought.db), $FORETHOUGHT_SET the set to open first, $FORETHOUGHT_AUTH the
file of a login where there is one. A page is a row of `PAGES`: its group, its title, its module with `show(store, preferred)`.
"""

import atexit
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import streamlit as st

from forethought.data.errors import ForethoughtError
from forethought.data.store import DEFAULT, Store
from forethought.ui import cards, login_screen
from forethought.ui.access import Access, Actor, Role, guarded, read_access
from forethought.ui.serving import AUTH_VARIABLE, STORE_VARIABLE
from forethought.ui.wiring import open_existing

PAGES = (
    ("Set", "Overview", "overview_screen"),
    ("Set", "Review", "review_screen"),
    ("Set", "Gaps", "gaps_screen"),
    ("Set", "Map", "map_screen"),
    ("Set", "Table", "table_screen"),
    ("Set", "Play", "play_screen"),
    ("Set", "Bench", "bench_screen"),
    ("Set", "Versions", "versions_screen"),
    ("Set", "Export", "export_screen"),
    ("Store", "Traces", "traces_screen"),
    ("Store", "Runs", "runs_screen"),
)
HERE = Path(__file__).parent


@st.cache_resource
def opened(url: str) -> Store:
    """One store (its engine, never a session) for all who look at it; closed with the app, which makes it one file again."""
    store = open_existing(url)
    atexit.register(store.close)
    return store


@st.cache_resource
def allowed(url: str, role: Role) -> Store:
    """The store as people of one role may use it."""
    return guarded(opened(url), role)


@st.cache_resource
def access(path: str) -> Access:
    return read_access(path)


def identified() -> Actor | None:
    """Who looks; None, with what to do on the page, for someone who is not logged in or has no role."""
    path = os.environ.get(AUTH_VARIABLE)
    if path is None:
        return login_screen.named()
    if not st.user.is_logged_in:
        login_screen.show(st.login)
        return None
    try:
        return access(path).actor(st.user.to_dict())
    except ForethoughtError as error:
        cards.problem(str(error))
        st.button("Log out", on_click=st.logout)
        return None


def page(group: str, module: str, actor: Actor) -> Callable[[], None]:
    """A screen on the store; a mistake or a broken store becomes a message on the page."""

    def run() -> None:
        try:
            store = allowed(os.environ.get(STORE_VARIABLE, DEFAULT), actor.role)
            preferred = os.environ.get("FORETHOUGHT_SET")
            if group != "Set":  # the screens of a set ask for one themselves
                cards.set_picker(store, preferred)
            _loaded(f"forethought.ui.{module}").show(store, preferred)
        except ForethoughtError as error:
            cards.problem(str(error))

    return run


def _loaded(module: str) -> Any:
    """A screen's module; some load a library that takes seconds, and say so."""
    if module in sys.modules:
        return sys.modules[module]
    with st.spinner("Loading this page for the first time, which takes some seconds …"):
        return import_module(module)


def pages(actor: Actor) -> dict[str, list[Any]]:
    """The pages whose screens exist, by group. No icons: Streamlit would fetch one for the browser's tab."""
    groups: dict[str, list[Any]] = {}
    for group, title, module in PAGES:
        if (HERE / f"{module}.py").exists():
            pages_of, run = groups.setdefault(group, []), page(group, module, actor)
            is_first = title == PAGES[0][1]
            if is_first:  # the first page lies at /, and here under its own name, too
                pages_of.append(st.Page(run, title=title, url_path="overview", visibility="hidden"))
            path = None if is_first else title.lower()
            pages_of.append(st.Page(run, title=title, url_path=path, default=is_first))
    return groups


def main() -> None:
    st.set_page_config(page_title="Forethought", layout="wide")
    actor = identified()
    if actor is None:
        return
    cards.set_actor(actor)
    groups = pages(actor)
    st.session_state["pages"] = {page.title: page for group in groups.values() for page in group}
    st.navigation(groups, expanded=True).run()
    if AUTH_VARIABLE in os.environ:
        login_screen.logged_in(actor, st.logout)
    else:
        login_screen.name_yourself(actor)


main()
