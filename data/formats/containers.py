"""What a file holds: JSON, text, parquet, or an archive of such files, told by ending and by content.

Knows containers and no format. An archive is read in place: nothing is ever written, and what is too large, packed too
tightly or nested twice is refused and named. An Inspect log (.eval) is an archive whose samples need its header.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import PurePosixPath
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

from .documents import Broken, Document, damage_of, documents_in
from .files import TraceFile
from .parquet import rows_of_parquet
from .streams import DAMAGED, Open, bare_name, damage_in, is_too_much, opened, too_much, unpacked
from .window import PREVIEW, SURROGATE, Damage, beginning, parsed

JSON = (".json", ".jsonl", ".ndjson", ".traj")
TEXT = (".txt", ".log")
PARQUET = (".parquet",)
ARCHIVES = (".zip", ".eval")
NO_ENDING = f"not one of {', '.join((*JSON, *TEXT, *PARQUET, *ARCHIVES))} (or .gz or .zst of them)"
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff")
A_PICTURE = "a picture that no trace names"
LOOKS_JSON = re.compile(r'\ufeff?\s*(?:\{|\[\s*[\[{"\]])')
SAMPLES, HEADER = "samples/", "header.json"
IN_MEMORY = 2**23  # bytes of an archive within an archive

Entries = Iterator[Document | Broken]
IsDocument = Callable[[Any], bool]


@dataclass(frozen=True)
class Content:
    """A file, or a member of an archive, that holds documents; `reads` takes what a document is, and a line's most bytes."""

    name: str
    reads: Callable[[IsDocument, int], Entries]


@dataclass(frozen=True)
class Refused:
    """A file or member that is not looked into, and why; `is_damage` where it should have been."""

    name: str
    reason: str
    is_damage: bool = False


def contents_of(file: TraceFile) -> Iterator[Content | Refused]:
    """All that a file holds, one at a time; to be used up in order."""
    name = bare_name(file.path.name)
    if name.endswith(ARCHIVES):
        yield from _archive(lambda: file.path.open("rb"), file.name, is_inner=False)
    elif name.endswith(PARQUET):
        yield Content(file.name, lambda is_document, limit: rows_of_parquet(file.path, limit))
    else:
        yield _content(file.name, lambda: opened(file.path))


def _content(name: str, open_stream: Open) -> Content | Refused:
    bare = bare_name(PurePosixPath(name).name)
    if bare.endswith(JSON):
        return Content(
            name, lambda is_document, limit: documents_in(open_stream, bare, is_document, limit)
        )
    if bare.endswith(TEXT):
        return Content(
            name, lambda is_document, limit: _text(open_stream, bare, is_document, limit)
        )
    return Refused(name, A_PICTURE if bare.endswith(PICTURES) else NO_ENDING)


def _text(open_stream: Open, name: str, is_document: IsDocument, limit: int) -> Entries:
    """A text file as one document, its whole text; JSON that is called a log is read as what it is."""
    try:
        with open_stream() as stream:
            start = stream.read(PREVIEW)
            if not LOOKS_JSON.match(start.decode("utf-8", "replace")):
                data = start + stream.read(limit + 1 - len(start))
                yield from _whole_text(data, is_document, limit)
                if (damage := damage_in(stream)) is not None:
                    yield Broken(1, damage_of(damage))
                return
    except DAMAGED as error:
        yield Broken(1, damage_of(error))
        return
    yield from documents_in(open_stream, name, is_document, limit)


def _whole_text(data: bytes, is_document: IsDocument, limit: int) -> Entries:
    """Of a text that is too long, its beginning is looked at: other programs' logs are no loss."""
    text = data[:limit].decode("utf-8-sig", "replace").replace("\r\n", "\n")
    if len(data) <= limit and text.strip():
        yield Document(1, text, beginning(text))
    elif len(data) > limit and is_document(text):
        yield Broken(1, f"longer than {limit:,} bytes", beginning(text))


def _archive(
    open_raw: Callable[[], AbstractContextManager[Any]], name: str, *, is_inner: bool
) -> Iterator[Content | Refused]:
    """The members of a ZIP, in the order of their names."""
    try:
        with open_raw() as stream, ZipFile(stream) as archive:
            members = [one for one in sorted(archive.infolist(), key=_member) if not one.is_dir()]
            packed = sum(one.compress_size for one in members)
            if is_too_much(packed, sum(one.file_size for one in members)):
                yield Refused(name, too_much(packed), is_damage=True)
            elif any(one.filename == HEADER for one in members):
                yield Content(name, lambda is_document, limit: _samples(archive, members, limit))
            else:
                for member in members:
                    yield from _within(
                        archive, member, f"{name}/{_member(member)}", is_inner=is_inner
                    )
    except (*DAMAGED, NotImplementedError, RuntimeError, ValueError) as error:
        yield Refused(name, _zip_damage(error), is_damage=True)


def _within(
    archive: ZipFile, member: ZipInfo, name: str, *, is_inner: bool
) -> Iterator[Content | Refused]:
    bare = bare_name(PurePosixPath(name).name)
    if bare.startswith((".", "__macosx")) or "__MACOSX/" in name:
        return
    if member.flag_bits & 1:
        yield Refused(name, "encrypted", is_damage=True)
    elif bare.endswith(ARCHIVES) and is_inner:
        yield Refused(name, "an archive in an archive in an archive")
    elif bare.endswith(ARCHIVES):
        with SpooledTemporaryFile(IN_MEMORY) as copy:
            with archive.open(member) as stream:
                copyfileobj(stream, copy)
            yield from _archive(lambda: nullcontext(copy), name, is_inner=True)
    elif bare.endswith(PARQUET):
        with SpooledTemporaryFile(IN_MEMORY) as copy:
            with archive.open(member) as stream:
                copyfileobj(stream, copy)
            copy.seek(0)
            yield Content(name, lambda is_document, limit: rows_of_parquet(copy, limit))
    else:
        yield _content(
            name, lambda: unpacked(lambda: archive.open(member), lambda: member.file_size)
        )


def _samples(archive: ZipFile, members: list[ZipInfo], limit: int) -> Entries:
    """An Inspect log's samples, each with its header, as a log in one file would hold them."""
    header = _json(archive, next(one for one in members if one.filename == HEADER), limit)
    samples = [one for one in members if one.filename.startswith(SAMPLES)]
    for position, member in enumerate(samples, start=1):
        sample = header if isinstance(header, Broken) else _json(archive, member, limit)
        key = _member(member)
        if isinstance(sample, Broken) or isinstance(header, Broken):
            yield Broken(position, getattr(sample, "reason", ""), key=key)
            continue
        told = header.value.get("eval") if isinstance(header.value, dict) else None
        yield Document(position, {"eval": told or {}, "samples": [sample.value]}, sample.raw, key)


def _json(archive: ZipFile, member: ZipInfo, limit: int) -> Document | Broken:
    if member.file_size > limit:
        return Broken(1, f"longer than {limit:,} bytes")
    try:
        text = archive.read(member).decode("utf-8-sig", "replace")
        return Document(1, parsed(text), beginning(text))
    except Damage as damage:
        return Broken(1, str(damage))
    except (*DAMAGED, NotImplementedError, RuntimeError) as error:
        return Broken(1, _zip_damage(error))


def _member(member: ZipInfo) -> str:
    return SURROGATE.sub("\ufffd", member.filename)


def _zip_damage(error: Exception) -> str:
    if isinstance(error, BadZipFile | NotImplementedError | RuntimeError | ValueError):
        return f"damaged zip: {error}"
    return damage_of(error)
