"""A run on a server is the run in this process: the same tokens, scores and counts, in every mode and to every end."""

import json

import pytest
from engine_clients import ENGINES, connect
from engine_server import EngineServer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from speaking_models import speaking_model
from tiny_models import ByteTokenizer, drawn_picture, tiny_model, tiny_network

from forethought.data.errors import ContextTooLong, EngineError, NothingToDo, PictureMismatch
from forethought.scorer.agent.dialogue import Plain
from forethought.scorer.agent.episode import Agent, Limits, Stop, turn_json
from forethought.scorer.agent.served_session import ServedSession
from forethought.scorer.agent.session import LocalSession
from forethought.scorer.agent.thinking import Freedom, Library, Mode, thinker_of
from forethought.scorer.agent.tools import Observation, Situation
from forethought.scorer.generate import Decoding
from forethought.scorer.model import wrap

TEXTS = ("I do not know this yet.", "I have what I need.", "I should look again.")
SEARCH = '<tool_call>{"name": "search", "arguments": {"query": "capital"}}</tool_call>'
ids = st.lists(st.integers(0, 255), min_size=1, max_size=4)


class Search:
    name = "search"

    def call(self, arguments, situation):
        return Observation("Lisbon is the capital.")


@pytest.fixture(params=ENGINES)
def server(request):
    with EngineServer(tiny_model(), request.param) as running:
        yield running


def agent(model, mode, **options) -> Agent:
    library = Library.of(model, TEXTS, tau=1.0)
    thinker = thinker_of(mode, library, model, Freedom(tokens=6, least_log_z=-60.0))
    beginnings = tuple(tuple(model.encode(text)) for text in ("<tool_call>", "<answer>"))
    return Agent(
        model,
        thinker,
        {"search": Search()},
        Limits(turns=3, action_tokens=14),
        dialogue=Plain("Answer.\n"),
        beginnings=beginnings,
        **options,
    )


def told(episode) -> list:
    turns = [turn_json(turn) for turn in episode.turns]
    for turn in turns:
        del turn["seconds"]
        turn["log_z"] = turn["log_z"] and round(turn["log_z"], 3)
        turn["scores"] = [round(score, 3) for score in turn["scores"]]
        turn["probabilities"] = [round(p, 3) for p in turn["probabilities"]]
        json.dumps(turn)
    return [episode.stop, episode.answer, episode.detail, turns]


@pytest.mark.parametrize("mode", list(Mode))
def test_a_run_on_a_server_is_the_run_in_this_process(server, mode):
    one = agent(tiny_model(), mode)
    far, here = one.start(ServedSession(connect(server), one.model)), one.start()
    for seed in range(3):
        situation = Situation(f"Who is number {seed}?")

        assert told(one.play(far, situation, seed)) == told(one.play(here, situation, seed))
    assert far.ids == here.ids


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("kind", ENGINES)
def test_a_run_of_several_turns_is_the_same(kind, mode):
    model = speaking_model({"\n": SEARCH, "</thinking>": "\n"})
    one = Agent(
        model,
        thinker_of(mode, Library.of(model, TEXTS), model, Freedom(tokens=5)),
        {"search": Search()},
        Limits(turns=3),
    )
    with EngineServer(model, kind) as server:
        far = one.play(one.start(ServedSession(connect(server), model)), Situation("Who?"))
    here = one.play(one.start(), Situation("Who?"))

    assert told(far) == told(here)
    assert len(far.turns) == 3


def test_a_decision_is_the_same(server):
    one = agent(tiny_model(), Mode.SELECT)
    far, here = (one.start(s) for s in (ServedSession(connect(server), one.model), None))
    (thought, place), (own, own_place) = (one.decide(s, "Question: Who?\n", 1) for s in (far, here))

    assert (thought.text, place) == (own.text, own_place)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_calls_leave_the_same_tokens_and_counts(server, data):
    model = tiny_model()
    far, here = ServedSession(connect(server), model), LocalSession(model)
    for _ in range(data.draw(st.integers(1, 6))):
        call = data.draw(st.sampled_from(["append", "text", "settle", "score", "decode", "back"]))
        more = data.draw(ids)
        if call in ("append", "text") or not here.length:
            for session in (far, here):
                (session.append_text if call == "text" else session.append)(more)
        elif call == "score":
            sequences = [[*more, 1], [*more, 2]]
            for session in (far, here):
                session.commit(session.score(sequences).continuation(1))
        elif call == "decode":
            asked = Decoding(data.draw(st.integers(-1, 4)), data.draw(st.sampled_from([None, "e"])))
            assert far.decode(asked) == here.decode(asked)
        elif call == "back":
            length = data.draw(st.integers(0, here.length))
            far.rollback(length), here.rollback(length)
        else:
            far.settle(), here.settle()

        assert (far.ids, far.length, far.computed) == (here.ids, here.length, here.computed)


@pytest.mark.parametrize("tokens", [3, 30])
def test_a_context_that_is_full_says_what_it_says_here(tokens):
    model = wrap(tiny_network(max_position_embeddings=60), ByteTokenizer(), "short", "0")
    one = Agent(
        model,
        thinker_of(Mode.NONE, None, model, Freedom()),
        {},
        Limits(turns=2, action_tokens=tokens),
    )
    situation = Situation("w" * (57 - len("Question: \n")))
    with EngineServer(model, "vllm") as server:
        far = one.play(one.start(ServedSession(connect(server), model)), situation)
    here = one.play(one.start(), situation)

    assert told(far) == told(here)
    assert (far.stop is Stop.CONTEXT_LIMIT) == (tokens == 30)


def test_what_was_scored_before_a_change_is_not_taken(server):
    session = ServedSession(connect(server), tiny_model())
    session.append([1, 2])
    scores = session.score([[3, 4]])
    session.append([5])

    with pytest.raises(ValueError, match="another state"):
        session.commit(scores.continuation(0))


def test_what_an_engine_does_not_take_is_one_line(server):
    session = ServedSession(connect(server), tiny_model())
    with pytest.raises(PictureMismatch, match="pictures are not sent to an engine"):
        session.append([1], [drawn_picture(2, 2)])
    with pytest.raises(NothingToDo, match="empty"):
        session.settle()
    with pytest.raises(ContextTooLong):
        session.append([1] * 40_000)


def test_a_server_that_goes_away_is_one_line_and_leaves_the_session_as_it_was(server):
    one = agent(tiny_model(), Mode.SELECT)
    session = one.start(ServedSession(connect(server), one.model))
    before = session.ids
    server.mishaps = [503] * 50

    with pytest.raises(EngineError, match=server.url) as caught:
        one.play(session, Situation("Who?"))
    assert "\n" not in str(caught.value)
    assert session.ids == before
