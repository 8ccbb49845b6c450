"""What texts were found to cost, kept by model, place and text, a JSON line a turn: work that was killed goes on where it stopped.

A place is a context, and the action where it is the action that is priced. A file belongs to one model. Another set, another pool or an edited
text prices only what is new; a line that a kill left half written is passed over and made again.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..data.errors import ForethoughtError
from ..data.identity import content_id

NO_TEXT = "-"  # the key of no thought at all


class PriceCache:
    """Prices of one model, `kind` of them in a file: floats, or lists of them."""

    def __init__(self, folder: Path, kind: str, model: str) -> None:
        self.path = folder / f"{kind}-{content_id('m', model)}.jsonl"
        self._known: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for place, prices in _read(self.path):
            self._known[place].update(prices)

    def lacks(self, place: str, text: str | None) -> bool:
        return _key(text) not in self._known.get(place, ())

    def price(self, place: str, text: str | None) -> Any:
        """What `text` costs at `place`; KeyError where it was never priced."""
        return self._known[place][_key(text)]

    @contextmanager
    def appending(self) -> Iterator["Appender"]:
        """Opens the file for new prices; ForethoughtError where it cannot be written."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                yield Appender(file, self._known)
        except OSError as error:
            raise ForethoughtError(
                f"cannot write {self.path} ({error.strerror}); set FORETHOUGHT_CACHE to a folder you own"
            ) from error


class Appender:
    """Writes a place's new prices as one line and lets the system have it at once."""

    def __init__(self, file: Any, known: defaultdict[str, dict[str, Any]]) -> None:
        self._file, self._known = file, known

    def add(self, place: str, prices: Mapping[Any, Any]) -> None:
        """Keeps `prices` by text (None: no thought)."""
        if not prices:
            return
        keyed = {_key(text): price for text, price in prices.items()}
        # the newline before it closes a line that a kill left open
        line = json.dumps({"place": place, "prices": keyed}, allow_nan=False)
        self._file.write("\n" + line)
        self._file.flush()
        self._known[place].update(keyed)


def _key(text: str | None) -> str:
    return NO_TEXT if text is None else content_id("x", text)


def _read(path: Path) -> Iterable[tuple[str, dict[str, Any]]]:
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if (
                isinstance(found, dict)
                and isinstance(found.get("place"), str)
                and isinstance(found.get("prices"), dict)
            ):
                yield found["place"], found["prices"]
