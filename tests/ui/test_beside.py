"""A process beside the app: what it returns and raises comes back, it outlives no app, and is begun anew when killed."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import psutil
import pytest
from curated_store import curated
from planted import planted

from forethought.data.errors import ForethoughtError, NotFound
from forethought.miner.embed import SentenceEmbedder
from forethought.ui import fitted
from forethought.ui.beside import Beside, EmbedderBeside
from forethought.ui.wiring import open_existing


@pytest.fixture(scope="module")
def beside() -> Beside:
    return Beside()


def test_it_answers_from_a_process_of_its_own_at_low_priority(beside):
    assert beside.call(os.getpid) == beside.call(os.getpid) != os.getpid()
    assert beside.call(os.nice, 0) > os.nice(0)
    assert beside.call(divmod, 7, 2) == (3, 1)


def test_a_mistake_there_is_a_mistake_here(beside):
    with pytest.raises(NotFound, match=r"nowhere\.db: no store there"):
        beside.call(open_existing, "nowhere.db")
    with pytest.raises(ZeroDivisionError):
        beside.call(divmod, 1, 0)
    assert beside.call(divmod, 7, 2) == (3, 1), "and it goes on"


def test_many_threads_get_each_their_own_answer(beside):
    answers: dict[int, tuple[int, int]] = {}

    def ask(number: int) -> None:
        answers[number] = beside.call(divmod, number, 3)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == {number: divmod(number, 3) for number in range(20)}


def test_a_killed_one_is_told_and_begun_anew(beside):
    first = beside.call(os.getpid)
    with pytest.raises(ForethoughtError, match="try again"):
        beside.call(os.abort)

    assert beside.call(os.getpid) != first
    psutil.Process(beside.call(os.getpid)).kill()
    with pytest.raises(ForethoughtError, match="try again"):
        beside.call(os.getpid)
    assert beside.call(divmod, 7, 2) == (3, 1)


def test_it_ends_with_the_app_even_where_that_is_killed():
    script = (
        "import os, time\n"
        "from forethought.ui.beside import Beside\n"
        "beside = Beside()\n"
        "print(beside.call(os.getpid), flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    ) as process:
        number = int(process.stdout.readline())
        assert psutil.pid_exists(number)
        process.kill()
    end = time.monotonic() + 20
    while psutil.pid_exists(number) and psutil.Process(number).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < end, "it outlives the app"
        time.sleep(0.05)


def test_vectors_are_those_of_the_model_itself(beside):
    texts = ["I should search.", "I have the answer.", "long " * 1000]
    model = SentenceEmbedder()
    there = EmbedderBeside(beside, SentenceEmbedder())

    assert there.name == model.name
    np.testing.assert_allclose(there.embed(texts), model.embed(texts), atol=1e-6)
    assert there.truncated(texts).tolist() == [False, False, True]


def test_a_mask_fitted_beside_is_the_mask(tmp_path, monkeypatch):
    store = curated(tmp_path / "store.db")
    store.add(planted(40).traces)
    here = fitted.mask_of(store, "search-v1").result(60)
    fitted.PROCESS._all.clear()
    monkeypatch.setattr(fitted, "BESIDE_FROM", 0)
    there = fitted.mask_of(store, "search-v1").result(60)

    assert here is not None
    for trace in planted(40).traces[:20]:
        text = trace.turns[0].thoughts[0]
        assert here.leaked_words(text) == there.leaked_words(text)
    assert here.leaked_words("Lisbon is what I need.") == there.leaked_words(
        "Lisbon is what I need."
    )
