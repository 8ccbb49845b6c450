"""The full audit behind docs/measurements.md: every held-out turn of the shipped traces, every set, the oracle's pool.

    python benchmarks/measure.py                        # about an hour on two quiet cores; go on after a stop by running it again
    python benchmarks/measure.py --test 200 --choose 120    # the first so many turns, in the order fixed by hash

Mines the shipped traces, audits the mined set at all its sizes against SSR's six, six written by hand before any score was seen,
random sets and neutral sentences, and prints Markdown. Records, report and store go to out/measure/.
"""

import argparse
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch loads

from forethought.data.formats import read_traces
from forethought.data.identity import Split
from forethought.data.store import Store
from forethought.scorer.summary import constant_difference, differences, trial
from forethought.ui import terminal
from forethought.ui.audit_table import interval, value
from forethought.ui.auditing import AuditPlan, Corpus, audit, random_set, view_of
from forethought.ui.demo import SAMPLES, SOURCE
from forethought.ui.importing import import_traces
from forethought.ui.mining import MiningRequest, mine_set
from forethought.ui.reporting import nested, neutral_set, save_audit
from forethought.ui.wiring import find_set, make_embedder, make_models

OUT = Path("out/measure")
NAME = "mined"
PACKAGES = ("torch", "transformers", "sentence-transformers", "hdbscan", "scikit-learn")
Json = Mapping[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--test", type=int, help="test turns; default all")
    parser.add_argument("--choose", type=int, help="choose turns; default all")
    parser.add_argument("--no-oracle", action="store_true", help="leave out the 64 random thoughts")
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    store, embedder = Store.open(OUT / "forethought.db"), make_embedder(None)
    files = sorted(map(str, SAMPLES.glob("*.json.gz")))
    import_traces(store, read_traces(files, source=SOURCE))
    mine_set(store, NAME, embedder, MiningRequest(12, SOURCE))
    mined = store.candidate_set(NAME)
    corpus = Corpus.of(list(store.traces()), embedder)
    sets = [mined, *(find_set(store, name) for name in ("ssr", "handwritten"))]
    sets += [random_set(corpus.thoughts, 0, size) for size in (6, 12)] + [neutral_set()]
    sets += nested(mined)
    oracle = not arguments.no_oracle
    plan = AuditPlan(arguments.test, arguments.choose, latency_turns=16, oracle=oracle)
    with terminal.bar("audit") as progress:
        result = audit(corpus, sets, make_models(None, None), plan, progress)
    save_audit(store, mined, result, OUT / "records.jsonl", OUT / "report.html")
    print(
        "\n".join([*heading(result.report), *table(result.report), *paired(result.records, sets)])
    )


def heading(report: Json) -> list[str]:
    turns, free = report["turns"], report["free_gain"]
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return [
        f"`{' '.join(['python', *sys.argv])}`: {turns['test']} test turns, {turns['choose']} choose turns; "
        f"reference and audited model {report['settings']['model']}; {versions}; "
        f"Python {platform.python_version()}.",
        "",
        f"The free thought gains {interval(free)} nats over a neutral sentence, of it "
        f"{interval(report['free_kind_nats'])} on the action's kind. "
        f"Best constant: {interval(report['constant_recovery'])} "
        f'("{report["texts"][report["constant_recovery"]["id"]]}").',
        "",
    ]


def table(report: Json) -> list[str]:
    """One row a set; recovery unless a column says otherwise."""
    columns = (
        *("set", "size", "assigned", "kind part, nats", "arguments part", "routed"),
        *(
            "oracle (random sets of that size)",
            "selected raw",
            "pmi",
            "batch",
            "most used, raw",
            "unassigned",
        ),
    )
    rows = [f"| {' | '.join(columns)} |", f"| {' | '.join('---' for _ in columns)} |"]
    for name, found in report["sets"].items():
        assigned, selected = found["assigned_recovery"], found["selected_recovery"]
        cells = [
            name,
            str(found["size"]),
            interval(assigned),
            f"{assigned['kind_nats']:.2f}",
            f"{assigned['arguments']:.2f}",
            interval(found["routed_recovery"]),
            f"{value(found['oracle_recovery'])} ({value(found['oracle_random'])})",
            *(value(selected[calibration]) for calibration in ("raw", "pmi", "batch")),
            value(found["collapse"]["top_share"]),
            value(found["escape"]),
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return [*rows, ""]


def paired(records: Sequence[Json], sets: Sequence[Any]) -> list[str]:
    """Paired differences of the mined six and twelve from every other set and from the best constant."""
    run = trial(records)
    views = {candidate_set.name: view_of(candidate_set) for candidate_set in sets}
    ids = list(dict.fromkeys(id for view in views.values() for id in view.ids))
    rows = [
        "| less | assigned, mined six | routed, mined six | assigned, mined twelve | routed, mined twelve |",
        "| --- | --- | --- | --- | --- |",
    ]
    mined = [views[f"{NAME}[:6]"], views[NAME]]
    others = {name: view for name, view in views.items() if not name.startswith(NAME)}
    for name, view in others.items():
        found = [differences(run, main, view) for main in mined]
        rows.append(_difference_row(name, found))
    rows.append(_difference_row("best constant", [constant_difference(run, m, ids) for m in mined]))
    turns = [record for record in records if record["split"] == Split.TEST]
    questions = len({record["question"] for record in turns})
    return [*rows, "", f"{questions} test questions."]


def _difference_row(name: str, found: Sequence[Json]) -> str:
    cells = [
        interval(one[f"{policy}_recovery"]) for one in found for policy in ("assigned", "routed")
    ]
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
