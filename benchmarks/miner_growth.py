"""What stays of a set when a tenth more traces come: candidates, stored support, and what the rule says when it is fitted again.

    python benchmarks/miner_growth.py        # two minutes on two cores, vectors cached

A tenth of the shipped traces' questions is held back, a set of 12 mined from the rest and grown by what was held back; five draws.
Prints Markdown: new turns, those that joined a candidate, candidates added, share of old support that stays, and share of old
turns to which the rule, fitted on all turns, gives the same candidate as when it was fitted on the old ones.
"""

import random
from collections.abc import Sequence

from forethought.data.candidates import CandidateSet
from forethought.data.formats import read_traces
from forethought.data.traces import Trace
from forethought.miner.assign import Assigner
from forethought.miner.embed import Embedder
from forethought.miner.incremental import grow
from forethought.miner.mask import Mask
from forethought.miner.mine import mine, mineable
from forethought.ui.demo import SAMPLES
from forethought.ui.wiring import make_embedder

DRAWS = 5
HELD_BACK = 11  # one of so many questions: a tenth of those that are left


def main() -> None:
    traces = [t for t in read_traces([*map(str, SAMPLES.glob("*.json*"))]) if isinstance(t, Trace)]
    embedder = make_embedder(None)
    print("| draw | new turns | joined | added | support that stays | same by the rule anew |")
    print(6 * "| --- " + "|")
    for draw in range(DRAWS):
        print(f"| {draw + 1} | {measured(traces, embedder, draw)} |", flush=True)


def measured(traces: Sequence[Trace], embedder: Embedder, draw: int) -> str:
    """A row of the table."""
    questions = sorted({trace.question for trace in traces})
    random.Random(draw).shuffle(questions)
    held_back = set(questions[: len(questions) // HELD_BACK])
    old = [trace for trace in traces if trace.question not in held_back]
    before = mine(old, embedder, "old").candidate_set
    growth = grow(before, traces, {trace.id for trace in old}, embedder)
    after = growth.candidate_set
    kept = zip(before.candidates, after.candidates, strict=False)
    assert all((a.id, a.text) == (b.id, b.text) for a, b in kept)
    stays = stored(before) & stored(after)
    same = share_alike(assigned(old, old, before, embedder), assigned(traces, old, after, embedder))
    counts = f"{growth.num_new} | {growth.num_placed} | {len(growth.added)}"
    return f"{counts} | {len(stays) / len(stored(before)):.1%} | {same:.1%}"


def stored(candidate_set: CandidateSet) -> set[tuple[str, str]]:
    return {(one.id, turn) for one in candidate_set.candidates for turn in one.support}


def assigned(
    fitted: Sequence[Trace], asked: Sequence[Trace], candidate_set: CandidateSet, embedder: Embedder
) -> tuple[int | None, ...]:
    """The candidate of each turn of `asked`, by the rule fitted on `fitted`."""
    thoughts = mineable(fitted)
    rule = Assigner(thoughts, Mask.fit(thoughts), embedder)
    return rule.assign(mineable(asked), [one.text for one in candidate_set.candidates]).rows


def share_alike(first: Sequence[int | None], second: Sequence[int | None]) -> float:
    return sum(a == b for a, b in zip(first, second, strict=True)) / len(first)


if __name__ == "__main__":
    main()
