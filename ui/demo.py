"""The whole job once, small and real: the traces that ship with Forethought, to a measured and exported set.

A sample is audited so that it ends in minutes on two cores; `make measure` audits every held-out turn.
"""

import time
from pathlib import Path

from ..data.candidates import CandidateSet
from ..data.formats import read_traces
from ..data.store import Store
from ..miner.embed import Embedder
from ..scorer.audit import AuditModels
from . import terminal
from .audit_table import show_audit, show_mining
from .auditing import AuditPlan, AuditResult
from .exporting import ExportOptions, export_set
from .import_table import show_import
from .importing import ImportReport, import_traces
from .mining import MiningRequest, mine_set
from .reporting import audit_sets, save_audit
from .wiring import find_set, make_embedder, make_models, token_counter

SAMPLES = Path(__file__).parent.parent / "data" / "samples"
SOURCE = "fireact-hotpotqa"
NAME = "demo"
BUDGET = 12
PLAN = AuditPlan(test_turns=24, choose_turns=16, latency_turns=4, oracle=False)
BASELINES = ("ssr", "handwritten")


def run_demo(out: Path, seed: int = 0) -> None:
    """Import, mine, audit, latency, export; prints the tables and writes `out/report.html`."""
    started = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    store = Store.open(out / "forethought.db")
    embedder = make_embedder(None)
    _import(store)
    candidate_set = _mine(store, embedder)
    models = make_models(None, None)
    result = _audit(store, candidate_set, models, embedder, seed)
    report = out / "report.html"
    save_audit(store, candidate_set, result, out / "records.jsonl", report)
    _export(store, candidate_set, models, embedder, out)
    _conclude(result, candidate_set, report, time.monotonic() - started)


def _import(store: Store) -> ImportReport:
    terminal.OUT.rule("1. import: FireAct's ReAct traces on HotpotQA, three agents, 500 questions")
    files = sorted(str(path) for path in SAMPLES.glob("*.json.gz"))
    with terminal.counter("import") as progress:
        report = import_traces(
            store,
            read_traces(files, source=SOURCE),
            lambda r: progress(r.traces + r.duplicates),
        )
    show_import(report, as_json=False)
    return report


def _mine(store: Store, embedder: Embedder) -> CandidateSet:
    terminal.OUT.rule("2. mine: the thoughts of half of the questions, to at most 12 candidates")
    with terminal.stages("mine") as progress:
        result = mine_set(store, NAME, embedder, MiningRequest(BUDGET, SOURCE), progress)
    candidate_set = store.candidate_set(NAME)
    show_mining(candidate_set, result, as_json=False)
    return candidate_set


def _audit(
    store: Store, candidate_set: CandidateSet, models: AuditModels, embedder: Embedder, seed: int
) -> AuditResult:
    terminal.OUT.rule("3. audit: what the set is worth on questions that mining never saw")
    terminal.OUT.print(
        f"A sample: {PLAN.test_turns} test and {PLAN.choose_turns} choose turns, one a question; latency on "
        f"{PLAN.latency_turns} turns; no oracle. Intervals are wide. `make measure` makes the full figures."
    )
    sets = [candidate_set, *(find_set(store, name) for name in BASELINES)]
    plan = AuditPlan(PLAN.test_turns, PLAN.choose_turns, PLAN.latency_turns, PLAN.oracle, seed=seed)
    with terminal.bar("audit") as progress:
        return audit_sets(store, sets, models, embedder, plan, progress)


def _export(
    store: Store, candidate_set: CandidateSet, models: AuditModels, embedder: Embedder, out: Path
) -> None:
    terminal.OUT.rule("4. export: the set and its labelled turns")
    options = ExportOptions(count_tokens=token_counter(models.reference))
    for dialect in ("ssr-library", "trl-sft"):
        folder = out / dialect
        manifest = export_set(store, candidate_set, dialect, folder, embedder, options)
        terminal.show_export(manifest, folder, as_json=False)


def _conclude(
    result: AuditResult, candidate_set: CandidateSet, report: Path, seconds: float
) -> None:
    terminal.OUT.rule("5. result")
    show_audit(result.report, as_json=False)
    terminal.show_set(candidate_set)
    terminal.OUT.print(f"{seconds:.0f} s. Pictures and every figure: {report}")
    terminal.OUT.print(f"Curate it: forethought ui --store {report.parent / 'forethought.db'}")
