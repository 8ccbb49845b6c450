"""Files as streams of bytes: plain, gzipped or zstd, in UTF-8 or UTF-16, told apart by their first bytes, and capped in what they unpack to.

Knows compression and byte order only. What unpacks to far more than it takes is refused while it is being read, never held. A
packed stream that is damaged ends at the damage, all before it is given, and `damage_in` says what it was.
"""

import codecs
import io
import zlib
from collections.abc import Callable
from gzip import BadGzipFile
from pathlib import Path
from typing import IO, Any, Protocol, cast
from zipfile import BadZipFile

from .window import SURROGATE

COMPRESSED = (".gz", ".zst")
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
MAX_RATIO = 500  # agents' logs repeat themselves and may shrink to a hundredth; nothing honest to a thousandth
MAX_TOTAL = 64 * 2**30  # bytes of one file or archive, unpacked
FREE = 64 * 2**20  # bytes that may come of whatever little: a ratio of small numbers says nothing

BUFFER = 2**18  # bytes read at once
STEP = 2**9  # bytes unpacked at once on the way to a damage
WITH_HEADER = 16 + zlib.MAX_WBITS  # zlib's name for gzip
UTF16 = {
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    **dict.fromkeys((b"{\0", b"[\0"), "utf-16-le"),
    **dict.fromkeys((b"\0{", b"\0["), "utf-16-be"),
}
DAMAGED = (BadGzipFile, EOFError, zlib.error, OSError, BadZipFile)

Open = Callable[[], IO[bytes]]


class TooMuch(OSError):
    """What is packed unpacks to more than is allowed; its message says how much that is."""


class Readable(Protocol):
    def read(self, size: int) -> bytes: ...
    def close(self) -> None: ...


class Unpacked(io.RawIOBase):
    """A stream of unpacked bytes that ends where it is damaged, and `damage` says how; it fails once it gives more than `packed` may hold.

    `begin` gives it from the start, unpacked so many bytes at a time. An unpacker that fails keeps what it had in hand: so
    the way to the damage is gone again, in small steps, and from there byte by byte.
    """

    def __init__(self, begin: Callable[[int], Readable], packed: int) -> None:
        self.damage: Exception | None = None
        self._begin = begin
        self._stream = begin(BUFFER)
        self._packed = packed
        self._given = 0
        self._is_slow = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _read(self, size: int) -> bytes:
        if self.damage is not None:
            return b""
        try:
            data = self._stream.read(1 if self._is_slow else size)
        except DAMAGED as error:
            if self._is_slow or not self._is_back():
                self.damage = error
                return b""
            return self._read(size)
        self._given += len(data)
        if is_too_much(self._packed, self._given):
            raise TooMuch(None, too_much(self._packed))
        return data

    def _is_back(self) -> bool:
        """Go back to what was given last, slowly; whether that worked."""
        self._is_slow = True
        self._stream.close()
        self._stream, left = self._begin(STEP), self._given
        try:
            while left and (data := self._stream.read(min(left, BUFFER))):
                left -= len(data)
        except DAMAGED:
            return False
        return not left

    def close(self) -> None:
        self._stream.close()
        super().close()


class Gunzipped:
    """What gzip's members hold, one behind the other, unpacked `step` packed bytes at a time; one byte, where one is asked for."""

    def __init__(self, raw: IO[bytes], step: int) -> None:
        self._raw = raw
        self._step = step
        self._inflate = zlib.decompressobj(WITH_HEADER)
        self._data = b""
        self._ready = b""

    def read(self, size: int) -> bytes:
        if not self._ready:
            self._ready = self._next(size)
        given, self._ready = self._ready[:size], self._ready[size:]
        return given

    def _next(self, size: int) -> bytes:
        """Some of what comes next; b"" at the end."""
        while True:
            data = self._data or self._raw.read(self._step)
            if self._inflate.eof:
                if not data:
                    return b""
                self._data = data.lstrip(b"\0")  # padding
                if self._data:
                    self._inflate = zlib.decompressobj(WITH_HEADER)
                continue
            fed, limit = (1, 0) if size == 1 else (len(data), size)
            found = self._inflate.decompress(data[:fed], limit)
            left = self._inflate.unconsumed_tail or self._inflate.unused_data
            self._data = left + data[fed:]
            if found:
                return found
            if not data and not self._inflate.eof:
                raise EOFError("the file ends before its data does")

    def close(self) -> None:
        self._raw.close()


class Transcoded(io.RawIOBase):
    """UTF-16 as UTF-8; halves of characters become U+FFFD."""

    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._data = b""

    @property
    def damage(self) -> Exception | None:
        return damage_in(self._stream)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        is_last = False
        while not self._data and not is_last:
            given = self._stream.read(BUFFER)
            is_last = not given
            self._data = self._decoder.decode(given, final=is_last).encode("utf-8", "replace")
        taken, self._data = self._data[: len(buffer)], self._data[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def close(self) -> None:
        self._stream.close()
        super().close()


def damage_in(stream: IO[bytes]) -> Exception | None:
    """What ended the stream before its time, if anything did."""
    raw = getattr(stream, "raw", None)
    return raw.damage if isinstance(raw, Unpacked | Transcoded) else None


def is_too_much(packed: int, unpacked: int) -> bool:
    return unpacked > MAX_TOTAL or (unpacked > FREE and unpacked > packed * MAX_RATIO)


def too_much(packed: int) -> str:
    return f"unpacks to more than {min(MAX_TOTAL, max(FREE, packed * MAX_RATIO)):,} bytes"


def opened(path: Path) -> IO[bytes]:
    """The file's bytes, unpacked where they are packed; by content: some tools unpack without renaming."""
    return unpacked(lambda: path.open("rb", BUFFER), lambda: path.stat().st_size)


def unpacked(open_raw: Open, size: Callable[[], int]) -> IO[bytes]:
    """The bytes of a stream that can be opened again, unpacked by what it begins with, and as UTF-8."""
    with open_raw() as stream:
        magic = stream.read(4)
    if magic[:2] == GZIP:
        plain = _buffered(Unpacked(lambda step: Gunzipped(open_raw(), step), size()))
    elif magic == ZSTD:
        plain = _buffered(Unpacked(lambda step: _zstd(open_raw()), size()))
    else:
        plain = open_raw()
    start = plain.peek(2)[:2]  # type: ignore[attr-defined]
    return _buffered(Transcoded(plain, UTF16[start])) if start in UTF16 else plain


def bare_name(name: str) -> str:
    """A file's name in lower case, without the ending that says how it is packed, fit to be compared."""
    lower = SURROGATE.sub("\ufffd", name).lower()
    return next((lower.removesuffix(e) for e in COMPRESSED if lower.endswith(e)), lower)


def _buffered(raw: io.RawIOBase) -> IO[bytes]:
    return io.BufferedReader(raw, BUFFER)


def _zstd(stream: IO[bytes]) -> Readable:
    from pyarrow import (  # a second to load, for those who have zstd
        CompressedInputStream,
        PythonFile,
    )

    return cast(Readable, CompressedInputStream(PythonFile(stream, "r"), "zstd"))
