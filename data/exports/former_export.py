"""The export that lay in a folder before a new one is written there: its files go, and nothing else is lost.

A file is its own where its manifest lists it and nobody changed it since. Whatever else has the name of a new file, or was changed, gets
another name.
"""

import json
from collections.abc import Container, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
SET_ASIDE = "before"  # what is added to the name of a file that stays


@dataclass
class FormerExport:
    """`hashes`: the SHA-256 that its manifest says of each file, and of the manifest itself; `kept` are the names of what was set aside."""

    folder: Path
    dialect: str = ""
    hashes: Mapping[str, str] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Path) -> "FormerExport":
        """By the manifest there; one of nothing where there is none of ours."""
        try:
            told = json.loads((folder / MANIFEST).read_text("utf-8"))
            hashes = {name: file["sha256"] for name, file in told["files"].items()}
            dialect = str(told.get("dialect", ""))
            kept = [name for name in told.get("before", {}).get("kept", ()) if _lies(folder, name)]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return cls(folder)
        if "forethought" not in told:
            return cls(folder)
        return cls(folder, dialect, hashes | {MANIFEST: _sha256(folder / MANIFEST)}, kept)

    def spare(self, name: str, sha256: str) -> None:
        """Before a file of this hash takes the name: what would be lost by that gets another one."""
        if _lies(self.folder, name) and not self._is_own(name, sha256):
            self._set_aside(name)

    def remove_all_but(self, names: Container[str]) -> None:
        """The export's own files of other names, and folders that are empty then."""
        for name in self.hashes:
            if name in names or name == MANIFEST or not _lies(self.folder, name):
                continue
            if not self._is_own(name):
                self._set_aside(name)
                continue
            (self.folder / name).unlink()
            self.removed.append(name)
            with suppress(OSError):  # other files are in it
                (self.folder / name).parent.rmdir()

    def told(self) -> dict[str, Any]:
        """For the manifest; nothing where nothing but the new files is there."""
        if not self.removed and not self.kept:
            return {}
        return {"before": {"dialect": self.dialect, "removed": self.removed, "kept": self.kept}}

    def _is_own(self, name: str, sha256: str | None = None) -> bool:
        return _sha256(self.folder / name) in (self.hashes.get(name), sha256)

    def _set_aside(self, name: str) -> None:
        number = 1
        while (self.folder / (other := _aside(name, number))).exists():
            number += 1
        (self.folder / name).rename(self.folder / other)
        self.kept.append(other)


def _aside(name: str, number: int) -> str:
    return f"{name}.{SET_ASIDE}" if number == 1 else f"{name}.{SET_ASIDE}-{number}"


def _lies(folder: Path, name: str) -> bool:
    """Whether there is such a file in the folder, and not outside of it by way of `..` or a link."""
    path = folder / name
    return path.is_file() and path.resolve().parent.is_relative_to(folder.resolve())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
