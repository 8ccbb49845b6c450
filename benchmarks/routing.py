"""Utility routing on a table of outcomes: `python benchmarks/routing.py TABLE [--seeds N]` prints the tables of docs/routing.md.

Everything is chosen on *choose* questions; *test* questions are measured once. The networks are shown averaged and one by one.
"""

import argparse
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from forethought.data.identity import Split
from forethought.scorer.routing.outcome_files import read_outcomes
from forethought.scorer.routing.utility.contest import Contest, contest, part_of
from forethought.scorer.routing.utility.latent_router import Example, Settings, area
from forethought.ui.routing import asked
from forethought.ui.routing_commands import interval
from forethought.ui.wiring import make_embedder

LIBRARIES = ("torch", "scikit-learn", "sentence-transformers", "numpy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--embedder", default=None)
    options = parser.parse_args()
    table, embedder = read_outcomes([options.table]), make_embedder(options.embedder)
    whole = Example(asked(table, embedder), table)
    found = contest(whole, Settings(seeds=options.seeds), embedder.name)
    print(f"`python {' '.join(sys.argv)}`; {', '.join(f'{n} {version(n)}' for n in LIBRARIES)}\n")
    show(found)
    show_seeds(found, whole)


def show(found: Contest) -> None:
    report = found.report
    arms = list(report["arms"])
    print(f"{report['questions']}, best single {report['best_single']}\n")
    print(
        f"| router | nAUC | on *choose* | own range | peak | QNC | Rank score | {' / '.join(arms)}, % | LatentRouter less it |"
    )
    print("|" + " --- |" * 9)
    for name, row in report["routers"].items():
        shares = " / ".join(f"{100 * row['shares'][arm]:.0f}" for arm in arms)
        reached = "never" if row["qnc"] is None else f"{row['qnc']:.3f}"
        figures = (
            f"{row['nauc_own_range']:.4f} | {row['peak']:.4f} | {reached} | {row['rank_score']:.4f}"
        )
        difference = interval(row["difference"], signed="+")
        choose = f"{row['nauc_choose']:.4f}"
        print(
            f"| {name} | {interval(row['nauc'])} | {choose} | {figures} | {shares} | {difference} |"
        )


def show_seeds(found: Contest, whole: Example) -> None:
    """nAUC of each network alone, on the questions it was stopped by and on those it was measured on."""
    print("\n| seed | choose | test |\n| --- | --- | --- |")
    parts = [part_of(whole, split) for split in (Split.CHOOSE, Split.TEST)]
    for seed, network in enumerate(found.router.networks):
        alone = replace(found.router, networks=(network,))
        areas = [area(alone, alone.encoder(one.asked), one.outcomes) for one in parts]
        print(f"| {seed} | {' | '.join(f'{one:.4f}' for one in areas)} |")


if __name__ == "__main__":
    main()
