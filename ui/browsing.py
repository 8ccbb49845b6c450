"""Traces as a person looks through them: pages of what was found, a trace laid out turn by turn, its pictures, the quarantine.

A trace's text is anyone's: a picture that it names is shown only if it is one, and lies where imports keep them, or beside the file
the trace came from.
"""

import json
import re
import warnings
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from ..data.listing import TraceFilter
from ..data.store import Quarantined, Store
from ..data.text_search import ThoughtFilter
from ..data.traces import Action, Outcome, Trace, Turn

PAGE = 25  # traces, turns or quarantined rows on a page
PICTURE_BYTES = 20_000_000
PICTURE_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
KEPT = re.compile(r"[0-9a-f]{64}\.\w+")  # what an import calls a picture that it keeps
CELL = 240  # characters of a text that stand in a list


class Hit(NamedTuple):
    """One line of a list: a trace, or one turn (from 0) of it with its thought."""

    trace_id: str
    turn: int | None
    text: str
    outcome: str
    source: str
    turns: int | None


class Hits(NamedTuple):
    hits: tuple[Hit, ...]
    total: int


class QuarantinePage(NamedTuple):
    rows: tuple[Quarantined, ...]
    total: int


class Picture(NamedTuple):
    """What a turn names as its picture, and its bytes; without them, why it cannot be shown."""

    name: str
    content: bytes | None
    reason: str = ""


class Exchange(NamedTuple):
    """An action as written, and what came back, where anything did."""

    action: str
    observation: str


@dataclass(frozen=True)
class TurnView:
    """One turn to read: thoughts, each action with its observation, pictures."""

    number: int
    thoughts: tuple[str, ...]
    exchanges: tuple[Exchange, ...]
    pictures: tuple[Picture, ...]


def shown_path(file: str) -> str:
    """As short as it still names the file: from where the app was started, if it lies there."""
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else file


def find_traces(store: Store, filter: TraceFilter, page: int) -> Hits:
    """Page `page` (from 1) of the traces that the filter lets through."""
    found = store.traces_page(filter, PAGE * (page - 1), PAGE)
    hits = (
        Hit(t.id, None, shorten(t.question), told(t.outcome), t.source, t.num_turns)
        for t in found.traces
    )
    return Hits(tuple(hits), found.total)


def find_thoughts(store: Store, filter: ThoughtFilter, page: int) -> Hits:
    """Page `page` (from 1) of the turns whose thoughts the filter lets through."""
    found = store.thoughts_page(filter, PAGE * (page - 1), PAGE)
    hits = (
        Hit(t.trace_id, t.turn, shorten(t.text), told(t.outcome), t.source, None)
        for t in found.thoughts
    )
    return Hits(tuple(hits), found.total)


def quarantine_page(store: Store, page: int) -> QuarantinePage:
    """Page `page` (from 1) of what could not be used, in the order it was met."""
    rows = store.quarantined(PAGE * (page - 1), PAGE)
    return QuarantinePage(tuple(rows), store.counts().quarantined)


def laid_out(trace: Trace, first: int, count: int, kept: Path | None = None) -> list[TurnView]:
    """Turns `first` (from 0) and following, `count` at most; `kept` is the folder of the store's pictures."""
    turns = trace.turns[first : first + count]
    return [_view(trace, turn, number, kept) for number, turn in enumerate(turns, start=first + 1)]


def told(outcome: Outcome | None) -> str:
    return outcome.value if outcome else "unknown"


def shorten(text: str) -> str:
    """On one line, the beginning of a long text."""
    line = " ".join(text[: 2 * CELL].split())
    return line if len(line) <= CELL and len(text) <= 2 * CELL else f"{line[:CELL]} …"


def picture(trace: Trace, name: str, kept: Path | None = None) -> Picture:
    """The picture `name` of a trace, if it is one and was kept by its hash, or lies in the folder of the trace's file or below."""
    is_kept = kept is not None and KEPT.fullmatch(name) is not None and (kept / name).is_file()
    folder = kept if kept is not None and is_kept else Path(trace.file).parent
    try:
        if not (trace.file or is_kept) or "://" in name:
            return Picture(name, None, "it lies elsewhere, and nothing is fetched")
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            return Picture(name, None, "it lies outside of the folder of its trace")
        if not path.is_file():
            return Picture(name, None, "there is no such file")
        if path.stat().st_size > PICTURE_BYTES:
            return Picture(name, None, "it is too large to show")
        content = path.read_bytes()
    except (OSError, ValueError):  # no path at all: too long, or with a NUL
        return Picture(name, None, "it cannot be read")
    return Picture(name, content) if _is_picture(content) else Picture(name, None, "it is none")


def _is_picture(content: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(BytesIO(content), formats=PICTURE_FORMATS) as image:
                image.load()
    except (OSError, ValueError, SyntaxError, Warning, Image.DecompressionBombError):
        return False
    return True


def _view(trace: Trace, turn: Turn, number: int, kept: Path | None) -> TurnView:
    observations = (*turn.observations, *("" for _ in turn.actions[len(turn.observations) :]))
    exchanges = [Exchange(_written(a), o) for a, o in zip(turn.actions, observations, strict=False)]
    exchanges += [Exchange("", o) for o in turn.observations[len(turn.actions) :]]
    pictures = tuple(picture(trace, name, kept) for name in turn.images)
    return TurnView(number, turn.thoughts, tuple(exchanges), pictures)


def _written(action: Action) -> str:
    """`search {"input": "x"}`"""
    return f"{action.name} {json.dumps(dict(action.arguments), ensure_ascii=False, default=str)}"
