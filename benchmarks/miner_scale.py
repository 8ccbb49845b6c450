"""What mining costs, stage by stage, as turns become many: seconds, and the process's peak memory.

    python benchmarks/miner_scale.py                          # 10,000 and 100,000 turns with cheap vectors
    python benchmarks/miner_scale.py --turns 1000000
    python benchmarks/miner_scale.py --turns 10000 --vectors minilm --data FOLDER
    python benchmarks/miner_scale.py --turns 10000 --vectors minilm --executor ray

Turns are real ones drawn again and again: a run of the shipped traces (and of --data) is a new run when each name and number in it, in
question, thoughts, actions and observations alike, gives way to a fresh one, and some words of its thoughts to others that mean
the same. All questions are *mine* questions, so every turn is mined. Each size runs in a process of its own, from a store on
disk. `--vectors cheap` hashes words, so that what is timed is everything but the language model. Prints Markdown.
"""

import argparse
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

from forethought.data.formats import read_traces
from forethought.data.identity import Split, split_of
from forethought.data.store import Store
from forethought.data.traces import Action, Trace, Turn
from forethought.miner.embed import Embedder
from forethought.miner.executor import Executor
from forethought.miner.stages import digest_of, peak_mib
from forethought.ui.demo import SAMPLES
from forethought.ui.mining import MiningRequest, mine_set
from forethought.ui.wiring import ExecutorKind, make_embedder, make_executor

SIZES = (10_000, 100_000)
DIMENSIONS = 384  # as MiniLM's
FEATURES = 1 << 14
INSTANCE = re.compile(
    r"(?<![.!?:] )(?<!^)\b[A-Z][a-z'’-]{2,}\b|\d+", re.MULTILINE
)  # names, numbers
WORDINGS = (
    ("need to", "have to", "should", "must", "want to"),
    ("search for", "look up", "search", "look for"),
    ("find out", "find", "determine", "learn", "establish"),
    ("does not", "doesn't", "did not", "fails to"),
    ("provide", "give", "mention", "contain", "show"),
    ("information", "details", "facts", "data"),
    ("Now I", "Next I", "So I", "Then I", "I"),
    ("the answer", "a final answer", "the final answer"),
    ("however", "but", "yet", "still"),
    ("first", "now", "next"),
    ("also", "in addition", "further"),
    ("result", "results", "page", "passage", "text"),
    ("because", "since", "as"),
    ("different", "other", "another"),
)
OTHERS = {one: options for options in WORDINGS for one in options}
WORDING = re.compile(r"\b(?:" + "|".join(sorted(OTHERS, key=len, reverse=True)) + r")\b")
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


