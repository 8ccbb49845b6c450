"""What recorded runs saw, replayed: an observation for a call, found exactly, else by its words.

Asked for in this order: the very call, recorded for this question; for any question; the most similar query of this
question; of any. Similarity is F1 of the two queries' words, as multisets. Knows traces, and no benchmark.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...data.identity import canonical
from ...data.traces import ANSWER, Trace, kind_of
from .tools import NOTHING_FOUND, Match, Observation, Situation, literal, query_of

THRESHOLD = 0.5  # half of the words in common


class Replayed(NamedTuple):
    """What was seen then, and how well the call that saw it matches."""

    text: str
    match: Match


class Recordings:
    """Observations of recorded calls, by kind of tool. Of several for one call the first counts."""

    def __init__(self) -> None:
        self._anywhere: defaultdict[str, _Shelf] = defaultdict(_Shelf)
        self._of_question: defaultdict[tuple[str, str], _Shelf] = defaultdict(_Shelf)

    @classmethod
    def of(cls, traces: Iterable[Trace]) -> "Recordings":
        """What the traces' tools were asked and showed; answers, and calls without an observation, are left out."""
        recordings = cls()
        for trace in traces:
            for turn in trace.turns:
                for action, observation in zip(turn.actions, turn.observations, strict=False):
                    if action.kind != ANSWER and observation.strip():
                        recordings._keep(trace.question, action.kind, action.arguments, observation)
        return recordings

    def find(
        self, question: str, name: str, arguments: Mapping[str, Any], threshold: float = THRESHOLD
    ) -> Replayed | None:
        """What the call saw when it was recorded; None where no query comes as near as `threshold`."""
        kind = kind_of(name)
        shelves = [
            shelf
            for shelf in (
                self._of_question.get((canonical(question), kind)),
                self._anywhere.get(kind),
            )
            if shelf
        ]
        key = _key(arguments)
        for shelf in shelves:
            if key in shelf.seen:
                return Replayed(shelf.seen[key], Match.EXACT)
        query = words(query_of(arguments) or "")
        for shelf in shelves:
            nearest = shelf.nearest(query, threshold)
            if nearest is not None:
                return Replayed(nearest, Match.SIMILAR)
        return None

    def _keep(self, question: str, kind: str, arguments: Mapping[str, Any], text: str) -> None:
        self._of_question[canonical(question), kind].keep(arguments, text)
        self._anywhere[kind].keep(arguments, text)


class RecordedSearch:
    """A search that answers with what recorded runs saw, called `name`; misses say that nothing was found."""

    def __init__(self, recordings: Recordings, name: str, threshold: float = THRESHOLD) -> None:
        self.name = name
        self._recordings, self._threshold = recordings, threshold

    def call(self, arguments: Mapping[str, Any], situation: Situation) -> Observation:
        found = self._recordings.find(situation.question, self.name, arguments, self._threshold)
        if found is None:
            return Observation(NOTHING_FOUND, match=Match.MISS)
        return Observation(literal(found.text), match=found.match)


def words(text: str) -> Counter[str]:
    """The words of a query, without case and marks."""
    return Counter(re.findall(r"\w+", text.casefold()))


def overlap(one: Counter[str], other: Counter[str]) -> float:
    """F1 of two multisets of words, from 0 to 1; 0 where one is empty."""
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


class _Shelf:
    """Calls of one kind: what they saw, by their canonical arguments, and the words of their queries."""

    def __init__(self) -> None:
        self.seen: dict[str, str] = {}
        self._queries: list[tuple[Counter[str], str]] = []
        self._holding: defaultdict[str, list[int]] = defaultdict(list)  # queries by their words

    def keep(self, arguments: Mapping[str, Any], text: str) -> None:
        key, query = _key(arguments), query_of(arguments)
        if key in self.seen:
            return
        self.seen[key] = text
        if query:
            own = words(query)
            for word in own:
                self._holding[word].append(len(self._queries))
            self._queries.append((own, key))

    def nearest(self, query: Counter[str], threshold: float) -> str | None:
        """What the most similar query saw, the first recorded of equals; None below `threshold`."""
        related = sorted({number for word in query for number in self._holding.get(word, ())})
        best = max(
            related, key=lambda number: overlap(query, self._queries[number][0]), default=None
        )
        if best is None:
            return None
        found, key = self._queries[best]
        return self.seen[key] if overlap(query, found) >= threshold else None


def _key(arguments: Mapping[str, Any]) -> str:
    """A call's arguments, the same however they are written: the query itself where they are one."""
    return query_of(arguments) or json.dumps(dict(arguments), sort_keys=True, ensure_ascii=False)
