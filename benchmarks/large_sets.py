"""Choosing from a set of hundreds of real thoughts: in full, by exact pruning, by two levels, by constrained decoding.

    python benchmarks/large_sets.py             # 512 candidates, 12 contexts; about six minutes on two cores
    python benchmarks/large_sets.py --quick

Candidates are distinct thoughts of the *mine* split of the traces that ship with Forethought, contexts are turns of its *choose* split
with the recorded history; the model is the packaged one. Pruning must choose what scoring in full chooses. Prints Markdown.
"""

import argparse
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import numpy as np
from scoring import print_rows, versions

from forethought.data.formats import read_traces
from forethought.data.identity import Split, split_of
from forethought.data.render import render_context
from forethought.data.traces import Trace
from forethought.miner.embed import SentenceEmbedder
from forethought.scorer.compiled_set import CompiledSet, compile_set
from forethought.scorer.constrained import Disagreement, disagreement, forks_of, score_constrained
from forethought.scorer.context import Context
from forethought.scorer.latency import milliseconds
from forethought.scorer.model import LanguageModel, load_model
from forethought.scorer.plain import totals
from forethought.scorer.pruning import Pruned, Rule, select_pruning
from forethought.scorer.score import score_sharing_context
from forethought.scorer.two_level import Grouping, agreement

SAMPLE = "fireact-llama-2-13b.json.gz"
LONGEST = 60  # tokens of a candidate
RULES = {"sum": 0.0, "mean": 1.0}  # exponent of the length that a sum is divided by
EPSILON = 0.01
BEAMS = (2, 4, 8)


@dataclass
class Trial:
    """What one way took, and what it chose, a context each."""

    spent: list[float] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)
    found: list[Pruned] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="128 candidates, 3 contexts")
    size, count = (128, 3) if parser.parse_args().quick else (512, 12)
    model = load_model()
    traces = list(sample_traces())
    compiled = draw_set(model, traces, size)
    contexts = draw_contexts(model, traces, count)
    print(f"# Large sets: {model.name}, {versions()}\n")
    tokens = int(compiled.num_tokens.sum())
    print(f"{size} thoughts of {tokens / size:.1f} tokens, {count} contexts of ", end="")
    print(f"{np.mean(list(map(len, contexts))):.0f} tokens, after the shared prefill\n", flush=True)
    compare(model, compiled, contexts)


def sample_traces() -> Iterator[Trace]:
    with resources.as_file(
        resources.files("forethought.data").joinpath(f"samples/{SAMPLE}")
    ) as path:
        for item in read_traces([Path(path)], source="fireact", format=None):
            if isinstance(item, Trace):
                yield item


