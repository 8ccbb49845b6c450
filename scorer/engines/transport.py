"""JSON over HTTP, bounded in time, tries and, where the caller wants, in bytes. Knows no engine.

A connection that fails or drops, 429 and 5xx are tried again, each time after twice the pause: scoring
changes nothing, so asking twice is safe. A server that stays silent is not asked again, which would only add to its load.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPResponse,
    HTTPSConnection,
    IncompleteRead,
)
from typing import Any, NamedTuple
from urllib.parse import quote

from ...data.addresses import Caller
from ...data.errors import EngineError

TOKEN_VARIABLE = "FORETHOUGHT_ENGINE_TOKEN"
CALLER = Caller("engine", TOKEN_VARIABLE, "http://127.0.0.1:30000", EngineError)
QUOTED = 160  # characters of an error's body


@dataclass(frozen=True)
class Patience:
    """Seconds until a connection stands, between two bytes of an answer, and before the second try.

    An answer of more than `most_bytes` is not read to its end; None for any number.
    """

    connect: float = 5.0
    read: float = 300.0
    pause: float = 0.5
    tries: int = 4
    most_bytes: int | None = None


class Reply(NamedTuple):
    """A parsed answer. `milliseconds` runs from the request's first byte to the answer's last, of the try that succeeded."""

    content: Any
    milliseconds: float


class Refused(EngineError):
    """The server answered that it will not."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class _Passing(Exception):
    """What may go better the next time."""


class Transport:
    """One server. The token is sent as its caller says, and never shown; nor is the query of a path."""

    def __init__(
        self,
        url: str,
        patience: Patience | None = None,
        token: str | None = None,
        caller: Caller = CALLER,
    ) -> None:
        parts = caller.address(url)
        # some clients want `/v1` at the end
        self._parts = parts._replace(path=parts.path.rstrip("/").removesuffix("/v1"))
        self.url = self._parts.geturl().rstrip("/")
        self._patience = patience or Patience()
        self._token = caller.secret(token)
        self._caller = caller

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Reply:
        """GET `path`, or POST `body` to it. EngineError in one line if no whole JSON answer comes."""
        payload = None if body is None else json.dumps(body).encode()
        failure = ""
        for attempt in range(self._patience.tries):
            if attempt:
                time.sleep(self._patience.pause * 2 ** (attempt - 1))
            try:
                return self._ask_once(path, payload)
            except _Passing as error:
                failure = str(error)
        raise EngineError(f"{self._at(path)}: {failure} ({self._patience.tries} tries)")

    def find(self, path: str, body: Mapping[str, Any] | None = None) -> Reply | None:
        """`ask`, or None where the server does not know the path."""
        try:
            return self.ask(path, body)
        except Refused as error:
            if error.status in (404, 405):
                return None
            raise

    def _ask_once(self, path: str, payload: bytes | None) -> Reply:
        connection = self._connect()
        try:
            began = time.perf_counter()
            method = "GET" if payload is None else "POST"
            target = self._parts.path.rstrip("/") + self._signed(path)
            connection.request(method, target, payload, self._headers)
            response = connection.getresponse()
            raw = self._body(path, response)
            milliseconds = 1000 * (time.perf_counter() - began)
        except TimeoutError as error:
            raise EngineError(
                f"{self._at(path)}: silent for {self._patience.read:g} seconds; the server is overloaded or hangs"
            ) from error
        except (OSError, HTTPException) as error:
            raise _Passing(self.hidden(f"the connection broke ({_name(error)})")) from error
        finally:
            connection.close()
        if response.status != 200:
            self._refuse(path, response.status, raw, response.getheader("Location"))
        return Reply(self._parse(path, raw), milliseconds)

    def _body(self, path: str, response: HTTPResponse) -> bytes:
        most = self._patience.most_bytes
        if most is None:
            return response.read()
        raw = response.read(most + 1)
        if len(raw) > most:
            raise EngineError(f"{self._at(path)}: more than {most} bytes came back")
        if (
            response.length
        ):  # what was announced and did not come; read() without a number would have told
            raise IncompleteRead(raw, response.length)
        return raw

    def _connect(self) -> HTTPConnection:
        kind = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
        assert self._parts.hostname, "CALLER lets no URL without a host through"
        connection = kind(self._parts.hostname, self._parts.port, timeout=self._patience.connect)
        try:
            connection.connect()
        except UnicodeError as error:  # a host's label that is empty or too long
            raise self._caller.no_url(self.url) from error
        except OSError as error:
            raise _Passing(f"no connection ({_name(error)}); is the server running?") from error
        connection.sock.settimeout(self._patience.read)
        return connection

    @property
    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        bearer = self._token and not self._caller.parameter
        return headers | ({"Authorization": f"Bearer {self._token}"} if bearer else {})

    def _signed(self, path: str) -> str:
        if not (self._token and self._caller.parameter):
            return path
        return f"{path}{'&' if '?' in path else '?'}{self._caller.parameter}={quote(self._token)}"

    def hidden(self, text: str) -> str:
        """`text` with stars for the token, which a server may repeat."""
        for secret in filter(None, (self._token, quote(self._token))):
            text = text.replace(secret, "***")
        return text

    def _refuse(self, path: str, status: int, raw: bytes, location: str | None) -> None:
        said = self.hidden(" ".join(raw.decode("utf-8", "replace").split()))
        message = f"HTTP {status}" + (f": {said[:QUOTED]}" if said else "")
        if status == 429 or status >= 500:
            raise _Passing(message)
        hint = f" (set {self._caller.variable})" if status in (401, 403) else ""
        if location and 300 <= status < 400:
            hint = f"; it points to {self.hidden(location)[:QUOTED]}: give the {self._caller.server}'s own address"
        raise Refused(f"{self._at(path)}: {message}{hint}", status)

    def _parse(self, path: str, raw: bytes) -> Any:
        try:
            return json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise EngineError(
                f"{self._at(path)}: {len(raw)} bytes came back that are no whole JSON; is this the {self._caller.server}'s address?"
            ) from error

    def _at(self, path: str) -> str:
        """A path's address as errors name it: without its query, which may hold a key."""
        return self.url + path.partition("?")[0]


def part(where: str, answer: Any, *path: str | int) -> Any:
    """What stands at `path` in a JSON answer; EngineError if nothing does."""
    found = answer
    for step in path:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            name = ".".join(map(str, path))
            raise EngineError(
                f"{where}: the answer holds no {name}; the engine is another, or too old"
            ) from None
    return found


def listed(where: str, answer: Any, *path: str | int) -> list[Any]:
    """The list that stands at `path` in a JSON answer; EngineError if none does."""
    found = part(where, answer, *path)
    if not isinstance(found, list):
        raise EngineError(
            f"{where}: {'.'.join(map(str, path))} is no list; the engine is another, or too old"
        )
    return found


def _name(error: Exception) -> str:
    said = getattr(error, "strerror", None) or str(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
