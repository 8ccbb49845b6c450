"""How good mined sets are beside other ways to get one, on three sources of traces, by a reference model on held-out turns.

    make mining-peers                                             # once: BERTopic, in an environment of its own
    .venv-mining/bin/python benchmarks/miner_quality.py           # hours on two cores; run again to go on after a stop
    .venv-mining/bin/python benchmarks/miner_quality.py --sizes 6 16 --test 60 --choose 30
    .venv-mining/bin/python benchmarks/miner_quality.py --time    # ours and BERTopic on 20,000 turns, from text to set

Sources: FireAct's runs, which ship with the project, and KnowAgent's runs on HotpotQA and in ALFWorld, read from `--data`. Sets and records go to
out/miner-quality/, prices to the cache, where all audits find them. Prints Markdown.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch loads

from mining_baselines import medoids, supported, topic_documents, without_mask
from quality_table import Key, Part, difference_tables, pooled_table, source_table

from forethought.data.candidates import CandidateSet
from forethought.data.errors import ForethoughtError
from forethought.data.formats import read_traces
from forethought.data.identity import content_id
from forethought.data.library import builtin, read_library
from forethought.data.traces import Trace
from forethought.miner.embed import CachedEmbedder, Embedder, SentenceEmbedder
from forethought.miner.lint import lint
from forethought.miner.mine import MinerSettings, mine
from forethought.scorer.audit import AuditModels
from forethought.scorer.summary import trial
from forethought.ui.auditing import AuditPlan, Corpus, audit, pool_of, view_of
from forethought.ui.demo import SAMPLES
from forethought.ui.result_file import write_lines, write_whole
from forethought.ui.wiring import make_embedder, make_models

ROOT = Path(__file__).resolve().parent.parent
OUT = Path("out/miner-quality")
KNOWAGENT = Path("knowagent/trajs")
HOUSEHOLD = Path(__file__).with_name("handwritten-household.json")
SIZES = (6, 16, 32)
OURS, SSR, HAND, RANDOM, MEDOIDS, TOPICS, UNMASKED = WAYS = (
    *("ours", "SSR's six", "six by hand", "random thoughts", "k-means medoids"),
    *("BERTopic", "ours without masking"),
)
MINER = [path.read_text("utf-8") for path in sorted((ROOT / "miner").glob("*.[pt]*"))]  # as it runs
FEWEST_QUESTIONS = 5  # that should support a candidate
PACKAGES = ("bertopic", "umap-learn", "hdbscan", "scikit-learn", "sentence-transformers", "torch")


class Made(NamedTuple):
    """The texts of a way by the size asked for, and what it took to make them all, embedding counted."""

    texts: Mapping[int, Sequence[str]]
    seconds: float | None


@dataclass(frozen=True)
class Source:
    """Traces, and the six sentences that were written for their task."""

    name: str
    traces: Sequence[Trace]
    by_hand: CandidateSet


def main() -> None:
    arguments = parse()
    sources = read_sources(arguments.data)
    print(f"`{' '.join(['python', *sys.argv])}`: {versions()}.\n")
    if arguments.time:
        from mining_time import time_programs  # needs BERTopic's environment; the audit does not

        traces = [trace for source in sources for trace in source.traces]
        return print("\n".join(time_programs(traces, arguments.turns)))
    embedder, models = make_embedder(None), make_models(None, None)
    plan = AuditPlan(arguments.test, arguments.choose, latency_turns=0, oracle=arguments.oracle)
    parts = [
        audited(source, plan, arguments.sizes, models, embedder, seed)
        for seed, source in enumerate(sources)
    ]
    lines = [line for part in parts for line in source_table(part, WAYS, arguments.sizes)]
    lines += pooled_table(parts, WAYS, arguments.sizes)
    lines += difference_tables(parts, OURS, WAYS, arguments.sizes)
    print("\n".join(lines))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    data = ROOT.parent / "shared" / "data" / "traces"
    parser.add_argument("--data", type=Path, default=data, help="folder with knowagent/ below it")
    parser.add_argument("--test", type=int, default=60, help="test turns a source")
    parser.add_argument("--choose", type=int, default=30, help="choose turns a source")
    parser.add_argument("--sizes", type=int, nargs="+", choices=SIZES, default=SIZES)
    parser.add_argument("--oracle", action="store_true", help="price 64 random thoughts, too")
    parser.add_argument("--time", action="store_true", help="time ours and BERTopic instead")
    parser.add_argument("--turns", type=int, default=20_000, help="with --time")
    return parser.parse_args()


def read_sources(data: Path) -> list[Source]:
    """FireAct's runs and what there is of the others; what is missing is told in a line."""
    by_hand, runs = builtin("handwritten"), data / KNOWAGENT
    found = [
        Source("fireact-hotpotqa", read(sorted(SAMPLES.glob("*.json.gz")), "fireact"), by_hand)
    ]
    for name, file, written in (
        ("knowagent-hotpotqa", "KnowAgentHotpotQA_llama-2-13b_D0.jsonl", by_hand),
        ("knowagent-alfworld", "KnowAgentALFWorld_llama-2-13b_D0.jsonl", read_library(HOUSEHOLD)),
    ):
        if (runs / file).is_file():
            found.append(Source(name, read([runs / file], name), written))
        else:
            print(f"{name} is left out: no {runs / file}; --data names another folder")
    return found


