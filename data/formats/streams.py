"""Files as streams of bytes: plain, gzipped or zstd, told apart by their first bytes, and capped in what they unpack to.

Knows compression only. What unpacks to far more than it takes is refused while it is being read, never held.
"""

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, cast

from .window import SURROGATE

COMPRESSED = (".gz", ".zst")
MAX_RATIO = 500  # agents' logs repeat themselves and may shrink to a hundredth; nothing honest to a thousandth
MAX_TOTAL = 64 * 2**30  # bytes of one file or archive, unpacked
FREE = 64 * 2**20  # bytes that may come of whatever little: a ratio of small numbers says nothing

BUFFER = 2**18  # bytes read at once

Open = Callable[[], IO[bytes]]


class TooMuch(OSError):
    """What is packed unpacks to more than is allowed; its message says how much that is."""


class Capped(io.RawIOBase):
    """A stream of unpacked bytes that fails once it gives more than `packed` bytes may hold."""

    def __init__(self, stream: IO[bytes], raw: IO[bytes], packed: int) -> None:
        self._stream = stream
        self._raw = raw  # what is unpacked; closed with this one
        self._packed = packed
        self._given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._given += len(data)
        if is_too_much(self._packed, self._given):
            raise TooMuch(None, too_much(self._packed))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        self._raw.close()
        super().close()


def is_too_much(packed: int, unpacked: int) -> bool:
    return unpacked > MAX_TOTAL or (unpacked > FREE and unpacked > packed * MAX_RATIO)


def too_much(packed: int) -> str:
    return f"unpacks to more than {min(MAX_TOTAL, max(FREE, packed * MAX_RATIO)):,} bytes"


def opened(path: Path) -> IO[bytes]:
    """The file's bytes, unpacked where they are packed; by content: some tools unpack without renaming."""
    return unpacked(lambda: path.open("rb", BUFFER), lambda: path.stat().st_size)


def unpacked(open_raw: Open, size: Callable[[], int]) -> IO[bytes]:
    """The bytes of a stream that can be opened again, unpacked by what it begins with."""
    with open_raw() as stream:
        magic = stream.read(4)
    raw = open_raw()
    if magic[:2] == b"\x1f\x8b":
        packed = cast(IO[bytes], gzip.open(raw))
    elif magic == b"\x28\xb5\x2f\xfd":
        packed = _zstd(raw)
    else:
        return raw
    return io.BufferedReader(Capped(packed, raw, size()), BUFFER)


def bare_name(name: str) -> str:
    """A file's name in lower case, without the ending that says how it is packed, fit to be compared."""
    lower = SURROGATE.sub("\ufffd", name).lower()
    return next((lower.removesuffix(e) for e in COMPRESSED if lower.endswith(e)), lower)


def _zstd(stream: IO[bytes]) -> IO[bytes]:
    from pyarrow import (  # a second to load, for those who have zstd
        CompressedInputStream,
        PythonFile,
    )

    return cast(IO[bytes], CompressedInputStream(PythonFile(stream, "r"), "zstd"))
