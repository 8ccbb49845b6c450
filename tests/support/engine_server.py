"""A real HTTP server that scores and generates with a real model and answers as SGLang or vLLM do; on request it misbehaves.

`damage` is given each request's scored rows, lists of Cell from the row's second token on, and gives back the
rows to answer with: the same damage serves both formats. `mishaps` are used up one a scoring request.
"""

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from forethought.scorer.context import Context
from forethought.scorer.generate import Decoding, decode
from forethought.scorer.plain import score_plainly

DROP, CUT, HALF, SILENT, DEEP = "drop", "cut", "half", "silent", "deep"
ELSEWHERE = "http://127.0.0.1:1/login"  # where 302 points to
SCORING = ("/generate", "/v1/completions")
LONG_PAGE = {"page": "<p>\n" * 9_000}  # what 413 says
SILENCE = 2.0  # seconds, longer than a test's patience


class Cell(NamedTuple):
    token: int
    log_prob: float | None


class EngineServer:
    """`with EngineServer(model, "sglang") as server:`; `server.url`, and `server.requests` as (path, body, headers)."""

    def __init__(self, model, kind: str, *, name: str | None = None, old: bool = False) -> None:
        self.model, self.kind, self.old = model, kind, old
        self.name = name or f"org/{model.name}"
        self.damage: Callable[[list[list[Cell]]], list[list[Cell]]] = lambda rows: rows
        self.mishaps: list[str | int] = []
        self.alias: str | None = None
        self.token: str | None = None
        self.encode = model.encode
        self.requests: list[tuple[str, dict, dict]] = []
        self._http = Http(self)
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> "EngineServer":
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def posted(self, path: str) -> list[dict]:
        return [body for where, body, _ in self.requests if where == path]

    def answer(self, path: str, body: dict) -> object | None:
        """The JSON of a request that is well, None where the server has no such path."""
        if path == "/tokenize":
            ids = list(self.encode(body["prompt"]))
            return {"count": len(ids), "max_model_len": 2048, "tokens": ids, "token_strs": None}
        return self._sglang(path, body) if self.kind == "sglang" else self._vllm(path, body)

    def _scored(self, rows: list[list[int]]) -> list[list[Cell]]:
        """The truth, of every token but a row's first."""
        scores = [score_plainly(self.model, row[:1], [row[1:]])[0] for row in rows]
        return self.damage(
            [
                [Cell(token, float(own)) for token, own in zip(row[1:], found, strict=True)]
                for row, found in zip(rows, scores, strict=True)
            ]
        )

    def _sglang(self, path: str, body: dict) -> object | None:
        prefix = "/get_" if self.old else "/"
        if path == f"{prefix}model_info":
            alias = {} if self.old else {"served_model_name": self.alias or self.name}
            return {"model_path": self.name, "is_generation": True, **alias}
        if path == f"{prefix}server_info":
            return {"model_path": self.name, "api_key": self.token, "version": "0.5.23"}
        if path != "/generate":
            return None
        sent, sampling = body["input_ids"], body.get("sampling_params", {"max_new_tokens": 0})
        if sampling["max_new_tokens"]:
            return [self._sglang_generated(row, sampling) for row in sent]
        if not body.get("return_logprob"):
            return [self._sglang_answer(row, []) for row in sent]
        firsts = body["logprob_start_len"]
        scored = self._scored(sent)
        last = self.model.config.vocab_size - 1
        answers = []
        for row, cells, first in zip(sent, scored, firsts, strict=False):
            kept = [Cell(row[0], None), *cells][first:]
            kept = [kept[0]._replace(log_prob=None), *kept[1:]]
            triples = [[own, token if token < last else 0, None] for token, own in kept]
            answers.append(self._sglang_answer(row, triples))
        return answers

    def _sglang_generated(self, row: list[int], sampling: dict) -> dict:
        """SGLang looks at the number of tokens before it looks for an end."""
        asked = Decoding(
            sampling["max_new_tokens"],
            None if sampling.get("ignore_eos") else tuple(sampling["stop"]),
            sampling["temperature"],
            sampling.get("sampling_seed", 0),
        )
        ids, text, _ = decode(Context(self.model, row), asked)
        reason = "length" if len(ids) == asked.tokens else "stop"
        answer = self._sglang_answer(row, [])
        answer["meta_info"] |= {"finish_reason": {"type": reason}, "completion_tokens": len(ids)}
        return answer | {"text": text, "output_ids": [*ids]}

    def _sglang_answer(self, row: list[int], triples: list) -> dict:
        return {
            "text": "",
            "output_ids": [],
            "meta_info": {
                "id": "5f3e0a",
                "finish_reason": {"type": "length", "length": 0},
                "prompt_tokens": len(row),
                "weight_version": "default",
                "completion_tokens": 0,
                "cached_tokens": 0,
                "input_token_logprobs": triples,
                "output_token_logprobs": [],
                "e2e_latency": 0.01,
            },
        }

    def _vllm(self, path: str, body: dict) -> object | None:
        if path == "/version":
            return {"version": "0.33.0"}
        if path == "/v1/models":
            card = {"object": "model", "owned_by": "vllm", "max_model_len": 2048}
            adapter = {"id": "adapter", "root": "/adapters/a", "parent": self.name}
            return {"object": "list", "data": [card | adapter, card | self._card()]}
        if path != "/v1/completions":
            return None
        assert body["model"] == self._card()["id"], "vLLM answers 404 to another name"
        if "prompt_logprobs" not in body:
            rows = enumerate(body["prompt"])
            choices = [self._vllm_generated(index, row, body) for index, row in rows]
            return {"id": "cmpl-1", "object": "text_completion", "choices": choices}
        scored = self._scored(body["prompt"])
        choices = [
            self._choice(index, row, cells)
            for index, (row, cells) in enumerate(zip(body["prompt"], scored, strict=False))
        ]
        return {"id": "cmpl-1", "object": "text_completion", "model": self.name, "choices": choices}

    def _card(self) -> dict:
        return {"id": self.alias or "served-as", "root": self.name, "parent": None}

    def _vllm_generated(self, index: int, row: list[int], body: dict) -> dict:
        stops = None if body.get("ignore_eos") else tuple(body.get("stop", ()))
        asked = Decoding(
            body["max_tokens"], stops or None, body.get("temperature", 0.0), body.get("seed", 0)
        )
        ids, text, is_complete = decode(Context(self.model, row), asked)
        return self._choice(index, row, []) | {
            "text": text,
            "finish_reason": "stop" if stops and is_complete else "length",
            "prompt_logprobs": None,
            "token_ids": [*ids],
        }

    def _choice(self, index: int, row: list[int], cells: list[Cell]) -> dict:
        positions = [None]
        for token, own in cells:
            entry = {"logprob": own, "rank": 1, "decoded_token": self.model.decode([token])}
            positions.append(None if own is None else {str(token): entry})
        return {
            "index": index,
            "text": "x",
            "logprobs": None,
            "finish_reason": "length",
            "stop_reason": None,
            "prompt_logprobs": positions,
            "prompt_token_ids": row,
            "token_ids": [120],
        }


class Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, engine: EngineServer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.engine = engine


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._handle({})

    def do_POST(self) -> None:
        self._handle(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def log_message(self, *_arguments: object) -> None:
        """Tests read `requests` instead."""

    def _handle(self, body: dict) -> None:
        engine, key = self.server.engine, self.headers["Authorization"]
        engine.requests.append((self.path, body, dict(self.headers)))
        if engine.token and key != f"Bearer {engine.token}":
            self._send(401, {"error": f"not {key}"})
        elif self.path in SCORING and engine.mishaps:
            self._fail(engine.mishaps.pop(0), body)
        elif (found := engine.answer(self.path, body)) is None:
            self._send(404, {"detail": "Not Found"})
        else:
            self._send(200, found)

    def _fail(self, mishap: str | int, body: dict) -> None:
        if isinstance(mishap, int):
            self._send(mishap, {"message": "the queue\n is full"} if mishap != 413 else LONG_PAGE)
        elif mishap == SILENT:
            time.sleep(SILENCE)
        elif mishap != DROP:
            self._send(200, self.server.engine.answer(self.path, body), mishap)

    def _send(self, status: int, content: object, mishap: str | None = None) -> None:
        raw = json.dumps(content).encode()
        if mishap == CUT:
            raw = raw[: len(raw) // 2]
        if mishap == DEEP:
            raw = b"[" * 100_000
        self.send_response(status)
        if status == 302:
            self.send_header("Location", ELSEWHERE)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(raw[: len(raw) // 2] if mishap == HALF else raw)
