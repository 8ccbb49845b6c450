"""The pictures of exported turns: where they are kept, and whether they are what their name says."""

import re
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from .bundle import file_pieces

HASHED = re.compile(r"([0-9a-f]{64})\.[a-z]{3,4}")  # how an import names what it keeps


@dataclass
class PictureFolder:
    """The folder that an import kept pictures in. A picture that was only named (an address, a path elsewhere) is in none."""

    folder: Path | None = None
    found: dict[str, bool] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Whether it is there, whole."""
        if name not in self.found:
            self.found[name] = self._is_whole(name)
        return self.found[name]

    def path(self, name: str) -> Path:
        assert self.folder is not None, name
        return self.folder / name

    def _is_whole(self, name: str) -> bool:
        named = HASHED.fullmatch(name)
        if self.folder is None or named is None or not self.path(name).is_file():
            return False
        digest = sha256()
        for block in file_pieces(self.path(name)):
            digest.update(block)
        return digest.hexdigest() == named[1]
