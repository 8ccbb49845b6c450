"""JSON documents out of files: one at a time, in bounded memory, whatever the file's outer shape.

Knows JSON lines, arrays, objects keyed by id, and damage. It does not know what a trace is: it is
told by `is_document`, which decides whether an object of objects is one document or many keyed by id.

Damage costs as little as it can: one line in JSON lines; in an array or object, all from there on.
"""

import codecs
import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from .streams import DAMAGED, Open, TooMuch, bare_name, damage_in, opened
from .window import (
    BLANK,
    CHUNK,
    MAX_BYTES,
    PREVIEW,
    SURROGATE,
    Damage,
    Value,
    Window,
    beginning,
    parsed,
)

LOOKAHEAD = 100  # documents looked at before a file, or an object of objects, is judged
# Members that hold a part of one document, such as a thread's messages, and are no documents themselves.
PARTS_OF_ONE = frozenset(
    "values state data request response inputs outputs input output messages conversations conversation traj "
    "trajectory history dialog prompt completion chosen rejected items".split()
)
NO_TEXT = "not UTF-8 text"
BLANKS = BLANK.encode()


@dataclass(frozen=True)
class Document:
    """One JSON value. `position` counts from 1: the line in JSON lines, the element otherwise."""

    position: int
    value: Any
    raw: str
    key: str | None = None


@dataclass(frozen=True)
class Broken:
    """Text that cannot be used and why; `raw` is its beginning, where there is any."""

    position: int
    reason: str
    raw: str = ""
    key: str | None = None


class Member(NamedTuple):
    """A key of an object, with its value."""

    key: str
    value: Value


def documents(
    path: Path, is_document: Callable[[Any], bool], max_bytes: int = MAX_BYTES
) -> Iterator[Document | Broken]:
    """The documents of a .json, .jsonl or .ndjson file, packed or not, decided by content.

    Memory is bounded by a few times `max_bytes`: a longer line or element comes back as Broken.
    """
    return documents_in(lambda: opened(path), path.name, is_document, max_bytes)


def documents_in(
    open_stream: Open, name: str, is_document: Callable[[Any], bool], max_bytes: int = MAX_BYTES
) -> Iterator[Document | Broken]:
    """The same of a stream that can be opened again; `name` says whether a single line is to be taken for one."""
    position = 0
    try:
        with open_stream() as stream:
            holds_lines = _holds_lines(stream, name, max_bytes)
        with open_stream() as stream:
            if holds_lines:
                entries = _lines(stream, max_bytes)
            else:
                entries = _values(Window(stream, max_bytes), is_document)
            for entry in _with_damage(entries, stream):
                position = entry.position
                yield entry
    except DAMAGED as error:
        yield Broken(position + 1, damage_of(error))


def _with_damage(
    entries: Iterable[Document | Broken], stream: IO[bytes]
) -> Iterator[Document | Broken]:
    """The entries, and last what ended the stream before its time: in the place of an entry that it broke off."""
    position, broken = 0, None
    for entry in entries:
        if broken is not None:
            yield broken
        broken = entry if isinstance(entry, Broken) else None
        position = entry.position
        if broken is None:
            yield entry
    if (damage := damage_in(stream)) is not None:
        reason = damage_of(damage)
        yield replace(broken, reason=reason) if broken else Broken(position + 1, reason)
    elif broken is not None:
        yield broken


def damage_of(error: Exception) -> str:
    """What is wrong with a file that cannot be read to its end."""
    if isinstance(error, TooMuch):
        return str(error.strerror)
    if isinstance(error, gzip.BadGzipFile | EOFError | zlib.error):
        return f"damaged gzip: {error}"
    if isinstance(error, OSError) and ("ZSTD" in str(error) or "compressed stream" in str(error)):
        return f"damaged zstd: {error}"
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror or error}"
    return f"damaged zip: {error}"


def _holds_lines(stream: IO[bytes], name: str, max_bytes: int) -> bool:
    """Whether the file is JSON lines, by its first two lines."""
    is_named_lines = bare_name(name).endswith((".jsonl", ".ndjson"))
    line = _next_line(stream, max_bytes)
    is_cut = len(line) > max_bytes
    following = b"" if is_cut else _next_line(stream, CHUNK)
    if not line or line.startswith(b"["):
        return False
    if not line.startswith(b"{") or is_cut:
        return is_named_lines
    return bool(following) and (following.startswith(b"{") or _is_complete(line))


