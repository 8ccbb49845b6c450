"""Search over passages that the user gives: BM25 by the library bm25s, of the extra [bench].

Passages are JSON lines, {"text": ..., "title"?: ..., "id"?: ...}. Knows no network and no question.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...data.errors import NotFound, ToolUnavailable
from .tools import Observation, SearchResult, Situation, failed, listing, query_of

TOP = 5  # passages shown
NAMED = 3  # bad lines that an error repeats


class Passage(NamedTuple):
    id: str
    title: str
    text: str


class Passages:
    """Passages and the index over them. ToolUnavailable where bm25s is not installed, or nothing can be looked up."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        tokens = self._tokens([f"{passage.title}\n{passage.text}" for passage in passages])
        if not any(tokens):
            raise ToolUnavailable("the passages hold no words; give JSON lines with a text each")
        self._index = _library().BM25()
        self._index.index(tokens, show_progress=False)

    def __len__(self) -> int:
        return len(self._passages)

    def find(self, query: str, top: int = TOP) -> list[Passage]:
        """The best passages, best first, that share a word with the query; at equal scores in the file's order."""
        (tokens,) = self._tokens([query])
        if not tokens:
            return []
        scores = self._index.get_scores(tokens)  # (passages,)
        related = np.flatnonzero(scores > 0)
        best = related[np.argsort(-scores[related], kind="stable")[:top]]
        return [self._passages[number] for number in best]

    def _tokens(self, texts: list[str]) -> list[list[str]]:
        """Words in small letters, without the commonest English ones."""
        return _library().tokenize(texts, return_ids=False, show_progress=False)


class PassageSearch:
    """A search called `name` over passages."""

    def __init__(self, passages: Passages, name: str, top: int = TOP) -> None:
        self.name = name
        self._passages, self._top = passages, top

    def call(self, arguments: Mapping[str, Any], situation: Situation) -> Observation:
        query = query_of(arguments)
        if query is None:
            return failed(f"{self.name} takes one query")
        found = self._passages.find(query, self._top)
        return Observation(listing(SearchResult(p.title, "", p.text) for p in found))


def read_passages(path: Path) -> list[Passage]:
    """All passages of a JSON lines file; a passage without an id is named by its line.

    NotFound for a file that cannot be read. ToolUnavailable, with the numbers of the first bad lines, where a line is no passage.
    """
    passages: list[Passage] = []
    bad: list[str] = []
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        read = _passage(line, number)
        if isinstance(read, Passage):
            passages.append(read)
        else:
            bad.append(f"line {number} {read}")
    if bad:
        more = f" and {len(bad) - NAMED} more" if len(bad) > NAMED else ""
        raise ToolUnavailable(
            f'{path}: {"; ".join(bad[:NAMED])}{more}; each line is an object with a "text", or with "contents" as in a corpus of Search-R1'
        )
    return passages


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise NotFound(
            f"{path}: cannot be read ({error.strerror}); name a file of JSON lines"
        ) from error


def _passage(line: bytes, number: int) -> Passage | str:
    """The passage on a line, or what is wrong with it."""
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return "is no JSON"
    if not isinstance(value, dict):
        return "is no object"
    title, text = value.get("title") or "", value.get("text")
    if isinstance(contents := value.get("contents"), str) and text is None:
        title, _, text = contents.partition(
            "\n"
        )  # Search-R1's: the first line is the title, quoted
        title, text = (title.strip().strip('"'), text) if text.strip() else ("", title)
    if not isinstance(text, str) or not text.strip():
        return "has no text"
    if not isinstance(title, str):
        return "has a title that is no text"
    return Passage(str(value.get("id", number)), title, text)


def _library() -> Any:
    """bm25s, which only those who search passages need."""
    try:
        import bm25s
    except ImportError as error:
        raise ToolUnavailable(
            "a search over passages needs bm25s; pip install 'forethought[bench]'"
        ) from error
    return bm25s
