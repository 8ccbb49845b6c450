"""Pictures of traces, kept as files that are named by what is in them.

A picture inline, or in a file within the import's folder, becomes `<sha256>.<ending>`. A path outside of that folder, a
`file:` or a network address is never read: it is recorded as it stands. No pixels reach the store.
"""

import base64
import binascii
import os
import re
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

MAX_PICTURE = 64 * 2**20  # bytes
DATA = re.compile(r"data:image/[\w.+-]+(?:;[\w=.+-]+)*;base64,", re.IGNORECASE)
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
BARE = re.compile(
    r"iVBORw0KGgo|R0lGOD|UklGR|/9j/4"
)  # how pictures begin in base64, without a scheme
MAGIC = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpg",
    b"GIF87a": "gif",
    b"GIF89a": "gif",
    b"BM": "bmp",
    b"II*\x00": "tif",
    b"MM\x00*": "tif",
}
UNREADABLE, MISSING, ELSEWHERE = "image_unreadable", "image_missing", "image_elsewhere"


class Named(NamedTuple):
    """What a turn holds of a picture, and the code of what is wrong with it, if anything."""

    name: str
    repair: str = ""


@dataclass(frozen=True)
class Pictures:
    """Names pictures of files below `root`, and keeps them in `folder` where there is one; `found` are the files that were pictures."""

    root: Path
    folder: Path | None = None
    found: set[Path] = field(default_factory=set)

    def named(self, place: str, beside: Path) -> Named:
        """The picture at `place`, which may be relative to `beside`, the folder of the trace's file."""
        if inline := DATA.match(place):
            return self._inline(place[inline.end() :])
        if place.startswith("data:"):
            return Named("", UNREADABLE)
        if BARE.match(place):
            return self._inline(place)
        if ADDRESS.match(place) or "\x00" in place:
            return Named(place, ELSEWHERE)
        return self._file(place, beside)

    def _inline(self, text: str) -> Named:
        try:
            content = base64.b64decode(text, validate=False)
        except (binascii.Error, ValueError):
            return Named("", UNREADABLE)
        return self._kept(content) or Named("", UNREADABLE)

    def _file(self, place: str, beside: Path) -> Named:
        """A file within the root, links followed; all else stays a name."""
        try:
            path = (beside / place).resolve()
            if not path.is_relative_to(self.root):
                return Named(place, ELSEWHERE)
            if not path.is_file() or path.stat().st_size > MAX_PICTURE:
                return Named(place, MISSING)
            if (kept := self._kept(path.read_bytes())) is None:
                return Named(place, UNREADABLE)
            self.found.add(path)
            return kept
        except (OSError, ValueError):
            return Named(place, MISSING)

    def _kept(self, content: bytes) -> Named | None:
        ending = ending_of(content)
        if ending is None:
            return None
        name = f"{sha256(content).hexdigest()}.{ending}"
        if self.folder is not None and not (self.folder / name).exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            unfinished = self.folder / f".{name}.{os.getpid()}"
            unfinished.write_bytes(content)
            unfinished.replace(self.folder / name)  # whole or not at all
        return Named(name)


def ending_of(content: bytes) -> str | None:
    """What kind of picture begins so; None where it is none."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    return next((ending for magic, ending in MAGIC.items() if content.startswith(magic)), None)