def draw_set(model: LanguageModel, traces: Sequence[Trace], size: int) -> CompiledSet:
    thoughts = sorted(
        {
            thought
            for trace in traces
            if split_of(trace.question) is Split.MINE
            for turn in trace.turns
            for thought in turn.thoughts
            if len(model.encode(thought)) <= LONGEST
        }
    )
    order = np.random.default_rng(0).permutation(len(thoughts))
    distinct = {" ".join(thoughts[i].casefold().split()): thoughts[i] for i in order}
    return compile_set(model, sorted(distinct.values())[:: len(distinct) // size][:size])


def draw_contexts(model: LanguageModel, traces: Sequence[Trace], count: int) -> list[list[int]]:
    rendered = [
        render_context(trace, index)
        for trace in traces
        if split_of(trace.question) is Split.CHOOSE
        for index in range(1, len(trace.turns))
    ]
    order = np.random.default_rng(0).permutation(len(rendered))[:count]
    return [model.encode(rendered[i]) for i in order]


def compare(model: LanguageModel, compiled: CompiledSet, contexts: Sequence[Sequence[int]]) -> None:
    ways = [
        "full",
        *(f"{rule} {aim}" for rule in RULES for aim in ("choice", "distribution")),
        "constrained",
    ]
    trials = {way: Trial() for way in ways}
    all_sums, constrained = [], []
    forks_of(compiled.ids)  # once a set
    for ids in contexts:
        context = Context(model, ids, capacity=len(ids))
        scored = timed(trials["full"], lambda c=context: score_sharing_context(c, compiled.ids))
        all_sums.append(totals(scored.log_probs))
        for name, alpha in RULES.items():
            rule = Rule(compiled.num_tokens**alpha, np.zeros(len(compiled.ids)))
            for aim, epsilon in (("choice", np.inf), ("distribution", EPSILON)):
                trial = trials[f"{name} {aim}"]
                found = timed(
                    trial,
                    lambda c=context, r=rule, e=epsilon: select_pruning(
                        c, compiled.ids, r, epsilon=e
                    ),
                )
                trial.found.append(found)
        constrained.append(
            timed(trials["constrained"], lambda c=context: score_constrained(c, compiled.ids))
        )
    report(compiled, trials, np.array(all_sums))
    print_levels(compiled, np.array(all_sums))
    for name, alpha in RULES.items():
        chosen = (np.array(all_sums) / compiled.num_tokens**alpha).argmax(1).tolist()
        print_disagreement(name, disagreement(chosen, constrained))


def timed(trial: Trial, act):  # noqa: ANN001, ANN201
    """What `act` returns; its time goes to the trial."""
    kept = []
    trial.spent.append(milliseconds(lambda: kept.append(act())))
    return kept[0]


def report(compiled: CompiledSet, trials: dict[str, Trial], sums: np.ndarray) -> None:
    full = statistics.median(trials["full"].spent)
    rows = [("all candidates in full, ms", f"{full:.0f}", "")]
    for name, alpha in RULES.items():
        exact = (sums / compiled.num_tokens**alpha).argmax(1)
        for aim in ("choice", "distribution"):
            trial = trials[f"{name} {aim}"]
            spent = statistics.median(trial.spent)
            nodes = statistics.mean(found.nodes / found.all_nodes for found in trial.found)
            same = np.mean([f.selected == e for f, e in zip(trial.found, exact, strict=True)])
            worst = max(found.epsilon for found in trial.found)
            rows += [
                (f"{name}, {aim}: ms", f"{spent:.0f} ({full / spent:.1f} times faster)", ""),
                (f"{name}, {aim}: nodes run of all", f"{nodes:.0%}", ""),
                (f"{name}, {aim}: same choice as in full", f"{same:.0%}", "100 %"),
            ]
            if aim == "distribution":
                rows.append((f"{name}: largest epsilon returned", f"{worst:.1e}", f"{EPSILON:.0e}"))
    spent = statistics.median(trials["constrained"].spent)
    rows.append(("constrained decoding's probabilities, ms", f"{spent:.0f}", ""))
    print_rows("## Exact pruning", rows)


def print_levels(compiled: CompiledSet, sums: np.ndarray) -> None:
    rows = []
    grouping = Grouping.by_vectors(SentenceEmbedder().embed(list(compiled.texts)))
    for name, alpha in RULES.items():
        for beam in BEAMS:
            found = agreement(sums / compiled.num_tokens**alpha, grouping, beam)
            rows.append(
                (
                    f"{name}, {len(grouping.representatives)} groups by meaning, best {beam}",
                    f"same choice {found.share:.0%}, {found.scored:.0f} scored, {found.regret:.2f} nats lost",
                    "",
                )
            )
    print_rows("## Two levels (approximate)", rows)


def print_disagreement(name: str, found: Disagreement) -> None:
    rows = [
        ("likeliest by trie-local probability differs", f"{found.likeliest:.0%}", ""),
        ("greedy constrained decoding ends elsewhere", f"{found.greedy:.0%}", ""),
    ]
    print_rows(f"## Constrained decoding against the exact choice by {name}", rows)


if __name__ == "__main__":
    main()
