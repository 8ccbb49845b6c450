"""The gain function that the miner is handed: on choose turns only, priced once, equal to what an audit measures."""

import numpy as np
import pytest
from embedders import HashingEmbedder
from runs import AGAIN, ANSWER, NEXT, runs
from tiny_models import tiny_model

from forethought.data.errors import NothingToDo
from forethought.data.identity import Split
from forethought.data.traces import Outcome
from forethought.miner.admission import Verdict, admit
from forethought.miner.thoughts import thoughts_of
from forethought.ui.admitting import ReferenceGains
from forethought.ui.auditing import Corpus
from forethought.ui.wiring import make_embedder, make_model

TRACES = runs(90)
BY_TURN = {thought.turn: thought for thought in thoughts_of(TRACES)}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path))
    return tmp_path


def reference_gains(limit=12, **options):
    return ReferenceGains(TRACES, tiny_model(), limit, **options)


def num_priced(cache) -> int:
    """Turns that were run through the model so far."""
    lines = [p.read_text("utf-8").split("\n") for p in (cache / "prices").glob("lp-*.jsonl")]
    return sum(bool(line) for file in lines for line in file)


def assigner(corpus):
    return lambda turns, texts: corpus.assigner.assign([BY_TURN[t] for t in turns], texts).rows


def test_only_choose_turns_of_runs_that_did_not_fail_are_priced():
    found = reference_gains(limit=None)([AGAIN])
    traces = {trace.id: trace for trace in TRACES}
    used = [traces[turn.split(":")[0]] for turn in found.turns]

    assert {trace.split for trace in used} == {Split.CHOOSE}
    assert all(trace.outcome is not Outcome.FAILURE for trace in used)
    assert found.questions == tuple(trace.question for trace in used)
    assert found.gains.shape == (len(used), 1)
    assert found.free.shape == (len(used),)


def test_a_text_that_is_the_free_thought_gains_what_the_free_thought_gains():
    found = reference_gains()([AGAIN, ANSWER, NEXT])

    own = [
        (t, k)
        for t, turn in enumerate(found.turns)
        for k, text in enumerate((AGAIN, ANSWER, NEXT))
        if BY_TURN[turn].text == text
    ]

    assert own
    for turn, column in own:
        assert found.gains[turn, column] == pytest.approx(found.free[turn], abs=1e-4)


def test_nothing_is_priced_twice(cache):
    first = reference_gains()([AGAIN, ANSWER])
    priced = num_priced(cache)
    again = reference_gains()([ANSWER, AGAIN])

    assert priced == num_priced(cache) == 12
    assert again.gains[:, ::-1].tolist() == first.gains.tolist()

    more = reference_gains()([AGAIN, ANSWER, NEXT])

    assert num_priced(cache) == 24
    assert more.gains[:, :2] == pytest.approx(first.gains, abs=1e-4)
    assert reference_gains(limit=5)([NEXT]).gains.tolist() == more.gains[:5, 2:].tolist()
    assert num_priced(cache) == 24


def test_an_interrupted_run_goes_on_where_it_stopped(cache):
    def stop(done, _total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reference_gains(progress=stop)([AGAIN])
    seen = []
    found = reference_gains(progress=lambda done, total: seen.append((done, total)))([AGAIN])

    assert num_priced(cache) == 12
    assert seen == [(done, 12) for done in range(5, 13)]
    assert np.isfinite(found.gains).all()


def test_another_model_is_priced_anew(cache):
    reference_gains()([AGAIN])
    ReferenceGains(TRACES, tiny_model(seed=1), 12)([AGAIN])

    assert num_priced(cache) == 24


def test_without_a_choose_turn_there_is_nothing_to_verify_on():
    mined = [trace for trace in TRACES if trace.split is not Split.CHOOSE]

    with pytest.raises(NothingToDo, match="no choose turn"):
        ReferenceGains(mined, tiny_model())


def test_the_miner_admits_by_it_the_same_every_time():
    corpus = Corpus.of(TRACES, HashingEmbedder())
    gains = reference_gains(limit=None)
    first, again = (admit([AGAIN, ANSWER, NEXT], gains, assigner(corpus)) for _ in range(2))

    assert first == again
    assert first.num_questions >= 10
    assert all(
        (trial.verdict is Verdict.ADMITTED) == (trial.added.low > 0) for trial in first.trials
    )


@pytest.mark.slow
def test_a_real_model_admits_the_move_that_helps_and_not_one_that_says_nothing():
    corpus = Corpus.of(TRACES, make_embedder(None))
    gains = ReferenceGains(TRACES, make_model(None), limit=24)
    nothing = "I like the weather on a quiet morning by the sea."
    admission = admit([ANSWER, AGAIN, nothing], gains, assigner(corpus))

    assert ANSWER in admission.admitted
    assert nothing not in admission.admitted
