"""`forethought train`: a small model taught to select from a set, on this machine. Parses, calls `training` and prints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from ..data.store import DEFAULT
from . import terminal
from .command_options import AsJson, EmbedderPath, Model, Seed, SetName, StoreUrl
from .terminal import OUT, plain, print_json
from .wiring import find_set, make_embedder, open_existing, require_source

training_app = typer.Typer()


@training_app.command()
def train(
    name: SetName,
    out: Annotated[
        Path, typer.Option(help="Folder of the model, its curve and checkpoint; goes on from it.")
    ] = Path("train-out"),
    limit: Annotated[int, typer.Option(min=0, help="Runs to learn from; 0: all.")] = 250,
    epochs: Annotated[int, typer.Option(min=1, help="Times through them.")] = 1,
    group: Annotated[int, typer.Option(min=1, help="Runs a step.")] = 4,
    rate: Annotated[float, typer.Option(min=0.0, help="Learning rate at its highest.")] = 2e-5,
    weight: Annotated[
        float, typer.Option(min=0.0, help="Of the selection against the action: SSR's lambda.")
    ] = 1.0,
    budget: Annotated[int, typer.Option(min=16, help="Most tokens of a run.")] = 1024,
    looks: Annotated[int, typer.Option(min=2, help="Points of the held-out curve.")] = 5,
    source: Annotated[str | None, typer.Option(help="Learn from this collection only.")] = None,
    thinking: Annotated[
        bool,
        typer.Option(
            "--thinking",
            help="Teach to generate the recorded thoughts: what selecting is compared with.",
        ),
    ] = False,
    store: StoreUrl = DEFAULT,
    model: Model = None,
    embedder: EmbedderPath = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Teach a small model to select from a set: SSR's supervised objective over the store's labelled runs."""
    opened = open_existing(store)
    candidate_set = find_set(opened, name)
    require_source(opened, source)
    from ..scorer.training.teaching import Schedule
    from .training import TrainingPlan, train_set

    schedule = Schedule(epochs, group, rate, weight, seed=seed, looks=looks)
    plan = TrainingPlan(model, schedule, limit or None, budget, source, thinking)
    with terminal.bar("train", quiet=as_json) as progress:
        report = train_set(opened, candidate_set, make_embedder(embedder), plan, out, progress)
    if as_json:
        return print_json(report)
    first = "thought loss" if thinking else "selection loss"
    table = Table("step", first, "action loss", "candidate taken")
    for look in report["curve"]:
        table.add_row(
            str(look["step"]),
            f"{look['selection']:.3f}",
            f"{look['action']:.3f}",
            "" if look["taken"] is None else f"{look['taken']:.2f}",
        )
    OUT.print(table)
    held_out = report["held_out"]
    OUT.print(
        f"{report['decisions']} decisions of {report['runs']} runs taught; the curve is of {held_out['decisions']} held-out ones"
    )
    OUT.print(plain(f"model: {report['trained']} (audit it: forethought audit {name} --model DIR)"))
