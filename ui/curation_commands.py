"""The verbs of curation on the command line: what the app's screens do, each the same command of the store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..data import activity, commands
from ..data.candidates import Candidate, Status
from ..data.commands import Edit, NewCandidate
from ..data.errors import NothingToDo
from ..data.listing import CandidateFilter, Sort, SortKey
from ..data.store import DEFAULT, Store
from . import curation_tables
from .command_options import AsJson, StoreUrl
from .edit_options import (
    Actions,
    Actor,
    Id,
    Ids,
    Limit,
    Offset,
    Reason,
    StoredSet,
    Version,
    edit_of,
    found_id,
    read_parts,
    user_name,
)
from .wiring import open_existing

candidates_app = typer.Typer(
    help="Edit the candidates of a stored set; every edit can be undone.", no_args_is_help=True
)


@candidates_app.command("list")
def candidates_list(
    name: StoredSet,
    text: Annotated[str, typer.Option(help="Only texts with each of these words.")] = "",
    status: Annotated[list[Status] | None, typer.Option(help="Only this status; repeat.")] = None,
    action: Annotated[str | None, typer.Option(help="Only those that announce this kind.")] = None,
    min_support: Annotated[int, typer.Option(min=0, help="Only with so many turns.")] = 0,
    in_bin: Annotated[
        bool, typer.Option("--bin", help="Those rejected or taken out of the set, instead.")
    ] = False,
    sort: Annotated[SortKey, typer.Option(help="What the list goes by.")] = SortKey.POSITION,
    descending: Annotated[bool, typer.Option("--descending", help="Greatest first.")] = False,
    offset: Offset = 0,
    limit: Limit = 50,
    store: StoreUrl = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """A page of a set's candidates, searched, filtered and sorted."""
    wanted = CandidateFilter(
        text, tuple(status or ()), action, min_support=min_support, in_bin=in_bin
    )
    page = open_existing(store).candidates_page(name, wanted, Sort(sort, descending), offset, limit)
    curation_tables.show_page(page, as_json=as_json)


