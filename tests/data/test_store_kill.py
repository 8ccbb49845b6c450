"""A store is whole whenever its process dies."""

import os
import signal
import subprocess
import sys

from forethought.data.store import BATCH, Store
from forethought.data.traces import Trace, Turn

TOTAL = 5 * BATCH
IMPORT = f"""
import sys, time
from forethought.data.store import Store
from forethought.data.traces import Trace, Turn

def traces():
    for i in range({TOTAL}):
        if i == {3 * BATCH + 7}:
            print("half way", flush=True)
            time.sleep(60)
        yield Trace(f"q{{i}}", (Turn((f"thought {{i}}",)),), position=i)

Store.open(sys.argv[1]).add(traces())
"""


def expected() -> list[Trace]:
    made = [Trace(f"q{i}", (Turn((f"thought {i}",)),), position=i) for i in range(TOTAL)]
    return sorted(made, key=lambda trace: trace.id)


def test_an_import_killed_half_way_and_run_again_is_a_whole_one(tmp_path):
    path = tmp_path / "a.db"
    process = subprocess.Popen(
        [sys.executable, "-c", IMPORT, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "half way\n"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()

    store = Store.open(path)
    assert store.check() == []
    assert store.counts().traces == 3 * BATCH  # whole batches only

    added = store.add(expected())

    assert (added.traces, added.duplicates) == (2 * BATCH, 3 * BATCH)
    assert list(store.traces()) == expected()
    assert store.check() == []


def test_a_store_killed_while_it_is_made_can_be_opened_again(tmp_path):
    path = tmp_path / "a.db"
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from forethought.data.database import Database\n"
            "from forethought.data.schema import _upgrade\n"
            "with Database(sys.argv[1]).rebuilding() as connection:\n"
            "    _upgrade(connection); print('made', flush=True); sys.stdin.read()",
            str(path),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "made\n"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()

    assert Store.open(path).check() == []
