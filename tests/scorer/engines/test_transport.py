"""HTTP that fails: tried again where that helps, bounded, one line at the end, and no secret in it."""

import socket
import time

import numpy as np
import pytest
from engine_server import CUT, DEEP, DROP, ELSEWHERE, HALF, SILENT, EngineServer
from tiny_models import tiny_model

from forethought.data.errors import EngineError
from forethought.scorer.engines.engine import expected_model
from forethought.scorer.engines.sglang import SGLangEngine
from forethought.scorer.engines.transport import Patience, Transport
from forethought.scorer.plain import score_plainly

PATIENCE = Patience(connect=2, read=0.5, pause=0.001, tries=3)
CONTEXT, SEQUENCES = [1, 2, 3], [[4, 5]]  # one candidate: a single request
SECRET = "sk-very-secret"


@pytest.fixture
def server():
    with EngineServer(tiny_model(), "sglang") as running:
        yield running


def connect(server, token=None):
    transport = Transport(server.url, PATIENCE, token)
    return SGLangEngine(transport, expected_model(server.model))


def said(engine):
    with pytest.raises(EngineError) as caught:
        engine.score(CONTEXT, SEQUENCES)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("mishaps", [[503], [429, 500], [DROP], [HALF, DROP]])
def test_what_passes_is_tried_again(server, mishaps):
    engine = connect(server)
    server.mishaps = [*mishaps]

    found = engine.score(CONTEXT, SEQUENCES)

    np.testing.assert_allclose(
        found[0], score_plainly(server.model, CONTEXT, SEQUENCES)[0], atol=1e-5
    )
    assert len(server.posted("/generate")) == len(mishaps) + 1


@pytest.mark.parametrize(
    ("mishap", "words"),
    [(503, "HTTP 503"), (DROP, "the connection broke"), (HALF, "the connection broke")],
)
def test_what_does_not_pass_is_given_up_after_the_last_try(server, mishap, words):
    engine = connect(server)
    server.mishaps = [mishap] * 9

    message = said(engine)

    assert words in message
    assert message.endswith("(3 tries)")
    assert len(server.posted("/generate")) == PATIENCE.tries


@pytest.mark.parametrize(
    ("mishap", "words"),
    [
        (400, 'HTTP 400: {"message": "the queue\\n is full"}'),
        (302, f"points to {ELSEWHERE}: give the engine's own address"),
        (CUT, "no whole JSON"),
        (DEEP, "no whole JSON"),
        (SILENT, "silent for 0.5 seconds"),
    ],
)
def test_what_another_try_would_not_mend_is_not_tried(server, mishap, words):
    engine = connect(server)
    server.mishaps = [mishap] * 9

    assert words in said(engine)
    assert len(server.posted("/generate")) == 1


def test_the_pause_doubles_from_try_to_try(server):
    transport = Transport(server.url, Patience(pause=0.05, tries=3))
    server.mishaps = [503, 503]
    began = time.perf_counter()

    transport.ask("/generate", {"input_ids": [[1]]})

    assert time.perf_counter() - began >= 0.05 + 0.1


def test_a_server_that_does_not_run_is_named():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"

    with pytest.raises(EngineError, match=f"{url}/model_info: no connection .*running"):
        Transport(url, PATIENCE).ask("/model_info")


def test_a_long_error_page_becomes_one_short_line(server):
    server.mishaps = [413]

    with pytest.raises(EngineError) as caught:
        Transport(server.url, PATIENCE).ask("/generate", {})

    assert len(str(caught.value)) < 300


def test_the_token_is_sent_and_never_shown(server):
    server.token = SECRET

    assert SECRET not in connect(server, token=f" {SECRET}\n").label
    server.token = "another"
    with pytest.raises(EngineError, match="FORETHOUGHT_ENGINE_TOKEN") as caught:
        connect(server, token=SECRET)  # the server quotes it in its refusal
    assert SECRET not in str(caught.value)
    assert "***" in str(caught.value)


def test_a_token_that_no_header_may_hold_is_refused_unseen():
    with pytest.raises(EngineError, match="FORETHOUGHT_ENGINE_TOKEN") as caught:
        Transport("http://127.0.0.1:1", token=f"{SECRET}\r\nX: y")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:30000",
        "ftp://host",
        "http://",
        "http://host:x",
        "http://host:99999",
        "http://host?a=1",
        "http://[::1",
        "http://127.0.0.1 :1",
        "http://host/a b",
        "http://host\x00",
        "http://\u00fcber",
        "file:///etc/passwd",
    ],
)
def test_what_is_no_url_is_refused(url):
    with pytest.raises(EngineError, match="no engine's URL"):
        Transport(url)


@pytest.mark.parametrize("host", ["host:1", "[::1", "host:x", " host"])
def test_a_url_with_a_password_is_refused_and_not_repeated(host):
    with pytest.raises(EngineError) as caught:
        Transport(f"http://me:{SECRET}@{host}")
    assert SECRET not in str(caught.value)


def test_a_path_before_the_engine_is_kept(server):
    with pytest.raises(EngineError, match="HTTP 404"):
        Transport(f"{server.url}/behind/", PATIENCE).ask("/model_info")
    assert server.requests[-1][0] == "/behind/model_info"


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/"])
def test_the_end_that_other_clients_want_is_taken_off(server, end):
    transport = Transport(f"{server.url}{end}", PATIENCE)

    assert transport.url == server.url
    SGLangEngine(transport, expected_model(server.model)).score(CONTEXT, SEQUENCES)


def test_a_host_that_no_resolver_takes_is_no_url():
    with pytest.raises(EngineError, match="no engine's URL"):
        Transport(f"http://{'a' * 64}.b", PATIENCE).ask("/model_info")
