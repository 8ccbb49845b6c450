"""The verbs that measure: audit. Each parses, calls a service and prints, as in `cli.py`, which includes them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..data.store import DEFAULT
from . import terminal
from .command_options import AsJson, EmbedderPath, Model, Seed, SetName, StoreUrl
from .score_options import require_finite
from .wiring import find_set, make_embedder, make_models, open_existing

audit_app = typer.Typer()


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
    seed: Seed = 0,
    alpha: Annotated[float, typer.Option(help="Length exponent of SSR's score.")] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Measure what a set is worth on held-out turns: recovery, collapse, agreement, latency."""
    from .audit_table import show_audit
    from .auditing import AuditPlan
    from .gates import parse_gate
    from .reporting import audit_sets, save_audit
    from .result_file import require_writable

    gates = [parse_gate(text) for text in fail_under or []]
    require_writable(records, report)
    require_finite("alpha", alpha)
    opened = open_existing(store)
    sets = [find_set(opened, one) for one in (name, other) if one]
    plan = AuditPlan(
        test_turns=limit or None,
        choose_turns=-(-2 * limit // 3) or None,
        oracle=oracle,
        alpha=alpha,
        seed=seed,
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
    missed = [message for gate in gates if (message := gate.miss(result.report))]
    for message in missed:
        typer.echo(message, err=True)
    if missed:
        raise typer.Exit(1)
