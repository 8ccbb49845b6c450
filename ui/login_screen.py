"""How a person says who they are: a login where there is one, else a name in the sidebar. Decides nothing: `access` does."""

from collections.abc import Callable

import streamlit as st

from .access import NAME_CHARACTERS, Actor, local_actor
from .charts import legible

USER = (
    "user"  # the widget's key, and with it the name in the page's address, which survives a reload
)


def show(log_in: Callable[[], None]) -> None:
    """All that someone who is not logged in sees."""
    st.title("Forethought")
    st.text("Log in to look at this store.")
    st.button("Log in", key="log-in", type="primary", on_click=log_in)


def named() -> Actor:
    """Who looks at an app without a login: under the name typed in the sidebar, else the system's."""
    typed = st.session_state.get(USER) or st.query_params.get(USER) or ""
    return local_actor(typed)


def name_yourself(actor: Actor) -> None:
    """Where one types another name, so that two people at one app are told apart."""
    with st.sidebar:
        st.text_input(
            "You are",
            value=local_actor().name,
            key=USER,
            max_chars=NAME_CHARACTERS,
            bind="query-params",
            help="The name that the history shows beside what you do.",
        )
        if actor.name != (st.session_state[USER] or "").strip():
            st.text(legible(f"Shown as {actor.name}"))


def logged_in(actor: Actor, log_out: Callable[[], None]) -> None:
    """Who is logged in, as what, and the way out."""
    with st.sidebar, st.container(gap="xxsmall"):
        st.caption(f"Logged in as {actor.role}")
        st.text(legible(actor.name))
        st.button("Log out", key="log-out", on_click=log_out)
