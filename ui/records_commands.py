"""`forethought bench-records`: run records made elsewhere, reckoned again. Parses, calls `Reckoning` and prints."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ..data.errors import ForethoughtError
from .command_options import AsJson, Seed
from .wiring import make_judge

records_app = typer.Typer()


class RecordMetric(StrEnum):
    """How an answer counts."""

    EXACT = "exact"
    RELAXED = "relaxed"
    JUDGE = "judge"


@records_app.command("bench-records")
def bench_records(
    paths: Annotated[
        list[str],
        typer.Argument(
            help="Files, folders or globs of run records: SSR's, SenseNova-MARS's or veRL's, lists of answers, or a bench's own; "
            "NAME=PATH to name them."
        ),
    ],
    metric: Annotated[
        RecordMetric, typer.Option(help="How an answer counts.")
    ] = RecordMetric.EXACT,
    truths: Annotated[
        str | None,
        typer.Option(
            help="NAME=PATH of a benchmark that knows the answers, where records hold none."
        ),
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="URL of an OpenAI-compatible server that judges answers.")
    ] = None,
    judge_model: Annotated[str, typer.Option(help="The judging model's name there.")] = "",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Reckon run records made elsewhere again, and compare with the figures that stand in them. Exit 3 if some were no records."""
    from ..data.benchmarks.table import read_benchmark
    from .bench.elsewhere.reading import Reading
    from .bench.elsewhere.reckoning import Reckoning
    from .bench.plan import Place
    from .bench.verdicts import require_answering
    from .records_table import show_records

    told = make_judge(judge, judge_model)
    if (metric is RecordMetric.JUDGE) != (told is not None):
        raise ForethoughtError("--metric judge and --judge URL go together")
    if told is not None:
        require_answering(told)
    readings = [Reading.of(path) for path in paths]
    known = read_benchmark(*Place.of(truths)).questions if truths else ()
    report = Reckoning(metric.value, told, known, seed).report(readings)
    show_records(report, as_json=as_json)
    if report["no_records"]:
        raise typer.Exit(3)
