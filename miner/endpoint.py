"""A chat model behind HTTP: any server that speaks OpenAI's chat completions.

Bounded in time, size and tries. Connections that fail or drop, silence, 429 and 5xx are tried again after a growing pause, or the
one that Retry-After names. The key is sent and never shown. Tools are never offered, and a call of one is no answer.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any

from ..data.addresses import Caller
from .writer import CUT_OFF, Answer, NoAnswer, Request, WriterRefused, WriterUnavailable

KEY_VARIABLE = "FORETHOUGHT_WRITER_KEY"
CALLER = Caller("writer", KEY_VARIABLE, "http://127.0.0.1:8000/v1", WriterRefused)
PATH = "/chat/completions"
MOST_BYTES = 1 << 20  # of an answer: a sentence and its envelope have a few thousand
QUOTED = 160  # characters of an error's body
ASKING_IS_VAIN = (301, 302, 303, 307, 308, 401, 403, 404, 405)


@dataclass(frozen=True)
class Patience:
    """Seconds: until a connection stands, for one whole answer, before the second try, and at most between two tries."""

    connect: float = 10.0
    answer: float = 120.0
    pause: float = 1.0
    longest_pause: float = 60.0
    tries: int = 4


class _Passing(Exception):
    """What may go better the next time, after `wait` seconds if the server said so."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class Endpoint:
    """The model `name` at `url` (http://host:port/v1)."""

    def __init__(
        self,
        url: str,
        name: str,
        key: str | None = None,
        patience: Patience | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._parts = CALLER.address(url)
        self.url = self._parts.geturl().rstrip("/")
        self.name = name
        self._key = CALLER.secret(key)
        self._patience = patience or Patience()
        self._sleep = sleep

    def answer(self, request: Request) -> Answer:
        """One completion. NoAnswer where none came back; WriterUnavailable after all tries; WriterRefused at once."""
        body = {
            "model": self.name,
            "messages": [message._asdict() for message in request.messages],
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "seed": request.seed,
        }
        payload = json.dumps(body).encode()
        failure = ""
        for attempt in range(self._patience.tries):
            try:
                return self._ask(payload)
            except _Passing as error:
                failure = str(error)
                if attempt + 1 < self._patience.tries:
                    self._wait(attempt, error)
        raise WriterUnavailable(
            f"{self.url}: {failure} ({self._patience.tries} tries); what it wrote is kept, run again later"
        )

    def _wait(self, attempt: int, error: _Passing) -> None:
        pause = self._patience.pause * 2**attempt if error.wait is None else error.wait
        if pause > self._patience.longest_pause:
            raise WriterUnavailable(
                f"{self.url}: {error}, and asks to wait {pause:.0f} seconds; what it wrote is kept, run again then"
            ) from error
        self._sleep(pause)

    def _ask(self, payload: bytes) -> Answer:
        deadline = time.monotonic() + self._patience.answer
        connection = self._connect()
        try:
            connection.request("POST", self._parts.path.rstrip("/") + PATH, payload, self._headers)
            response = connection.getresponse()
            raw = _read(response, deadline)
        except TimeoutError as error:
            raise _Passing(f"no answer within {self._patience.answer:g} seconds") from error
        except (OSError, HTTPException) as error:
            raise _Passing(f"the connection broke ({type(error).__name__})") from error
        finally:
            connection.close()
        if response.status != 200:
            self._refuse(response, raw)
        return _completion(raw)

    def _connect(self) -> HTTPConnection:
        kind = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
        assert self._parts.hostname, "CALLER lets no URL without a host through"
        connection = kind(self._parts.hostname, self._parts.port, timeout=self._patience.connect)
        try:
            connection.connect()
        except OSError as error:
            said = error.strerror or type(error).__name__
            raise _Passing(f"no connection ({said}); is the server running?") from error
        connection.sock.settimeout(self._patience.answer)
        return connection

    @property
    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        return headers | ({"Authorization": f"Bearer {self._key}"} if self._key else {})

    def _refuse(self, response: HTTPResponse, raw: bytes) -> None:
        said = " ".join(raw[: 4 * QUOTED].decode("utf-8", "replace").split())
        if self._key:
            said = said.replace(self._key, "***")
        status = response.status
        message = f"HTTP {status}" + (f": {said[:QUOTED]}" if said else "")
        if status in (408, 429) or status >= 500:
            raise _Passing(message, _retry_after(response.headers["Retry-After"]))
        if status in ASKING_IS_VAIN:
            hint = (
                f"set {KEY_VARIABLE}" if status in (401, 403) else "check --writer, --writer-model"
            )
            raise WriterRefused(f"{self.url}{PATH}: {message} ({hint})")
        raise NoAnswer(f"was refused with {message}")


def _read(response: HTTPResponse, deadline: float) -> bytes:
    """The whole body; TimeoutError for one that drips beyond `deadline`, NoAnswer for one that does not end."""
    chunks: list[bytes] = []
    size = 0
    while chunk := response.read1(1 << 16):
        chunks.append(chunk)
        size += len(chunk)
        if size > MOST_BYTES:
            raise NoAnswer(f"has more than {MOST_BYTES} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError
    if response.length:  # read1 says nothing of an end that came too early
        raise HTTPException("the body is cut")
    return b"".join(chunks)


def _completion(raw: bytes) -> Answer:
    try:
        content = json.loads(raw)
        choice = content["choices"][0]
        message = choice["message"]
        text = message["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
        kind = "HTML" if raw.lstrip()[:1] == b"<" else "no chat completion"
        raise NoAnswer(f"is {kind}, {len(raw)} bytes") from error
    return Answer(text if isinstance(text, str) else "", _revision(content), _flaw(choice, text))


def _flaw(choice: dict[str, Any], text: Any) -> str | None:
    if choice["message"].get("tool_calls"):
        return "is a call of a tool that nobody offered"
    if text is not None and not isinstance(text, str):
        return "is no text"
    return CUT_OFF if choice.get("finish_reason") == "length" else None


def _revision(content: dict[str, Any]) -> str:
    """What the server says that it runs: the model's full name and, where there is one, its fingerprint."""
    told = (content.get("model"), content.get("system_fingerprint"))
    return " ".join(part for part in told if isinstance(part, str))


def _retry_after(value: str | None) -> float | None:
    """Seconds of a Retry-After header, given in seconds or as a date; None where it says nothing."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
