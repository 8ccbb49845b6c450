"""Which sets stand in an audit's table, and where its results go."""

from collections.abc import Sequence
from pathlib import Path

from ..data.candidates import Candidate, CandidateSet
from ..data.identity import candidate_id
from ..data.render import NEUTRAL
from ..data.store import Store
from ..miner.embed import Embedder
from ..scorer.audit import AuditModels
from ..scorer.selection import Normalisation
from .auditing import AuditPlan, AuditResult, Corpus, Progress, audit, random_set
from .calibrations import calibration_key
from .masking import rules_of
from .result_file import write_lines


def audit_sets(
    store: Store,
    sets: Sequence[CandidateSet],
    models: AuditModels,
    embedder: Embedder,
    plan: AuditPlan,
    progress: Progress = lambda done, total: None,
) -> AuditResult:
    """Audits the first of `sets` at all its sizes, with the others, a random set and the neutral sentences beside it.

    ForethoughtError where they were mined with different mask rules.
    """
    corpus = Corpus.of(list(store.traces()), embedder, rules_of(*sets))
    baselines = [random_set(corpus.thoughts, plan.seed, min(6, len(sets[0].active))), neutral_set()]
    return audit(corpus, [*sets, *nested(sets[0]), *baselines], models, plan, progress)


def nested(candidate_set: CandidateSet) -> list[CandidateSet]:
    """The set's first k candidates for every k below its size: the points of the recovery curve."""
    return [candidate_set.first(size) for size in range(1, len(candidate_set.active))]


def neutral_set() -> CandidateSet:
    """The content-free sentences as a set: what merely restoring the format is worth."""
    return CandidateSet("neutral", tuple(Candidate(candidate_id(text), text) for text in NEUTRAL))


def save_audit(
    store: Store,
    candidate_set: CandidateSet,
    result: AuditResult,
    records: Path | None = None,
    report: Path | None = None,
) -> None:
    """Keeps the report and the calibrations in the store; writes records and report.html where asked."""
    from .report import write_report

    store.put("audit", candidate_set.name, result.report)
    settings = result.report["settings"]
    bias = {
        c.id: result.batch_bias[c.id] for c in candidate_set.active if c.id in result.batch_bias
    }
    if bias:
        key = calibration_key(candidate_set, settings["revision"], Normalisation(settings["alpha"]))
        store.put("calibration", key, {"bias": bias, "fit": result.report["fit"]})
    if records is not None:
        write_lines(records, result.records)
    if report is not None:
        write_report(report, result.report, candidate_set)
