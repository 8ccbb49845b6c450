"""JSON values out of text that need not all be in memory.

Knows JSON's grammar between values, and what cut-off, wrong and not UTF-8 text look like. It does not
know files' shapes or traces. NaN and raw control characters in strings are accepted; lone surrogates
become U+FFFD, since no store and no UTF-8 file can hold them.
"""

import codecs
import json
import re
import sys
from typing import IO, Any, NamedTuple

MAX_BYTES = 64 * 2**20  # of one line, one element, or one object that is a single document
CHUNK = 2**16
EDGE = 16  # characters: what stands nearer to the window's end may be half of a token
PREVIEW = 500  # characters kept of a text that cannot be used
BLANK = " \t\r\n"  # JSON's; str.strip() would take U+2028 too
NOT_UTF8 = re.compile("[\udc80-\udcff]")  # what surrogateescape makes of bytes that are not UTF-8
SURROGATE = re.compile("[\ud800-\udfff]")
SURROGATE_ESCAPES = (
    "\\ud",
    "\\uD",
)  # finding these is ten times as fast as a pattern; few others begin so
DECODER = json.JSONDecoder(strict=False)


class Damage(Exception):
    """Text that is no JSON value, or none that may be read; its message says why."""


class Value(NamedTuple):
    """A JSON value, the beginning of its text, and its length in characters."""

    value: Any
    raw: str
    length: int
    is_utf8: bool


class Window:
    """The part of a text file that is being looked at; slides forward as values are taken."""

    def __init__(self, stream: IO[bytes], max_bytes: int = MAX_BYTES) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self._text = ""
        self._at = 0
        self._before = 0  # characters that have left the window
        self._is_last = False
        self.max_bytes = max_bytes

    @property
    def preview(self) -> str:
        """What comes next, fit to be written anywhere."""
        return beginning(self._text[self._at : self._at + PREVIEW])

    def peek(self) -> str:
        """The next character that is not blank, which stays; "" at the end of the file."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in BLANK:
                    return self._text[self._at]
                self._at += 1
            if not self._grow():
                return ""

    def take(self, expected: str) -> str:
        """Pass over one of the characters in `expected`, or Damage."""
        found = self.peek()
        if not found:
            raise Damage(f"cut short: the file ends after {self._before + self._at:,} characters")
        if found not in expected:
            wanted = " or ".join(repr(character) for character in expected)
            raise Damage(f"not JSON: {wanted} expected at character {self._place(self._at)}")
        self._at += 1
        return found

    def value(self) -> Value:
        """The next JSON value; Damage where there is none, or where it is longer than max_bytes."""
        self.peek()
        while True:
            try:
                value, end = _decoded(self._text, self._at)
            except json.JSONDecodeError as error:
                self._grow_or_explain(error)
                continue
            if end + EDGE <= len(self._text) or not self._grow():  # 0. may go on as 0.5
                break
        is_utf8 = not NOT_UTF8.search(self._text, self._at, end)
        taken = Value(value, self.preview, end - self._at, is_utf8)
        self._at = end
        return taken

    def _grow_or_explain(self, error: json.JSONDecodeError) -> None:
        may_be_cut = _is_unterminated(error) or error.pos + EDGE >= len(error.doc)
        if may_be_cut and len(self._text) - self._at > self.max_bytes:
            raise Damage(f"longer than {self.max_bytes:,} bytes") from error
        if not may_be_cut or not self._grow():
            raise Damage(_explained(error, self._before)) from error

    def _grow(self) -> bool:
        """Read on; doubles what is unread, so that a long value is parsed a few times, not many."""
        if self._is_last:
            return False
        data = self._stream.read(max(CHUNK, len(self._text) - self._at))
        self._is_last = not data
        self._before += self._at
        self._text = self._text[self._at :] + self._decoder.decode(data, final=not data)
        self._at = 0
        return True

    def _place(self, at: int) -> str:
        return f"{self._before + at + 1:,}"


def parsed(text: str) -> Any:
    """The one JSON value in `text`; Damage if there is none, or more than one."""
    start = len(text) - len(text.lstrip(BLANK))
    try:
        value, end = _decoded(text, start)
    except json.JSONDecodeError as error:
        raise Damage(_explained(error, 0)) from error
    if text[end:].strip(BLANK):
        raise Damage(f"not JSON: more text after the value, at character {end + 1:,}")
    return value


def beginning(text: str) -> str:
    """The first characters of a text, fit to be written anywhere."""
    return SURROGATE.sub("\ufffd", text[:PREVIEW])


class _Decoded(NamedTuple):
    value: Any
    end: int


def _decoded(text: str, start: int) -> _Decoded:
    """The value that begins at `start`. JSONDecodeError passes through: more text may mend it."""
    try:
        value, end = DECODER.raw_decode(text, start)
        if text.find("\\u", start, end) >= 0 and any(
            text.find(one, start, end) >= 0 for one in SURROGATE_ESCAPES
        ):
            value = _without_surrogates(value)
        return _Decoded(value, end)
    except RecursionError as error:
        raise Damage("nested too deep") from error
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # an integer of more digits than Python takes
        raise Damage(
            f"an integer of more than {sys.get_int_max_str_digits():,} digits, which is too long to be read"
        ) from error


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def _is_unterminated(error: json.JSONDecodeError) -> bool:
    return error.msg.startswith("Unterminated string")


def _explained(error: json.JSONDecodeError, before: int) -> str:
    length = len(error.doc.rstrip(BLANK))
    if _is_unterminated(error) or error.pos >= length:
        return f"cut short after {before + length:,} characters"
    return f"not JSON: {error.msg} at character {before + error.pos + 1:,}"
