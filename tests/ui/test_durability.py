"""Nothing acknowledged is ever lost: to other writers, to kill -9, to a full disk. The long run is benchmarks/durability.py."""

import subprocess
import sys
from itertools import count

import durability
import pytest
from durability import ACCEPT_BAR, SET, crashes, crowd, make_set

from forethought.data import commands
from forethought.data.candidates import Status
from forethought.data.commands import Edit
from forethought.data.errors import StoreError
from forethought.data.store import Store
from forethought.data.traces import Trace, Turn

PLENTY = 200  # batches that would fill the small disk many times over


def test_a_crowd_loses_no_decision_while_traces_come_in(store_url, tmp_path):
    make_set(store_url, 20)

    told = crowd(store_url, tmp_path, writers=4, seconds=1.5, turns=2000, pause=0.02)

    assert (told.errors, told.lost, told.problems) == ([], 0, [])
    assert told.imported_turns == 2000
    assert len(told.deeds) > 20


def test_what_was_acknowledged_is_there_after_kill_9_and_the_import_goes_on(store_url, tmp_path):
    make_set(store_url, 20)

    told = crashes(store_url, tmp_path, kills=4, turns=5000, longest=0.4, seed=1)

    assert (told.lost, told.problems) == (0, [])
    assert told.deeds > 0
    assert told.traces_kept + told.traces_resumed == 1000


def test_the_count_of_lost_decisions_sees_one_that_is_missing(tmp_path):
    make_set(str(tmp_path / "a.db"), 2)
    store = Store.open(tmp_path / "a.db")
    first = store.candidate_set(SET).candidates[0]
    commands.accept(store, Edit(SET, first.id, 1, "ann"))
    kept = durability.Deed(first.id, 2, "accept", 0.0)

    assert durability.missing(store, "ann", [kept]) == 0
    assert durability.missing(store, "ann", [kept, kept._replace(version=3)]) == 1
    assert durability.missing(store, "ann", [kept._replace(verb="reject")]) == 1
    assert durability.missing(store, "bob", [kept]) == 1


def test_a_writer_that_cannot_begin_ends_the_count_instead_of_being_waited_for(tmp_path):
    journal = tmp_path / "a.journal"
    running = durability.processes([(open, (tmp_path / "nowhere" / "x",))])

    with pytest.raises(RuntimeError, match="before it was at work"):
        durability.wait_until_at_work(running, [journal])


@pytest.mark.slow
def test_eight_writers_for_a_minute_beside_an_import_of_100_000_turns(store_url, tmp_path):
    make_set(store_url, 1000)

    told = crowd(store_url, tmp_path, writers=8, seconds=60, turns=100_000, pause=0.2)

    assert (told.errors, told.lost, told.problems) == ([], 0, [])
    assert told.imported_turns == 100_000
    assert told.accept_p95 < ACCEPT_BAR


@pytest.mark.slow
def test_twenty_kills_at_random_moments(store_url, tmp_path):
    make_set(store_url, 1000)

    told = crashes(store_url, tmp_path, kills=20, turns=20_000, longest=1.0, seed=0)

    assert (told.lost, told.problems) == (0, [])


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 3 MiB, and what makes it larger."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield (
            folder,
            lambda: subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True),
        )
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def traces(batch: int) -> list[Trace]:
    thought = "I should look at it once more. " * 40
    return [Trace(f"Question {batch} {n}?", (Turn((thought,)),)) for n in range(10)]


def test_a_full_disk_is_told_in_one_line_and_takes_nothing_with_it(small_disk):
    folder, enlarge = small_disk
    make_set(f"{folder}/a.db", 20)
    store = Store.open(folder / "a.db")
    candidates = store.candidate_set(SET).candidates
    accepted, added = [], 0

    with pytest.raises(StoreError, match="full; what was stored is kept") as error:
        for batch in range(PLENTY):
            added += store.add(traces(batch)).traces
            if batch < len(candidates):
                accepted.append(
                    commands.accept(store, Edit(SET, candidates[batch].id, 1, "ann")).id
                )
    fill(folder)
    with pytest.raises(StoreError, match="store .*a.db: [^\n]+") as no_room:
        for version in count(store.candidate_set(SET).candidates[-1].version):
            edit = Edit(SET, candidates[-1].id, version, "bob")
            commands.reword(store, edit, f"I should look {version}. {'x' * 5000}")

    assert "\n" not in f"{error.value}{no_room.value}"
    enlarge()
    assert store.check() == []
    assert store.counts().traces == added > 0
    kept = store.candidate_set(SET)
    assert accepted
    assert {kept.get(id).status for id in accepted} == {Status.ACCEPTED}
    assert store.add(traces(PLENTY)).traces == 10
    store.close()


def test_a_store_on_a_full_disk_can_be_opened_again_when_there_is_room(small_disk):
    folder, enlarge = small_disk
    make_set(f"{folder}/a.db", 20)
    fill(folder)

    with pytest.raises(StoreError, match="store .*b.db: [^\n]+$"):
        Store.open(folder / "b.db")
    try:
        assert len(Store.open(folder / "a.db").candidate_set(SET).candidates) == 20
    except StoreError as error:
        assert "\n" not in str(error)

    enlarge()
    assert Store.open(folder / "a.db").check() == []
    assert Store.open(folder / "b.db").check() == []


def fill(folder) -> None:
    with open(folder / "filler", "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            return


def test_a_limit_on_the_size_of_files_is_told_in_one_line(tmp_path):
    """What stops a store where nobody may mount a disk: a quota."""
    path = tmp_path / "a.db"
    script = f"""
import resource
from forethought.data.errors import StoreError
from forethought.data.store import Store
from forethought.data.traces import Trace, Turn
store = Store.open({str(path)!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
added = 0
try:
    for batch in range({PLENTY}):
        turn = Turn(("I should look at it once more. " * 40,))
        added += store.add([Trace(f"Question {{batch}} {{n}}?", (turn,)) for n in range(10)]).traces
except StoreError as error:
    print(added, error)
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert told.stderr == ""
    added, _, line = told.stdout.strip().partition(" ")
    assert line.startswith(f"store {path}: ")
    assert "what was stored is kept" in line
    store = Store.open(path)
    assert store.check() == []
    assert store.counts().traces == int(added) > 0
