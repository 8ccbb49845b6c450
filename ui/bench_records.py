"""What a bench has played already: a JSON line each, written as it comes, so that a killed run goes on where it stopped."""

import json
import os
from pathlib import Path
from typing import Any

from ..data.errors import ForethoughtError

Json = dict[str, Any]
Key = tuple[str, str]  # mode, and what was played in it


class Records:
    """The records of one `run` (its plan, model and set) in a file.

    ForethoughtError for a file that holds another run's, or none; it is left as it is. A last line that was cut off is taken out.
    """

    def __init__(self, path: Path, run: str) -> None:
        self._path, self._run = path, run
        content = path.read_bytes() if path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        self._kept = {(one["mode"], one["id"]): one for one in self._read(whole)}
        if len(whole) < len(content):
            os.truncate(path, len(whole))

    def get(self, key: Key) -> Json | None:
        return self._kept.get(key)

    def add(self, key: Key, found: Json) -> Json:
        """Kept on disk when this returns."""
        mode, id = key
        record = {"run": self._run, "mode": mode, "id": id} | found
        with self._path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")
            lines.flush()
            os.fsync(lines.fileno())
        self._kept[key] = record
        return record

    def _read(self, lines: bytes) -> list[Json]:
        try:
            found = [json.loads(line) for line in lines.splitlines()]
            others = {one["run"] for one in found} - {self._run}
            [(one["mode"], one["id"]) for one in found]
        except (ValueError, KeyError, TypeError) as error:
            raise ForethoughtError(
                f"{self._path}: no records of a bench; name another --out folder"
            ) from error
        if others:
            raise ForethoughtError(
                f"{self._path}: holds records of another plan, model or set; name another --out folder or remove it"
            )
        return found
