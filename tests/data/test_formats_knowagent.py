"""KnowAgent's two layouts: worked examples are never mined, commands are kinds, tasks are told apart by their room."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.formats import FORMATS, read_traces
from forethought.data.formats.knowagent import (
    command_in,
    is_knowagent_alfworld,
    is_knowagent_hotpotqa,
    read_knowagent_alfworld,
    read_knowagent_hotpotqa,
)
from forethought.data.traces import Action, Outcome, Trace

SAMPLES = Path(__file__).parent / "samples"
EXAMPLE = "Question: q1\nActionPath 1: Start\nThought 1: example\nAction 1: Finish[x]\n\n(END)\n"
WORDS = st.text("abc ", min_size=1).map(str.strip).filter(bool)
STEPS = st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4)
LINES = st.lists(
    st.sampled_from(
        (
            "Your task is to: put a cup in sink.",
            "Your task is to:",
            "> Think: a",
            "> Think:",
            "> think",
            ">",
            "> ActionPath",
            "> ActionPath: Start",
            "> go to sink 1",
            "> !",
            "Nothing happens.",
            "Question: q",
            "ActionPath 1: Start",
            "Thought 1: a",
            "Action 1:",
            "Action 2: Search[b",
            "Observation 1: Answer is CORRECT",
            "",
            "\x00\u2028",
        )
    ),
    max_size=12,
).map("\n".join)


def hotpotqa(run, **fields):
    document = {"question": "q2", "prompt": f"Do.\n{EXAMPLE}Question: q2\n{run}", **fields}
    assert is_knowagent_hotpotqa(document)
    return read_knowagent_hotpotqa(document)


def alfworld(commands, room="You see a sink 1.", task="put a cup in sink.", **fields):
    document = {"traj": f"{room}\nYour task is to: {task}\n{commands}", **fields}
    assert is_knowagent_alfworld(document)
    return read_knowagent_alfworld(document)


def traces_in(path, format):
    return [entry for entry in read_traces([path], format=format) if isinstance(entry, Trace)]


@given(STEPS)
def test_only_the_run_is_read_and_never_the_examples_or_the_paths(steps):
    trace = hotpotqa(
        "\n".join(
            f"ActionPath {n}: Start->Search[{a}]\nThought {n}: {t}\nAction {n}: Search[{a}]\nObservation {n}: {o}"
            for n, (t, a, o) in enumerate(steps, start=1)
        )
    )

    assert trace.question == "q2"
    assert [
        (*t.thoughts, t.actions[0].arguments["input"], *t.observations) for t in trace.turns
    ] == steps
    assert {t.actions[0].name for t in trace.turns} == {"search"}


@given(STEPS)
def test_thoughts_commands_and_answers_of_a_game_make_turns(steps):
    trace = alfworld(
        "\n".join(f"> Think: {t}\n> ActionPath: Start\n> open {a}\nYou {o}" for t, a, o in steps)
    )

    assert [(*t.thoughts, t.actions[0].arguments["input"]) for t in trace.turns] == [
        (t, a) for t, a, _ in steps
    ]
    assert [t.observations for t in trace.turns] == [(f"You {o}",) for *_, o in steps]


def test_the_kinds_of_a_search_run_stay_distinct_and_finishing_is_answering():
    names = ("Search", "Retrieve", "Lookup", "Finish")
    trace = hotpotqa("\n".join(f"Thought: t\nAction: {name}[x]" for name in names))

    kinds = [turn.actions[0].kind for turn in trace.turns]
    assert kinds == ["search", "retrieve", "lookup", "answer"]


@pytest.mark.parametrize(
    ("written", "name", "given"),
    [
        ("go to shelf 1", "go to", "shelf 1"),
        ("Go to the end", "go to", "the end"),
        ("take cd 2 from drawer 1", "take", "cd 2 from drawer 1"),
        ("put cup 1 in/on sinkbasin 1", "put", "cup 1 in/on sinkbasin 1"),
        ("turn on desklamp 1", "turn on", "desklamp 1"),
        ("use desklamp 1", "use", "desklamp 1"),
        ("go", "go", ""),
        ("Task failed.", "task", "failed."),
    ],
)
def test_a_command_is_a_verb_and_its_things(written, name, given):
    assert command_in(written) == Action(name, {"input": given})


def test_a_command_without_a_word_is_none():
    assert command_in("") is None
    assert command_in("1 2 3") is None


def test_the_same_task_in_another_room_is_another_question():
    here, there = alfworld("> Think: a"), alfworld("> Think: a", room="You see a bed 1.")

    assert here.question == "put a cup in sink.\nYou see a sink 1."
    assert here.question != there.question


def test_a_plan_before_the_first_thought_is_a_turn_of_its_own():
    plan, step = alfworld(
        "> Think: a\n> ActionPath: Start\n> Think: b\n> open cup 1\nIt opens."
    ).turns

    assert (plan.thoughts, plan.actions) == (("a",), ())
    assert (step.thoughts, step.observations) == (("b",), ("It opens.",))


def test_empty_commands_and_bare_paths_are_no_actions_and_what_answers_them_is_dropped():
    (turn,) = alfworld("> Think: a\n> \nNothing happens.\n> ActionPath\nNothing happens.").turns

    assert (turn.thoughts, turn.actions, turn.observations) == (("a",), (), ())


def test_the_verdict_is_no_observation_and_the_outcome_comes_from_its_field():
    run = "Thought 1: t\nAction 1: Finish[x]\nObservation 1: Answer is CORRECT"

    assert hotpotqa(run).turns[0].observations == ("",)
    assert hotpotqa(run).outcome is None
    assert hotpotqa(run, correct=False).outcome is Outcome.FAILURE
    assert hotpotqa(run, correct=True).outcome is Outcome.SUCCESS
    assert alfworld("> Think: a", result=True).outcome is Outcome.SUCCESS
    assert alfworld("> Think: a", result="yes").outcome is None


@given(LINES, LINES)
def test_no_text_makes_a_reader_raise(text, prompt):
    for document in ({"traj": text}, {"question": "q", "prompt": prompt, "correct": text}):
        for row in FORMATS:
            if row.detects(document):
                for trace in row.traces(document):
                    assert all(len(turn.observations) == len(turn.actions) for turn in trace.turns)
                    assert all(turn.thoughts or turn.actions for turn in trace.turns)
                    assert "example" not in str(trace.turns)


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_knowagents_rows_take_knowagents_files_alone_and_no_other_row_takes_those(path):
    taking = {row.name for row in FORMATS if list(traces_in(path, row.name))}
    name = path.name.removeprefix("real-").split(".")[0]

    if name.startswith("knowagent"):
        assert taking == {name}
    else:
        assert not any(row.startswith("knowagent") for row in taking)


def test_real_search_runs():
    born, *_ = read_traces([SAMPLES / "real-knowagent-hotpotqa.jsonl"])

    assert born.question.startswith("In which year was this  Austrian novelist")
    assert [t.actions[0].kind for t in born.turns] == ["retrieve", "lookup", "answer"]
    assert born.turns[1].observations == ("No Results",)
    assert (
        born.turns[0]
        .thoughts[0]
        .endswith('To find this information, a "Retrieve" action seems appropriate.')
    )
    assert born.outcome is Outcome.FAILURE


def test_real_games():
    pillow, soap = read_traces([SAMPLES / "real-knowagent-alfworld.jsonl"])

    assert pillow.question.startswith("put a pillow in armchair.\nYou are in the middle of a room.")
    assert [turn.thoughts[0].split(".")[0] for turn in pillow.turns][:2] == [
        "To solve the task, I need to first find and then take a pillow",
        "First I need to find a pillow",
    ]
    kinds = [action.kind for turn in soap.turns for action in turn.actions]
    assert kinds == ["go to", "take", "go to", "clean", "go to", "put"]
    assert pillow.outcome is Outcome.SUCCESS
