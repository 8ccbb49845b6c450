"""What a run is asked for with: a form a kind. Decides nothing: `runs` makes a command of it."""

from collections.abc import Callable

import streamlit as st

from ..data.candidates import Status
from ..data.formats.table import FORMATS
from ..data.store import Store
from . import cards
from .charts import legible
from .roster import roster_of
from .runs import AuditRun, BenchRun, ImportRun, MineRun
from .wiring import BUILTIN

Start = Callable[[ImportRun | MineRun | AuditRun | BenchRun], None]
MODES = ("select", "think", "think-65", "draft", "index", "hybrid", "none")


def show(store: Store, preferred: str | None, start: Start) -> None:
    """A tab a kind of run; `start` is called with what was asked for."""
    names = store.set_names()
    tabs = st.tabs(["Import traces", "Mine a set", "Audit a set", "Bench a set"])
    with tabs[0], st.form("import-form", border=False, enter_to_submit=False):
        _import_form(start)
    with tabs[1], st.form("mine-form", border=False, enter_to_submit=False):
        _mine_form(store, start)
    with tabs[2]:
        if names:
            with st.form("audit-form", border=False, enter_to_submit=False):
                _audit_form(names, preferred, start)
        else:
            st.info("There is no set to audit yet: mine one first.")
    with tabs[3]:
        if names:
            with st.form("bench-form", border=False, enter_to_submit=False):
                _bench_form(names, preferred, start)
        else:
            st.info("There is no set to bench yet: mine one first.")


def _import_form(start: Start) -> None:
    st.text_area(
        "Files, folders or patterns on this machine, one a line",
        key="import-paths",
        height=90,
        placeholder="runs/*.jsonl",
    )
    left, right = st.columns(2)
    left.text_input("Name of the collection", key="import-source", placeholder="the folder's name")
    right.selectbox(
        "Format", ["", *(f.name for f in FORMATS)], key="import-format", format_func=_by_content
    )
    st.form_submit_button("Import", key="import", on_click=lambda: start(_import_run()))


def _mine_form(store: Store, start: Start) -> None:
    left, middle, right = st.columns([2, 1, 2])
    left.text_input("Name of the set", value="search-v1", key="mine-name")
    middle.number_input("Candidates at most", 1, 10_000, 12, key="mine-budget")
    right.selectbox("Collection", ["", *store.sources()], key="mine-source", format_func=_or_all)
    with st.container(horizontal=True):
        st.checkbox("Only what surely gains (minutes)", key="mine-admit")
        st.checkbox("Add “none of these fits”", key="mine-escape")
        st.checkbox("Grow the set of this name instead", key="mine-grow")
        st.checkbox("Even if people have decided on it", key="mine-again")
    st.form_submit_button("Mine", key="mine", on_click=lambda: start(_mine_run(store)))


def _audit_form(names: list[str], preferred: str | None, start: Start) -> None:
    left, middle, right = st.columns([2, 2, 1])
    with left:
        _pick_set(names, preferred, "audit-name")
    middle.selectbox(
        "Compared with",
        list(dict.fromkeys(["", *BUILTIN, *names])),
        key="audit-other",
        format_func=_or_none,
    )
    right.number_input("Test turns (0: all)", 0, 1_000_000, 48, key="audit-limit")
    st.checkbox("Price 64 random thoughts too, for the oracle (slow)", key="audit-oracle")
    st.form_submit_button("Audit", key="audit", on_click=lambda: start(_audit_run()))


def _bench_form(names: list[str], preferred: str | None, start: Start) -> None:
    left, middle, right = st.columns([2, 2, 1])
    with left:
        _pick_set(names, preferred, "bench-name")
    middle.multiselect("Modes", MODES, default=list(MODES[:2]), key="bench-modes")
    right.number_input("Questions (0: all)", 0, 1_000_000, 100, key="bench-limit")
    st.caption("HotpotQA's questions over the store's recorded runs, with the packaged model.")
    st.form_submit_button("Bench", key="bench", on_click=lambda: start(_bench_run()))


def _pick_set(names: list[str], preferred: str | None, key: str) -> None:
    """Of which set: the one that the other pages show, to begin with."""
    chosen = st.session_state.get(cards.CHOSEN, preferred)
    index = names.index(chosen) if chosen in names else 0
    st.selectbox("Set", names, index=index, key=key, format_func=legible)


def _import_run() -> ImportRun:
    lines = st.session_state["import-paths"].splitlines()
    paths = tuple(line.strip() for line in lines if line.strip())
    return ImportRun(paths, st.session_state["import-source"], st.session_state["import-format"])


def _mine_run(store: Store) -> MineRun:
    return MineRun(
        name=st.session_state["mine-name"].strip(),
        budget=st.session_state["mine-budget"],
        source=st.session_state["mine-source"],
        admit=st.session_state["mine-admit"],
        escape=st.session_state["mine-escape"],
        grow=st.session_state["mine-grow"],
        again=st.session_state["mine-again"],
        curated=[name for name in store.set_names() if _is_curated(store, name)],
    )


def _is_curated(store: Store, name: str) -> bool:
    return any(one.status is not Status.PROPOSED for one in roster_of(store, name).candidates)


def _audit_run() -> AuditRun:
    return AuditRun(
        name=st.session_state["audit-name"],
        other=st.session_state["audit-other"],
        limit=st.session_state["audit-limit"],
        oracle=st.session_state["audit-oracle"],
    )


def _bench_run() -> BenchRun:
    return BenchRun(
        name=st.session_state["bench-name"],
        modes=tuple(st.session_state["bench-modes"]),
        limit=st.session_state["bench-limit"],
    )


def _by_content(name: str) -> str:
    return name or "told by its content"


def _or_all(name: str) -> str:
    return legible(name) or "all"


def _or_none(name: str) -> str:
    return legible(name) or "nothing"
