"""What a bench has played already: a JSON line each, written as it comes, so that a killed run goes on where it stopped."""

import fcntl
import json
import os
from io import FileIO
from pathlib import Path
from typing import Any

from ...data.errors import ForethoughtError

Json = dict[str, Any]
Key = tuple[str, str]  # mode, and what was played in it


class Records:
    """The records of one `run` (its plan, model and set) in a file, which is this process's own while it is open.

    ForethoughtError for a file that holds another run's, or none, or that another process has open; it is left as it is. A last
    line that was cut off is taken out.
    """

    def __init__(self, path: Path, run: str) -> None:
        self._path, self._run = path, run
        self._lines = _alone(path)
        try:
            content = path.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]
            self._kept = {(one["mode"], one["id"]): one for one in self._read(whole)}
            self._lines.truncate(len(whole))
        except BaseException:
            self._lines.close()
            raise

    def __enter__(self) -> "Records":
        return self

    def __exit__(self, *raised: object) -> None:
        self._lines.close()

    def get(self, key: Key, arm: str | None = None) -> Json | None:
        """What was played; ForethoughtError where it was sent to another arm then."""
        kept = self._kept.get(key)
        if kept is not None and kept.get("arm") != arm:
            raise ForethoughtError(
                f"{self._path}: {key[0]} sent {key[1]} to {kept.get('arm')}, and this router says {arm}; name another --out folder"
            )
        return kept

    def add(self, key: Key, found: Json) -> Json:
        """Kept on disk when this returns."""
        mode, id = key
        record = {"run": self._run, "mode": mode, "id": id} | found
        line = json.dumps(record, ensure_ascii=False) + "\n"
        self._write(line.encode("utf-8", "backslashreplace"))
        self._kept[key] = record
        return record

    def _write(self, line: bytes) -> None:
        try:
            while line:  # a disk that fills up takes a part
                line = line[self._lines.write(line) :]
            os.fsync(self._lines.fileno())
        except OSError as error:
            raise ForethoughtError(
                f"{self._path}: cannot be written ({error.strerror}); what was played is kept, so make room and run it again"
            ) from error

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


def _alone(path: Path) -> FileIO:
    """The file at `path`, made where it is not there, locked until it is closed."""
    try:
        lines = FileIO(path, "a+")
    except OSError as error:
        raise ForethoughtError(
            f"{path}: cannot be written ({error.strerror}); name another --out folder"
        ) from error
    try:
        fcntl.flock(lines, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lines.close()
        is_taken = isinstance(error, BlockingIOError)
        why = (
            "another bench writes there, so wait for it"
            if is_taken
            else f"cannot be locked ({error.strerror})"
        )
        raise ForethoughtError(f"{path}: {why}, or name another --out folder") from error
    return lines
