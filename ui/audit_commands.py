"""The verbs that measure: audit, coverage, pairs, drift, transfer. Each parses, calls a service and prints, as in `cli.py`, which includes them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..data.store import DEFAULT
from . import terminal
from .command_options import AsJson, EmbedderPath, MaskRulesPath, Model, Seed, SetName, StoreUrl
from .score_options import require_finite
from .wiring import find_set, make_embedder, make_models, open_existing

audit_app = typer.Typer()


class SlicedBy(StrEnum):
    """What an audit's figures can be told apart by (`scorer/slices.py`)."""

    SOURCE = "source"
    FILE = "file"
    OUTCOME = "outcome"
    POSITION = "position"
    ACTION = "action"


Judged = Annotated[
    Path | None,
    typer.Option(help="Judged pairs (JSONL): the coverage threshold they give replaces .6."),
]
Records = Annotated[
    Path | None, typer.Option(help="From `audit --records`: likelihood's confusions, too.")
]


@audit_app.command()
def audit(
    name: SetName,
    other: Annotated[str | None, typer.Argument(help="A second set, compared pairwise.")] = None,
    store: StoreUrl = DEFAULT,
    model: Model = None,
    reference: Annotated[
        str | None, typer.Option(help="Untrained model that prices actions; default SmolLM2.")
    ] = None,
    embedder: EmbedderPath = None,
    limit: Annotated[
        int, typer.Option(min=0, help="Test turns, and two thirds as many choose turns; 0: all.")
    ] = 48,
    oracle: Annotated[bool, typer.Option(help="Price 64 random thoughts too, for oracles.")] = True,
    records: Annotated[Path | None, typer.Option(help="Write a JSON line a turn here.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write report.html here.")] = None,
    fail_under: Annotated[
        list[str] | None, typer.Option(help="METRIC=X: exit 1 if the metric is below X.")
    ] = None,
    by: Annotated[
        list[SlicedBy] | None, typer.Option(help="Show the figures by slice of this kind, too.")
    ] = None,
    judged: Judged = None,
    seed: Seed = 0,
    alpha: Annotated[float, typer.Option(help="Length exponent of SSR's score.")] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Measure what a set is worth on held-out turns: recovery, collapse, agreement, latency."""
    from .audit_table import show_audit
    from .auditing import AuditPlan
    from .comparison_table import show_slices
    from .gates import parse_gate
    from .judging import read_judged
    from .reporting import audit_sets, save_audit
    from .result_file import require_writable

    gates = [parse_gate(text) for text in fail_under or []]
    require_writable(records, report)
    require_finite("alpha", alpha)
    pairs = read_judged(judged) if judged else []
    opened = open_existing(store)
    sets = [find_set(opened, one) for one in (name, other) if one]
    plan = AuditPlan(
        test_turns=limit or None,
        choose_turns=-(-2 * limit // 3) or None,
        oracle=oracle,
        alpha=alpha,
        seed=seed,
        judged=tuple(pairs),
    )
    with terminal.bar("audit", quiet=as_json) as progress:
        result = audit_sets(
            opened,
            sets,
            make_models(model, reference, alpha),
            make_embedder(embedder),
            plan,
            progress,
        )
    save_audit(opened, sets[0], result, records, report)
    show_audit(result.report, as_json=as_json)
    for kind in () if as_json else by or ():
        show_slices(result.report, kind)
    missed = [message for gate in gates if (message := gate.miss(result.report))]
    for message in missed:
        typer.echo(message, err=True)
    if missed:
        raise typer.Exit(1)


@audit_app.command()
def coverage(
    name: SetName,
    store: StoreUrl = DEFAULT,
    source: Annotated[str | None, typer.Option(help="Of this collection only.")] = None,
    judged: Judged = None,
    uncovered: Annotated[
        Path | None, typer.Option(help="Write the uncovered thoughts here, a JSON line each.")
    ] = None,
    embedder: EmbedderPath = None,
    as_json: AsJson = False,
) -> None:
    """What a set covers of held-out thoughts, and the thoughts it does not, most typical first. No language model."""
    from .comparing import coverage_report
    from .comparison_table import show_coverage
    from .corpus import Corpus
    from .judging import read_judged
    from .masking import rules_of
    from .result_file import require_writable, write_lines

    require_writable(uncovered)
    pairs = read_judged(judged) if judged else []
    opened = open_existing(store)
    candidate_set = find_set(opened, name)
    corpus = Corpus.of(
        list(opened.traces(source)), make_embedder(embedder), rules_of(candidate_set)
    )
    report = coverage_report(corpus, candidate_set, pairs)
    if uncovered is not None:
        write_lines(uncovered, report["uncovered"])
    show_coverage(report, as_json=as_json)


@audit_app.command()
def pairs(
    name: SetName,
    store: StoreUrl = DEFAULT,
    records: Records = None,
    embedder: EmbedderPath = None,
    as_json: AsJson = False,
) -> None:
    """Candidates that are taken for each other: alike in text, in assignment or in likelihood, and what to do."""
    from .comparing import confusable_pairs, read_records
    from .comparison_table import show_pairs
    from .corpus import Corpus
    from .masking import rules_of

    recorded = read_records(records) if records else []
    opened = open_existing(store)
    candidate_set = find_set(opened, name)
    corpus = Corpus.of(list(opened.traces()), make_embedder(embedder), rules_of(candidate_set))
    show_pairs(confusable_pairs(corpus, candidate_set, recorded), as_json=as_json)


@audit_app.command()
def drift(
    name: SetName,
    new: Annotated[list[str], typer.Argument(help="Stored sources, or files of new traces.")],
    store: StoreUrl = DEFAULT,
    old: Annotated[
        list[str] | None, typer.Option(help="Sources to hold against; default: all others.")
    ] = None,
    release: Annotated[int | None, typer.Option(help="This release of the set.")] = None,
    judged: Judged = None,
    embedder: EmbedderPath = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Whether new runs still make the moves that a set was mined from. Exit 1 if they drifted."""
    from .comparing import drift_report, released, traces_named
    from .comparison_table import show_drift
    from .corpus import Corpus
    from .judging import read_judged
    from .masking import rules_of

    pairs = read_judged(judged) if judged else []
    opened = open_existing(store)
    candidate_set = find_set(opened, name)
    if release is not None:
        candidate_set = released(opened, candidate_set, release)
    traces = traces_named(opened, new)
    others = old or [source for source in opened.sources() if source not in new]
    corpus = Corpus.of(
        traces_named(opened, others), make_embedder(embedder), rules_of(candidate_set)
    )
    report = drift_report(corpus, candidate_set, traces, pairs, seed)
    show_drift(report, as_json=as_json)
    if report["drift"]:
        raise typer.Exit(1)


@audit_app.command()
def transfer(
    sources: Annotated[
        list[str] | None, typer.Argument(help="Sources of the matrix; default: all.")
    ] = None,
    store: StoreUrl = DEFAULT,
    budget: Annotated[int, typer.Option(min=1, help="Candidates at most, each set.")] = 12,
    test: Annotated[int, typer.Option(min=0, help="Test turns of each source; 0: all.")] = 0,
    recovery: Annotated[
        bool, typer.Option("--recovery", help="Price actions too: assigned recovery.")
    ] = False,
    reference: Annotated[
        str | None, typer.Option(help="Untrained model that prices actions; default SmolLM2.")
    ] = None,
    mask_rules: MaskRulesPath = None,
    embedder: EmbedderPath = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Mined on each source, audited on every other: does a set carry over? Exit 3 if a source could not take part."""
    from ..miner.mask_rules import read_rules
    from .comparison_table import show_transfer
    from .transferring import TransferPlan, transfer

    opened = open_existing(store)
    rules = read_rules(mask_rules) if mask_rules else None
    plan = TransferPlan(tuple(sources or ()), budget, test or None, seed=seed, rules=rules)
    models = make_models(reference, reference) if recovery else None
    with terminal.stages("transfer", quiet=as_json) as progress:
        matrix = transfer(opened, make_embedder(embedder), plan, models, progress)
    show_transfer(matrix, as_json=as_json)
    if matrix["failures"]:
        raise typer.Exit(3)
