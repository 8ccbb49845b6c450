"""The file of a bench's records: one bench at a time, one line for what cannot be, and nothing lost; what it played is no recorded run."""

import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.errors import ForethoughtError
from forethought.data.formats import read_traces
from forethought.data.store import Store
from forethought.data.traces import Action, Outcome, Trace, Turn
from forethought.scorer.agent.tools import Match, Situation
from forethought.ui.bench.playing import PLAYED
from forethought.ui.bench.records import Records
from forethought.ui.bench.replaying import SAMPLES, replay_of
from forethought.ui.bench.runs import _folder

HOLDER = """
import sys, time
from pathlib import Path
from forethought.ui.bench.records import Records

records = Records(Path(sys.argv[1]), "run")
records.add(("select", "q1"), {"answer": "Porto"})
print("open", flush=True)
time.sleep(600)
"""


@contextmanager
def other_bench(path: Path):
    """Another process that has the file open; it is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "open\n"
        yield
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()


@contextmanager
def room_for(size: int):
    """No file may grow over `size` bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_second_bench_in_the_same_folder_is_told_and_changes_nothing(tmp_path):
    path = tmp_path / "records.jsonl"
    with other_bench(path):
        before = path.read_bytes()
        with pytest.raises(ForethoughtError, match=r"^[^\n]*another bench writes there[^\n]*$"):
            Records(path, "run")
        assert path.read_bytes() == before

    with Records(path, "run") as records:  # whoever was killed holds nothing
        assert records.get(("select", "q1"))["answer"] == "Porto"


def test_a_full_disk_is_one_line_and_the_next_bench_goes_on_from_the_whole_lines(tmp_path):
    path = tmp_path / "records.jsonl"
    with room_for(600), Records(path, "run") as records:
        with pytest.raises(
            ForethoughtError, match=r"^[^\n]*cannot be written \(File too large\)[^\n]*$"
        ):
            for number in range(100):
                records.add(("select", f"q{number}"), {"answer": "x" * 50})
        assert records.get(("select", f"q{number}")) is None
    with Records(path, "run") as records:
        assert [bool(records.get(("select", f"q{n}"))) for n in range(100)] == [
            n < number for n in range(100)
        ]
        records.add(("select", f"q{number}"), {"answer": "y"})
    with Records(path, "run") as records:
        assert records.get(("select", f"q{number}"))["answer"] == "y"


@pytest.mark.parametrize("made", ["a folder", "below a file"])
def test_a_place_that_cannot_be_written_is_one_line(tmp_path, made):
    path = tmp_path / "records.jsonl"
    if made == "a folder":
        path.mkdir()
    else:
        (tmp_path / "file").write_text("")
        path = tmp_path / "file" / "records.jsonl"
    with pytest.raises(ForethoughtError, match=r"^[^\n]*records\.jsonl: cannot be written[^\n]*$"):
        Records(path, "run")


@pytest.mark.parametrize("place", ["/sys/forethought", "/proc/forethought"])
def test_a_folder_that_cannot_be_made_is_one_line(place):
    with pytest.raises(
        ForethoughtError, match=r"^cannot write to [^\n]*; name another --out folder$"
    ):
        _folder(Path(place))


@given(answer=st.text(st.characters(), max_size=30), id=st.text(st.characters(), max_size=10))
def test_any_text_comes_back_as_it_was(tmp_path_factory, answer, id):
    """Line ends of every kind, halves of characters, control characters."""
    path = tmp_path_factory.mktemp("records") / "records.jsonl"
    with Records(path, "run") as records:
        records.add(("select", id), {"answer": answer})
        records.add(("think", id), {"answer": ""})
    with Records(path, "run") as records:
        assert records.get(("select", id))["answer"] == answer
        assert records.get(("think", id)) is not None


def test_what_a_bench_thought_before_is_not_replayed_to_the_next(tmp_path):
    store = Store.open(tmp_path / "a.db")
    read = read_traces([SAMPLES / "fireact-llama-2-7b.json.gz"])
    store.add(one for one in read if isinstance(one, Trace))
    before = replay_of(store, None, ())
    query = {"input": "a query that no recorded run made"}
    turn = Turn(("I look.",), (Action("search", query),), ("Nothing.",))
    text = before.questions[0].text
    played = Trace(text, (turn,), Outcome.FAILURE, "hotpotqa-replay-think", format=PLAYED)
    store.add([played])
    after = replay_of(store, None, ())
    told = after.tools["search"].call(query, Situation(text))

    assert told.match is not Match.EXACT
    assert (after.questions, after.turns, after.fitting) == (
        before.questions,
        before.turns,
        before.fitting,
    )
