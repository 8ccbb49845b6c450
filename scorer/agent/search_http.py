"""A search that a server answers over HTTP, in one of three shapes: a row of the table each.

Whatever goes wrong with the server, while the agent runs, is an observation's failure; what can be known before is refused
with ToolUnavailable. Knows no other use of HTTP, and no key but that of the shape's own variable, which it never shows.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from ...data.addresses import Caller
from ...data.errors import EngineError, ToolUnavailable
from ..engines.transport import Patience, Refused, Transport, listed
from .tools import Observation, SearchResult, Situation, failed, listing, query_of

TOP = 5  # results asked for, and shown
PATIENCE = Patience(read=30.0, tries=2, most_bytes=4 * 2**20)
TOKEN_VARIABLE = "FORETHOUGHT_SEARCH_TOKEN"
QUOTED = 300  # characters of a failure, in which the server may have its say
FORBIDDEN = 403


class Ask(NamedTuple):
    """A request: below the server's URL, with a body where it is posted."""

    path: str
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class SearchShape:
    """How one kind of server is asked for `top` results, and how it answers.

    `results` takes a JSON answer and the address for errors; EngineError for an answer of another shape. `forbidden` says
    what a refusal most likely means.
    """

    name: str
    path: str
    caller: Caller
    asks: Callable[[str, int], Ask]
    results: Callable[[Any, str], list[SearchResult]]
    forbidden: str = ""


class HttpSearch:
    """A search called `name` at one server."""

    def __init__(self, shape: SearchShape, transport: Transport, name: str, top: int = TOP) -> None:
        self.name = name
        self._shape, self._transport, self._top = shape, transport, top

    def call(self, arguments: Mapping[str, Any], situation: Situation) -> Observation:
        query = query_of(arguments)
        if query is None:
            return failed(f"{self.name} takes one query")
        try:
            answer = self._transport.ask(*self._shape.asks(query, self._top)).content
            results = self._shape.results(answer, self._transport.url)
        except Refused as error:
            advice = self._shape.forbidden if error.status == FORBIDDEN else ""
            return failed(f"{error}{advice}")
        except EngineError as error:
            return failed(self._transport.hidden(str(error))[:QUOTED])
        if results and not any(map(any, results)):
            return failed(f"{self._transport.url}: none of {len(results)} results says anything")
        return Observation(listing(results[: self._top]))


def connect(
    kind: str, url: str, name: str, top: int = TOP, patience: Patience = PATIENCE
) -> HttpSearch:
    """The search at `url`, a server of `kind`; its key comes from the variable that the kind names.

    ToolUnavailable for a kind there is not, a URL that is none, and a key that lacks.
    """
    shape = next((shape for shape in SHAPES if shape.name == kind), None)
    if shape is None:
        known = ", ".join(shape.name for shape in SHAPES)
        raise ToolUnavailable(f"{kind!r} is no kind of search server; choose one of {known}")
    key = os.environ.get(shape.caller.variable)
    if shape.caller.parameter and not (key or "").strip():
        raise ToolUnavailable(f"a search by {kind} needs a key; set {shape.caller.variable}")
    url = url.rstrip("/").removesuffix(shape.path)  # many write the whole address
    return HttpSearch(shape, Transport(url, patience, key, shape.caller), name, top)


def _ask_search_r1(query: str, top: int) -> Ask:
    # without return_scores the server of that project fails
    return Ask("/retrieve", {"queries": [query], "topk": top, "return_scores": True})


def _search_r1_results(answer: Any, where: str) -> list[SearchResult]:
    rows = listed(where, answer, "result", 0)
    return [_search_r1_result(_object(row).get("document", row)) for row in rows]


def _search_r1_result(document: Any) -> SearchResult:
    """A passage: its title is the first line of `contents`, in quotation marks."""
    title, _, text = _text(document, "contents").partition("\n")
    return SearchResult(title.strip().strip('"'), "", text.strip())


def _ask_searxng(query: str, top: int) -> Ask:
    return Ask("/search?" + urlencode({"q": query, "format": "json"}))


def _searxng_results(answer: Any, where: str) -> list[SearchResult]:
    rows = listed(where, answer, "results")
    return [SearchResult(*(_text(row, key) for key in ("title", "url", "content"))) for row in rows]


def _ask_serpapi(query: str, top: int) -> Ask:
    return Ask("/search.json?" + urlencode({"engine": "google", "q": query, "num": top}))


def _serpapi_results(answer: Any, where: str) -> list[SearchResult]:
    """A search without results is a success with an `error`, which says so."""
    said = _text(answer, "error")
    if said:
        if _text(_object(answer).get("search_metadata"), "status") == "Success":
            return []
        raise EngineError(f"{where}: {said}")
    rows = listed(where, answer, "organic_results")
    return [
        SearchResult(*(_text(row, key) for key in ("title", "link", "snippet"))) for row in rows
    ]


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any, key: str) -> str:
    found = _object(value).get(key)
    return found.strip() if isinstance(found, str) else ""


SHAPES = (
    SearchShape(
        "search-r1",
        "/retrieve",
        Caller("search server", TOKEN_VARIABLE, "http://127.0.0.1:8000", ToolUnavailable),
        _ask_search_r1,
        _search_r1_results,
    ),
    SearchShape(
        "searxng",
        "/search",
        Caller("search server", TOKEN_VARIABLE, "http://127.0.0.1:8080", ToolUnavailable),
        _ask_searxng,
        _searxng_results,
        forbidden="; SearXNG answers in JSON only if search.formats in its settings.yml lists json",
    ),
    SearchShape(
        "serpapi",
        "/search.json",
        Caller(
            "search server", "SERPAPI_API_KEY", "https://serpapi.com", ToolUnavailable, "api_key"
        ),
        _ask_serpapi,
        _serpapi_results,
    ),
)
