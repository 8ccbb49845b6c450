"""Training is what its steps say: resumed anywhere it is the same, its curve is of the held-out runs, and what it teaches is learnt."""

import copy
import json

import pytest
import torch
from tiny_folders import save_folder
from tiny_models import tiny_model, tiny_network

from forethought.data.errors import ForethoughtError, NothingToDo
from forethought.data.render import render_thought
from forethought.scorer.model import load_model
from forethought.scorer.training.lessons import TaughtTurn, selecting_lessons, thinking_lessons
from forethought.scorer.training.teaching import CHECKPOINT, CURVE, MODEL, Schedule, Training

TEXTS = ("I should search.", "I can answer now.")
MODEL_AT_HAND = tiny_model()


def run(number: int) -> list[TaughtTurn]:
    """First a search, then an answer: what there is to be learnt."""
    return [
        TaughtTurn(f"Question: {number}?\n", 0, "<search>"),
        TaughtTurn(f"\nObservation: {number}\n", 1, "<answer>"),
    ]


LESSONS = selecting_lessons(MODEL_AT_HAND, TEXTS, [run(number) for number in range(8)])
HELD_OUT = selecting_lessons(MODEL_AT_HAND, TEXTS, [run(number) for number in range(50, 54)])
PLAN = Schedule(epochs=2, group=2, rate=3e-3, looks=3)


def taught(folder, plan=PLAN, progress=lambda done, total: None, facts="a set"):
    network = copy.deepcopy(tiny_network())
    curve = Training(network, LESSONS, HELD_OUT, plan, folder, facts).run(progress)
    return network, curve


def test_what_is_taught_is_learnt_by_runs_that_were_not(tmp_path):
    _, curve = taught(tmp_path, Schedule(epochs=6, group=2, rate=3e-3))

    assert [look["step"] for look in curve] == [0, 6, 12, 18, 24]
    assert curve[-1]["selection"] < 0.5 * curve[0]["selection"]
    assert curve[-1]["action"] < curve[0]["action"]
    assert curve[-1]["taken"] == 1.0
    rows = [json.loads(line) for line in (tmp_path / CURVE).read_text().splitlines()]
    assert rows == curve


class Killed(BaseException):
    pass


@pytest.mark.parametrize("killed_at", [0, 1, 3, 4, 7])
def test_a_killed_training_that_goes_on_ends_with_the_same_weights(tmp_path, killed_at):
    whole, curve = taught(tmp_path / "whole")

    def kill(done: int, total: int) -> None:
        if done == killed_at:
            raise Killed

    with pytest.raises(Killed):
        taught(tmp_path / "killed", progress=kill)
    resumed, again = taught(tmp_path / "killed")

    assert again == curve
    for ours, theirs in zip(resumed.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=0, rtol=0)


def test_a_checkpoint_that_was_being_written_is_not_taken(tmp_path):
    _, curve = taught(tmp_path)
    (tmp_path / CHECKPOINT).rename(tmp_path / f"{CHECKPOINT}.new")
    steps = []
    _, found = taught(tmp_path, progress=lambda done, total: steps.append(done))

    assert found == curve
    assert steps == [8], "a kill between the two: the complete one counts, nothing is taught again"
    (tmp_path / f"{CHECKPOINT}.new" / "state.json").unlink(missing_ok=True)


def test_another_training_is_refused_and_left_alone(tmp_path):
    taught(tmp_path)
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    for other in ({"plan": Schedule(epochs=2, group=2, rate=1e-3, looks=3)}, {"facts": "another"}):
        with pytest.raises(ForethoughtError, match="another model, set or schedule"):
            taught(tmp_path, **other)

    assert sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*")) == before


def test_a_training_that_runs_away_says_so_and_leaves_no_model(tmp_path):
    with pytest.raises(ForethoughtError, match="no number any more; take a rate below 1e"):
        taught(tmp_path, Schedule(epochs=2, group=2, rate=1e30))

    assert not (tmp_path / MODEL).exists()


