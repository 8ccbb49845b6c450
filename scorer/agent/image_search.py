"""Recorded reverse image searches, replayed: those that a benchmark gives with its question, else by the picture's SHA-256.

The text is that of SSR's harness (GitHub zfy0314/ssr-unofficial, src/ssr/harness.py, commit 2d554730): the first five titles and
addresses, a thumbnail where one was kept. Nothing is searched, and a picture that nobody searched for gets no results.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL.Image import Image

from ...data.benchmarks.question import ImageResult, ImageSource
from ...data.errors import BrokenPicture, NotFound, ToolUnavailable
from .tools import PICTURE, Match, Observation, Situation, literal

SHOWN = 5  # results
SHA256 = re.compile(r"[0-9a-f]{64}")
NO_RESULTS = "No reverse image search results."


class RecordedImageSearch:
    """`image_search_tool`, which takes no arguments: what was found when the question's picture was searched for.

    `recorded` holds results by the SHA-256 of the picture's file.
    """

    name = "image_search_tool"

    def __init__(self, recorded: Mapping[str, Sequence[ImageResult]] | None = None) -> None:
        self._recorded = recorded or {}

    def call(self, arguments: Mapping[str, Any], situation: Situation) -> Observation:
        results = situation.image_results or self._recorded.get(situation.picture_sha256, ())
        if not results:
            return Observation(NO_RESULTS, match=Match.MISS)
        lines = ["Reverse image search results:"]
        pictures: list[Image] = []
        broken = ""
        for result in results[:SHOWN]:
            lines.append(f"Title: {literal(result.title)}")
            if result.url:
                lines.append(f"URL: {literal(result.url)}")
            try:
                shown = result.thumbnail and result.thumbnail.open()
            except BrokenPicture as error:
                broken = broken or str(error)
                continue
            if shown:
                number = len(situation.pictures) + len(pictures)
                lines.append(f"Thumbnail (registry index {number}): {PICTURE}")
                pictures.append(shown)
        return Observation("\n".join(lines), tuple(pictures), Match.EXACT, broken)


def read_image_searches(path: Path) -> dict[str, tuple[ImageResult, ...]]:
    """Recorded searches by the SHA-256 of the picture's file, from a JSON file or a folder of them.

    A file holds one search or a list of them, {"image_sha256": ..., "results": [{"title", "url"?, "image_path"?}, ...]}, with
    thumbnails named from the file's folder. NotFound and ToolUnavailable name the file.
    """
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise NotFound(f"{path}: no recorded image searches (*.json) in it")
    return {sha256: results for file in files for sha256, results in _searches(file)}


def _searches(file: Path) -> Iterator[tuple[str, tuple[ImageResult, ...]]]:
    try:
        held = json.loads(file.read_bytes())
    except OSError as error:
        raise NotFound(f"{file}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise ToolUnavailable(f"{file}: no JSON; give recorded image searches") from error
    for search in held if isinstance(held, list) else [held]:
        match search:
            case {"image_sha256": str(sha256), "results": [*rows]} if SHA256.fullmatch(sha256):
                yield sha256, tuple(_result(row, file) for row in rows)
            case _:
                raise ToolUnavailable(
                    f'{file}: a search lacks an "image_sha256" of 64 hex digits or a list of "results"'
                )


def _result(row: Any, file: Path) -> ImageResult:
    if not (isinstance(row, dict) and isinstance(row.get("title"), str)):
        raise ToolUnavailable(f'{file}: a result has no "title"')
    named, url = row.get("image_path"), row.get("url")
    thumbnail = (
        ImageSource(named, file.name, folder=file.parent)
        if isinstance(named, str) and named
        else None
    )
    return ImageResult(row["title"], thumbnail, url if isinstance(url, str) else "")
