"""A real HTTP server that speaks chat completions; on request it misbehaves.

`speaks` is given each request's body and gives the sentence to answer with. `mishaps` are used up first, one a request: a
status, DROP, HALF, SILENT, DRIP, raw bytes to send as the body, or a message's fields as a dict.
"""

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DROP, HALF, SILENT, DRIP, ENDLESS = "drop", "half", "silent", "drip", "endless"
SILENCE = 1.0  # seconds, longer than a test's patience
PATH = "/v1/chat/completions"


class WriterServer:
    """`with WriterServer(speaks) as server:`; `server.url`, and `server.requests` as (body, headers)."""

    def __init__(self, speaks: Callable[[dict], str], *, key: str | None = None) -> None:
        self.speaks, self.key = speaks, key
        self.mishaps: list[str | int | bytes | dict] = []
        self.retry_after: str | None = None
        self.finish_reason = "stop"
        self.requests: list[tuple[dict, dict]] = []
        self._http = Http(self)
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> "WriterServer":
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def completion(self, fields: dict) -> bytes:
        message = {"role": "assistant"} | fields
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        answer = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": "scripted-2026-01",
            "system_fingerprint": "fp_1",
            "choices": [choice],
        }
        return json.dumps(answer).encode()


class Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, writer: WriterServer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.writer = writer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        writer = self.server.writer
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        writer.requests.append((body, dict(self.headers)))
        given = self.headers["Authorization"]
        if writer.key and given != f"Bearer {writer.key}":
            self._send(401, json.dumps({"error": f"wrong key {given}"}).encode())
        elif self.path != PATH:
            self._send(404, b"<html>Not Found</html>")
        elif writer.mishaps:
            self._fail(writer.mishaps.pop(0))
        else:
            self._send(200, writer.completion({"content": writer.speaks(body)}))

    def log_message(self, *_arguments: object) -> None:
        """Tests read `requests` instead."""

    def _fail(self, mishap: str | int | bytes | dict) -> None:
        writer = self.server.writer
        whole = writer.completion({"content": "I need to search again with other words."})
        if isinstance(mishap, int):
            self._send(mishap, b'{"error": "the queue\\n is full"}')
        elif isinstance(mishap, bytes):
            self._send(200, mishap)
        elif isinstance(mishap, dict):
            self._send(200, writer.completion(mishap))
        elif mishap == SILENT:
            time.sleep(SILENCE)
        elif mishap == DRIP:
            self._send(200, whole, pause=SILENCE / 20)
        elif mishap == ENDLESS:
            self._send(200, b" " * (3 << 20))
        elif mishap == HALF:
            self._send(200, whole, cut=len(whole) // 2)

    def _send(self, status: int, raw: bytes, cut: int | None = None, pause: float = 0.0) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        if self.server.writer.retry_after and status != 200:
            self.send_header("Retry-After", self.server.writer.retry_after)
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):
            if not pause:
                self.wfile.write(raw[:cut])
            for byte in raw if pause else b"":
                self.wfile.write(bytes([byte]))
                time.sleep(pause)
