"""What the values in a benchmark's rows may be: texts, accepted answers, pictures, facts.

Knows values, not which benchmark calls them what. A value of another kind raises Unaskable, with the field's name.
"""

import json
import math
import re
from base64 import b64decode
from binascii import Error as NoBase64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from .question import ImageResult, ImageSource

PLACEHOLDER = re.compile(r"<image(?:[ _]?\d+)?>")
BASE64 = re.compile(r"[A-Za-z0-9+/\s]{100,}={0,2}\s*")  # no file name is so long and without a dot
DATA_URL = re.compile(r"data:image/[\w.+-]+;base64,")
TITLES, THUMBNAILS = "image_search_title_list", "image_search_thumbnail_list"
MOST_RESULTS = 5  # of a recorded image search: what SenseNova-MARS shows
FACTS = (
    "area",
    "subfield",
    "category",
    "difficulty",
    "language",
    "original_category",
    "vqa_category",
    "question_type",
    "type",
    "level",
    "data_split",
    "data_source",
    "source",
    "timestamp",
    "time",
)


class Unaskable(Exception):
    """Why a row cannot be asked; becomes an Unusable."""


@dataclass(frozen=True)
class Row:
    """One row: where it stands, what it is called if it does not say, and the folder its pictures lie in."""

    place: str
    id: str
    fields: Mapping[str, Any]
    folder: Path


def question_in(row: Row, names: Iterable[str]) -> str:
    """The question's text without places for pictures."""
    name, value = _first(row, names)
    if value is not None and not isinstance(value, str):
        raise Unaskable(f"{name} is {_kind(value)}, not text")
    text = PLACEHOLDER.sub("", value or "").strip()
    if not text:
        raise Unaskable(f"no question ({name} is empty)")
    return text


def answers_in(row: Row, names: Iterable[str]) -> tuple[str, ...]:
    """All accepted answers that the fields hold, each once."""
    names = tuple(names)
    texts = (text for name in names for text in _accepted(row.fields.get(name), name))
    answers = tuple(dict.fromkeys(text for text in texts if text))
    if not answers:
        raise Unaskable(f"no true answer (looked in {', '.join(names)})")
    return answers


def id_in(row: Row, names: Iterable[str]) -> str:
    """What the row calls itself, else its place."""
    _, value = _first(row, names)
    is_name = isinstance(value, str | int) and not isinstance(value, bool)
    return str(value).strip() or row.id if is_name else row.id


def images_in(row: Row, names: Iterable[str]) -> tuple[ImageSource, ...]:
    """The pictures of the first field that holds any."""
    name, value = _first(row, names)
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(_image(row, name, one) for one in values if one not in (None, "", b""))


def image_results_in(row: Row, shots: Iterable[str]) -> tuple[ImageResult, ...]:
    """The recorded image search: titles with thumbnails, or pictures of a page of results (`shots`)."""
    titles = _texts(row, TITLES)
    thumbnails = images_in(row, (THUMBNAILS,))
    hits = [ImageResult(title or "", shown) for title, shown in zip_longest(titles, thumbnails)]
    hits += [ImageResult("", shown) for shown in images_in(row, shots)]
    return tuple(hits[:MOST_RESULTS])


def facts_in(row: Row) -> Mapping[str, str]:
    """Those of the known facts that are a text or a number."""
    values = {name: row.fields.get(name) for name in FACTS}
    return {
        name: str(value)
        for name, value in values.items()
        if isinstance(value, str | int | float) and str(value).strip()
    }


def _first(row: Row, names: Iterable[str]) -> tuple[str, Any]:
    """The first of the fields that is there and not null; else the first name and None."""
    names = tuple(names) or ("",)
    held = ((name, row.fields[name]) for name in names if row.fields.get(name) is not None)
    return next(held, (names[0], None))


def _accepted(value: Any, name: str) -> list[str]:
    values = _listed(value)
    if values is not None:
        return [text for one in values for text in _one_accepted(one, name)]
    return _one_accepted(value, name)


def _listed(value: Any) -> list[Any] | None:
    """A list, or a text that is one in JSON, as veRL rows keep it."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, list) else None


def _one_accepted(value: Any, name: str) -> list[str]:
    match value:
        case None:
            return []
        case str():
            return [value.strip()]
        case {"range": [low, high, *_]}:  # InfoSeek's numbers
            exact = _one_accepted(value.get("wikidata"), name)
            return [f"{_number(low, name)}-{_number(high, name)}", *exact]
    return [_number(value, name)]


def _number(value: Any, name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unaskable(f"{name} holds {_kind(value)}, not text")
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        raise Unaskable(f"{name} holds {value}, no number")
    return str(int(value)) if value.is_integer() else repr(value)


def _image(row: Row, name: str, value: Any) -> ImageSource:
    match value:
        case bytes():
            return ImageSource(name, row.place, content=value)
        case str():
            return _named_image(row, name, value)
        case {"bytes": bytes(content)}:
            return ImageSource(str(value.get("path") or name), row.place, content=content)
        case {"path": str(path)} | {"image": str(path)}:
            return _named_image(row, name, path)
    raise Unaskable(f"{name} holds {_kind(value)}, no picture")


def _named_image(row: Row, name: str, value: str) -> ImageSource:
    """A file's name, or the bytes themselves in base64."""
    encoded = DATA_URL.sub("", value, count=1)
    if encoded == value and ("." in value or not BASE64.fullmatch(value)):
        return ImageSource(value, row.place, folder=row.folder)
    try:
        return ImageSource(name, row.place, content=b64decode(encoded))
    except (NoBase64, ValueError) as error:
        raise Unaskable(f"{name} is damaged base64 ({error})") from error


def _texts(row: Row, name: str) -> list[str]:
    values = row.fields.get(name)
    if values is None:
        return []
    if not isinstance(values, list):
        raise Unaskable(f"{name} is {_kind(values)}, not a list")
    return [value if isinstance(value, str) else "" for value in values]


def _kind(value: Any) -> str:
    kinds = {bool: "true or false", list: "a list", dict: "an object", str: "text", bytes: "bytes"}
    return "null" if value is None else kinds.get(type(value), "a number")