def _next_line(stream: IO[bytes], max_bytes: int) -> bytes:
    """The next line with anything in it, cut a byte after `max_bytes`; b"" at the end."""
    while line := stream.readline(max_bytes + 1):
        if content := line.removeprefix(codecs.BOM_UTF8).lstrip(BLANKS):
            return content
    return b""


def _is_complete(line: bytes) -> bool:
    try:
        parsed(line.decode("utf-8", "replace"))
    except Damage:
        return False
    return True


def _lines(stream: IO[bytes], max_bytes: int) -> Iterator[Document | Broken]:
    number = 0
    while line := stream.readline(max_bytes + 1):  # bytes split on LF only, text on U+2028 as well
        number += 1
        if len(line) > max_bytes and not line.endswith(b"\n"):
            _skip_line(stream)
            raw = beginning(line[:PREVIEW].decode("utf-8", "replace"))
            yield Broken(number, f"line longer than {max_bytes:,} bytes", raw)
            continue
        line = line.removeprefix(codecs.BOM_UTF8).strip(BLANKS)
        if line:
            yield _line_document(number, line)


def _skip_line(stream: IO[bytes]) -> None:
    while (rest := stream.readline(CHUNK)) and not rest.endswith(b"\n"):
        pass


def _line_document(number: int, line: bytes) -> Document | Broken:
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return Broken(number, NO_TEXT, beginning(line.decode("utf-8", "surrogateescape")))
    try:
        return Document(number, parsed(text), text[:PREVIEW])  # as UTF-8 it has no surrogates
    except Damage as damage:
        return Broken(number, str(damage), beginning(text))


def _values(window: Window, is_document: Callable[[Any], bool]) -> Iterator[Document | Broken]:
    """The documents of all top-level values, up to the first damage. Usually there is one value."""
    if not window.peek():
        yield Broken(1, "empty file")
    position = 0
    try:
        while opening := window.peek():
            if opening == "[":
                entries = _elements(window, position)
            elif opening == "{":
                entries = _members(window, position, is_document)
            else:
                raise Damage(f"not JSON: begins with {window.preview[:20]!r}")
            for entry in entries:
                position = entry.position
                yield entry
    except Damage as damage:
        yield Broken(position + 1, str(damage), window.preview)


def _elements(window: Window, position: int) -> Iterator[Document | Broken]:
    """The elements of the array that the window stands at, numbered from `position` + 1."""
    window.take("[")
    while window.peek() != "]":
        position += 1
        yield _entry(window.value(), position)
        if window.peek() != "]":
            window.take(",")
    window.take("]")


def _members(
    window: Window, position: int, is_document: Callable[[Any], bool]
) -> Iterator[Document | Broken]:
    """The object that the window stands at: its members if they are the documents, else itself.

    A member that is a document decides for the members, one that is no object, or is known to be a part, for the whole.
    """
    raw = window.preview
    members = _pairs(window)
    held: list[Member] = []
    for member in members:
        held.append(member)
        value = member.value.value
        if member.key in PARTS_OF_ONE:
            break
        if is_document(value) or len(held) == LOOKAHEAD:
            for number, (key, one) in enumerate(chain(held, members), start=position + 1):
                yield _entry(one, number, key)
            return
        if not isinstance(value, dict | None):
            break
    yield _entry(_joined(chain(held, members), raw, window.max_bytes), position + 1)


def _pairs(window: Window) -> Iterator[Member]:
    window.take("{")
    while window.peek() != "}":
        name = window.value()
        key = SURROGATE.sub("\ufffd", str(name.value))
        window.take(":")
        try:
            value = window.value()
        except Damage as damage:
            raise Damage(f"{damage}, inside {key!r}") from damage
        yield Member(key, value._replace(is_utf8=value.is_utf8 and name.is_utf8))
        if window.peek() != "}":
            window.take(",")
    window.take("}")


def _joined(members: Iterable[Member], raw: str, max_bytes: int) -> Value:
    """The members as one object; Damage if they are too long to be kept."""
    document, length, is_utf8 = {}, 0, True
    for key, value in members:
        document[key] = value.value
        length += value.length
        is_utf8 = is_utf8 and value.is_utf8
        if length > max_bytes:
            raise Damage(f"longer than {max_bytes:,} bytes")
    return Value(document, raw, length, is_utf8)


def _entry(value: Value, position: int, key: str | None = None) -> Document | Broken:
    if not value.is_utf8:
        return Broken(position, NO_TEXT, value.raw, key)
    return Document(position, value.value, value.raw, key)
