"""Is a rating worth more than chance, margin and log Z, at equal share? Over what a bench recorded in select and think, nothing played.

    python benchmarks/proactive.py bench-out/hotpotqa-replay --store demo-out/forethought.db --set demo

With --store the signals of its recorded turns are read off the packaged model again. Prints Markdown. What ratings are worth once they are taught:
`forethought ratings`.
"""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch loads

import numpy as np

from forethought.data.store import Store
from forethought.scorer.agent.thinking import Library, Mode
from forethought.scorer.model import load_model
from forethought.scorer.routing.proactive.recorded import (
    RecordedArms,
    recorded_questions,
    recorded_turns,
)
from forethought.scorer.routing.proactive.signal_table import (
    AT,
    RANDOM,
    RIVALS,
    always,
    signal_table,
)
from forethought.scorer.routing.proactive.signals import (
    Entropy,
    JointChance,
    LogZ,
    Look,
    Margin,
    OwnChance,
    Signal,
)
from forethought.ui.bench.casting import agents_of
from forethought.ui.bench.plan import BenchPlan, Place
from forethought.ui.bench.replaying import replay_of
from forethought.ui.wiring import find_set

PACKAGES = ("torch", "transformers", "scikit-learn")
READ_AGAIN: dict[str, Signal] = {
    "margin": Margin(),
    "log Z": LogZ(),
    "entropy": Entropy(),
    "rating, untaught: own": OwnChance(),
    "rating, untaught: joint": JointChance(),
}
Json = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="of one benchmark, in a bench's --out")
    parser.add_argument("--store", help="where the bench's runs and set are")
    parser.add_argument("--set", default="demo")
    arguments = parser.parse_args()
    versions = ", ".join(f"{one} {version(one)}" for one in PACKAGES)
    print(f"`{' '.join(['python', *sys.argv])}`: {versions}.\n")
    turns = recorded_turns(rows_of(arguments.folder / "agreement.jsonl"))
    again = read_again(arguments, turns.ids) if arguments.store else {}
    print(f"{len(turns.ids)} recorded turns; success: the action is of the recorded kind.\n")
    tell(turns, again)
    questions = recorded_questions(rows_of(arguments.folder / "records.jsonl"))
    print(f"{len(questions.ids)} questions; success: exact match; cost: seconds of the model.\n")
    tell(questions, {})


def rows_of(file: Path) -> list[Json]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def read_again(arguments: argparse.Namespace, ids: Sequence[str]) -> dict[str, np.ndarray]:
    """The signals of recorded turns after the very context that they were played after."""
    store = Store.open(arguments.store)
    active = find_set(store, arguments.set).active
    arena = replay_of(store, None, [one.text for one in active])
    model = load_model()
    plan = BenchPlan((Place(arena.name),), (Mode.SELECT,))
    agent = agents_of(model, arena, active, plan)[Mode.SELECT]
    contexts = {turn.id: turn.context for turn in arena.turns}
    library = Library.of(model, [one.text for one in active])
    session, rows = agent.start(), []
    for id in ids:
        before = session.length
        session.append_text(model.encode(contexts[id]))
        session.settle()
        look = Look(session, library)
        rows.append([signal.need(look) for signal in READ_AGAIN.values()])
        session.rollback(before)
    return dict(zip(READ_AGAIN, np.array(rows).T, strict=True))


def tell(found: RecordedArms, again: Mapping[str, np.ndarray]) -> None:
    """A row a signal: its area and success at equal shares, and what it is above random, margin and log Z."""
    only = [int((found.arms.gain * sign > 0).sum()) for sign in (-1, 1)]
    print(f"Only the cheap arm is right on {only[0]}, only the stronger on {only[1]}.\n")
    cheap, strong = (one["success"] for one in always(found.arms))
    print(f"Always the cheap arm {cheap:.3f}, always the stronger {strong:.3f}.\n")
    needs = {RANDOM: np.zeros(len(found.ids)), **found.needs, **again}
    heads = ["signal", "area", *(f"at {share:.0%}" for share in AT), "cost at 50 %"]
    heads += [f"area less {rival}" for rival in RIVALS]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for name, row in signal_table(found.arms, needs, {}).items():
        cells = [told(row["area"], 1), *(f"{100 * share:.1f}" for share in row["at"].values())]
        cells.append(f"{row['cost_at_half']:.2f}")
        cells += [told(row[key], 2) if key in row else "" for key in RIVALS.values()]
        print(f"| {name} | {' | '.join(cells)} |")
    print()


def told(estimate: Json, digits: int) -> str:
    """In percentage points."""
    value, low, high = (100 * estimate[key] for key in ("value", "low", "high"))
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


if __name__ == "__main__":
    main()
