"""The Streamlit script: which store, which pages. Screens are modules; this is the only file that Streamlit runs.

$FORETHOUGHT_STORE names the store (default forethought.db), $FORETHOUGHT_SET the set to open first.
"""

import os
from collections.abc import Callable

import streamlit as st

from forethought.data.errors import ForethoughtError
from forethought.data.store import DEFAULT, Store
from forethought.ui import cards, overview_screen, review_screen
from forethought.ui.wiring import open_existing


@st.cache_resource
def opened(url: str) -> Store:
    """One store (its engine, never a session) for all who look at it."""
    return open_existing(url)


def page(show: Callable[[Store, str | None], None]) -> Callable[[], None]:
    """`show` on the store; a mistake or a broken store becomes a message on the page."""

    def run() -> None:
        try:
            show(
                opened(os.environ.get("FORETHOUGHT_STORE", DEFAULT)),
                os.environ.get("FORETHOUGHT_SET"),
            )
        except ForethoughtError as error:
            cards.problem(str(error))

    return run


def main() -> None:
    st.set_page_config(page_title="Forethought", layout="wide")
    # No icons: Streamlit would fetch a page's icon for the browser tab from the network.
    overview = st.Page(
        page(overview_screen.show), title="Overview", url_path="overview", default=True
    )
    review = st.Page(page(review_screen.show), title="Review", url_path="review")
    st.navigation([overview, review]).run()


main()
