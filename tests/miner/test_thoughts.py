"""Turns as thoughts."""

from runs import run

from forethought.data.traces import Action, Trace, Turn, turn_id
from forethought.miner.thoughts import Stage, thoughts_of

SEARCH = (Action("search", {"input": "x"}),)


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


def test_the_thoughts_of_a_turn_are_mined_as_one_but_never_audited():
    turn = Turn(("It is not there.", "I should search again."), SEARCH, ("",))
    (thought,) = thoughts_of([Trace("q", (turn,))])

    assert thought.text == thought.whole == "It is not there.\n\nI should search again."
    assert thought.kind == "search"
    assert not turn.is_plain  # what audits ask for


def test_a_turn_of_several_actions_or_of_none_and_no_thought_is_left_out():
    turns = (Turn(("a",), SEARCH * 2, ("", "")), Turn((), SEARCH, ("",)))

    assert list(thoughts_of([Trace("q", turns)])) == []


def test_a_thought_that_breaks_off_is_not_mined_but_was_there_for_what_follows():
    cut = Turn(("I must",), is_cut=True)
    after = Turn(("I should search.",), SEARCH, ("",))

    assert [thought.turn[-2:] for thought in thoughts_of([Trace("q", (cut, after))])] == [":1"]


def test_a_long_thought_is_mined_by_its_core_and_keeps_its_id_and_the_whole():
    whole = "The film is old. " * 40 + "The name is not known. I should search for the film."
    long, short = Turn((whole,), SEARCH, ("",)), Turn(("I should search.",), SEARCH, ("",))
    trace = Trace("q", (long, short))
    first, second = thoughts_of([trace])

    assert first.text == "The name is not known. I should search for the film."
    assert first.whole == whole
    assert first.turn == turn_id(trace.id, 0)
    assert second.whole == second.text == "I should search."
