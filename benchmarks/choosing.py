"""Ways to choose without scoring everything in full: what they save, and how often they choose otherwise.

    python benchmarks/choosing.py                    # a quarter of an hour on two cores
    python benchmarks/choosing.py --contexts 4 --size 260

Contexts are *choose* turns of the shipped traces. Exact pruning and two-level selection are compared on one large set, distinct
thoughts of *mine* turns as they stand, constrained decoding on the built-in sets. Scores are SSR's mean, and the sum. Milliseconds
come after the shared prefill. Prints Markdown.
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
from forethought.scorer.latency import milliseconds
from forethought.scorer.model import load_model
from forethought.scorer.plain import totals
from forethought.scorer.pruning import Pruned, Rule, select_pruning
from forethought.scorer.score import score_sharing_context
from forethought.scorer.selection import Normalisation
from forethought.scorer.two_level import LARGE, Grouping, agreement
from forethought.ui.auditing import Corpus, pool_of
from forethought.ui.demo import SAMPLES, SOURCE
from forethought.ui.held_out import held_out
from forethought.ui.importing import import_traces
from forethought.ui.wiring import make_embedder

MOST_CHARACTERS = 200  # of a thought in the large set
BEAMS = (1, 2, 4, 8)
EPSILON = 0.01  # of a pruned distribution


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--contexts", type=int, default=16)
    parser.add_argument("--size", type=int, default=2 * LARGE, help="of the large set")
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
    compiled = compile_set(model, texts)
    compare_pruning(compiled, contexts)
    compare_levels(compiled, embedder.embed(texts), contexts)


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


def compare_pruning(compiled: CompiledSet, contexts: list[Context]) -> None:
    """A row for each way to score and each aim: the choice alone, or a distribution too."""
    print(
        f"\n| {len(compiled.ids)} candidates pruned | full ms | pruned ms | nodes run | same choice | largest epsilon |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for written in ("sum", "mean"):
        rule = Rule(compiled.divisors(Normalisation.parse(written)), np.zeros(len(compiled.ids)))
        for aim, epsilon in (("choice", np.inf), ("distribution", EPSILON)):
            found = [prune(compiled, context, rule, epsilon) for context in contexts]
            full, spent, nodes, same, epsilons = np.array(found).T
            cells = [f"{np.median(full):.0f}", f"{np.median(spent):.0f}", f"{nodes.mean():.0%}"]
            cells += [f"{same.mean():.2f}", f"{epsilons.max():.0e}" if aim != "choice" else ""]
            print(f"| {written}, {aim} | {' | '.join(cells)} |", flush=True)


def prune(compiled: CompiledSet, context: Context, rule: Rule, epsilon: float) -> list[float]:
    """Milliseconds in full and pruned, share of nodes run, whether both chose alike, the epsilon returned."""
    context.logits()
    exact: list[np.ndarray] = []
    found: list[Pruned] = []
    full = milliseconds(lambda: exact.append(rule.scores(totals_of(compiled, context))))
    spent = milliseconds(
        lambda: found.append(select_pruning(context, compiled.ids, rule, epsilon=epsilon))
    )
    (pruned,) = found
    same = pruned.selected == int(exact[0].argmax())
    return [full, spent, pruned.nodes / pruned.all_nodes, float(same), pruned.epsilon]


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
    return np.stack([totals_of(compiled, context) for context in contexts])


def totals_of(compiled: CompiledSet, context: Context) -> np.ndarray:
    """(candidates,) nats."""
    return totals(score_sharing_context(context, compiled.ids).log_probs)


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
