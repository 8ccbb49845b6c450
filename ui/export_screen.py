"""Take a set out of the store: what its files will hold, and the files. Decides nothing: `exporting` and a run do."""

from functools import partial
from itertools import islice
from typing import Any

import streamlit as st

from ..data.candidates import CandidateSet
from ..data.errors import ForethoughtError
from ..data.exports.dialects import DIALECTS, Dialect, bundle_of
from ..data.exports.export_inputs import ExportInputs
from ..data.exports.row_shape import IMAGES
from ..data.store import Store
from . import cards, runs_screen
from .access import Right
from .jobs import Job, State
from .runs import ExportRun

PREVIEW_LINES, PREVIEW_CHARACTERS = 12, 4_000
OUT_FOLDER = "out"
BINARY = {".parquet": "Rows in parquet, which other programs show."}
LABELS = {
    "": "assigned: by the rule, where the action is as announced",
    "oracle": "oracle: the best by an audit",
    "selected": "selected: what an audited model took",
}
FORMS = {"": "as usual for the target", "chat": "as a chat, with SSR's prompt", "plain": "plainly"}
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
    if dialect.needs_labels or dialect.needs_tokens:
        _in_background(store, name, dialect)
    else:
        _at_once(store.candidate_set(name), dialect)


def _at_once(candidate_set: CandidateSet, dialect: Dialect) -> None:
    """Files that the set alone makes: here and now."""
    try:
        files = bundle_of(dialect.name, ExportInputs(candidate_set)).files
        texts = {name: "".join(map(str, pieces)) for name, pieces in files.items()}
    except ForethoughtError as error:
        cards.problem(str(error), "Nothing can be exported.")
        return
    for name, text in texts.items():
        # A lone surrogate, which no file can hold, becomes a replacement sign, as in a written export.
        content = text.encode("utf-8", "replace")
        _file(name, text[:PREVIEW_CHARACTERS], content)


def _in_background(store: Store, name: str, dialect: Dialect) -> None:
    """Files that need every turn's label, or a tokenizer: a run in the background makes them."""
    with st.form("export-form", border=False, enter_to_submit=False):
        run = _asked(name, dialect)
        is_asked = st.form_submit_button(
            "Make the files", key="export", disabled=not cards.actor().may(Right.JOBS)
        )
    jobs = runs_screen.jobs_of(store)
    if is_asked:
        runs_screen.told(lambda: jobs.start(run.arguments(), cards.actor()))
    runs_screen.list_runs(jobs, "Exports", partial(_is_export_of, name))
    made = next((j for j in jobs.all() if _is_export_of(name, j) and j.state is State.DONE), None)
    if made is not None:
        _files_of(made)


def _asked(name: str, dialect: Dialect) -> ExportRun:
    """What the form says."""
    given: dict[str, Any] = {}
    if dialect.needs_labels:
        with st.container(horizontal=True):
            given["include_failures"] = st.checkbox(
                "Turns of failed traces, too", key="export-failures"
            )
            given["include_test"] = st.checkbox("Test questions, too", key="export-test")
            if dialect.name == "hub":
                given["allow_findings"] = st.checkbox(
                    "What looks secret or personal, too", key="export-findings"
                )
        given |= _labels()
    model = st.text_input(
        "Model whose tokenizer counts",
        key="export-model",
        placeholder="SmolLM2-135M, which is packaged",
    )
    st.caption(
        "Rows of failed traces teach failures; on rows of test questions no audit can be made."
    )
    return ExportRun(name, dialect.name, model=model.strip(), **given)


def _labels() -> dict[str, str]:
    """Whose word a turn's label is, and how a run is written down; "" for what is usual."""
    with st.container(horizontal=True):
        label = st.selectbox(
            "Labels", list(LABELS), format_func=LABELS.__getitem__, key="export-label"
        )
        prompt = st.selectbox(
            "Written down", list(FORMS), format_func=FORMS.__getitem__, key="export-form-of"
        )
    records = st.text_input(
        "Records of an audit, for labels of an audit",
        key="export-records",
        placeholder="a file that `forethought audit --records` wrote",
    )
    return {"label": label, "prompt": prompt, "records": records.strip()}


def _files_of(job: Job) -> None:
    st.header("Files of the latest export")
    out = job.folder / OUT_FOLDER
    pictures = [path for path in job.made if path.relative_to(out).parts[0] == IMAGES]
    for path in job.made:
        if path in pictures:
            continue
        with path.open(encoding="utf-8", errors="replace") as file:
            is_text = path.suffix not in BINARY
            beginning = "".join(islice(file, PREVIEW_LINES)) if is_text else BINARY[path.suffix]
        name = str(path.relative_to(out))
        _file(name, beginning[:PREVIEW_CHARACTERS], path.read_bytes())
    if pictures:
        st.caption(f"and {len(pictures)} pictures in {out / IMAGES}")


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
