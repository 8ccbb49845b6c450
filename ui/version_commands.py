"""The verbs of a set's versions on the command line: compare, release, restore, branch, log, undo and redo."""

from __future__ import annotations

from typing import Annotated

import typer

from ..data import activity, commands, versions
from ..data.store import DEFAULT
from . import curation_tables
from .command_options import AsJson, StoreUrl
from .edit_options import VERSION_HELP, Actor, Limit, Offset, Reason, StoredSet, user_name
from .wiring import open_existing

versions_app = typer.Typer()
undo_app = typer.Typer()


@versions_app.command("diff")
def sets_diff(
    name: StoredSet,
    a: Annotated[str, typer.Argument(metavar="A", help=f"From: {VERSION_HELP}")],
    b: Annotated[str, typer.Argument(metavar="B", help=f"To: {VERSION_HELP}")] = versions.NOW,
    store: StoreUrl = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """What changed between two versions of a set: added, removed, reworded, merged, split, decided, moved."""
    curation_tables.show_diff(versions.diff(open_existing(store), name, a, b), as_json=as_json)


@versions_app.command("release")
def sets_release(
    name: StoredSet,
    notes: Annotated[str, typer.Option(help="What this release is for.")] = "",
    store: StoreUrl = DEFAULT,
    actor: Actor = None,
    as_json: AsJson = False,
) -> None:
    """Freeze a set's candidates under its next number and a hash; a release never changes."""
    released = open_existing(store).release(name, notes, actor or user_name())
    curation_tables.show_release(released, as_json=as_json)


@versions_app.command("restore")
def sets_restore(
    name: StoredSet,
    number: Annotated[int, typer.Argument(metavar="N", help="The release's number.")],
    store: StoreUrl = DEFAULT,
    actor: Actor = None,
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Make a set what it was in a release, as one command that can be undone; nothing is deleted."""
    opened, who = open_existing(store), actor or user_name()
    restored = versions.restore_release(opened, name, number, who, reason)
    curation_tables.show_candidates(restored.active, "restored", as_json=as_json)


@versions_app.command("branch")
def sets_branch(
    name: StoredSet,
    new: Annotated[str, typer.Argument(metavar="NEW", help="Name of the new set.")],
    at: Annotated[str, typer.Option(help=f"Begin from: {VERSION_HELP}")] = versions.NOW,
    store: StoreUrl = DEFAULT,
    actor: Actor = None,
    as_json: AsJson = False,
) -> None:
    """Begin a new set from a version of this one."""
    made = versions.branch(open_existing(store), name, at, new, actor or user_name())
    curation_tables.show_candidates(made.candidates, f"in {new}:", as_json=as_json)


@versions_app.command("log")
def sets_log(
    name: StoredSet,
    store: StoreUrl = DEFAULT,
    offset: Offset = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """What was done to a set, by whom and when, newest first."""
    curation_tables.show_log(
        activity.log(open_existing(store), name, offset, limit), as_json=as_json
    )


@undo_app.command("undo")
def undo(
    name: StoredSet,
    command: Annotated[
        int | None, typer.Option(help="Number of the command in `sets log`; default: the last.")
    ] = None,
    store: StoreUrl = DEFAULT,
    actor: Actor = None,
    as_json: AsJson = False,
) -> None:
    """Take back the last edit of a set, however many candidates it changed."""
    opened = open_existing(store)
    commands.undo(opened, name, actor or user_name(), command)
    curation_tables.show_log(activity.log(opened, name, limit=1), as_json=as_json)


@undo_app.command("redo")
def redo(
    name: StoredSet, store: StoreUrl = DEFAULT, actor: Actor = None, as_json: AsJson = False
) -> None:
    """Bring back the edit that was undone last."""
    opened = open_existing(store)
    commands.redo(opened, name, actor or user_name())
    curation_tables.show_log(activity.log(opened, name, limit=1), as_json=as_json)
