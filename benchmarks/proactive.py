"""Is a rating worth more than chance, margin and log Z, at equal share? Over recorded outcomes of two arms, nothing played.

    python benchmarks/proactive.py table routing.csv --small visual_arft_3b --large visual_arft_7b --out out/proactive
    python benchmarks/proactive.py runs bench-out/hotpotqa-replay --store demo-out/forethought.db --set demo

`table` reads outcomes of a small and a larger agent by question. The packaged SmolLM2 rates from the question alone, untrained and taught by the outcomes of
*mine* questions; a linear probe is fitted on its state after the same ones. What there is to choose is chosen on *choose*, the table is of *test*. `runs` reads
what a bench recorded in select and think; with --store the signals of its recorded turns are read off the packaged model again. Prints Markdown. A stage that is done is not done again.
"""

import argparse
import csv
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch loads

import numpy as np

from forethought.data.identity import Split, canonical, split_of
from forethought.data.library import builtin
from forethought.data.store import Store
from forethought.scorer.agent.session import LocalSession
from forethought.scorer.agent.thinking import Library, Mode
from forethought.scorer.metrics import Estimate
from forethought.scorer.model import LanguageModel, load_model
from forethought.scorer.routing.proactive.probe import Probe, fit_probe, write_probe
from forethought.scorer.routing.proactive.rating import JOINT, OWN, rate
from forethought.scorer.routing.proactive.rating_groups import grouped
from forethought.scorer.routing.proactive.rating_lessons import rating_lessons
from forethought.scorer.routing.proactive.recorded import (
    RecordedArms,
    recorded_questions,
    recorded_turns,
)
from forethought.scorer.routing.proactive.share_curve import Resampled, TwoArms, curve
from forethought.scorer.routing.proactive.signals import (
    Entropy,
    JointChance,
    LogZ,
    Look,
    Margin,
    OwnChance,
    Signal,
    entropy_need,
    margin_need,
)
from forethought.scorer.training.networks import trainable
from forethought.scorer.training.teaching import MODEL, Schedule, Training
from forethought.ui.bench.casting import agents_of
from forethought.ui.bench.plan import BenchPlan, Place
from forethought.ui.bench.replaying import replay_of
from forethought.ui.wiring import find_set

PACKAGES = ("torch", "transformers", "scikit-learn")
STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1)
AT = (0.25, 0.5, 0.75)
RANDOM = "random (its mean)"
READ_AGAIN: dict[str, Signal] = {
    "margin": Margin(),
    "log Z": LogZ(),
    "entropy": Entropy(),
    "rating, untaught: own": OwnChance(),
    "rating, untaught: joint": JointChance(),
}
Json = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """Questions of one split with the successes of both arms (n, 2) and their costs."""

    questions: Sequence[str]
    arms: TwoArms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    table = commands.add_parser("table")
    table.add_argument("file", type=Path)
    table.add_argument(
        "--small", required=True, help="the cheap arm: its columns NAME_correct, NAME_cost"
    )
    table.add_argument("--large", required=True)
    table.add_argument("--out", type=Path, required=True)
    table.add_argument("--mine", type=int, default=400)
    table.add_argument("--choose", type=int, default=200)
    table.add_argument("--test", type=int, default=1000)
    table.add_argument(
        "--by",
        choices=("outcomes", "groups"),
        default="outcomes",
        help="ratings taught by the level that was earned, or by reinforcement in groups of 8",
    )
    table.add_argument("--epochs", type=int, default=1)
    table.add_argument("--rate", type=float, default=1e-4)
    table.set_defaults(run=over_table)
    runs = commands.add_parser("runs")
    runs.add_argument("folder", type=Path, help="of one benchmark, in a bench's --out")
    runs.add_argument("--store", help="where the bench's runs and set are")
    runs.add_argument("--set", default="demo")
    runs.set_defaults(run=over_runs)
    arguments = parser.parse_args()
    versions = ", ".join(f"{one} {version(one)}" for one in PACKAGES)
    print(f"`{' '.join(['python', *sys.argv])}`: {versions}.\n")
    arguments.run(arguments)


