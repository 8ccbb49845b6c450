"""Take a set out of the store: what its files will hold, and the files. Decides nothing: `exporting` and a run do."""

from functools import partial
from itertools import islice

import streamlit as st

from ..data.candidates import CandidateSet
from ..data.errors import ForethoughtError
from ..data.exports.dialects import DIALECTS, Dialect, ExportInputs, bundle_of
from ..data.store import Store
from . import cards, runs_screen
from .access import Right
from .jobs import Job, State
from .runs import ExportRun

PREVIEW_LINES, PREVIEW_CHARACTERS = 12, 4_000
MIME = {"csv": "text/csv", "json": "application/json", "jsonl": "application/jsonl"}


def show(store: Store, preferred: str | None = None) -> None:
    st.title("Export")
    name = cards.pick_set(store, preferred)
    if name is None:
        return
    to = st.radio(
        "What for",
        [dialect.name for dialect in DIALECTS],
        captions=[dialect.description for dialect in DIALECTS],
        key="export-to",
        horizontal=True,
    )
    dialect = next(row for row in DIALECTS if row.name == to)
    if dialect.needs_labels:
        _labelled(store, name, dialect)
    else:
        _at_once(store.candidate_set(name), dialect)


def _at_once(candidate_set: CandidateSet, dialect: Dialect) -> None:
    """Files that the set alone makes: here and now."""
    try:
        files = bundle_of(dialect.name, ExportInputs(candidate_set)).files
        texts = {name: "".join(pieces) for name, pieces in files.items()}
    except ForethoughtError as error:
        cards.problem(str(error), "Nothing can be exported.")
        return
    for name, text in texts.items():
        # A lone surrogate, which no file can hold, becomes a replacement sign, as in a written export.
        content = text.encode("utf-8", "replace")
        _file(name, text[:PREVIEW_CHARACTERS], content)


def _labelled(store: Store, name: str, dialect: Dialect) -> None:
    """Files that need every turn's label: a run in the background makes them."""
    with st.form("export-form", border=False, enter_to_submit=False):
        with st.container(horizontal=True):
            failures = st.checkbox("Turns of failed traces, too", key="export-failures")
            test = st.checkbox("Test questions, too", key="export-test")
        model = st.text_input(
            "Model whose tokenizer counts a context",
            key="export-model",
            placeholder="SmolLM2-135M, which is packaged",
        )
        st.caption(
            "Rows of failed traces teach failures; on rows of test questions no audit can be made."
        )
        is_asked = st.form_submit_button(
            "Make the files", key="export", disabled=not cards.actor().may(Right.JOBS)
        )
    jobs = runs_screen.jobs_of(store)
    if is_asked:
        run = ExportRun(name, dialect.name, failures, test, model.strip())
        runs_screen.told(lambda: jobs.start(run.arguments(), cards.actor()))
    runs_screen.list_runs(jobs, "Exports", partial(_is_export_of, name))
    made = next((j for j in jobs.all() if _is_export_of(name, j) and j.state is State.DONE), None)
    if made is not None:
        st.header("Files of the latest export")
        for path in made.made:
            with path.open(encoding="utf-8", errors="replace") as file:
                beginning = "".join(islice(file, PREVIEW_LINES))[:PREVIEW_CHARACTERS]
            _file(path.name, beginning, path.read_bytes)


def _is_export_of(name: str, job: Job) -> bool:
    return job.arguments[:1] == ("export",) and job.arguments[-1] == name


def _file(name: str, beginning: str, content: object) -> None:
    """A file's first rows, and the file."""
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(name, width="stretch")
            st.download_button(
                "Download",
                content,  # type: ignore[arg-type]
                file_name=name,
                mime=MIME.get(name.rpartition(".")[2]),
                key=f"download-{name}",
                on_click="ignore",
            )
        lines = beginning.removeprefix("\ufeff").split("\n")
        cards.verbatim("\n".join(lines[:PREVIEW_LINES]))
