"""How often the ways that are not exact take another candidate than the exact choice does.

    python benchmarks/approximations.py                    # a quarter of an hour on two cores
    python benchmarks/approximations.py --contexts 4 --size 260

Contexts are *choose* turns of the shipped traces. Constrained decoding is compared on the built-in sets, two-level selection on
one large set: distinct thoughts of *mine* turns as they stand. Scores are SSR's mean. Prints Markdown.
"""

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch loads

import numpy as np

from forethought.data.candidates import RESERVED
from forethought.data.formats import read_traces
from forethought.data.identity import Split
from forethought.data.library import builtin
from forethought.data.render import render_context
from forethought.data.store import Store
from forethought.data.traces import Trace
from forethought.scorer.compiled_set import CompiledSet, compile_set
from forethought.scorer.constrained import disagreement, score_constrained
from forethought.scorer.context import Context
from forethought.scorer.model import load_model
from forethought.scorer.plain import totals
from forethought.scorer.score import score_sharing_context
from forethought.scorer.selection import Normalisation
from forethought.scorer.two_level import LARGE, Grouping, agreement
from forethought.ui.auditing import Corpus, held_out, pool_of
from forethought.ui.demo import SAMPLES, SOURCE
from forethought.ui.importing import import_traces
from forethought.ui.wiring import make_embedder

MOST_CHARACTERS = 200  # of a thought in the large set
BEAMS = (1, 2, 4, 8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--contexts", type=int, default=16)
    parser.add_argument("--size", type=int, default=LARGE + 64, help="of the large set")
    arguments = parser.parse_args()
    model, embedder, traces = load_model(), make_embedder(None), shipped_traces()
    turns = held_out(traces, Split.CHOOSE, arguments.contexts)
    contexts = [
        Context(model, model.encode(render_context(turn.trace, turn.index))) for turn in turns
    ]
    print("| set | contexts | constrained differs | greedy differs | largest log Z |")
    print("| --- | --- | --- | --- | --- |")
    for name in ("ssr", "handwritten"):
        compiled = compile_set(model, [c.text for c in builtin(name).active])
        compare_constrained(name, compiled, contexts)
    texts = large_set(Corpus.of(traces, embedder), arguments.size)
    compare_levels(compile_set(model, texts), embedder.embed(texts), contexts)


def shipped_traces() -> list[Trace]:
    with TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "traces.db")
        files = sorted(map(str, SAMPLES.glob("*.json.gz")))
        import_traces(store, read_traces(files, source=SOURCE))
        return list(store.traces())


def compare_constrained(name: str, compiled: CompiledSet, contexts: list[Context]) -> None:
    """A row a normalisation."""
    sums = all_sums(compiled, contexts)
    local = [score_constrained(context, compiled.ids) for context in contexts]
    whole = np.logaddexp.reduce(sums, axis=1).max()
    for written in ("sum", "mean"):
        scores = sums / compiled.divisors(Normalisation.parse(written))
        found = disagreement(scores.argmax(axis=1).tolist(), local)
        shares = f"{found.likeliest:.2f} | {found.greedy:.2f}"
        print(f"| {name}, {written} | {found.contexts} | {shares} | {whole:.1f} |", flush=True)


def compare_levels(compiled: CompiledSet, vectors: np.ndarray, contexts: list[Context]) -> None:
    """A row for each way to group and each beam."""
    scores = all_sums(compiled, contexts) / compiled.num_tokens
    groupings = {
        "stem": Grouping.by_stem(compiled.ids),
        "vectors": Grouping.by_vectors(vectors),
    }
    print(
        f"\n| {len(compiled.ids)} candidates in groups by | groups | beam | scored | same choice | regret |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for name, grouping in groupings.items():
        for beam in BEAMS:
            found = agreement(scores, grouping, beam)
            num = len(grouping.representatives)
            print(
                f"| {name} | {num} | {beam} | {found.scored:.0f} | {found.share:.2f} | {found.regret:.3f} |"
            )


def all_sums(compiled: CompiledSet, contexts: list[Context]) -> np.ndarray:
    """(contexts, candidates) nats."""
    return np.stack([totals(score_sharing_context(c, compiled.ids).log_probs) for c in contexts])


def large_set(corpus: Corpus, size: int) -> list[str]:
    """Distinct *mine* thoughts of common length, in a fixed random order."""
    texts = pool_of(corpus.thoughts, 0, len(corpus.thoughts))
    fit = [
        text
        for text in texts
        if len(text) <= MOST_CHARACTERS and not any(tag in text for tag in RESERVED)
    ]
    return fit[:size]


if __name__ == "__main__":
    main()
