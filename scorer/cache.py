"""The user's cache: where it lies, and small answers kept in it under the facts that they follow from.

Knows no model. What cannot be read back, is no answer of ours, or follows from other facts is as good as absent; a
cache that cannot be written costs time, never an answer.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..data.identity import content_id


def cache_folder() -> Path:
    """$FORETHOUGHT_CACHE, or ~/.cache/forethought."""
    chosen = os.environ.get("FORETHOUGHT_CACHE")
    return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "forethought"


def recall(kind: str, facts: Mapping[str, Any]) -> Any | None:
    """What was kept under these very facts; None where nothing was, or nothing that can be trusted."""
    try:
        stored = json.loads(_path(kind, facts).read_text("utf-8"))
        return stored["value"] if stored["facts"] == facts else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def keep(kind: str, facts: Mapping[str, Any], value: Any) -> None:
    """Keep a JSON `value`: whole or not at all, also where two processes keep the same."""
    path = _path(kind, facts)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, suffix=".tmp", delete=False, encoding="utf-8"
        ) as file:
            try:
                json.dump({"facts": facts, "value": value}, file)
                file.flush()
                os.replace(file.name, path)
            except OSError:
                os.unlink(file.name)


def _path(kind: str, facts: Mapping[str, Any]) -> Path:
    return cache_folder() / kind / f"{content_id('kept', dict(facts))}.json"
