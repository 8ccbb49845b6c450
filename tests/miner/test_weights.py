"""What turns weigh: by question, and by the outcomes of the runs that make their move."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.traces import Outcome
from forethought.miner.weights import TurnOrigin, lifted, outcome_lift, question_weights

WON, LOST = Outcome.SUCCESS, Outcome.FAILURE
MOVES = st.integers(-1, 3)
TURNS = st.lists(
    st.tuples(MOVES, st.sampled_from("abcdef"), st.integers(0, 2), st.sampled_from([WON, LOST])),
    min_size=1,
    max_size=40,
).map(lambda rows: [(m, TurnOrigin(q, f"{q}{run}{end}", end)) for m, q, run, end in rows])


def lift_of(turns, **options):
    return outcome_lift([move for move, _ in turns], [origin for _, origin in turns], **options)


def turns_of(question, outcome, moves):
    return [(move, TurnOrigin(question, f"{question}-{outcome}", outcome)) for move in moves]


@pytest.mark.parametrize(("power", "expected"), [(0, 5), (0.5, 2 + 1), (1, 2)])
def test_a_question_weighs_its_turns_their_root_or_one(power, expected):
    weights = question_weights(["a", "b", "a", "a", "a"], power)

    assert weights.sum() == pytest.approx(expected)
    assert weights[0] == weights[2]


def test_no_turns_weigh_nothing():
    assert question_weights([]).shape == (0,)
    assert outcome_lift([], []).shape == (0,)


def test_the_lift_of_a_small_example_worked_out_by_hand():
    """Successful questions make move 0 half and all of the time, the failed one never; both sides together: 1.5 / 3.

    With 2 questions of .5 joined to either side: 2.5 of 4 against 1 of 3, so log((2.5 / 1.5) / (1 / 2)).
    """
    turns = turns_of("a", WON, [0, 1]) + turns_of("b", WON, [0]) + turns_of("c", LOST, [1, 1, 1])

    expected = np.log((2.5 / 1.5) / (1 / 2))

    assert lift_of(turns, prior=2).tolist() == pytest.approx([expected, -expected], abs=1e-8)


@given(TURNS)
def test_swapping_success_and_failure_turns_every_lift_round(turns):
    other = {WON: LOST, LOST: WON}
    swapped = [(m, TurnOrigin(o.question, o.run, other[o.outcome])) for m, o in turns]

    assert lift_of(swapped).tolist() == pytest.approx((-lift_of(turns)).tolist())


@given(TURNS, st.integers(2, 5))
def test_one_question_run_many_times_counts_once(turns, times):
    again = [
        (m, TurnOrigin(o.question, f"{o.run}-{i}", o.outcome))
        for i in range(times)
        for m, o in turns
        if o.question == "a"
    ]

    once = [pair for pair in turns if pair[1].question != "a"]
    assert lift_of(once + again).tolist() == pytest.approx(lift_of(turns).tolist())


@given(TURNS, TURNS)
def test_runs_of_unknown_outcome_change_nothing(turns, unknown):
    more = [(m, TurnOrigin(o.question, f"{o.run}?", None)) for m, o in unknown]
    lift = lift_of(turns + more)

    assert lift[: len(lift_of(turns))].tolist() == lift_of(turns).tolist()
    assert not lift[len(lift_of(turns)) :].any()


@given(TURNS)
def test_without_failures_there_is_no_contrast(turns):
    won = [(m, TurnOrigin(o.question, o.run, WON)) for m, o in turns]

    assert not lift_of(won).any()


def test_a_lift_is_shrunk_and_less_so_with_more_questions():
    few = turns_of("a", WON, [0]) + turns_of("b", LOST, [1])
    many = [t for i in range(50) for t in turns_of(f"{i}", *((WON, [0]) if i % 2 else (LOST, [1])))]

    assert 0 < lift_of(few)[0] < 0.5
    assert lift_of(many)[0] > 2
    assert lift_of(few, prior=100)[0] < lift_of(few)[0]


def test_turns_weigh_by_the_lift_of_their_move_at_most_double_and_turns_of_no_move_stay():
    weights = np.array([1.0, 2.0, 3.0, 4.0])

    found = lifted(weights, [0, 1, 2, -1], np.array([np.log(1.5), 9.0, -9.0]))

    assert found.tolist() == pytest.approx([1.5, 4.0, 1.5, 4.0])
