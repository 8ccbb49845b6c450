"""The commands of traces: import them, look at them, remove them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from ..data.errors import ForethoughtError, NothingToDo
from ..data.store import DEFAULT, Store
from . import terminal
from .command_options import AsJson, StoreUrl
from .wiring import open_existing

import_app = typer.Typer()
traces_app = typer.Typer(help="Look at imported traces, and remove some.", no_args_is_help=True)

Force = Annotated[
    bool, typer.Option("--force", help="Remove also traces that candidates were mined from.")
]


@import_app.command("import")
def import_command(
    paths: Annotated[list[str], typer.Argument(help="Files, folders or globs of traces.")],
    store: StoreUrl = DEFAULT,
    source: Annotated[
        str | None, typer.Option(help="Name of the collection; default: the folder's name.")
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Read as this format; default: by content.")
    ] = None,
    mapping: Annotated[
        Path | None, typer.Option(help="A file that says where things lie in a format of your own.")
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(help="Where pictures are kept; default: a folder beside the store."),
    ] = None,
    outcomes: Annotated[
        Path | None, typer.Option(help="CSV or JSON lines that say how runs ended.")
    ] = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Let the runs of each file replace those imported from it."),
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Read agents' traces into the store; unusable rows go to quarantine with the reason. Exit 3 if any did, or a file that was named holds none."""
    from ..data.formats import read_outcomes, read_traces
    from .import_table import show_import
    from .importing import import_traces, pictures_beside, replace_traces

    if force and not replace:
        raise ForethoughtError("--force is for --replace: without it an import removes nothing")
    told = read_outcomes(outcomes) if outcomes else None
    if images is not None and images.exists() and not images.is_dir():
        raise ForethoughtError(f"{images}: no folder; --images names one that pictures are kept in")
    kept = images or pictures_beside(store)
    found = read_traces(paths, source=source, format=format, images=kept, mapping=mapping)
    with terminal.counter("import", quiet=as_json) as progress:
        opened = Store.open(store)
        if replace:
            report = replace_traces(opened, found, lambda r: progress(r.read), told, force=force)
        else:
            report = import_traces(opened, found, lambda r: progress(r.read), told)
    show_import(report, as_json=as_json)
    if report.quarantined or report.skips_one_of(paths):
        raise typer.Exit(3)


@traces_app.command("list")
def traces_list(
    store: StoreUrl = DEFAULT,
    limit: Annotated[int | None, typer.Option(min=0, max=10**9, help="At most so many.")] = None,
    as_json: AsJson = False,
) -> None:
    """Every trace: id, question, outcome, number of turns."""
    rows = [
        {
            "id": s.id,
            "question": s.question,
            "outcome": s.outcome,
            "turns": s.turns,
            "source": s.source,
        }
        for s in islice(open_existing(store).summaries(), limit)
    ]
    terminal.show_traces(rows, as_json=as_json)


@traces_app.command("show")
def traces_show(
    id: Annotated[str, typer.Argument(help="A trace's id, or its beginning.")],
    store: StoreUrl = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """One trace, turn by turn."""
    terminal.show_trace(open_existing(store).trace(id), as_json=as_json)


@traces_app.command("remove")
def traces_remove(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Traces' ids, or their beginnings.")
    ] = None,
    store: StoreUrl = DEFAULT,
    source: Annotated[str | None, typer.Option(help="All of this collection.")] = None,
    file: Annotated[
        str | None, typer.Option(help="All of this file, or of what lies in this folder.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Take traces out of the store for good, by id, or all of a source or file; refused where candidates were mined from them."""
    from .import_table import show_removal

    by_place = source is not None or file is not None
    if bool(ids) == by_place:
        raise NothingToDo("name the traces to remove: by their ids, or by --source and --file")
    opened = open_existing(store)
    wanted = [opened.trace(id).id for id in ids] if ids else opened.ids_of(source, file)
    show_removal(opened.remove(set(wanted), force=force), as_json=as_json)
