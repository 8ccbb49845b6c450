"""A question played to its end: each stop, what an observation adds, and that nothing is computed twice."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speaking_models import speaking_model
from tiny_models import tiny_model

from forethought.scorer.agent.action_text import Fault
from forethought.scorer.agent.dialogue import Plain
from forethought.scorer.agent.episode import Agent, Limits, Stop, turn_json
from forethought.scorer.agent.thinking import Freedom, Library, Mode, Silent, thinker_of
from forethought.scorer.agent.tools import Observation, Situation, guarded

ANSWER = "<answer>Lisbon</answer>"
SEARCH = '<tool_call>{"name": "search", "arguments": {"query": "capital"}}</tool_call>'
TEXTS = ("I do not know this yet.", "I have what I need.", "I should look again.")


class Recorder:
    """Finds the same each time, and knows what it was asked."""

    name = "search"

    def __init__(self, text: str = "Lisbon is the capital.") -> None:
        self.text = text
        self.asked: list[tuple] = []

    def call(self, arguments, situation):
        self.asked.append((dict(arguments), situation.question))
        return Observation(self.text)


class Broken(Recorder):
    def call(self, arguments, situation):
        raise RuntimeError("no net")


def agent(says: str, tool=None, **options) -> Agent:
    tools = {"search": tool or Recorder()}
    return Agent(speaking_model({"\n": says}), Silent(), tools, **options)


def play(one: Agent, question: str = "What is the capital?"):
    return one.play(one.start(), Situation(question))


def test_an_answer_ends_the_run():
    found = play(agent(ANSWER))

    assert (found.stop, found.answer, len(found.turns)) == (Stop.ANSWER, "Lisbon", 1)
    assert found.turns[0].action_text == ANSWER
    assert found.turns[0].observation is None


def test_a_tool_that_means_the_answer_is_one():
    finish = '<tool_call>{"name": "finish", "arguments": {"input": "Lisbon"}}</tool_call>'

    assert play(agent(finish)).answer == "Lisbon"


def test_an_agent_that_never_answers_ends_at_its_turns():
    tool = Recorder()
    found = play(agent(SEARCH, tool, limits=Limits(turns=3)))

    assert (found.stop, found.answer, len(found.turns)) == (Stop.TURN_LIMIT, None, 3)
    assert tool.asked == [({"query": "capital"}, "What is the capital?")] * 3
    assert {turn.observation.text for turn in found.turns} == {tool.text}


def test_a_tool_that_breaks_is_an_observation_and_no_end():
    found = play(agent(SEARCH, guarded(Broken(), 5), limits=Limits(turns=2)))

    assert found.stop is Stop.TURN_LIMIT
    assert all("no net" in turn.observation.failure for turn in found.turns)


@pytest.mark.parametrize(
    ("says", "options", "stop", "fault"),
    [
        ("no action at all", {}, Stop.INVALID_OUTPUT, Fault.NO_ACTION),
        (SEARCH.replace("search", "fly"), {}, Stop.TOOL_ERROR, None),
        (SEARCH, {"disabled": frozenset({"search"})}, Stop.TOOL_DISABLED, None),
        (SEARCH.replace("search", "text_search_tool"), {}, Stop.TURN_LIMIT, None),
    ],
)
def test_each_stop_has_its_name(says, options, stop, fault):
    found = play(agent(says, **options))

    assert found.stop is stop
    assert found.turns[-1].fault is fault


def test_an_observation_that_fills_the_context_is_a_stop():
    limits = Limits(context_tokens=300, observation_tokens=1000, turns=9)
    found = play(agent(SEARCH, Recorder("long " * 100), limits=limits))

    assert found.stop is Stop.CONTEXT_LIMIT
    assert "300" in found.detail
    assert len(found.turns) == 1


def test_an_observation_is_cut_at_its_tokens():
    limits = Limits(observation_tokens=10, turns=2)
    found = play(agent(SEARCH, Recorder("x" * 500), limits=limits))

    assert found.turns[1].context_tokens - found.turns[0].context_tokens < 40


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("family", ["llama", "qwen3"])
def test_each_turn_computes_only_what_is_new(mode, family):
    """The sum of what prefills, thoughts and actions computed is what stands there, in every mode."""
    model = tiny_model(family)
    library = Library.of(model, TEXTS)
    thinker = thinker_of(mode, library, model, Freedom(tokens=8))
    one = Agent(model, thinker, {}, Limits(action_tokens=6), dialogue=Plain("Answer.\n"))
    context = one.start()
    known = context.length
    found = one.play(context, Situation("Who?"), seed=3)

    assert found.turns[0].prefilled == found.turns[0].context_tokens - known
    assert context.ids == one.start().ids, "the context holds the preamble again"
    context.check()


@settings(max_examples=15)
@given(st.sampled_from(list(Mode)), st.integers(0, 5))
def test_the_same_seed_is_the_same_run_on_a_fresh_context_and_a_used_one(mode, seed):
    model = tiny_model()
    library = Library.of(model, TEXTS, tau=1.0)
    thinker = thinker_of(mode, library, model, Freedom(tokens=6, temperature=1.0))
    one = Agent(model, thinker, {}, Limits(action_tokens=5), dialogue=Plain("Answer.\n"))
    used = one.start()
    one.play(used, Situation("Something else?"), seed)

    assert told(one.play(used, Situation("Who?"), seed)) == told(
        one.play(one.start(), Situation("Who?"), seed)
    )


def told(episode) -> list:
    turns = [turn_json(turn) for turn in episode.turns]
    for turn in turns:
        del turn["seconds"], turn["log_z"]
        turn["scores"] = [round(score, 4) for score in turn["scores"]]
        turn["probabilities"] = [round(p, 4) for p in turn["probabilities"]]
        json.dumps(turn)
    return [episode.stop, turns]


def test_a_selected_thought_stands_in_the_context_as_a_generated_one_would():
    model = tiny_model()
    library = Library.of(model, TEXTS)
    seen = []

    class Seeing:
        def think(self, context, seed):
            thought = thinker_of(Mode.SELECT, library, model, Freedom()).think(context, seed)
            seen.append(model.decode(context.ids))
            return thought

    found = play(Agent(model, Seeing(), {}))
    text = found.turns[0].thought.text
    assert text in TEXTS
    assert seen[0] == f"Question: What is the capital?\n<thinking>{text}</thinking>"
    assert found.turns[0].thought.generated == 0
    assert found.turns[0].thought.injected == len(library.compiled.ids[TEXTS.index(text)])


def test_a_beginning_that_is_given_takes_no_token_of_the_action():
    """What is decoded is bounded, not what is put in."""
    beginning = '<tool_call>{"name": "search", "arguments": {"query": "'
    model = tiny_model()
    one = Agent(
        model, Silent(), {}, Limits(action_tokens=5), beginnings=(tuple(model.encode(beginning)),)
    )
    turn = play(one).turns[0]

    assert turn.action_tokens == len(model.encode(beginning)) + 5
    assert turn.action_text.startswith(beginning)
