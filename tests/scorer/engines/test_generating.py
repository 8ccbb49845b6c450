"""An engine that goes on from a context says what this process would, and an answer that cannot be that is an error."""

import pytest
from engine_clients import ENGINES, JUNK, connect, places, spoiled
from engine_server import EngineServer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_folders import save_folder
from tiny_models import END, tiny_model

from forethought.data.errors import EngineError
from forethought.scorer.context import Context
from forethought.scorer.engines.local import LocalEngine
from forethought.scorer.engines.served import load_served
from forethought.scorer.generate import Decoding, decode
from forethought.scorer.model import load_model

CONTEXT = [*b"Question: who?\n"]
STOPS = [None, "</thinking>", ("a", "\x00"), tuple(map(chr, range(128))), ("e", "zz")]
decodings = st.builds(
    Decoding,
    tokens=st.integers(1, 12),
    stop=st.sampled_from(STOPS),
    temperature=st.sampled_from([0.0, 1.0]),
    seed=st.integers(0, 3),
)


@pytest.fixture(params=ENGINES)
def server(request):
    with EngineServer(tiny_model(), request.param) as running:
        yield running


def decoded_here(context, decoding):
    return decode(Context(tiny_model(), context), decoding)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.integers(0, END), min_size=1, max_size=6), decodings)
def test_an_honest_server_goes_on_as_this_process_does(server, context, decoding):
    assert connect(server).generate(context, decoding) == decoded_here(context, decoding)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, END), min_size=1, max_size=6), decodings)
def test_the_local_engine_goes_on_as_a_context_does(context, decoding):
    engine = LocalEngine(tiny_model())
    for _ in range(2):
        assert engine.generate(context, decoding) == decoded_here(context, decoding)


def test_what_a_server_would_change_by_itself_is_overruled(server):
    connect(server).generate(CONTEXT, Decoding(3, "x"))
    body = server.requests[-1][1]
    sampling = body["sampling_params"] if server.kind == "sglang" else body

    assert (sampling["top_p"], sampling["top_k"], sampling["min_p"]) == (1.0, -1, 0.0)
    assert sampling["repetition_penalty"] == 1.0
    assert sampling["stop_token_ids"] == [END]
    assert sampling["skip_special_tokens"] is False


def test_what_comes_after_the_end_is_left_out(server):
    """Engines that draft several tokens at once may send what nobody asked for."""
    engine, truth = connect(server), server.answer
    asked = Decoding(8, tuple(map(chr, range(256))))
    expected = decoded_here(CONTEXT, asked)

    server.answer = lambda path, body: lengthened(truth(path, body), [1, 2])

    assert engine.generate(CONTEXT, asked) == expected
    assert len(expected.ids) < 6


def lengthened(answer, more):
    choice = answer["choices"][0] if isinstance(answer, dict) else answer[0]
    choice["output_ids" if "output_ids" in choice else "token_ids"] += more
    return answer


def shortened(answer):
    choice = answer["choices"][0] if isinstance(answer, dict) else answer[0]
    del choice["output_ids" if "output_ids" in choice else "token_ids"][-1]
    return answer


@pytest.mark.parametrize("stop", [None, "</thinking>"])
def test_what_breaks_off_is_no_thought(server, stop):
    engine, truth = connect(server), server.answer
    server.answer = lambda path, body: shortened(truth(path, body))

    with pytest.raises(EngineError, match="7 tokens came back where 8 were asked for"):
        engine.generate(CONTEXT, Decoding(8, stop))


@pytest.mark.parametrize("junk", [-1, 257, True, 1.0, "1", None])
def test_what_is_no_id_is_named(server, junk):
    engine, truth = connect(server), server.answer
    server.answer = lambda path, body: lengthened(shortened(truth(path, body)), [junk])

    with pytest.raises(EngineError, match="came back as token 8, which is no id") as caught:
        engine.generate(CONTEXT, Decoding(8, None))
    assert "\n" not in str(caught.value)


@given(data=st.data())
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_an_answer_with_junk_anywhere_is_one_line_or_what_was_said(server, data):
    if not hasattr(server, "truth"):
        server.truth, server.engine = server.answer, connect(server)
    junk = data.draw(st.sampled_from(JUNK))

    def answer(path, body):
        found = server.truth(path, body)
        return spoiled(found, data.draw(st.sampled_from([(), *places(found)])), junk)

    server.answer = answer
    asked = Decoding(6, data.draw(st.sampled_from(STOPS)))
    try:
        found = server.engine.generate(CONTEXT, asked)
    except EngineError as error:
        assert "\n" not in str(error)
    else:
        if not isinstance(junk, int):  # another id is as good as any
            assert found == decoded_here(CONTEXT, asked)


def test_a_served_model_ends_with_the_tokens_that_the_loaded_one_does(tmp_path):
    save_folder(tmp_path)

    assert load_served(str(tmp_path)).ends == load_model(str(tmp_path)).ends != frozenset()
