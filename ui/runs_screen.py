"""Runs in the background: start one, see how far they are, stop one, start it again. Decides nothing: `jobs` does."""

import os
from collections.abc import Callable
from functools import partial

import streamlit as st

from ..data.errors import ForethoughtError
from ..data.store import Store
from . import cards, run_forms_screen
from .access import Right
from .charts import legible
from .jobs import Job, Jobs, State
from .serving import STORE_VARIABLE

COLOURS = {
    State.QUEUED: "gray",
    State.RUNNING: "blue",
    State.DONE: "green",
    State.FAILED: "red",
    State.CANCELLED: "orange",
    State.LOST: "red",
}
SOON, LATER = 2, 30  # seconds to the next look at the runs, while one is at work and otherwise
PAGE = 10  # runs listed at once
SAID = "runs_said"  # why the last command was not carried out


def show(store: Store, preferred: str | None = None) -> None:
    st.title("Runs")
    jobs = jobs_of(store)
    if cards.actor().may(Right.JOBS):
        run_forms_screen.show(
            store,
            preferred,
            lambda run: told(lambda: jobs.start(run.arguments(), cards.actor())),
        )
    else:
        st.info(f"A {cards.actor().role} may look at runs; an admin starts and cancels them.")
    list_runs(jobs, "Runs on this store")


def jobs_of(store: Store) -> Jobs:
    """The runs on a store; its address in full is the environment's, `location` hides a password."""
    return Jobs.of(store.database.location, os.environ.get(STORE_VARIABLE))


def list_runs(jobs: Jobs, title: str, is_listed: Callable[[Job], bool] = lambda job: True) -> None:
    """Runs as they are now, newest first; this part of the page is drawn again on its own."""
    is_busy = any(not job.state.is_over for job in jobs.all())
    st.fragment(_runs, run_every=SOON if is_busy else LATER)(jobs, title, is_listed)


def _runs(jobs: Jobs, title: str, is_listed: Callable[[Job], bool]) -> None:
    st.header(title)
    if said := st.session_state.pop(SAID, None):
        cards.problem(said, "Nothing was started or cancelled.")
    found = [job for job in jobs.all() if is_listed(job)]
    if not found:
        st.info("No run yet. What is started here goes on when this page or the app is closed.")
    first = 0
    if len(found) > PAGE:
        first = PAGE * (st.pagination(-(-len(found) // PAGE), key="runs_page") - 1)
    for job in found[first : first + PAGE]:
        with st.container(border=True, gap="small"):
            _run(jobs, job)


def _run(jobs: Jobs, job: Job) -> None:
    command, state, button = st.columns([8, 2, 2], vertical_alignment="center")
    with command, st.container(gap="xxsmall"):
        st.text(legible(job.command))
        st.text(legible(f"{job.at.replace('T', ' ').replace('Z', ' UTC')} · {job.actor}"))
    with state:
        st.badge(f"{job.state}{' in part' * job.is_in_part}", color=COLOURS[job.state])  # type: ignore[arg-type]
    with button:
        _button(jobs, job)
    _how_far(job)
    opened = st.expander("Log and files", key=f"log-{job.id}", on_change="rerun")
    if opened.open:
        with opened:
            _log(job)


def _button(jobs: Jobs, job: Job) -> None:
    actor = cards.actor()
    label, command = ("Run again", jobs.again) if job.state.is_over else ("Cancel", jobs.cancel)
    st.button(
        label,
        key=f"{label.lower().replace(' ', '-')}-{job.id}",
        disabled=not actor.may(Right.JOBS),
        on_click=partial(told, partial(command, job.id, actor)),
        width="stretch",
    )


def _how_far(job: Job) -> None:
    progress = job.progress
    if progress is None or job.state is not State.RUNNING:
        return
    if progress.share is None:
        st.text(legible(progress.sentence))
    else:
        st.progress(progress.share, text=f"{progress.done} of {progress.total}")


def _log(job: Job) -> None:
    for stream in ("stdout", "stderr"):
        if text := job.tail(stream):
            cards.verbatim(text, height=240 if len(text) > 1_500 else None)
    for path in job.made:
        name = str(path.relative_to(job.folder / "out"))
        st.download_button(
            "Download",
            path.read_bytes,
            file_name=path.name,
            key=f"file-{job.id}-{name}",
            on_click="ignore",
        )
        st.text(legible(name))


def told(command: Callable[[], object]) -> None:
    try:
        command()
    except ForethoughtError as error:
        st.session_state[SAID] = str(error)
