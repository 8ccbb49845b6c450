"""Our mining and BERTopic timed on the same turns in one run, from text to set.

Both embed with the same model on the same machine, from an empty cache: BERTopic all thoughts as they stand, ours what its recipe
asks for. Both have run once on fewer turns, so that nothing is loaded or compiled while the clock runs. Wall clock and, since
a machine may be busy, processor time.
"""

import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from mining_baselines import topic_documents

from forethought.data.identity import Split
from forethought.data.traces import Trace
from forethought.miner.embed import CachedEmbedder, Embedder, SentenceEmbedder
from forethought.miner.mine import mine, mineable

WARM_UP = 600  # turns
INSTANCE = re.compile(
    r"(?<=[\w,;] )[A-Z][\w'’-]+|\b[a-z]+(?= \d)|\d+"
)  # names, things counted, numbers
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


class Spent(NamedTuple):
    """Seconds of one program: wall clock and processor, all of it and of embedding alone; texts embedded; size of the set."""

    name: str
    wall: float
    processor: float
    embedding_wall: float
    embedding_processor: float
    embedded: int
    texts: int


class TimedEmbedder:
    """Another embedder, with a stopwatch."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.wall = self.processor = 0.0
        self.embedded = 0

    @property
    def name(self) -> str:
        return self.embedder.name

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        wall, processor = time.perf_counter(), time.process_time()
        vectors = self.embedder.embed(texts)
        self.wall += time.perf_counter() - wall
        self.processor += time.process_time() - processor
        self.embedded += len(texts)
        return vectors


def time_programs(traces: Sequence[Trace], turns: int) -> list[str]:
    """Both programs on `turns` *mine* turns, made of `traces` with fresh instances, as Markdown."""
    model = SentenceEmbedder()
    few, many = (fresh_traces(traces, number) for number in (min(WARM_UP, turns), turns))
    lines = [
        "| program | seconds | without embedding | embedding | processor seconds | without embedding | texts embedded | texts in the set |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    found = []
    for name, program in (("ours", _ours), ("BERTopic", _topics)):
        measure(name, program, few, model)
        spent = measure(name, program, many, model)
        found.append(spent)
        lines.append(
            f"| {name} | {spent.wall:.1f} | {spent.wall - spent.embedding_wall:.1f} | {spent.embedding_wall:.1f} | "
            f"{spent.processor:.1f} | {spent.processor - spent.embedding_processor:.1f} | {spent.embedded} | {spent.texts} |"
        )
    ours, theirs = found
    whole = ours.wall / theirs.wall
    rest = (ours.wall - ours.embedding_wall) / (theirs.wall - theirs.embedding_wall)
    thoughts = mineable(many)
    distinct = len({thought.whole for thought in thoughts})
    return [
        f"{len(thoughts)} turns, {distinct} distinct thoughts.",
        "",
        *lines,
        "",
        f"Ours takes {whole:.2f} of BERTopic's time, {rest:.2f} without embedding.",
    ]


def measure(
    name: str,
    program: Callable[[Sequence[Trace], Embedder], int],
    traces: Sequence[Trace],
    model: Embedder,
) -> Spent:
    with TemporaryDirectory() as folder:
        timed = TimedEmbedder(model)
        embedder = CachedEmbedder(timed, Path(folder)) if program is _ours else timed
        wall, processor = time.perf_counter(), time.process_time()
        texts = program(traces, embedder)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return Spent(name, wall, processor, timed.wall, timed.processor, timed.embedded, texts)


def fresh_traces(traces: Sequence[Trace], turns: int) -> list[Trace]:
    """Copies of the runs with instances renamed, the same way throughout a run, until they hold `turns` *mine* turns."""
    found: list[Trace] = []
    for number in count():
        for trace in traces:
            copy = renamed(trace, number) if number else trace
            if copy.split is Split.MINE:
                found.append(copy)
                turns -= sum(bool(t.thoughts) and len(t.actions) == 1 for t in copy.turns)
            if turns <= 0:
                return found
    raise AssertionError("counting ends")


def renamed(trace: Trace, number: int) -> Trace:
    """The run with other names and numbers."""
    names: dict[str, str] = {}

    def other(match: re.Match[str]) -> str:
        word = match.group()
        return names.setdefault(word, _name(word, f"{number} {trace.id} {word}"))

    def fresh(value: Any) -> Any:
        return INSTANCE.sub(other, value) if isinstance(value, str) else value

    turns = [
        replace(
            turn,
            thoughts=tuple(map(fresh, turn.thoughts)),
            observations=tuple(map(fresh, turn.observations)),
            actions=tuple(
                replace(a, arguments={k: fresh(v) for k, v in a.arguments.items()})
                for a in turn.actions
            ),
        )
        for turn in trace.turns
    ]
    return replace(trace, question=fresh(trace.question), turns=tuple(turns))


def _name(word: str, seed: str) -> str:
    drawn = random.Random(seed)
    if word.isdigit():
        return str(drawn.randrange(1, 10 ** len(word)))
    made = "".join(drawn.choices(SYLLABLES, k=drawn.randint(2, 4)))
    return made.capitalize() if word[0].isupper() else made


def _ours(traces: Sequence[Trace], embedder: Embedder) -> int:
    return len(mine(traces, embedder, "ours").candidate_set.candidates)


def _topics(traces: Sequence[Trace], embedder: Embedder) -> int:
    whole = [thought.whole for thought in mineable(traces)]
    return len(topic_documents(whole, embedder.embed(whole), seed=None))
