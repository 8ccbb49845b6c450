"""Background runs: what becomes of them is told from their files and the process table, whatever happens to the app."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from forethought.data.errors import ForethoughtError, NotFound, NothingToDo
from forethought.data.store import Store
from forethought.scorer.agent.thinking import Mode
from forethought.ui.access import Actor, Forbidden, Role
from forethought.ui.cli import app
from forethought.ui.job_runner import birth
from forethought.ui.jobs import OUT, Job, Jobs, State
from forethought.ui.progress_file import Progress
from forethought.ui.run_forms_screen import MODES
from forethought.ui.runs import AuditRun, BenchRun, ExportRun, ImportRun, MineRun

ANN = Actor("ann")
SHOW = "import sys, os; print(sys.argv[1:], os.environ['FORETHOUGHT_STORE']); sys.exit(int(sys.argv[1]))"
SLEEP = "import time; print('began', flush=True); time.sleep(60)"
DEAF = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); {SLEEP}"
SAMPLE = Path(__file__).parents[1] / "data" / "samples" / "react-chat.messages.jsonl"


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    """Runs of a small program; what is left of them at the end is stopped."""
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path / "cache"))
    made: list[Jobs] = []

    def make(code: str, store: str = "a.db") -> Jobs:
        found = Jobs.of(str(tmp_path / store))
        made.append(Jobs(found.store, found.folder, (sys.executable, "-c", code)))
        return made[-1]

    yield make
    for one in made:
        for job in one.all():
            stop(job)


def stop(job: Job) -> None:
    path = job.folder / "process.json"
    if not job.state.is_over and path.exists():
        os.killpg(json.loads(path.read_text())["pid"], signal.SIGKILL)


def until(jobs: Jobs, id: str, *states: State, seconds: float = 30) -> Job:
    end = time.monotonic() + seconds
    while (job := jobs.job(id)).state not in states:
        assert time.monotonic() < end, f"{job.state}: {job.tail('stderr')}"
        time.sleep(0.05)
    return job


@pytest.mark.parametrize(
    ("rc", "state"), [(0, State.DONE), (3, State.DONE), (1, State.FAILED), (2, State.FAILED)]
)
def test_a_run_ends_as_its_exit_code_says(jobs, rc, state):
    some = jobs(SHOW)
    job = some.start([str(rc), "two words", "$(touch x); `id` & | > *"], ANN)
    ended = until(some, job.id, *(s for s in State if s.is_over))

    assert (ended.state, ended.rc, ended.is_in_part) == (state, rc, rc == 3)
    assert ended.actor == "ann"
    assert repr("$(touch x); `id` & | > *") in ended.tail("stdout"), "no shell reads arguments"
    assert some.store in ended.tail("stdout")
    assert some.store not in ended.command, "an address may hold a password"


def test_a_run_of_the_command_line_itself(tmp_path, jobs):
    jobs(SHOW)  # the cache of this test
    Store.open(tmp_path / "real.db").close()
    real = Jobs.of(str(tmp_path / "real.db"))
    job = real.start(ImportRun((str(SAMPLE),)).arguments(), ANN)
    ended = until(real, job.id, State.DONE, State.FAILED, seconds=120)

    assert ended.state is State.DONE, ended.tail("stderr")
    assert Store.open(tmp_path / "real.db").counts().traces > 0
    assert ended.progress.title == "import"
    assert ended.progress.done == Store.open(tmp_path / "real.db").counts().traces


def test_a_run_outlives_the_app_that_started_it(tmp_path, jobs):
    some = jobs(SLEEP)
    start = (
        "import sys, time; from forethought.ui.jobs import Jobs; from forethought.ui.access import Actor;"
        "j = Jobs.of(sys.argv[1]); j = Jobs(j.store, j.folder, (sys.executable, '-c', sys.argv[2]));"
        "print(j.start([], Actor('ann')).id, flush=True); time.sleep(60)"
    )
    shell = [sys.executable, "-c", start, some.store, SLEEP]
    starter = subprocess.Popen(shell, stdout=subprocess.PIPE, text=True)
    id = starter.stdout.readline().strip()
    until(some, id, State.RUNNING)
    starter.kill()
    starter.wait()
    starter.stdout.close()

    assert some.job(id).state is State.RUNNING
    some.cancel(id, ANN)
    assert until(some, id, State.CANCELLED).rc != 0


def test_a_cancelled_run_stops_like_after_ctrl_c(jobs):
    some = jobs(SLEEP)
    job = some.start([], ANN)
    while "began" not in some.job(job.id).tail("stdout"):
        time.sleep(0.05)
    some.cancel(job.id, ANN)

    assert "KeyboardInterrupt" in until(some, job.id, State.CANCELLED).tail("stderr")
    some.cancel(job.id, ANN)  # over: nothing to do


def test_a_run_that_does_not_listen_is_made_to_stop(jobs):
    some = jobs(DEAF)
    job = some.start([], ANN)
    while "began" not in some.job(job.id).tail("stdout"):
        time.sleep(0.05)
    some.cancel(job.id, ANN)

    assert until(some, job.id, State.CANCELLED).rc == -signal.SIGTERM


def test_runs_of_one_store_take_turns_and_of_two_do_not(jobs):
    some, others = jobs(SLEEP), jobs(SLEEP, "b.db")
    first = some.start([], ANN)
    until(some, first.id, State.RUNNING)
    second, elsewhere = some.start([], ANN), others.start([], ANN)
    until(others, elsewhere.id, State.RUNNING)
    time.sleep(0.3)
    assert some.job(second.id).state is State.QUEUED
    assert [job.id for job in others.all()] == [elsewhere.id]

    some.cancel(second.id, ANN)
    assert until(some, second.id, State.CANCELLED).tail("stdout") == "", "it never began"
    third = some.start([], ANN)
    some.cancel(first.id, ANN)
    until(some, third.id, State.RUNNING)


def test_a_run_whose_processes_were_killed_is_lost(jobs):
    some = jobs(SLEEP)
    job = until(some, some.start([], ANN).id, State.RUNNING)
    stop(job)

    assert until(some, job.id, State.LOST).rc is None
    some.cancel(job.id, ANN)  # must not reach whoever has that pid now
    assert not (job.folder / "cancel").exists()


def test_a_killed_runner_leaves_a_run_that_can_still_be_cancelled(jobs):
    some = jobs(SLEEP)
    job = until(some, some.start([], ANN).id, State.RUNNING)
    os.kill(json.loads((job.folder / "process.json").read_text())["pid"], signal.SIGKILL)
    time.sleep(0.2)

    assert some.job(job.id).state is State.RUNNING
    some.cancel(job.id, ANN)
    assert until(some, job.id, State.LOST)


def test_a_recycled_pid_is_not_the_run(jobs):
    some = jobs(SHOW)
    job = until(some, some.start(["0"], ANN).id, State.DONE)
    (job.folder / "rc").unlink()
    for name in ("process.json", "child.json"):  # a pid that lives, but began at another time
        (job.folder / name).write_text(json.dumps({"pid": os.getpid(), "began": "long ago"}))

    assert birth(os.getpid()) is not None
    assert some.job(job.id).state is State.LOST


def test_run_again_is_the_same_command_with_files_of_its_own(jobs):
    some = jobs(SHOW)
    first = until(some, some.start(["0", f"--out={OUT}"], ANN).id, State.DONE)
    second = until(some, some.again(first.id, Actor("bob")).id, State.DONE)

    assert first.arguments == ("0", f"--out={first.folder / 'out'}")
    assert second.arguments == ("0", f"--out={second.folder / 'out'}")
    assert second.actor == "bob"
    assert [job.id for job in some.all()] == sorted([first.id, second.id], reverse=True)


def test_only_admins_start_and_cancel(jobs):
    some = jobs(SHOW)
    curator = Actor("ann", Role.CURATOR)
    with pytest.raises(Forbidden):
        some.start(["0"], curator)
    job = until(some, some.start(["0"], ANN).id, State.DONE)
    with pytest.raises(Forbidden):
        some.cancel(job.id, curator)
    with pytest.raises(Forbidden):
        some.again(job.id, curator)


@pytest.mark.parametrize("id", ["", "..", "../../etc", "20260101T000000-abcdef", "turn"])
def test_an_id_that_is_none_reaches_no_file(jobs, id):
    with pytest.raises(NotFound):
        jobs(SHOW).job(id)


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_what_cannot_be_an_argument_is_one_line(jobs, text):
    some = jobs(SHOW)
    with pytest.raises(ForethoughtError, match="cannot be passed on"):
        some.start(["0", text], ANN)
    assert not some.all()


def test_damaged_files_of_a_run_do_not_break_the_list(jobs):
    some = jobs(SHOW)
    job = until(some, some.start(["0"], ANN).id, State.DONE)
    for name in ("command.json", "process.json", "child.json", "progress.json", "rc"):
        (job.folder / name).write_text("[1")
    os.utime(job.folder / "command.json", (0, 0))

    (found,) = some.all()
    assert found.state is State.LOST
    assert found.progress is None


TEXT = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20
)


def parsed(arguments: list[str]) -> dict[str, object]:
    """What the command line makes of arguments."""
    group = typer.main.get_command(app)
    placed = [part.replace(OUT, "out") for part in arguments]
    name, command, rest = group.resolve_command(typer.Context(group), placed)
    return command.make_context(name, rest).params


@settings(max_examples=20, deadline=None)
@given(paths=st.lists(TEXT, min_size=1, max_size=3), source=TEXT)
def test_the_command_line_reads_an_import_as_it_was_typed(paths, source):
    params = parsed(ImportRun(tuple(paths), source).arguments())

    assert (params["paths"], params["source"], params["format"]) == (paths, source, None)


@settings(max_examples=20, deadline=None)
@given(name=TEXT, source=TEXT)
def test_the_command_line_reads_a_mining_run_as_it_was_typed(name, source):
    params = parsed(MineRun(name, 7, source, admit=True).arguments())

    assert (params["name"], params["budget"], params["source"]) == (name, 7, source)
    assert (params["verify"], params["escape"], params["grow"]) == (True, False, None)
    assert parsed(MineRun(name, grow=True).arguments())["grow"] == name


@settings(max_examples=20, deadline=None)
@given(name=TEXT, other=TEXT)
def test_the_command_line_reads_audit_and_export_as_they_were_typed(name, other):
    params = parsed(AuditRun(name, other, 5, oracle=False).arguments())
    assert (params["name"], params["other"], params["limit"]) == (name, other, 5)
    assert params["oracle"] is False

    params = parsed(ExportRun(name, "trl-sft", include_failures=True).arguments())
    assert (params["name"], params["to"]) == (name, "trl-sft")
    assert (params["include_failures"], params["include_test"]) == (True, False)
    assert (params["label"], params["prompt"], params["records"]) == ("assigned", None, None)
    run = ExportRun(name, "hub", label="oracle", records="a b.jsonl", prompt="chat")
    params = parsed(run.arguments())
    assert (params["label"], params["prompt"]) == ("oracle", "chat")
    assert str(params["records"]) == "a b.jsonl"


@settings(max_examples=20, deadline=None)
@given(name=TEXT, modes=st.lists(st.sampled_from(MODES), min_size=1, unique=True))
def test_the_command_line_reads_a_bench_as_it_was_chosen(name, modes):
    params = parsed(BenchRun(name, tuple(modes), 7).arguments())

    assert (params["name"], params["mode"], params["limit"]) == (name, modes, 7)


def test_every_mode_can_be_chosen():
    assert set(MODES) == {mode.value for mode in Mode}


def test_a_form_left_empty_is_told():
    with pytest.raises(NothingToDo):
        BenchRun("set", ()).arguments()
    with pytest.raises(NothingToDo):
        ImportRun(()).arguments()
    with pytest.raises(NothingToDo):
        MineRun("").arguments()


@pytest.mark.parametrize(
    ("progress", "share", "sentence"),
    [
        (Progress("audit", 3, 12), 0.25, "audit 3 of 12"),
        (Progress("import", 7), None, "import 7"),
        (Progress("mine", stage="embed"), None, "mine: embed"),
        (Progress("audit", 20, 12), 1.0, "audit 20 of 12"),
    ],
)
def test_progress_says_how_far_a_run_is(progress, share, sentence):
    assert (progress.share, progress.sentence) == (share, sentence)
