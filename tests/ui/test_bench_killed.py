"""A bench whose process is killed by the system, again and again, at any moment: run again it has the records of an unbroken one."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import bench_process
import pytest
from tiny_folders import save_folder

from forethought.data.formats import read_traces
from forethought.data.store import Store
from forethought.data.traces import Trace
from forethought.ui.bench.replaying import SAMPLES

KILLS, QUESTIONS = 10, 10
PATIENCE = 120.0  # seconds; a bench here takes three


class Benches:
    """Starts a process a bench; `finish` and `kill` end it."""

    def __init__(self, model: Path) -> None:
        self._driver = subprocess.Popen(
            [sys.executable, bench_process.__file__, str(model)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": ":".join(sys.path)},
        )

    def start(self, store: Path, out: Path, limit: int = QUESTIONS) -> int:
        self._driver.stdin.write(f"{store} {out} {limit}\n")
        self._driver.stdin.flush()
        return int(self._driver.stdout.readline())

    def status(self) -> int:
        return os.waitstatus_to_exitcode(int(self._driver.stdout.readline()))

    def finish(self, store: Path, out: Path, limit: int = QUESTIONS) -> None:
        self.start(store, out, limit)
        assert self.status() == 0

    def close(self) -> None:
        self._driver.stdin.close()
        self._driver.wait(PATIENCE)


@pytest.fixture(scope="module")
def benches(tmp_path_factory):
    found = Benches(save_folder(tmp_path_factory.mktemp("model")))
    yield found
    found.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    """A store with one file of recorded runs."""
    path = tmp_path_factory.mktemp("store") / "filled.db"
    read = read_traces([SAMPLES / "fireact-llama-2-7b.json.gz"])
    store = Store.open(path)
    store.add(one for one in read if isinstance(one, Trace))
    store.close()  # else a copy lacks what is still in its log
    return path


@pytest.fixture
def store(filled, tmp_path) -> Path:
    return Path(shutil.copy(filled, tmp_path / "own.db"))


def kept(out: Path) -> dict[str, list[bytes]]:
    """The whole lines of each file of records."""
    return {path.name: path.read_bytes().split(b"\n")[:-1] for path in sorted(out.rglob("*.jsonl"))}


def records(out: Path) -> dict[tuple, dict]:
    found = {}
    for name, lines in kept(out).items():
        for line in lines:
            one = json.loads(line)
            assert (name, one["mode"], one["id"]) not in found, "played twice"
            found[name, one["mode"], one["id"]] = one
            for turn in one.get("turns", ()):
                del turn["seconds"]
    return found


def wait_for(out: Path, lines: int, process: int) -> None:
    end = time.monotonic() + PATIENCE
    while sum(map(len, kept(out).values())) < lines:
        assert time.monotonic() < end, f"{process} has written too little"
        time.sleep(0.002)


@pytest.mark.slow
def test_a_bench_that_is_killed_ten_times_has_the_records_of_an_unbroken_one(
    benches, filled, store, tmp_path
):
    whole_store = Path(shutil.copy(filled, tmp_path / "whole.db"))
    benches.finish(whole_store, tmp_path / "whole")
    whole = records(tmp_path / "whole")
    drawn = random.Random(0)
    played = 2 * QUESTIONS
    moments = sorted([*drawn.sample(range(played), 7), *drawn.sample(range(played, len(whole)), 3)])
    for lines in moments:
        process = benches.start(store, tmp_path / "killed")
        wait_for(tmp_path / "killed", lines, process)
        time.sleep(drawn.uniform(0, 0.02))
        os.kill(process, signal.SIGKILL)
        assert benches.status() == -signal.SIGKILL
    assert len(moments) == KILLS
    assert not (tmp_path / "killed" / "report.json").exists()
    benches.finish(store, tmp_path / "killed")

    assert records(tmp_path / "killed") == whole
    one, other = Store.open(store), Store.open(whole_store)
    assert one.check() == []
    assert list(one.traces()) == list(other.traces())


@pytest.mark.slow
def test_more_questions_after_a_whole_bench_are_played_as_if_it_had_not_been(
    benches, filled, store, tmp_path
):
    """What the first bench thought freely is in the store by then, but no search of it is replayed to the second."""
    benches.finish(store, tmp_path / "out", limit=4)
    benches.finish(store, tmp_path / "out")
    other = Path(shutil.copy(filled, tmp_path / "other.db"))
    benches.finish(other, tmp_path / "whole")

    assert records(tmp_path / "out") == records(tmp_path / "whole")