class CheapVectors:
    """Words hashed into a fixed random projection: texts that share words are near each other."""

    name = f"cheap-{DIMENSIONS}"

    def __init__(self) -> None:
        self._hashing = HashingVectorizer(n_features=FEATURES, alternate_sign=False, norm=None)
        rng = np.random.default_rng(0)
        self._projection = rng.standard_normal((FEATURES, DIMENSIONS)).astype(np.float32)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        for start in range(0, len(texts), 8192):
            part = texts[start : start + 8192]
            vectors[start : start + len(part)] = self._hashing.transform(part) @ self._projection
        vectors += self._projection[0]  # a text without words has a vector, too
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class TimedEmbedder:
    """Another embedder, with a stopwatch and a count of texts."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder, self.name = embedder, embedder.name
        self.seconds, self.texts = 0.0, 0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        started = time.perf_counter()
        vectors = self.embedder.embed(texts)
        self.seconds += time.perf_counter() - started
        self.texts += len(texts)
        return vectors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, nargs="+", default=SIZES)
    parser.add_argument("--vectors", choices=("cheap", "minilm"), default="cheap")
    parser.add_argument("--data", nargs="*", default=[], help="more traces to draw from")
    parser.add_argument("--executor", choices=[*map(str, ExecutorKind)], default="plain")
    parser.add_argument("--one", action="store_true", help="in this process")
    arguments = parser.parse_args()
    if arguments.one:
        with make_executor(ExecutorKind(arguments.executor)) as executor:
            return measure(arguments.turns[0], arguments.vectors, arguments.data, executor)
    for turns in arguments.turns:
        same = [
            f"--vectors={arguments.vectors}",
            f"--executor={arguments.executor}",
            *(["--data", *arguments.data] if arguments.data else []),
        ]
        subprocess.run([sys.executable, __file__, "--one", f"--turns={turns}", *same], check=True)


def measure(turns: int, vectors: str, data: Sequence[str], executor: Executor) -> None:
    """Makes a store of so many turns, mines it and prints a table of stages."""
    embedder = TimedEmbedder(
        CheapVectors() if vectors == "cheap" else make_embedder(None, executor)
    )
    with TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "traces.db")
        store.add(many_traces(originals(data), turns))
        before = peak_mib()
        started, worked = time.perf_counter(), time.process_time()
        result = mine_set(store, "scale", embedder, MiningRequest(32, executor=executor))
        seconds, processor = time.perf_counter() - started, time.process_time() - worked
        print(
            f"\n**{result.num_thoughts:,} turns**, {result.num_distinct:,} distinct texts, ", end=""
        )
        print(
            f"{result.num_clusters} groups, noise {result.noise_share:.0%}, {vectors} vectors, ",
            end="",
        )
        texts = digest_of(f"{c.text} {c.support}" for c in result.candidate_set.candidates)
        print(f"executor {executor.name}, set {texts}\n")
        print(
            "| stage | rows in | rows out | seconds | processor | peak MiB |\n" + 6 * "| --- " + "|"
        )
        for stage in store.candidate_set("scale").manifest["stages"]:
            rows = f"{stage['rows']['into']:,} | {stage['rows']['out']:,}"
            spent = f"{stage['seconds']:.1f} | {stage['processor']:.1f} | {stage['peak_mib']:,}"
            print(f"| {stage['name']} | {rows} | {spent} |")
        print(f"| all | | | {seconds:.1f} | {processor:.1f} | {peak_mib():,} |")
        print(f"\nOf it embedding {embedder.texts:,} texts: {embedder.seconds:.1f} s. ", end="")
        packages = ("numpy", "scikit-learn", "hdbscan")
        print(f"Peak before mining {before:,} MiB. Python {sys.version.split()[0]}, ", end="")
        print(", ".join(f"{package} {version(package)}" for package in packages), flush=True)


def originals(data: Sequence[str]) -> list[Trace]:
    files = [*map(str, sorted(SAMPLES.glob("*.json*"))), *data]
    return [
        entry for entry in read_traces(files) if isinstance(entry, Trace) and entry.num_thoughts
    ]


def many_traces(drawn_from: Sequence[Trace], turns: int, seed: int = 0) -> Iterator[Trace]:
    """Fresh runs with at least so many mineable turns in all; the same for the same seed."""
    rng = random.Random(seed)
    made = 0
    while made < turns:
        trace = freshened(rng.choice(drawn_from), rng)
        made += sum(bool(turn.thoughts) and len(turn.actions) == 1 for turn in trace.turns)
        yield trace


def freshened(trace: Trace, rng: random.Random) -> Trace:
    """The same run about other things, in other words, on a *mine* question."""
    for attempt in count():
        names: dict[str, str] = {}

        def fresh(text: str, names: dict[str, str] = names) -> str:
            return INSTANCE.sub(lambda found: _instead(found[0], names, rng), text)

        question = fresh(trace.question) + (f" ({rng.randrange(10**6)})" if attempt else "")
        if split_of(question) is Split.MINE:
            break
    reworded = (_turn(turn, fresh, rng) for turn in trace.turns)
    return Trace(question, tuple(reworded), trace.outcome, "resampled")


def _turn(turn: Turn, fresh: Callable[[str], str], rng: random.Random) -> Turn:
    thoughts = (WORDING.sub(lambda found: rng.choice(OTHERS[found[0]]), t) for t in turn.thoughts)
    actions = (
        Action(a.name, {k: fresh(v) if isinstance(v, str) else v for k, v in a.arguments.items()})
        for a in turn.actions
    )
    return Turn(tuple(map(fresh, thoughts)), tuple(actions), tuple(map(fresh, turn.observations)))


def _instead(instance: str, names: dict[str, str], rng: random.Random) -> str:
    if instance not in names:
        made = "".join(rng.choices(SYLLABLES, k=rng.randint(2, 4))).capitalize()
        names[instance] = str(rng.randrange(10**4)) if instance.isdigit() else made
    return names[instance]


if __name__ == "__main__":
    main()
