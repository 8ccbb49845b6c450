"""Addresses of servers that a user names, and secrets for them: checked before anything is sent, a password never repeated."""

from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from .errors import ForethoughtError


@dataclass(frozen=True)
class Caller:
    """Who asks a server: its word for one, the variable that holds the secret, an example of a URL, and how it refuses.

    `parameter` is the part of a path's query that carries the secret, "" where a header does.
    """

    server: str
    variable: str
    example: str
    refusal: type[ForethoughtError]
    parameter: str = ""

    def address(self, url: str) -> SplitResult:
        """`url` taken apart. One that is none, or that holds a password, is refused."""
        if "@" in url:
            raise self.refusal(
                f"the {self.server}'s URL holds a user or password; set {self.variable} instead"
            )
        try:
            parts = urlsplit(url)
            port_is_valid = parts.port is None or parts.port > 0
        except ValueError:
            raise self.no_url(url) from None
        whole = parts.scheme in ("http", "https") and parts.hostname and port_is_valid
        is_plain = url.isascii() and url.isprintable() and " " not in url
        if not (whole and is_plain) or parts.query or parts.fragment:
            raise self.no_url(url)
        return parts

    def secret(self, value: str | None) -> str:
        """`value` as an HTTP header may carry it."""
        value = (value or "").strip()
        if not (value.isascii() and value.isprintable()):
            raise self.refusal(f"{self.variable} holds characters that no HTTP header may")
        return value

    def no_url(self, url: str) -> ForethoughtError:
        return self.refusal(f"{url!r} is no {self.server}'s URL; give one like {self.example}")
