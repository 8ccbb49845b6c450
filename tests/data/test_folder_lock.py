"""One writer at a time: the second is told, whichever process it is in; a killed one leaves nothing locked."""

import subprocess
import sys
from pathlib import Path

import pytest

from forethought.data.errors import ForethoughtError
from forethought.data.folder_lock import alone_in

HOLDER = """
import sys
from pathlib import Path
from forethought.data.folder_lock import alone_in
with alone_in(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(folder: Path) -> subprocess.Popen:
    """A process that writes in the folder until it is killed, or its input ends."""
    command = [sys.executable, "-c", HOLDER, str(folder)]
    found = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert found.stdout.readline() == "held\n"
    return found


@pytest.mark.parametrize("end", [subprocess.Popen.kill, lambda process: process.stdin.close()])
def test_another_process_waits_for_no_dead_one(end, tmp_path):
    first = holder(tmp_path / "out")
    with pytest.raises(ForethoughtError, match="another export or training writes there"):
        with alone_in(tmp_path / "out"):
            pytest.fail("two at once")
    with alone_in(tmp_path / "elsewhere"):
        pass
    end(first)
    first.wait(60)

    with alone_in(tmp_path / "out"):
        (tmp_path / "out" / "result").write_text("")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["result"]


def test_what_stays_empty_goes_again_and_what_was_there_stays(tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(KeyboardInterrupt), alone_in(tmp_path / "mine" / "made" / "deep"):
        raise KeyboardInterrupt

    assert [path.name for path in tmp_path.rglob("*")] == ["mine"]


def test_the_one_who_is_refused_changes_nothing(tmp_path):
    with alone_in(tmp_path):
        before = sorted(tmp_path.iterdir())
        for _ in range(2):
            with pytest.raises(ForethoughtError), alone_in(tmp_path):
                pytest.fail("two at once")
        assert sorted(tmp_path.iterdir()) == before
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", ["file", "file/deeper"])
def test_a_place_that_is_no_folder_is_told_with_its_name(place, tmp_path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(ForethoughtError, match=f"{tmp_path / place}.*choose another --out"):
        with alone_in(tmp_path / place):
            pytest.fail("it is no folder")

    assert (tmp_path / "file").read_text() == "kept"
