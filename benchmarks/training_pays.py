"""Does training pay? Two audits of one set, before and after, paired turn by turn: the same turns, priced by the same untrained reference.

    forethought audit demo --limit 100 --no-oracle --records before.jsonl --json > before.json
    forethought train demo --out trained --limit 250 --rate 1e-4 --looks 3
    forethought audit demo --limit 100 --no-oracle --records after.jsonl --json --model trained/model > after.json
    .venv/bin/python benchmarks/training_pays.py before after

Prints Markdown. The best constant is the one that the first audit chose on *choose* turns.
"""

import argparse
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from forethought.data.store import DEFAULT, Store
from forethought.scorer.metrics import Estimate
from forethought.scorer.recovery import SetView, gains_of, routed_choice, selected_choice
from forethought.scorer.summary import Trial, trial
from forethought.ui.auditing import view_of
from forethought.ui.wiring import find_set, open_existing

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Audit:
    """A report, its records, and the set that was audited."""

    report: Json
    run: Trial
    view: SetView

    @property
    def taken(self) -> list[str]:
        """What the model selects on each *test* turn."""
        return selected_choice(self.run.test, self.view.ids, "raw")

    @property
    def agreed(self) -> np.ndarray:
        """(turns,) whether that announces the action that was taken."""
        pairs = zip(self.run.test, self.taken, strict=True)
        return np.array([float(self.view.expects(id, record["kind"])) for record, id in pairs])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", help="begins the names BEFORE.json and BEFORE.jsonl")
    parser.add_argument("after")
    parser.add_argument("--store", default=DEFAULT)
    arguments = parser.parse_args()
    store = open_existing(arguments.store)
    before, after = (read(name, store) for name in (arguments.before, arguments.after))
    check_same(before, after)
    print_table(before, after)
    print_gap(before, after)


def read(name: str, store: Store) -> Audit:
    report = json.loads(Path(f"{name}.json").read_text("utf-8"))
    lines = Path(f"{name}.jsonl").read_text("utf-8").splitlines()
    view = view_of(find_set(store, report["set"]))
    return Audit(report, trial([json.loads(line) for line in lines]), view)


def check_same(before: Audit, after: Audit) -> None:
    """The same turns, and prices that differ by nothing."""
    for one, other in zip(before.run.test, after.run.test, strict=True):
        if (one["trace"], one["turn"], one["lp"]) != (other["trace"], other["turn"], other["lp"]):
            raise SystemExit(
                f"{one['trace']}:{one['turn']}: not the same turn, or not the same prices"
            )


def print_table(before: Audit, after: Audit) -> None:
    run, free = before.run, before.run.free.total
    agreed = [one.agreed for one in (before, after)]
    gains = [gains_of(run.test, one.taken).total for one in (before, after)]
    rise = run.resampler.difference(gains[1], gains[0], free)
    print("| *test* turns | before | after | difference, paired |\n| --- | --- | --- | --- |")
    told = [run.resampler.mean(one) for one in (*agreed, agreed[1] - agreed[0])]
    print("| action agreement, raw | " + " | ".join(map(tell, told)) + " |")
    told = [*(run.resampler.ratio(one, free) for one in gains), rise]
    print("| selected recovery, raw | " + " | ".join(map(tell, told)) + " |")
    shares = [Counter(one.taken).most_common(1)[0][1] / len(run.test) for one in (before, after)]
    print(
        f"| share of the candidate taken most | {shares[0]:.2f} | {shares[1]:.2f} | {shares[1] - shares[0]:+.2f} |"
    )
    kinds = Counter(record["kind"] for record in run.test)
    print(
        f"\n{len(run.test)} turns; the most frequent kind of action alone: {max(kinds.values()) / len(run.test):.2f}.\n"
    )


def print_gap(before: Audit, after: Audit) -> None:
    """How selected recovery after training stands to the best constant and to routes."""
    run, free = before.run, before.run.free.total
    constant = before.report["constant_recovery"]["id"]
    choices = {
        "before": before.taken,
        "after": after.taken,
        "constant": [constant] * len(run.test),
        "routed": routed_choice(run.test, run.choose, before.view.ids),
    }
    gains = {name: gains_of(run.test, choice).total for name, choice in choices.items()}
    print("| selected after, less | difference in recovery |\n| --- | --- |")
    for name in ("constant", "routed"):
        print(f"| {name} | {tell(run.resampler.difference(gains['after'], gains[name], free))} |")
    closed = run.resampler.ratio(
        gains["after"] - gains["before"], gains["routed"] - gains["before"]
    )
    print(f"\nOf the untrained gap to routed recovery {tell(closed)} is closed.")


def tell(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


if __name__ == "__main__":
    main()