@candidates_app.command("edit")
def candidates_edit(
    name: StoredSet,
    id: Id,
    text: Annotated[str | None, typer.Option(help="The new text.")] = None,
    expect: Actions = None,
    place: Annotated[
        int | None, typer.Option(min=0, help="The place in the set's order, from 0.")
    ] = None,
    version: Version = None,
    store: StoreUrl = DEFAULT,
    actor: Actor = None,
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Reword a candidate, say which actions it announces, or move it; each a command of its own."""
    opened = open_existing(store)
    edit = edit_of(opened, name, id, actor, reason, version)
    edited: Candidate | None = None
    if text is not None:
        edited = commands.reword(opened, edit, text)
        edit = following(edit, edited)
    if expect is not None:
        edited = commands.expect(opened, edit, expect)
        edit = following(edit, edited)
    if place is not None:
        edited = commands.place(opened, edit, place)
    if edited is None:
        raise NothingToDo("nothing to edit; pass --text, --expect or --place")
    curation_tables.show_candidates([edited], "edited", as_json=as_json)


@candidates_app.command("merge")
def candidates_merge(
    name: StoredSet,
    survivor: Annotated[str, typer.Argument(metavar="ID", help="The candidate that stays.")],
    others: Annotated[list[str], typer.Argument(metavar="OTHER...", help="Those it takes in.")],
    text: Annotated[
        str | None, typer.Option(help="The text it has then; default: its own.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="A turn of the others to leave behind; repeat.")
    ] = None,
    store: StoreUrl = DEFAULT,
    actor: Actor = None,
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Join candidates: one takes the others' turns and actions, and keeps their texts as aliases."""
    opened = open_existing(store)
    kept = edit_of(opened, name, survivor, actor, reason)
    gone = [edit_of(opened, name, other, actor, reason) for other in others]
    merged = commands.merge(opened, kept, gone, text, exclude or ())
    curation_tables.show_candidates([merged], "merged into", as_json=as_json)


@candidates_app.command("split")
def candidates_split(
    name: StoredSet,
    id: Id,
    parts: Annotated[
        Path,
        typer.Option(help='JSON file: [{"text", "support": [TURN], "expected_actions": [KIND]}].'),
    ],
    leave_out: Annotated[
        list[str] | None, typer.Option(help="A turn that no part takes; repeat.")
    ] = None,
    version: Version = None,
    store: StoreUrl = DEFAULT,
    actor: Actor = None,
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Divide a candidate's turns among parts; the part with its own text stays the same candidate."""
    opened = open_existing(store)
    edit = edit_of(opened, name, id, actor, reason, version)
    made = commands.split(opened, edit, read_parts(parts), leave_out or ())
    curation_tables.show_candidates(made, "part", as_json=as_json)


@candidates_app.command("add")
def candidates_add(
    name: StoredSet,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The sentence.")],
    expect: Actions = None,
    support: Annotated[
        list[str] | None, typer.Option(help="A turn that it says (TRACE:TURN); repeat.")
    ] = None,
    derived_from: Annotated[
        str | None, typer.Option("--from", help="The candidate that gave the idea.")
    ] = None,
    store: StoreUrl = DEFAULT,
    actor: Actor = None,
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Put a sentence of your own at the end of a set."""
    opened = open_existing(store)
    parent = found_id(opened, name, derived_from) if derived_from else None
    new = NewCandidate(text, tuple(support or ()), tuple(expect or ()), parent)
    added = commands.add(opened, name, new, actor or user_name(), reason)
    curation_tables.show_candidates([added], "added", as_json=as_json)


@candidates_app.command("accept")
def candidates_accept(
    name: StoredSet,
    ids: Ids,
    version: Version = None,
    store: StoreUrl = DEFAULT,
    actor: Actor = None,
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Accept candidates, by one command. Exit 3 if some were changed meanwhile and left alone."""
    opened = open_existing(store)
    edits = [edit_of(opened, name, id, actor, reason, version) for id in ids]
    decide(opened, name, edits, Status.ACCEPTED, as_json=as_json)


@candidates_app.command("reject")
def candidates_reject(
    name: StoredSet,
    ids: Ids,
    version: Version = None,
    store: StoreUrl = DEFAULT,
    actor: Actor = None,
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Reject candidates, by one command; they stay in the bin. Exit 3 if some were left alone."""
    opened = open_existing(store)
    edits = [edit_of(opened, name, id, actor, reason, version) for id in ids]
    decide(opened, name, edits, Status.REJECTED, as_json=as_json)


@candidates_app.command("needs-work")
def candidates_needs_work(
    name: StoredSet,
    ids: Ids,
    version: Version = None,
    store: StoreUrl = DEFAULT,
    actor: Actor = None,
    reason: Reason = "",
    as_json: AsJson = False,
) -> None:
    """Mark candidates as in need of work, by one command. Exit 3 if some were left alone."""
    opened = open_existing(store)
    edits = [edit_of(opened, name, id, actor, reason, version) for id in ids]
    decide(opened, name, edits, Status.NEEDS_WORK, as_json=as_json)


@candidates_app.command("restore")
def candidates_restore(
    name: StoredSet,
    id: Id,
    store: StoreUrl = DEFAULT,
    actor: Actor = None,
    as_json: AsJson = False,
) -> None:
    """Bring a candidate back out of the bin, to be reviewed again."""
    opened = open_existing(store)
    back = commands.restore(opened, name, found_id(opened, name, id), actor or user_name())
    curation_tables.show_candidates([back], "restored", as_json=as_json)


@candidates_app.command("comment")
def candidates_comment(
    name: StoredSet,
    id: Id,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is to be said.")],
    store: StoreUrl = DEFAULT,
    actor: Actor = None,
    as_json: AsJson = False,
) -> None:
    """Say something of a candidate, for those who look at it later."""
    opened = open_existing(store)
    edit = edit_of(opened, name, id, actor, "")
    commands.comment(opened, edit, text)
    show_history(opened, name, edit.candidate_id, as_json=as_json)


@candidates_app.command("history")
def candidates_history(
    name: StoredSet, id: Id, store: StoreUrl = DEFAULT, as_json: AsJson = False
) -> None:
    """Every change of a candidate, oldest first, and what was said of it."""
    opened = open_existing(store)
    show_history(opened, name, found_id(opened, name, id), as_json=as_json)


def following(edit: Edit, edited: Candidate) -> Edit:
    return replace(edit, expected_version=edited.version)


def decide(store: Store, name: str, edits: list[Edit], status: Status, *, as_json: bool) -> None:
    decided = commands.decide_many(store, name, edits, status)
    curation_tables.show_decided(decided, as_json=as_json)
    if decided.conflicts:
        raise typer.Exit(3)


def show_history(store: Store, name: str, id: str, *, as_json: bool) -> None:
    curation_tables.show_history(
        store.revisions(name, id), activity.comments(store, name, id), as_json=as_json
    )
