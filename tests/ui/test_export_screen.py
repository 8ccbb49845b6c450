"""The export screen, run: previews and files at once, a run for what needs labels, and hostile text."""

import time

import pytest
from curated_store import HOSTILE, curated, mined
from streamlit.testing.v1 import AppTest

from forethought.data import commands
from forethought.data.candidates import Status
from forethought.data.commands import Edit
from forethought.data.store import Store
from forethought.ui.access import Actor, Role
from forethought.ui.jobs import Jobs


def export(store, role):  # AppTest runs the source of this function alone
    from forethought.ui import cards, export_screen
    from forethought.ui.access import Actor, Role

    cards.set_actor(Actor("ann", Role(role)))
    export_screen.show(store)


def shown(store: Store, role: Role = Role.ADMIN) -> AppTest:
    at = AppTest.from_function(export, kwargs={"store": store, "role": role.value})
    at.run(timeout=60)
    assert not at.exception
    return at


@pytest.fixture
def store(tmp_path, monkeypatch) -> Store:
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FORETHOUGHT_STORE", raising=False)
    return curated(tmp_path / "store.db")


def choose(at: AppTest, dialect: str) -> AppTest:
    at.radio(key="export-to").set_value(dialect).run(timeout=60)
    assert not at.exception
    return at


@pytest.mark.parametrize(
    ("dialect", "files"),
    [
        ("ssr-library", ["reasoning_library.json", "reasoning_library.forethought.json"]),
        ("csv", ["candidates.csv", "reasoning_library.json"]),
        ("jsonl", ["candidates.jsonl", "reasoning_library.json"]),
        ("choices", ["choices.json", "reasoning_library.json"]),
        ("grammar", ["candidates.ebnf", "candidates.regex", "reasoning_library.json"]),
    ],
)
def test_what_the_set_alone_makes_is_previewed_and_there_to_take(store, dialect, files):
    at = choose(shown(store, Role.VIEWER), dialect)

    assert [text.value for text in at.text if "." in text.value] == files
    assert len(at.get("download_button")) == len(files)
    assert all(candidate.text[:20] in at.code[0].value for candidate in _first(store))


def _first(store: Store):
    return store.candidate_set("search-v1").candidates[:1]


def test_an_export_that_needs_labels_is_a_run(store):
    at = choose(shown(store), "trl-sft")
    at.checkbox(key="export-failures").check()
    at.button(key="export").click().run(timeout=60)

    assert not at.exception
    jobs = Jobs.of(store.database.location)
    (job,) = jobs.all()
    assert job.arguments[:2] == ("export", "--to=trl-sft")
    assert "--include-failures" in job.arguments and "--include-test" not in job.arguments
    assert job.arguments[-1] == "search-v1"
    end = time.monotonic() + 60
    while not jobs.job(job.id).state.is_over and time.monotonic() < end:
        jobs.cancel(job.id, Actor("ann"))
        time.sleep(0.2)

    (job.folder / "rc").write_text("0")
    (job.folder / "out").mkdir(exist_ok=True)
    (job.folder / "out" / "train.jsonl").write_text(f"{HOSTILE[0]}\n" * 100)
    at = choose(shown(store), "trl-sft")
    assert at.code[-1].value.count(HOSTILE[0]) == 12, "a preview of the first rows"


def test_labels_form_and_records_are_chosen_here(store):
    at = choose(shown(store), "hub")
    at.selectbox(key="export-label").set_value("oracle")
    at.selectbox(key="export-form-of").set_value("chat")
    at.text_input(key="export-records").set_value("records of ann.jsonl")
    at.checkbox(key="export-findings").check()
    at.button(key="export").click().run(timeout=60)

    assert not at.exception
    jobs = Jobs.of(store.database.location)
    (job,) = jobs.all()
    jobs.cancel(job.id, Actor("ann"))
    chosen = {"--label=oracle", "--prompt=chat", "--records=records of ann.jsonl"}
    assert chosen | {"--allow-findings"} <= set(job.arguments)


def test_token_ids_are_made_in_the_background_without_labels(store):
    at = choose(shown(store), "tokens")

    assert [box.label for box in at.text_input] == ["Model whose tokenizer counts"]
    assert not at.button(key="export").disabled


def test_who_may_not_start_runs_cannot_start_this_one(store):
    assert choose(shown(store, Role.CURATOR), "trl-sft").button(key="export").disabled


def test_a_set_of_which_nothing_is_left_is_told(store):
    for candidate in store.candidate_set("search-v1").candidates:
        commands.reject(store, Edit("search-v1", candidate.id, candidate.version, "ann"))
    at = shown(store)

    assert {c.status for c in store.candidate_set("search-v1").candidates} == {Status.REJECTED}
    assert [error.value for error in at.error] == ["Nothing can be exported."]


def test_an_empty_store_says_what_to_do(tmp_path):
    at = shown(Store.open(tmp_path / "empty.db"))

    assert any("no candidate set" in info.value for info in at.info)


def test_hostile_text_is_shown_letter_by_letter_and_nowhere_else(store):
    store.save_set(mined("<b>$x$ :smile:", tuple((text, (text[:50],)) for text in HOSTILE[:4])))
    at = shown(store)
    at.selectbox(key="set").select("<b>$x$ :smile:").run(timeout=60)
    for dialect in ("csv", "jsonl", "ssr-library"):
        choose(at, dialect)
        said = [e.value for e in (*at.markdown, *at.caption, *at.title, *at.header, *at.info)]
        assert not any(text[:12] in one for one in said for text in HOSTILE)
        assert any(HOSTILE[2] in code.value for code in at.code) or dialect == "ssr-library"
