"""The files of one export, and writing them into a folder whole or not at all.

Each file appears under its name only when it is complete; the manifest, which names every file with its
SHA-256, is written last. Text is UTF-8 without lone surrogates: they become U+FFFD and are counted. Bytes are written as
they are.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

from ..errors import ForethoughtError
from .former_export import MANIFEST, FormerExport

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

    The files of an export that lay there before go; other files stay, set aside where a new one has their name. Raises ForethoughtError where it cannot write.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        former = FormerExport.of(folder)
        written = {
            name: _write(folder / name, pieces, partial(former.spare, name))
            for name, pieces in bundle.files.items()
        }
        former.remove_all_but(written)
        former.spare(MANIFEST, "")
        manifest = {
            "forethought": version("forethought"),
            **bundle.facts,
            **former.told(),
            "files": {name: vars(file) for name, file in written.items()},
        }
        text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        _write(folder / MANIFEST, [text])
    except OSError as error:
        raise ForethoughtError(
            f"cannot write the export to {folder} ({error.strerror}); choose another --out"
        ) from error
    return manifest


def _write(
    path: Path, pieces: Iterable[Piece], spare: Callable[[str], None] = lambda sha256: None
) -> WrittenFile:
    """`spare` is called with the SHA-256 of what is about to replace what lies at `path`."""
    digest, counts = sha256(), Counter[str]()
    fresh = path.with_name(f".{path.name}.{uuid4().hex[:8]}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with fresh.open("wb") as file:
            for piece in pieces:
                content = piece if isinstance(piece, bytes) else _encoded(piece, counts)
                digest.update(content)
                counts["bytes"] += len(content)
                file.write(content)
            file.flush()
            os.fsync(file.fileno())
        spare(digest.hexdigest())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    return WrittenFile(digest.hexdigest(), counts["bytes"], counts["lines"], counts["replaced"])


def _encoded(piece: str, counts: Counter[str]) -> bytes:
    text, replaced = SURROGATES.subn("\ufffd", piece)
    counts.update(lines=text.count("\n"), replaced=replaced)
    return text.encode()
