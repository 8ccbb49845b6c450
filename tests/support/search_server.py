"""A real HTTP server that searches in the shape of Search-R1, SearXNG or SerpAPI; on request it misbehaves.

`found` are (title, url, text). `mishaps` are used up first, one a request: a status, DROP, HALF, SILENT, DRIP, HUGE,
ENDLESS, or raw bytes to send as the body. SerpAPI's shape wants `key`.
"""

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

DROP, HALF, SILENT, DRIP, HUGE, ENDLESS = "drop", "half", "silent", "drip", "huge", "endless"
SILENCE = 1.5  # seconds, longer than a test's patience


class SearchServer:
    """`with SearchServer("searxng") as server:`; `server.url`, and `server.requests` as (path, query, body, headers)."""

    def __init__(self, kind: str, found: list[tuple[str, str, str]] = (), key: str = "") -> None:
        self.kind, self.found, self.key = kind, list(found), key
        self.mishaps: list[str | int | bytes] = []
        self.requests: list[tuple[str, dict, dict | None, dict]] = []
        self._http = Http(self)
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> "SearchServer":
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, path: str, query: dict, body: dict | None) -> object | None:
        """The JSON of a request that is well, None for a path that there is not."""
        match self.kind, path, body:
            case "search-r1", "/retrieve", {
                "queries": [str()],
                "topk": int(top),
                "return_scores": True,
            }:
                return {"result": [[self._document(*row) for row in self.found[:top]]]}
            case "searxng", "/search", None if query["format"] == "json":
                rows = [
                    {"title": t, "url": u, "content": c, "engine": "x"} for t, u, c in self.found
                ]
                return {"query": query["q"], "number_of_results": 0, "results": rows, "answers": []}
            case "serpapi", "/search.json", None if query["engine"] == "google":
                return self._serpapi(int(query["num"]))
        return None

    def _document(self, title: str, _url: str, text: str) -> dict:
        return {"document": {"id": "1", "contents": f'"{title}"\n{text}'}, "score": 0.5}

    def _serpapi(self, top: int) -> dict:
        rows = [
            {"position": 1, "title": t, "link": u, "snippet": s} for t, u, s in self.found[:top]
        ]
        answer = {"search_metadata": {"status": "Success"}}
        none = {"error": "Google hasn't returned any results for this query."}
        return answer | ({"organic_results": rows} if rows else none)


class Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, search: SearchServer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.search = search


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._serve(None)

    def do_POST(self) -> None:
        self._serve(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def log_message(self, *_arguments: object) -> None:
        """Tests read `requests` instead."""

    def _serve(self, body: dict | None) -> None:
        search = self.server.search
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        search.requests.append((parts.path, query, body, dict(self.headers)))
        if search.mishaps:
            self._fail(search.mishaps.pop(0))
        elif search.key and query.get("api_key") != search.key:
            self._send(401, json.dumps({"error": f"Invalid API key {self.path}"}).encode())
        else:
            answer = search.answer(parts.path, query, body)
            self._send(404 if answer is None else 200, json.dumps(answer).encode())

    def _fail(self, mishap: str | int | bytes) -> None:
        if isinstance(mishap, bytes):
            self._send(200, mishap)
        elif isinstance(mishap, int):
            self._send(mishap, f"no {self.path}".encode())
        elif mishap == SILENT:
            time.sleep(SILENCE)
        elif mishap == HALF:
            self._begin(200, 1000)
            self.wfile.write(b'{"results"')
        elif mishap == HUGE:
            self._send(200, b"[" + b"1," * 2**20 + b"1]")
        elif mishap == DRIP:
            self._begin(200, 1000)
            self._repeat(b" ", 0.05)
        elif mishap == ENDLESS:
            self._begin(200, None)
            self._repeat(b" " * 2**16, 0.0)

    def _begin(self, status: int, length: int | None) -> None:
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", f"https://elsewhere{self.path}")
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _send(self, status: int, body: bytes) -> None:
        with suppress(OSError):
            self._begin(status, len(body))
            self.wfile.write(body)

    def _repeat(self, piece: bytes, pause: float) -> None:
        began = time.monotonic()
        with suppress(OSError):
            while time.monotonic() - began < SILENCE:
                self.wfile.write(piece)
                time.sleep(pause)
