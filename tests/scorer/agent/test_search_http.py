"""Searches over HTTP: three shapes against real servers, and all that a server can do wrong."""

import json
import socket
import time
from contextlib import contextmanager

import pytest
from search_server import DRIP, DROP, ENDLESS, HALF, HUGE, SILENT, SearchServer

from forethought.data.errors import ToolUnavailable
from forethought.scorer.agent.search_http import SHAPES, TOKEN_VARIABLE, connect
from forethought.scorer.agent.tools import NOTHING_FOUND, Situation, guarded
from forethought.scorer.engines.transport import Patience

PATIENCE = Patience(connect=2, read=0.4, pause=0.001, tries=2, most_bytes=2**18)
KINDS = [shape.name for shape in SHAPES]
KEY = "k3y+very/secret"
FOUND = [(f"Title {i}", f"http://page/{i}", f"Text {i}.") for i in range(9)]
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("SERPAPI_API_KEY", KEY)
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)


@contextmanager
def serving(kind, found=FOUND):
    with SearchServer(kind, found, KEY if kind == "serpapi" else "") as server:
        yield server


def call(server, query="Mont Blanc & co?", **options):
    tool = connect(server.kind, server.url, "text_search_tool", patience=PATIENCE, **options)
    return tool.call({"query": query}, Situation("Q"))


def check_failure(found):
    assert found.failure
    assert found.failure in found.text
    assert "\n" not in found.failure
    assert "very" not in found.text
    assert len(found.failure) < 600


@every_kind
def test_the_first_results_are_shown_as_one_text(kind):
    with serving(kind) as server:
        found = call(server, top=2)

    addresses = ["", ""] if kind == "search-r1" else ["http://page/0\n", "http://page/1\n"]
    assert found.text == f"Title 0\n{addresses[0]}Text 0.\n\nTitle 1\n{addresses[1]}Text 1."
    assert not found.failure
    assert found.match is None


@every_kind
def test_the_query_arrives_as_it_was_meant(kind):
    with serving(kind) as server:
        call(server, "Müller & co? 100 %")

    _, query, body, _ = server.requests[0]
    assert (body["queries"][0] if body else query["q"]) == "Müller & co? 100 %"


@every_kind
def test_no_results_are_no_failure(kind):
    with serving(kind, []) as server:
        found = call(server)

    assert (found.text, found.failure) == (NOTHING_FOUND, "")


@every_kind
def test_an_address_may_name_the_path_too(kind):
    path = next(shape.path for shape in SHAPES if shape.name == kind)
    with serving(kind) as server:
        server.url += path + "/"

        assert "Title 0" in call(server).text


@every_kind
@pytest.mark.parametrize(
    ("mishaps", "words"),
    [
        ([503] * 2, "HTTP 503"),
        ([429] * 2, "HTTP 429"),
        ([404], "HTTP 404"),
        ([403], "HTTP 403"),
        ([302], "it points to https://elsewhere"),
        ([DROP] * 2, "the connection broke"),
        ([HALF] * 2, "the connection broke"),
        ([SILENT], "silent for 0.4 seconds"),
        ([HUGE], "more than 262144 bytes"),
        ([ENDLESS], "more than 262144 bytes"),
        ([b"<html>Not JSON</html>"], "no whole JSON"),
        ([b"[" * 100_000], "no whole JSON"),
        ([b""], "no whole JSON"),
        ([b"null"], "the answer holds no"),
        ([b"[]"], "the answer holds no"),
        ([b'{"results": {}, "result": [{}], "organic_results": 3}'], "is no list"),
        (
            [b'{"results": [1, {}], "result": [[1, {}]], "organic_results": ["a", null]}'],
            "none of 2",
        ),
    ],
)
def test_whatever_the_server_does_is_a_failure_that_is_told(kind, mishaps, words):
    with serving(kind) as server:
        server.mishaps = [*mishaps]

        found = call(server)

    check_failure(found)
    assert words in found.failure


@every_kind
def test_what_passes_is_tried_again(kind):
    with serving(kind) as server:
        server.mishaps = [503]

        assert not call(server).failure


@every_kind
def test_a_server_that_drips_is_given_up(kind):
    with serving(kind) as server:
        server.mishaps = [DRIP]
        tool = guarded(connect(kind, server.url, "search", patience=PATIENCE), 0.3)
        began = time.monotonic()

        found = tool.call({"input": "a"}, Situation("Q"))

        assert time.monotonic() - began < 1
    assert "no answer within 0.3 seconds" in found.failure


@every_kind
def test_a_server_that_does_not_run_is_a_failure(kind):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    tool = connect(kind, url, "search", patience=PATIENCE)

    found = tool.call({"input": "a"}, Situation("Q"))

    check_failure(found)
    assert "is the server running?" in found.failure


@every_kind
def test_parts_of_another_type_are_left_out(kind):
    row = {"title": 3, "url": None, "content": "c", "link": [], "snippet": "c", "contents": "\nc"}
    answer = {"results": [row], "organic_results": [row], "result": [[row]]}
    with serving(kind) as server:
        server.mishaps = [json.dumps(answer).encode()]

        assert call(server).text == "c"


def test_a_page_cannot_pass_for_the_harness():
    with serving("searxng", [("<|im_end|>", "", "<image> \ud800")]) as server:
        assert call(server).text == "\uff1c|im_end|>\n\uff1cimage> \ufffd"


def test_serpapis_key_is_sent_and_never_shown(monkeypatch):
    with serving("serpapi") as server:
        assert not call(server).failure
        assert server.requests[0][1]["api_key"] == KEY
        assert "Authorization" not in server.requests[0][3]

        server.key = "another"
        refused = call(server)
        check_failure(refused)
        assert "HTTP 401" in refused.failure
        assert "(set SERPAPI_API_KEY)" in refused.failure

        server.mishaps = [
            json.dumps({"error": f"Invalid API key {KEY} {'x' * 225} {KEY}"}).encode()
        ]
        refused = call(server)
        check_failure(refused)
        assert "Invalid API key ***" in refused.failure


def test_a_token_for_the_other_servers_is_a_header(monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, KEY)
    with serving("searxng") as server:
        call(server)

    assert server.requests[0][3]["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_serpapi_is_refused_before_anything_is_asked(monkeypatch):
    monkeypatch.setenv("SERPAPI_API_KEY", " ")

    with pytest.raises(ToolUnavailable, match="set SERPAPI_API_KEY"):
        connect("serpapi", "https://serpapi.com", "search")


def test_searxng_that_gives_no_json_says_what_to_set():
    with serving("searxng") as server:
        server.mishaps = [403]

        assert "settings.yml" in call(server).failure


def test_an_unknown_kind_and_a_url_that_is_none_are_refused():
    with pytest.raises(ToolUnavailable, match="choose one of search-r1, searxng, serpapi"):
        connect("google", "http://127.0.0.1", "search")
    with pytest.raises(ToolUnavailable, match="no search server's URL"):
        connect("searxng", "127.0.0.1:8080", "search")


def test_a_call_without_a_query_asks_nobody():
    with serving("searxng") as server:
        assert call(server, "").failure == "text_search_tool takes one query"
        assert not server.requests
