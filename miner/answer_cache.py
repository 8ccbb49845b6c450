"""What a writer answered, a JSON line each, so that an interrupted run goes on and nothing is paid for twice.

Lines that a kill left half written are passed over. Knows requests by their key only.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from ..data.errors import ForethoughtError
from ..data.identity import content_id
from .writer import Answer, Request

FILE = "answers.jsonl"


class AnswerCache:
    """The answers in `folder`, by model and request; a new one is on disk before it is used."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._answers = dict(_read(self.path))

    def find(self, model: str, request: Request) -> Answer | None:
        return self._answers.get(request_key(model, request))

    def add(self, model: str, request: Request, answer: Answer) -> None:
        key = request_key(model, request)
        line = json.dumps({"key": key} | answer._asdict())
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"\n{line}")  # the newline first closes a line that a kill left open
        except OSError as error:
            raise ForethoughtError(
                f"cannot write {self.path} ({error.strerror}); set FORETHOUGHT_CACHE to a folder you own"
            ) from error
        self._answers[key] = answer


def request_key(model: str, request: Request) -> str:
    """The same model asked the same, the same key."""
    messages = [list(message) for message in request.messages]
    return content_id("w", [model, messages, *request[1:]])


def _read(path: Path) -> Iterator[tuple[str, Answer]]:
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                row = json.loads(line)
                flaw = row["flaw"] if row["flaw"] is None else str(row["flaw"])
                yield row["key"], Answer(str(row["text"]), str(row["revision"]), flaw)
            except (ValueError, KeyError, TypeError):
                continue