def over_table(arguments: argparse.Namespace) -> None:
    arguments.out.mkdir(parents=True, exist_ok=True)
    sizes = {
        Split.MINE: arguments.mine,
        Split.CHOOSE: arguments.choose,
        Split.TEST: arguments.test,
    }
    asked = read_table(arguments.file, arguments.small, arguments.large, sizes)
    base = {split: read_untaught(own, split, arguments.out) for split, own in asked.items()}
    teach(asked, arguments)
    taught = {
        split: kept(
            arguments.out / f"taught-{arguments.by}-{split}.npz",
            lambda own=asked[split]: ratings_of(
                load_model(str(training_of(arguments) / MODEL)), own.questions
            ),
        )
        for split in (Split.CHOOSE, Split.TEST)
    }
    probes = [fit_on(asked, base, arm, arguments.out) for arm in (0, 1)]
    told = {
        split: needs_of(base[split], taught[split], probes) for split in (Split.CHOOSE, Split.TEST)
    }
    best = choose_forms(told[Split.CHOOSE], asked[Split.CHOOSE].arms)
    print(
        f"{', '.join(f'{len(own.questions):,} {split}' for split, own in asked.items())} questions.\n"
    )
    tell(asked[Split.TEST].arms, told[Split.TEST], best)


def read_table(
    file: Path, small: str, large: str, sizes: Mapping[Split, int]
) -> dict[Split, Asked]:
    """The first questions of each split in the order of their hash, each once."""
    with file.open(newline="", encoding="utf-8") as lines:
        rows = {canonical(row["question"]): row for row in csv.DictReader(lines)}
    order = sorted(rows, key=lambda text: blake2b(text.encode(), digest_size=8).digest())
    asked = {}
    for split, size in sizes.items():
        own = [rows[text] for text in order if split_of(text) is split][:size]
        figures = {
            part: np.array([[float(row[f"{arm}_{part}"]) for arm in (small, large)] for row in own])
            for part in ("correct", "cost")
        }
        asked[split] = Asked(
            [row["question"] for row in own], TwoArms(figures["correct"], figures["cost"])
        )
    return asked


