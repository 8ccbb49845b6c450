"""Mining with Ray on two processors of this machine; `make test-ray` installs it."""

from dataclasses import replace
from functools import partial
from importlib.util import find_spec

import psutil
import pytest
from embedders import HashingEmbedder
from executors import Stopped
from planted import planted

from forethought.data.errors import InvalidRules
from forethought.data.formats import read_traces
from forethought.data.traces import Trace
from forethought.miner import abstract, embed
from forethought.miner.embed import CachedEmbedder, SentenceEmbedder
from forethought.miner.mask_rules import parse_rules
from forethought.miner.mine import MinerSettings, mine
from forethought.miner.ray_executor import RayExecutor
from forethought.ui.demo import SAMPLES

pytestmark = [
    pytest.mark.ray,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed; `make test-ray`"),
]
HERE = {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


@pytest.fixture(scope="module")
def executor():
    """One for all tests here, since starting takes long; an error ends it, and nothing is left of it."""
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    with pytest.raises(Stopped), RayExecutor(num_cpus=2) as executor:
        yield executor
        raise Stopped
    left = [p for p in psutil.Process().children(recursive=True) if p.pid not in before]
    _, alive = psutil.wait_procs(left, timeout=30)
    assert alive == []


@pytest.fixture(autouse=True)
def many_blocks(monkeypatch):
    monkeypatch.setattr(abstract, "BLOCK", 100)
    monkeypatch.setattr(embed, "SHARD_TEXTS", 400)


def test_planted_moves_are_mined_into_the_same_set(executor):
    traces = planted(180).traces

    plain = mine(traces, HashingEmbedder(), "x")
    with_ray = mine(traces, HashingEmbedder(), "x", MinerSettings(executor=executor))

    assert plain.num_thoughts > 2 * abstract.BLOCK
    assert replace(with_ray, stages=()) == replace(plain, stages=())
    assert any(candidate.support for candidate in plain.candidate_set.candidates)


def test_the_shipped_traces_are_mined_into_the_same_set_by_a_real_model(executor, tmp_path):
    files = [*map(str, sorted(SAMPLES.glob("*.json*")))]
    traces = [entry for entry in read_traces(files) if isinstance(entry, Trace)]

    def mined(name, **more):
        embedder = CachedEmbedder(SentenceEmbedder(), tmp_path / name, *more.values())
        return mine(traces, embedder, "x", MinerSettings(**more)).candidate_set

    assert mined("ray", executor=executor) == mined("plain")
    assert len([*tmp_path.glob("ray/*/*.npz")]) == len([*tmp_path.glob("plain/*/*.npz")]) > 2


def test_what_a_user_did_wrong_is_told_from_there_as_from_here(executor):
    with pytest.raises(InvalidRules, match=r"^rules.toml: "):
        [*executor.map(partial(parse_rules, where="rules.toml"), ["", "no TOML"])]


def test_only_this_machine_is_listened_to(executor):
    [*executor.map(len, [["a"], ["b", "c"]])]

    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    listening = {
        connection.laddr.ip
        for process in processes
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }

    assert listening
    assert listening <= HERE
