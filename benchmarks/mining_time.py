"""Our mining and BERTopic timed on the same turns in one run, from text to set.

Both embed with the same model on the same machine, from an empty cache: BERTopic all thoughts as they stand, ours what its recipe
asks for. Both have run once on fewer turns, so that nothing is loaded or compiled while the clock runs. Wall clock and, since
a machine may be busy, processor time.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from miner_scale import many_traces
from mining_baselines import topic_documents

from forethought.data.traces import Trace
from forethought.miner.embed import CachedEmbedder, Embedder, SentenceEmbedder
from forethought.miner.mine import mine, mineable

WARM_UP = 600  # turns


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
    few, many = (list(many_traces(traces, number)) for number in (min(WARM_UP, turns), turns))
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
    thoughts = mineable(many)
    distinct = len({thought.whole for thought in thoughts})
    return [
        f"{len(thoughts)} turns, {distinct} distinct thoughts.",
        "",
        *lines,
        "",
        f"Ours takes {_share('wall', *found)} of BERTopic's time by the clock, {_share('processor', *found)} by the processor.",
    ]


def _share(clock: str, ours: Spent, theirs: Spent) -> str:
    """Of the whole, and of what is left without embedding."""
    whole = [getattr(spent, clock) for spent in (ours, theirs)]
    rest = [
        w - getattr(s, f"embedding_{clock}") for w, s in zip(whole, (ours, theirs), strict=True)
    ]
    return f"{whole[0] / whole[1]:.2f} ({rest[0] / rest[1]:.2f} without embedding)"


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


def _ours(traces: Sequence[Trace], embedder: Embedder) -> int:
    return len(mine(traces, embedder, "ours").candidate_set.candidates)


def _topics(traces: Sequence[Trace], embedder: Embedder) -> int:
    whole = [thought.whole for thought in mineable(traces)]
    return len(topic_documents(whole, embedder.embed(whole), seed=None))
