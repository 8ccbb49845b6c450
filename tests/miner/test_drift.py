"""Two corpora of one source do not drift; a planted new move does."""

import numpy as np
import pytest
from embedders import HashingEmbedder
from runs import AGAIN, ANSWER, NEXT, run, runs, search

from forethought.data.traces import Trace
from forethought.miner.assign import Assigner
from forethought.miner.drift import Drift, Placed, drift, place
from forethought.miner.mask import Mask
from forethought.miner.thoughts import thoughts_of

TEXTS = [AGAIN, ANSWER, NEXT]
THOUGHTS = sorted(thoughts_of(runs(120)), key=lambda thought: thought.turn)
ASSIGNER = Assigner(THOUGHTS, Mask.fit(THOUGHTS), HashingEmbedder())
PLACED = place(THOUGHTS, ASSIGNER, TEXTS)
QUESTIONS = sorted({thought.question for thought in THOUGHTS})
GIVE_UP = "This cannot be settled with what the tool offers, and I will stop looking."


def halves(seed: int) -> tuple[Placed, Placed]:
    """The turns of two random halves of the questions."""
    drawn = np.random.default_rng(seed).permutation(len(QUESTIONS)) < len(QUESTIONS) / 2
    first = {question for question, here in zip(QUESTIONS, drawn, strict=True) if here}
    here = np.array([thought.question in first for thought in THOUGHTS])
    return PLACED.subset(np.flatnonzero(here)), PLACED.subset(np.flatnonzero(~here))


def with_a_new_move(share: int) -> list[Trace]:
    """Other runs of the same agent, every `share`-th with a move that the old ones do not make."""
    made = []
    for number in range(120, 240):
        trace = run(number)
        turns = trace.turns
        if number % share == 0:
            turns = (*turns[:-1], search(GIVE_UP, "nothing", ""), turns[-1])
        made.append(Trace(trace.question, turns, trace.outcome, trace.source))
    return made


def against(traces: list[Trace]) -> Drift:
    return drift(PLACED, place(list(thoughts_of(traces)), ASSIGNER, TEXTS))


@pytest.mark.parametrize("threshold", [0.6, 0.95])
def test_halves_of_one_corpus_raise_a_false_alarm_in_few_cases(threshold):
    alarms = [drift(*halves(seed), threshold, seed).found for seed in range(50)]

    assert sum(alarms) <= 4


def test_more_runs_of_the_same_agent_do_not_drift():
    assert not against([run(number) for number in range(120, 240)]).found


def test_a_planted_new_move_is_found_and_shown_by_its_thought():
    found = against(with_a_new_move(4))

    assert found.found
    assert found.groups[0].thought.text == GIVE_UP
    assert (found.groups[0].old_questions, found.groups[0].new_questions) == (0, 30)


def test_a_move_that_is_made_less_often_shows_in_the_distribution():
    found = against([run(number) for number in range(120, 240) if number % 2])

    by_name = {change.name: change for change in found.changes}
    assert by_name["distribution"].drifts
    assert by_name["distribution"].new > 0
    assert sum(found.new_shares) == pytest.approx(1.0)


def test_the_order_of_turns_changes_nothing():
    old, new = halves(3)
    order = np.random.default_rng(0).permutation(len(new.thoughts))
    shuffled, straight = drift(old, new.subset(order)), drift(old, new)

    assert shuffled.changes == straight.changes
    assert shuffled.groups == straight.groups


def test_a_corpus_against_itself_differs_in_nothing():
    found = drift(PLACED, PLACED)

    assert not found.found
    assert all(change.old == pytest.approx(change.new) for change in found.changes)