def test_what_is_left_is_a_model_like_any_other(tmp_path):
    network, _ = taught(tmp_path)
    save_folder(tmp_path / "tokens", network)
    for file in (tmp_path / "tokens").glob("tokenizer*"):
        file.rename(tmp_path / MODEL / file.name)
    loaded = load_model(str(tmp_path / MODEL))

    for ours, theirs in zip(loaded.network.parameters(), network.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=0, rtol=0)


def test_a_lesson_is_the_run_with_the_labels_in_the_thoughts_places():
    turns = [*run(1), TaughtTurn("\nObservation: x\n", None, "<more>")]
    (lesson,) = selecting_lessons(MODEL_AT_HAND, TEXTS, [turns])
    first, second = lesson.decisions

    assert MODEL_AT_HAND.decode(lesson.trunk) == (
        "Question: 1?\n<thinking>I should search.</thinking>\n<search>"
        "\nObservation: 1\n<thinking>I can answer now.</thinking>\n<answer>"
        "\nObservation: x\n<more>"
    )
    for decision, text, action in ((first, TEXTS[0], "<search>"), (second, TEXTS[1], "<answer>")):
        chosen = decision.candidates[decision.chosen]
        assert lesson.trunk[decision.start : decision.start + len(chosen)] == chosen
        assert MODEL_AT_HAND.decode(chosen) == f"<thinking>{text}</thinking>"
        assert MODEL_AT_HAND.decode(lesson.trunk[slice(*decision.action)]) == action


def test_turns_beyond_the_budget_are_left_off_and_runs_without_a_decision_out():
    whole = len(LESSONS[0].trunk)
    (cut,) = selecting_lessons(MODEL_AT_HAND, TEXTS, [run(0)], budget=whole - 1)

    assert len(cut.decisions) == 1
    assert cut.trunk == LESSONS[0].trunk[: len(cut.trunk)]
    unlabelled = [TaughtTurn("Question: ?\n", None, "<search>")]
    assert len(selecting_lessons(MODEL_AT_HAND, TEXTS, [unlabelled, run(0)])) == 1
    with pytest.raises(NothingToDo, match="2 runs"):
        selecting_lessons(MODEL_AT_HAND, TEXTS, [unlabelled, unlabelled])


def test_a_lesson_in_thinking_has_the_recorded_thoughts_of_the_same_runs():
    thought = render_thought("Who knows?")
    labelled = [
        TaughtTurn("Question: 1?\n", 0, "<search>", thought),
        TaughtTurn("\nObservation: 1\n", None, "<answer>", thought),
    ]
    unlabelled = [TaughtTurn("Question: 2?\n", None, "<search>", thought)]
    (lesson,) = thinking_lessons(MODEL_AT_HAND, [labelled, unlabelled])

    assert MODEL_AT_HAND.decode(lesson.trunk) == (
        f"Question: 1?\n{thought}\n<search>\nObservation: 1\n{thought}\n<answer>"
    )
    spans = [span for turn in lesson.decisions for span in turn]
    told = [MODEL_AT_HAND.decode(lesson.trunk[slice(*span)]) for span in spans]
    assert told == [thought, "<search>", thought, "<answer>"]


def test_thoughts_are_learnt_as_tokens_and_none_is_taken(tmp_path):
    turns = [TaughtTurn("Question: 1?\n", 0, "<search>", render_thought("I ask."))]
    lessons = thinking_lessons(MODEL_AT_HAND, [turns] * 4)
    network = copy.deepcopy(tiny_network())
    curve = Training(
        network, lessons, lessons[:1], Schedule(epochs=8, group=2, rate=3e-3), tmp_path
    ).run()

    assert curve[-1]["selection"] < 0.5 * curve[0]["selection"]
    assert {look["taken"] for look in curve} == {None}
