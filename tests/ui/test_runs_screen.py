"""The runs screen, run: what a form starts, what a click stops, and who may."""

import json
import os
import sys
import time

import pytest
from curated_store import HOSTILE, curated
from streamlit.testing.v1 import AppTest

from forethought.data import commands
from forethought.data.commands import Edit
from forethought.data.store import Store
from forethought.ui.access import Actor, Role
from forethought.ui.job_runner import birth
from forethought.ui.jobs import Jobs, State

SLEEP = "import time; time.sleep(60)"


def runs(store, role):  # AppTest runs the source of this function alone
    from forethought.ui import cards, runs_screen
    from forethought.ui.access import Actor, Role

    cards.set_actor(Actor("ann", Role(role)))
    runs_screen.show(store)


def shown(store: Store, role: Role = Role.ADMIN) -> AppTest:
    at = AppTest.from_function(runs, kwargs={"store": store, "role": role.value}).run(timeout=60)
    assert not at.exception
    return at


@pytest.fixture
def store(tmp_path, monkeypatch) -> Store:
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FORETHOUGHT_STORE", raising=False)
    return curated(tmp_path / "store.db")


def jobs_of(store: Store, *program: str) -> Jobs:
    found = Jobs.of(store.database.location)
    return Jobs(found.store, found.folder, program) if program else found


def until_over(jobs: Jobs):
    end = time.monotonic() + 60
    while not all(job.state.is_over for job in jobs.all()):
        assert time.monotonic() < end
        time.sleep(0.1)
    return jobs.all()[0]


def everything(at: AppTest) -> list[str]:
    return [element.value for element in (*at.text, *at.code)]


def test_an_import_is_started_by_its_form_and_stays_in_the_list(store, tmp_path):
    traces = tmp_path / "none here"
    at = shown(store)
    at.text_area(key="import-paths").set_value(f"{traces}\n\n")
    at.text_input(key="import-source").set_value("made up")
    at.button(key="import").click().run(timeout=60)

    assert not at.exception
    job = until_over(jobs_of(store))
    assert job.arguments == ("import", "--source=made up", "--", str(traces))
    assert job.actor == "ann"
    assert job.state is State.FAILED, "there is nothing to import"

    at = shown(store)
    assert job.command in everything(at)
    at.button(key=f"run-again-{job.id}").click().run(timeout=60)
    assert len(jobs_of(store).all()) == 2
    until_over(jobs_of(store))


def test_forms_ask_for_mining_and_for_audits(store):
    at = shown(store)

    assert at.text_input(key="mine-name").value == "search-v1"
    assert at.selectbox(key="audit-name").options == ["search-v1"]
    assert not shown(Store.open(str(store.database.location) + "-empty")).exception


def test_a_form_left_empty_starts_nothing_and_says_so(store):
    at = shown(store)
    at.button(key="import").click().run(timeout=60)

    assert any("nothing to import" in text for text in everything(at))
    assert not jobs_of(store).all()


def test_a_set_that_people_decided_on_is_mined_anew_only_when_told_so(store):
    name = store.set_names()[0]
    first = store.candidate_set(name).candidates[0]
    commands.accept(store, Edit(name, first.id, first.version, "bob"))
    at = shown(store)
    at.text_input(key="mine-name").set_value(name)
    at.button(key="mine").click().run(timeout=60)
    assert any("people have decided on the set" in text for text in everything(at))
    assert not jobs_of(store).all()

    at.text_input(key="mine-name").set_value(name)
    at.checkbox(key="mine-again").set_value(True)
    at.button(key="mine").click().run(timeout=60)
    assert [job.arguments[0] for job in jobs_of(store).all()] == ["mine"]
    jobs_of(store).cancel(jobs_of(store).all()[0].id, Actor("ann"))


def test_a_run_is_cancelled_by_a_click(store):
    jobs = jobs_of(store, sys.executable, "-c", SLEEP)
    job = jobs.start([], Actor("ann"))
    while jobs.job(job.id).state is not State.RUNNING:
        time.sleep(0.05)
    at = shown(store)
    at.button(key=f"cancel-{job.id}").click().run(timeout=60)

    assert until_over(jobs).state is State.CANCELLED


@pytest.mark.parametrize("role", [Role.VIEWER, Role.CURATOR])
def test_others_than_admins_look_only(store, role):
    jobs = jobs_of(store, sys.executable, "-c", "print(1)")
    job = jobs.start([], Actor("ann"))
    until_over(jobs)
    at = shown(store, role)

    assert at.button(key=f"run-again-{job.id}").disabled
    assert not [button for button in at.button if button.key in ("import", "mine", "audit")]


def test_progress_and_logs_are_shown_letter_by_letter(store):
    said = f"import sys; print({HOSTILE[0]!r}); sys.stderr.write({HOSTILE[2]!r})"
    jobs = jobs_of(store, sys.executable, "-c", said)
    job = jobs.start([HOSTILE[0]], Actor(HOSTILE[1]))
    until_over(jobs)
    at = AppTest.from_function(runs, kwargs={"store": store, "role": "admin"})
    at.session_state[f"log-{job.id}"] = True
    at.run(timeout=60)

    assert not at.exception
    assert any(HOSTILE[0] in text for text in everything(at))
    assert HOSTILE[0] in [code.value.strip() for code in at.code]
    markup = [e.value for e in (*at.markdown, *at.caption, *at.header, *at.title, *at.info)]
    assert not any(text[:12] in said for said in markup for text in HOSTILE)

    (job.folder / "rc").unlink()
    for name in ("process.json", "child.json"):
        found = {"pid": os.getpid(), "began": birth(os.getpid())}
        (job.folder / name).write_text(json.dumps(found))
    progress = {"title": HOSTILE[0], "done": 3, "total": 12, "stage": ""}
    (job.folder / "progress.json").write_text(json.dumps(progress))
    at = shown(store)
    assert not any(HOSTILE[0][:12] in e.value for e in at.markdown)
    (job.folder / "rc").write_text("0")
