"""The endpoint against a real server that misbehaves in every way a server does."""

import time

import pytest
from writer_server import DRIP, DROP, ENDLESS, HALF, SILENT, WriterServer

from forethought.miner.endpoint import KEY_VARIABLE, Endpoint, Patience
from forethought.miner.writer import (
    Message,
    NoAnswer,
    Request,
    WriterRefused,
    WriterUnavailable,
)

SENTENCE = "I do not know this yet, so I should look it up."
REQUEST = Request((Message("system", "Write."), Message("user", "Now \ud83d 💩.")), 0.8, 3, 100)
HASTE = Patience(connect=2, answer=0.3, pause=0.5, longest_pause=5, tries=3)


@pytest.fixture
def server():
    with WriterServer(lambda body: SENTENCE) as server:
        yield server


@pytest.fixture
def waits():
    return []


@pytest.fixture
def endpoint(server, waits):
    return Endpoint(server.url, "scripted", patience=HASTE, sleep=waits.append)


def test_a_request_says_what_is_wanted_and_offers_no_tools(server, endpoint):
    answer = endpoint.answer(REQUEST)

    body, headers = server.requests[0]
    assert answer.text == SENTENCE
    assert answer.revision == "scripted-2026-01 fp_1"
    assert body == {
        "model": "scripted",
        "messages": [
            {"role": "system", "content": "Write."},
            {"role": "user", "content": "Now \ud83d 💩."},
        ],
        "temperature": 0.8,
        "max_tokens": 100,
        "seed": 3,
    }
    assert "Authorization" not in headers


@pytest.mark.parametrize("mishap", [DROP, HALF, SILENT, DRIP, 429, 500, 503])
def test_a_passing_mishap_is_tried_again(server, endpoint, waits, mishap):
    server.mishaps = [mishap]

    assert endpoint.answer(REQUEST).text == SENTENCE
    assert len(server.requests) == 2
    assert waits == [0.5]


@pytest.mark.parametrize("mishap", [DROP, HALF, SILENT, 429, 500])
def test_tries_are_bounded_and_pauses_grow(server, endpoint, waits, mishap):
    server.mishaps = [mishap] * 9

    with pytest.raises(WriterUnavailable, match="3 tries.*run again later"):
        endpoint.answer(REQUEST)
    assert len(server.requests) == 3
    assert waits == [0.5, 1.0]


def test_a_server_that_drips_is_not_waited_for_beyond_the_answers_time(server, waits):
    endpoint = Endpoint(server.url, "m", patience=Patience(answer=0.2, tries=1), sleep=waits.append)
    server.mishaps = [DRIP]
    began = time.monotonic()

    with pytest.raises(WriterUnavailable, match=r"0\.2 seconds"):
        endpoint.answer(REQUEST)
    assert time.monotonic() - began < 2


def test_retry_after_is_heeded(server, endpoint, waits):
    server.mishaps, server.retry_after = [429], "3"

    assert endpoint.answer(REQUEST).text == SENTENCE
    assert waits == [3.0]


@pytest.mark.parametrize("retry_after", ["3600", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_long_retry_after_ends_the_tries(server, endpoint, waits, retry_after):
    server.mishaps, server.retry_after = [429], retry_after

    with pytest.raises(WriterUnavailable, match="asks to wait"):
        endpoint.answer(REQUEST)
    assert waits == []


@pytest.mark.parametrize("retry_after", ["soon", "-4", "Mon, 01 Jan 2001 00:00:00 GMT"])
def test_a_senseless_retry_after_does_no_harm(server, endpoint, waits, retry_after):
    server.mishaps, server.retry_after = [503], retry_after

    assert endpoint.answer(REQUEST).text == SENTENCE
    assert 0 <= waits[0] <= 0.5


@pytest.mark.parametrize(
    ("mishap", "reason"),
    [
        (b"", "no chat completion, 0 bytes"),
        (b"<html><body>Sign in</body></html>", "is HTML"),
        (b"[1, 2]", "no chat completion"),
        (b'{"choices": []}', "no chat completion"),
        (b'{"choices": [{"message": null}]}', "no chat completion"),
        (b"[" * 100_000, "no chat completion"),
        (b"\xff\xfe", "no chat completion"),
        (ENDLESS, "bytes"),
        (400, "HTTP 400: .*the queue"),
        (413, "HTTP 413"),
    ],
)
def test_an_answer_that_is_none_says_why_and_is_not_asked_for_again(
    server, endpoint, mishap, reason
):
    server.mishaps = [mishap]

    with pytest.raises(NoAnswer, match=reason):
        endpoint.answer(REQUEST)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("fields", "finish_reason", "flaw"),
    [
        ({"content": None, "tool_calls": [{"function": {"name": "rm"}}]}, "stop", "nobody offered"),
        ({"content": [{"type": "text", "text": "I"}]}, "stop", "is no text"),
        ({"content": "I should"}, "length", "cut off"),
    ],
)
def test_a_flawed_answer_says_its_flaw(server, endpoint, fields, finish_reason, flaw):
    server.mishaps, server.finish_reason = [fields], finish_reason

    assert flaw in endpoint.answer(REQUEST).flaw


def test_an_empty_message_is_an_empty_answer(server, endpoint):
    server.mishaps = [{"content": None}]

    assert endpoint.answer(REQUEST).text == ""


def test_a_key_is_sent_and_never_shown(waits):
    with WriterServer(lambda body: SENTENCE, key="s3cret") as server:
        assert Endpoint(server.url, "m", key=" s3cret\n").answer(REQUEST).text == SENTENCE
        with pytest.raises(WriterRefused, match=KEY_VARIABLE) as refused:
            Endpoint(server.url, "m", key="wr0ng").answer(REQUEST)

    assert "wr0ng" not in str(refused.value)
    assert len(server.requests) == 2


def test_a_wrong_path_is_told_at_once(server):
    with pytest.raises(WriterRefused, match="404.*--writer"):
        Endpoint(server.url.removesuffix("/v1"), "m").answer(REQUEST)
    assert len(server.requests) == 1


def test_nobody_listening_is_told(server, waits):
    server.__exit__()

    with pytest.raises(WriterUnavailable, match="is the server running"):
        Endpoint(server.url, "m", patience=HASTE, sleep=waits.append).answer(REQUEST)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:80",
        "ftp://a/v1",
        "http://",
        "http://a:0/v1",
        "http://a:x/v1",
        "http://a/v1?k=1",
        "http://[::1/v1",
        "http://a b/v1",
    ],
)
def test_what_is_no_url_is_refused_before_it_is_asked(url):
    with pytest.raises(WriterRefused, match="no writer's URL"):
        Endpoint(url, "m")


def test_a_password_in_the_url_is_refused_and_not_repeated():
    with pytest.raises(WriterRefused) as refused:
        Endpoint("http://ann:s3cret@127.0.0.1/v1", "m")
    assert "s3cret" not in str(refused.value)


def test_a_key_that_no_header_may_hold_is_refused():
    with pytest.raises(WriterRefused, match=KEY_VARIABLE):
        Endpoint("http://127.0.0.1/v1", "m", key="a\nHost: evil")