def kept(file: Path, make: Callable[[], Mapping[str, np.ndarray]]) -> Mapping[str, np.ndarray]:
    """What `make` gives, from the file where it is there."""
    if not file.exists():
        started = time.perf_counter()
        np.savez(file, **make())
        print(f"{file.name}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    return dict(np.load(file))


def read_untaught(asked: Asked, split: Split, out: Path) -> Mapping[str, np.ndarray]:
    """The model as it is: ratings, the shipped set's margin, log Z and entropy, and the last hidden state."""

    def make() -> Mapping[str, np.ndarray]:
        model = load_model()
        library = Library.of(model, [one.text for one in builtin("ssr").active])
        found: dict[str, list[Any]] = {name: [] for name in ("margin", "log Z", "entropy", "state")}
        for session in sessions(model, asked.questions):
            look = Look(session, library)
            found["state"].append(look.hidden)
            if split is not Split.MINE:
                found["margin"].append(margin_need(look.scores))
                found["log Z"].append(-look.taken.thought.log_z)
                found["entropy"].append(entropy_need(look.scores))
        told = {name: np.array(column) for name, column in found.items()}
        return told | (ratings_of(model, asked.questions) if split is not Split.MINE else {})

    return kept(out / f"untaught-{split}.npz", make)


def sessions(model: LanguageModel, questions: Sequence[str]) -> Iterator[LocalSession]:
    """One session, settled after each question in turn."""
    session = LocalSession(model, capacity=512)
    for question in questions:
        session.rollback(0)
        session.append_text(model.encode(context_of(question)))
        session.settle()
        yield session


def context_of(question: str) -> str:
    return f"Question: {question}\n"


def ratings_of(model: LanguageModel, questions: Sequence[str]) -> Mapping[str, np.ndarray]:
    """`own` and `joint` (n,): the values of both ratings, in one pass each question."""
    found = [rate(session, (OWN, JOINT)).ratings for session in sessions(model, questions)]
    own, joint = zip(*found, strict=True)
    return {
        "own": np.array([one.value for one in own]),
        "joint": np.array([one.value for one in joint]),
    }


def training_of(arguments: argparse.Namespace) -> Path:
    return Path(arguments.out / f"training-{arguments.by}")


def teach(asked: Mapping[Split, Asked], arguments: argparse.Namespace) -> None:
    """The packaged model's ratings by the outcomes of *mine* questions; the curve is of *choose*."""
    folder = training_of(arguments)
    if (folder / MODEL / "config.json").exists():
        return
    found, served = trainable(), load_model()
    mine, choose = (
        rating_lessons(
            served,
            (OWN, JOINT),
            [context_of(text) for text in asked[split].questions],
            asked[split].arms.success.tolist(),
        )
        for split in (Split.MINE, Split.CHOOSE)
    )
    if arguments.by == "groups":
        mine = grouped(mine, asked[Split.MINE].arms.success.tolist())
    plan = Schedule(epochs=arguments.epochs, group=8, rate=arguments.rate, looks=2)
    started = time.perf_counter()
    training = Training(found.network, mine, choose[:60], plan, folder, "ratings")
    for row in training.run():
        print(json.dumps(row), file=sys.stderr)
    found.tokenizer.save_pretrained(folder / MODEL)
    print(f"taught in {time.perf_counter() - started:.0f} s", file=sys.stderr)


def fit_on(asked: Mapping[Split, Asked], base: Mapping[Split, Json], arm: int, out: Path) -> Probe:
    """Of an arm's success, on *mine* states; its strength by the likelihood of *choose*."""
    mine, choose = (
        (base[split]["state"], asked[split].arms.success[:, arm])
        for split in (Split.MINE, Split.CHOOSE)
    )

    def likelihood(probe: Probe) -> float:
        chances = probe.chances(choose[0])
        return float(np.log(np.where(choose[1] > 0, chances, 1 - chances)).mean())

    probe = max(
        (fit_probe(*mine, strength, "SmolLM2-135M") for strength in STRENGTHS), key=likelihood
    )
    write_probe(out / f"probe-{('own', 'joint')[arm]}.json", probe)
    return probe


def needs_of(
    base: Mapping[str, np.ndarray], taught: Mapping[str, np.ndarray], probes: Sequence[Probe]
) -> dict[str, np.ndarray]:
    """By signal, and by the form it is read in: of its own chance alone, or of the stronger arm's less it."""
    told = {RANDOM: np.zeros(len(base["margin"]))}
    told |= {name: base[name] for name in ("margin", "log Z", "entropy")}
    for kind, found in (("untaught", base), ("taught", taught)):
        own, joint = found["own"], found["joint"]
        told[f"rating, {kind}: own"] = -own
        told[f"rating, {kind}: joint"] = joint - own
    chances = [probe.chances(base["state"]) for probe in probes]
    told["probe: own"] = -chances[0]
    told["probe: joint"] = chances[1] - chances[0]
    return told


def choose_forms(needs: Mapping[str, np.ndarray], arms: TwoArms) -> dict[str, str]:
    """Which form of a signal has the larger area on *choose*, by the signal."""
    forms: dict[str, list[str]] = {}
    for name in needs:
        forms.setdefault(name.partition(":")[0], []).append(name)
    return {
        signal: max(own, key=lambda name: curve(arms, needs[name]).area)
        for signal, own in forms.items()
    }


def over_runs(arguments: argparse.Namespace) -> None:
    turns = recorded_turns(rows_of(arguments.folder / "agreement.jsonl"))
    again = read_again(arguments, turns.ids) if arguments.store else {}
    print(f"{len(turns.ids)} recorded turns; success: the action is of the recorded kind.\n")
    tell_recorded(turns, again)
    questions = recorded_questions(rows_of(arguments.folder / "records.jsonl"))
    print(f"{len(questions.ids)} questions; success: exact match; cost: seconds of the model.\n")
    tell_recorded(questions, {})


def rows_of(file: Path) -> list[Json]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def tell_recorded(found: RecordedArms, again: Mapping[str, np.ndarray]) -> None:
    only = [int((found.arms.gain * sign > 0).sum()) for sign in (-1, 1)]
    print(f"Only the cheap arm is right on {only[0]}, only the stronger on {only[1]}.\n")
    needs = {RANDOM: np.zeros(len(found.ids)), **found.needs, **again}
    tell(found.arms, needs, {})


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


def tell(arms: TwoArms, needs: Mapping[str, np.ndarray], chosen: Mapping[str, str]) -> None:
    """A row a signal: its area and success at equal shares, and what it is above random, margin and log Z."""
    resampled = Resampled(arms)
    always = arms.success.mean(axis=0)
    print(f"Always the cheap arm {always[0]:.3f}, always the stronger {always[1]:.3f}.\n")
    rivals = [name for name in (RANDOM, "margin", "log Z") if name in needs]
    heads = ["signal", "area", *(f"at {share:.0%}" for share in AT), "cost at 50 %"]
    heads += [f"area less {rival.split(' (')[0]}" for rival in rivals]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    rows = {**needs, "oracle": arms.gain}
    for name, need in rows.items():
        own = curve(arms, need)
        cells = [told(resampled.area(need), 1), *(f"{100 * own.at(share):.1f}" for share in AT)]
        cells.append(f"{np.interp(0.5, own.shares, own.cost):.2f}")
        cells += [
            "" if rival == name else told(resampled.compared(need, needs[rival]).area, 2)
            for rival in rivals
        ]
        print(
            f"| {name}{' (chosen)' * (name in chosen.values() and ':' in name)} | {' | '.join(cells)} |"
        )
    print()


def told(estimate: Estimate, digits: int) -> str:
    """In percentage points."""
    assert estimate.value is not None and estimate.low is not None and estimate.high is not None
    value, low, high = (100 * one for one in (estimate.value, estimate.low, estimate.high))
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


if __name__ == "__main__":
    main()
