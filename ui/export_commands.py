"""`forethought export` and `export-check`: a set to a training run, and whether what was written can be trained on. Each parses,
calls a service and prints, as in `cli.py`, which includes them.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..data.store import DEFAULT
from . import terminal
from .command_options import AsJson, EmbedderPath, Seed, SetName, StoreUrl
from .wiring import find_set, make_embedder, open_existing, open_if_there

export_app = typer.Typer()


class ExportLabel(StrEnum):
    """Whose word a turn's label is."""

    ASSIGNED = "assigned"
    ORACLE = "oracle"
    SELECTED = "selected"


class ExportForm(StrEnum):
    """How a run is written down."""

    PLAIN = "plain"
    CHAT = "chat"


@export_app.command()
def export(
    name: SetName,
    to: Annotated[
        str,
        typer.Option(
            help="ssr-library, csv, jsonl; choices, grammar, tokens; trl-sft, trl-dpo, trl-grpo, verl-sft, verl-rl, llamafactory, "
            "swift, openrlhf, axolotl, nemo-rl; hub."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder to write into.")],
    store: StoreUrl = DEFAULT,
    label: Annotated[
        ExportLabel,
        typer.Option(
            help="Of each turn: the rule's (assigned), or by --records the best (oracle) or what the model took (selected)."
        ),
    ] = ExportLabel.ASSIGNED,
    records: Annotated[
        Path | None, typer.Option(help="What `audit --records` wrote, for the other labels.")
    ] = None,
    include_failures: Annotated[bool, typer.Option(help="Keep turns of failed traces.")] = False,
    include_test: Annotated[bool, typer.Option(help="Keep test questions.")] = False,
    prompt: Annotated[
        ExportForm | None,
        typer.Option(help="As a chat with SSR's prompt, or plain; default: plain for TRL and hub."),
    ] = None,
    context_tokens: Annotated[
        int | None, typer.Option(min=1, help="Most of a context; default 2048 plain, 8192 chat.")
    ] = None,
    embedder: EmbedderPath = None,
    model: Annotated[
        str | None, typer.Option(help="Its tokenizer counts the context; default SmolLM2.")
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="Where imports keep pictures; default: beside the store.")
    ] = None,
    seed: Seed = 0,
    allow_findings: Annotated[
        bool,
        typer.Option("--allow-findings", help="Let a hub have what looks secret or personal."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a set for a training run, with a manifest of hashes and of all that was left out."""
    from ..data.exports.conversation import Form
    from ..data.exports.dialects import dialect

    dialect(to)  # names are looked up before minutes are spent, and before torch is loaded
    opened = open_existing(store)
    candidate_set = find_set(opened, name)
    from .exporting import (
        ExportOptions,
        LabelKind,
        context_counter,
        export_set,
        require_template_for,
        tokenized_set,
    )
    from .importing import pictures_beside

    form = Form(prompt) if prompt else None
    require_template_for(to, form, model)
    options = ExportOptions(
        include_failures=include_failures,
        include_test=include_test,
        count_tokens=context_counter(to, model),
        budget=context_tokens,
        label=LabelKind(label),
        records=records,
        form=form,
        pictures=images or pictures_beside(store),
        seed=seed,
        tokens=tokenized_set(to, candidate_set, model),
        allows_findings=allow_findings,
    )
    manifest = export_set(opened, candidate_set, to, out, make_embedder(embedder), options)
    terminal.show_export(manifest, out, as_json=as_json)


@export_app.command("export-check")
def export_check(
    folder: Annotated[Path, typer.Argument(help="What `export --out` wrote.")],
    store: StoreUrl = DEFAULT,
    model: Annotated[
        str | None,
        typer.Option(help="Render the rows with its chat template, compare tokens with its own."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read an export again: hashes, rows, pictures, labels, its set in the store, by the trainer's own loader where that is installed. Exit 1 if anything is wrong."""
    from .export_checking import check_export

    report = check_export(folder, open_if_there(store), model)
    terminal.show_export_check(report, as_json=as_json)
    if not report["ok"]:
        raise typer.Exit(1)