def read(paths: Sequence[Path], source: str) -> list[Trace]:
    """The distinct runs of the files, in order of their ids."""
    read = read_traces([str(path) for path in paths], source=source)
    return sorted(
        {trace.id: trace for trace in read if isinstance(trace, Trace)}.values(),
        key=lambda trace: trace.id,
    )


def audited(
    source: Source,
    plan: AuditPlan,
    sizes: Sequence[int],
    models: AuditModels,
    embedder: Embedder,
    seed: int,
) -> Part:
    """All sets of a source, made and audited; `seed` of its resamples."""
    corpus = Corpus.of(source.traces, embedder)
    made = make_sets(source, corpus, embedder.name)
    sets = {
        Key(way, size): supported(f"{way}, {size}", one.texts[size], corpus)
        for way, one in made.items()
        for size in sizes
        if size in one.texts
    }

    def progress(done: int, total: int) -> None:
        if done % 5 == 0 or done == total:
            told(f"{source.name}: {done} of {total} turns priced")

    result = audit(corpus, list(sets.values()), models, plan, progress)
    folder = OUT / source.name
    write_lines(folder / "records.jsonl", result.records)
    write_whole(folder / "report.json", json.dumps(result.report, indent=1) + "\n")
    seconds = {way: one.seconds for way, one in made.items() if one.seconds is not None}
    views = {key: view_of(candidates) for key, candidates in sets.items()}
    largest = sets[Key(OURS, max(sizes))]
    checks = checks_of(largest, corpus)
    return Part(source.name, result.report, trial(result.records, seed), views, seconds, checks)


def checks_of(ours: CandidateSet, corpus: Corpus) -> list[str]:
    """What our candidates promise by themselves: no instance word, no filler, and support."""
    leaking = [c.text for c in ours.active if corpus.mask.leaked_words(c.text) or lint(c.text)]
    rare = [c for c in ours.active if c.questions < FEWEST_QUESTIONS]
    return [
        f"Ours, {len(ours.active)} texts: {len(leaking)} with an instance word, filler or another fault that the lint names"
        + "".join(f'; "{text}"' for text in leaking)
        + f"; {len(rare)} supported by fewer than {FEWEST_QUESTIONS} questions; "
        f"fewest {min(c.questions for c in ours.active)}."
    ]


def make_sets(source: Source, corpus: Corpus, embedder: str) -> dict[str, Made]:
    """Every way's texts, out of the file where the same miner made them of the same traces before: another one makes others."""
    path = OUT / source.name / "sets.json"
    key = content_id("quality", [[t.id for t in source.traces], embedder, MINER])
    kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
    rows = kept["rows"] if kept.get("key") == key else {}
    for way, make in makers(source, corpus).items():
        if way in rows:
            continue
        told(f"{source.name}: making {way}")
        try:
            texts, seconds = timed(make)
        except ImportError as error:
            print(f"{way} is left out: not installed ({error}); run `make mining-peers`")
            continue
        rows[way] = {"seconds": seconds, "texts": texts}
        write_whole(path, json.dumps({"key": key, "rows": rows}, indent=1, ensure_ascii=False))
    made = {
        way: Made({int(size): texts for size, texts in row["texts"].items()}, row["seconds"])
        for way, row in rows.items()
    }
    six = {SSR: builtin("ssr"), HAND: source.by_hand}
    return made | {
        way: Made({len(s.active): [c.text for c in s.active]}, None) for way, s in six.items()
    }


def makers(
    source: Source, corpus: Corpus
) -> dict[str, Callable[[Embedder], dict[int, Sequence[str]]]]:
    """For each way that mines, what makes its texts at all sizes."""
    whole = [thought.whole for thought in corpus.thoughts]

    def ours(embedder: Embedder) -> dict[int, Sequence[str]]:
        settings = MinerSettings(budget=max(SIZES))
        found = mine(source.traces, embedder, OURS, settings).candidate_set
        return nested([candidate.text for candidate in found.active])

    def unmasked(embedder: Embedder) -> dict[int, Sequence[str]]:
        with without_mask():
            return ours(embedder)

    return {
        OURS: ours,
        RANDOM: lambda embedder: nested(pool_of(corpus.thoughts, 0, max(SIZES))),
        MEDOIDS: lambda embedder: {
            size: medoids(whole, embedder.embed(whole), size) for size in SIZES
        },
        TOPICS: lambda embedder: nested(topic_documents(whole, embedder.embed(whole))),
        UNMASKED: unmasked,
    }


def nested(texts: Sequence[str]) -> dict[int, Sequence[str]]:
    return {size: texts[:size] for size in SIZES}


def timed(
    make: Callable[[Embedder], dict[int, Sequence[str]]],
) -> tuple[dict[int, Sequence[str]], float]:
    """What was made, and the seconds it took with a loaded model and an empty cache of vectors."""
    model = SentenceEmbedder()
    model.embed(["warm"])
    with TemporaryDirectory() as folder:
        started = time.perf_counter()
        texts = make(CachedEmbedder(model, Path(folder)))
        return texts, time.perf_counter() - started


def versions() -> str:
    found = [f"{package} {number}" for package in PACKAGES if (number := _version(package))]
    return ", ".join([*found, f"Python {platform.python_version()}"])


def told(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    try:
        main()
    except ForethoughtError as error:
        sys.exit(str(error))
