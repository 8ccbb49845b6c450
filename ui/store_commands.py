"""`forethought store`: verbs about a store as a whole. Each parses, calls a service and prints, as in `cli.py`, which includes
them."""

from __future__ import annotations

from typing import Annotated

import typer

from ..data.store import Store
from ..data.store_copy import copy_store
from .command_options import AsJson
from .terminal import OUT, bar, plain, print_json
from .wiring import open_existing

store_app = typer.Typer(help="Move a store.", no_args_is_help=True)


@store_app.command("copy")
def copy_command(
    source: Annotated[str, typer.Argument(help="Path or SQLAlchemy URL of the store to copy.")],
    target: Annotated[str, typer.Argument(help="Where to: a new file, or an empty database.")],
    as_json: AsJson = False,
) -> None:
    """Copy a whole store, file or PostgreSQL, into an empty one; verified, and kept whole or not at all."""
    original = open_existing(source)
    with bar("copy", quiet=as_json) as progress:
        copy = Store.open(target)
        tables = copy_store(original, copy, progress)
    places = {"from": original.database.location, "to": copy.database.location}
    if as_json:
        copied = {table.name: {"rows": table.rows, "digest": table.digest} for table in tables}
        print_json(places | {"tables": copied})
        return
    rows = sum(table.rows for table in tables)
    OUT.print(
        plain(
            f"{places['from']} copied to {places['to']}: {rows} rows in {len(tables)} tables, verified"
        )
    )
