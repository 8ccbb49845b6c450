"""Turns as thoughts."""

from runs import run

from forethought.data.traces import Action, Trace, Turn
from forethought.miner.thoughts import Stage, thoughts_of


def test_stages_count_the_actions_before():
    assert [t.stage for t in thoughts_of([run(6)])] == [
        Stage.OPENING,
        Stage.SECOND,
        Stage.LATER,
        Stage.LATER,
    ]


def test_the_instance_is_what_came_before_and_never_the_action_that_followed():
    first, second, *_ = thoughts_of([run(6)])

    assert run(6).turns[0].actions[0].arguments["input"] not in first.instance
    assert run(6).turns[0].actions[0].arguments["input"] in second.instance
    assert run(6).turns[1].actions[0].arguments["input"] not in second.instance


def test_a_turn_with_several_thoughts_is_no_single_thought():
    turn = Turn(("a", "b"), (Action("search", {"input": "x"}),), ("",))

    assert list(thoughts_of([Trace("q", (turn,))])) == []
