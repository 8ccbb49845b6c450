"""The files of one export, and writing them into a folder whole or not at all.

Each file appears under its name only when it is complete; the manifest, which names every file with its
SHA-256, is written last. Text is UTF-8 without lone surrogates: they become U+FFFD and are counted. Bytes are written as
they are.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

from ..errors import ForethoughtError

MANIFEST = "manifest.json"
SURROGATES = re.compile("[\ud800-\udfff]")


BLOCK = 2**20  # bytes of a copied file that are in memory at a time

Piece = str | bytes


@dataclass(frozen=True)
class Bundle:
    """File names, which may lie in folders, and their content in pieces; `facts` goes to the manifest as it is."""

    files: Mapping[str, Iterable[Piece]]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class WrittenFile:
    """What the manifest says of a file; `replaced` counts lone surrogates, and `lines` those of text alone."""

    sha256: str
    bytes: int
    lines: int
    replaced: int


def json_lines(rows: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def file_pieces(path: Path) -> Iterator[bytes]:
    """A file to be copied."""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def write_bundle(bundle: Bundle, folder: Path) -> dict[str, Any]:
    """Write all files and the manifest into `folder` (made where missing); the manifest's content.

    Files of the same names are replaced, others left alone. Raises ForethoughtError where it cannot write.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = {name: _write(folder / name, pieces) for name, pieces in bundle.files.items()}
        manifest = {
            "forethought": version("forethought"),
            **bundle.facts,
            "files": {name: vars(file) for name, file in written.items()},
        }
        text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        _write(folder / MANIFEST, [text])
    except OSError as error:
        raise ForethoughtError(
            f"cannot write the export to {folder} ({error.strerror}); choose another --out"
        ) from error
    return manifest


def _write(path: Path, pieces: Iterable[Piece]) -> WrittenFile:
    digest, counts = sha256(), Counter[str]()
    partial = path.with_name(f".{path.name}.{uuid4().hex[:8]}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            for piece in pieces:
                content = piece if isinstance(piece, bytes) else _encoded(piece, counts)
                digest.update(content)
                counts["bytes"] += len(content)
                file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return WrittenFile(digest.hexdigest(), counts["bytes"], counts["lines"], counts["replaced"])


def _encoded(piece: str, counts: Counter[str]) -> bytes:
    text, replaced = SURROGATES.subn("\ufffd", piece)
    counts.update(lines=text.count("\n"), replaced=replaced)
    return text.encode()
