"""From judged pairs to a coverage threshold."""

import json
from pathlib import Path

import pytest
from embedders import HashingEmbedder
from runs import AGAIN, runs, search

from forethought.data.errors import ForethoughtError, NotFound
from forethought.data.identity import Split
from forethought.data.traces import Trace, turn_id
from forethought.miner.coverage import in_train_half
from forethought.miner.mask import Mask
from forethought.miner.thoughts import thoughts_of
from forethought.ui.judging import JudgedPair, calibrate_coverage, read_judged

TRACES = runs(80)
MASK, EMBEDDER = Mask.fit(list(thoughts_of(TRACES))), HashingEmbedder()
SHIPPED = Path(__file__).parents[2] / "data" / "judged" / "fireact.jsonl"


def pairs(count: int = 60) -> list[JudgedPair]:
    """Thoughts that say what the candidate says, and thoughts that do not, by turns."""
    made = []
    for i in range(count):
        thought = AGAIN if i % 2 else "Zebras graze quietly beside distant rivers."
        made.append(JudgedPair(thought, AGAIN, bool(i % 2), f"q{i}"))
    return made


def calibrate(judged, traces=TRACES, precision=0.8):
    return calibrate_coverage(judged, traces, MASK, EMBEDDER, precision)


def test_a_threshold_tells_pairs_that_fit_from_pairs_that_do_not():
    found = calibrate(pairs())

    assert found["held_out"]["precision"]["value"] == 1.0
    assert found["held_out"]["recall"]["value"] == 1.0
    assert found["train"]["n"] + found["held_out"]["n"] == found["pairs"] == 60


def test_the_threshold_is_picked_without_the_half_that_measures_it():
    judged = pairs()
    found = calibrate(judged)
    wrong = [
        pair
        if in_train_half(pair.half)
        else JudgedPair(pair.thought, AGAIN, not pair.fits, pair.question)
        for pair in judged
    ]

    assert calibrate(wrong)["threshold"] == found["threshold"]
    assert calibrate(wrong)["held_out"]["precision"]["value"] == 0.0


def test_a_thought_of_the_store_is_masked_with_its_own_runs_words():
    """`piano` is common enough to be kept, unless the run's own question has it."""
    turn = search("I should look for the piano now.", "piano", "")
    pianos = [Trace(f"Where is piano number {i}?", (turn,), None, "pianos") for i in range(10)]
    mask = Mask.fit(list(thoughts_of([*TRACES, *pianos])))
    id = turn_id(pianos[0].id, 0)
    judged = [JudgedPair(turn.thoughts[0], turn.thoughts[0], True, f"q{i}", id) for i in range(60)]

    inside = calibrate_coverage(judged, pianos, mask, EMBEDDER)["threshold"]
    outside = calibrate_coverage(judged, [], mask, EMBEDDER)["threshold"]
    assert inside < outside


def test_too_few_pairs_or_a_precision_that_is_never_reached_are_plain_messages():
    with pytest.raises(ForethoughtError, match="too few"):
        calibrate(pairs(10))
    never = [JudgedPair(AGAIN, AGAIN, False, f"q{i}") for i in range(60)]
    with pytest.raises(ForethoughtError, match="at no threshold"):
        calibrate(never)


@pytest.mark.parametrize(
    "line", ["no json", "[]", '{"thought": "a"}', '{"thought": "a", "candidate": "b", "fits": 1}']
)
def test_a_line_that_is_no_pair_is_named(tmp_path, line):
    good = json.dumps({"thought": "a", "candidate": "b", "fits": True})
    (tmp_path / "judged.jsonl").write_text(f"{good}\n\n{line}\n", "utf-8")

    with pytest.raises(ForethoughtError, match=r"judged\.jsonl:3"):
        read_judged(tmp_path / "judged.jsonl")


def test_a_file_that_is_not_there_is_a_plain_message(tmp_path):
    with pytest.raises(NotFound, match="judged pairs"):
        read_judged(tmp_path / "none.jsonl")


def test_the_shipped_pairs_can_be_read_name_no_question_and_hold_no_test_question():
    from forethought.data.formats import read_traces

    shipped = read_judged(SHIPPED)
    samples = sorted(str(path) for path in SHIPPED.parents[1].glob("samples/*.json.gz"))
    traces = {t.id: t for t in read_traces(samples) if isinstance(t, Trace)}

    assert len(shipped) >= 120
    assert min(sum(p.fits for p in shipped), sum(not p.fits for p in shipped)) > 60
    for pair in shipped:
        trace_id, _, turn = pair.turn.rpartition(":")
        assert traces[trace_id].split is not Split.TEST
        assert pair.thought in traces[trace_id].turns[int(turn)].thoughts
    assert traces[trace_id].question not in SHIPPED.read_text("utf-8")
