"""Records of turns: priced once for whoever asks, the same whether priced at once or bit by bit or after a kill."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from runs import AGAIN, ANSWER, NEXT, runs
from tiny_models import tiny_model

from forethought.data.identity import Split
from forethought.scorer.audit import AuditModels, AuditTexts
from forethought.ui.auditing import beginnings_of, rendered_turns
from forethought.ui.held_out import held_out
from forethought.ui.recording import record_turns

TRACES = runs(30)
MODEL = tiny_model()
TURNS = rendered_turns(TRACES, held_out(TRACES, Split.TEST, 4), {}, MODEL)
MODELS = AuditModels(MODEL, MODEL)
SUPPORT = Path(__file__).parent.parent / "support"
KILLED = """
import time
from test_recording import *

def progress(done, total):
    if done == 2:
        print("half way", flush=True)
        time.sleep(60)

record_turns(TURNS, texts(AGAIN, ANSWER), MODELS, beginnings_of(TRACES), progress)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path))
    return tmp_path / "prices"


def texts(*candidates, pool=()):
    return AuditTexts({text[:9]: text for text in candidates}, pool)


def record(wanted, models=MODELS, turns=TURNS):
    return record_turns(turns, wanted, models, beginnings_of(TRACES))


def lines(cache, kind):
    """The prices of each line written so far."""
    found = [path.read_text("utf-8").splitlines() for path in cache.glob(f"{kind}-*.jsonl")]
    return [json.loads(line)["prices"] for file in found for line in file if line]


def numbers(records):
    return [
        [*record["lp"]["free"], *sum(record["lp"]["candidates"].values(), [])]
        + [*record["scores"]["raw"].values(), *sum(record["lp"]["pool"], [])]
        for record in records
    ]


def test_another_candidate_prices_that_one_only(cache):
    record(texts(AGAIN, ANSWER))
    before = len(lines(cache, "lp"))
    record(texts(AGAIN, ANSWER, NEXT))

    new = lines(cache, "lp")[before:]
    assert before == len(TURNS)
    assert [len(prices) for prices in new] == [1] * len(TURNS)


def test_what_is_known_is_not_priced_again_whatever_the_role_of_the_text(cache):
    record(texts(AGAIN, ANSWER, pool=[NEXT]))
    before = len(lines(cache, "lp"))
    record(texts(ANSWER, pool=[NEXT, AGAIN]))

    assert len(lines(cache, "lp")) == before


def test_bit_by_bit_gives_the_records_of_one_go(tmp_path, monkeypatch):
    for wanted in (texts(NEXT), texts(AGAIN, pool=[ANSWER])):
        record(wanted)
    patched = record(texts(AGAIN, ANSWER, NEXT, pool=[AGAIN]))
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path / "other"))
    whole = record(texts(AGAIN, ANSWER, NEXT, pool=[AGAIN]))

    for one, other in zip(numbers(patched), numbers(whole), strict=True):
        assert one == pytest.approx(other, abs=1e-4)


def test_another_audited_model_prices_its_own_texts_only(cache):
    record(texts(AGAIN, ANSWER))
    before = len(lines(cache, "lp"))
    audited = tiny_model(seed=1)
    found = record(texts(AGAIN, ANSWER), AuditModels(MODEL, audited))

    assert len(lines(cache, "lp")) == before
    assert len(lines(cache, "sums")) == 2 * len(TURNS)
    assert found[0]["scores"]["raw"] != record(texts(AGAIN, ANSWER))[0]["scores"]["raw"]


def test_the_length_exponent_is_no_part_of_what_is_kept(cache):
    mean = record(texts(AGAIN))[0]["scores"]["raw"]
    summed = record(texts(AGAIN), AuditModels(MODEL, MODEL, alpha=0.0))[0]["scores"]["raw"]

    assert len(lines(cache, "sums")) == len(TURNS)
    assert abs(sum(summed.values())) > abs(sum(mean.values()))


def test_a_set_that_holds_one_text_twice_is_no_trouble():
    records = record(AuditTexts({"one": AGAIN, "two": AGAIN}))

    assert all(r["scores"]["raw"]["one"] == r["scores"]["raw"]["two"] for r in records)


def test_an_audit_killed_half_way_goes_on_where_it_stopped(cache, tmp_path):
    paths = os.pathsep.join([str(SUPPORT), str(Path(__file__).parent)])
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "half way\n"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert len(lines(cache, "lp")) == 2

    seen = []
    found = record_turns(
        TURNS,
        texts(AGAIN, ANSWER),
        MODELS,
        beginnings_of(TRACES),
        lambda done, total: seen.append(done),
    )
    assert seen == [2, 3, 4]
    assert [r["trace"] for r in found] == [turn.trace for turn in TURNS]
    assert len(lines(cache, "lp")) == len(TURNS)
