"""What the curation commands have in common: which candidate, who edits it, from which version.

An edit is made from the stored version, or from the one that `--version` names: then it is refused where the candidate
is another by now. Candidates may be named by the beginning of their ids.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from ..data.commands import Edit, NewCandidate
from ..data.errors import InvalidCandidate, NotFound
from ..data.listing import CandidateFilter
from ..data.store import Store
from .access import local_actor

StoredSet = Annotated[str, typer.Argument(metavar="SET", help="A stored set.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="A candidate's id, or its beginning.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, or their beginnings.")]
Actor = Annotated[
    str | None, typer.Option(help="Who edits, for the history; default: the user's name.")
]
Reason = Annotated[str, typer.Option(help="Why, for the history.")]
Version = Annotated[
    int | None, typer.Option(help="The version you looked at; refused if it is another by now.")
]
Actions = Annotated[
    list[str] | None, typer.Option("--expect", help="A kind of action it announces; repeat.")
]
Offset = Annotated[int, typer.Option(min=0, help="Leave out so many first.")]
Limit = Annotated[int, typer.Option(min=0, max=10**6, help="At most so many.")]
VERSION_HELP = "now, a release's number, @COMMAND, or a time in UTC like 2026-11-30T09:00."


def user_name() -> str:
    """Who is at the keyboard, for the history."""
    return local_actor().name


def found_id(store: Store, name: str, beginning: str) -> str:
    """The id of the one candidate, in the set or in its bin, whose id is or begins with this."""
    known = [
        *store.matching_versions(name, CandidateFilter()),
        *store.matching_versions(name, CandidateFilter(in_bin=True)),
    ]
    found = dict.fromkeys(id for id in known if id.startswith(beginning))
    if beginning in found or len(found) == 1:
        return beginning if beginning in found else next(iter(found))
    if found:
        some = ", ".join(list(found)[:3])
        raise NotFound(
            f"several candidates begin with {beginning!r} ({some}, ...); give more of the id"
        )
    raise NotFound(
        f"set {name!r} has no candidate {beginning!r}; list them with `forethought candidates list {name}`"
    )


def edit_of(
    store: Store, name: str, id: str, actor: str | None, reason: str, version: int | None = None
) -> Edit:
    """An edit of the stored version, or of the one that was looked at."""
    whole = found_id(store, name, id)
    known = store.matching_versions(name, CandidateFilter(ids=[whole]))
    shown = known.get(whole, 0) if version is None else version
    return Edit(name, whole, shown, actor or user_name(), reason)


def read_parts(path: Path) -> list[NewCandidate]:
    """The parts of a split in a JSON file; InvalidCandidate where it holds something else."""
    try:
        parts = json.loads(path.read_text("utf-8"))
        return [
            NewCandidate(
                str(part["text"]),
                tuple(part.get("support", ())),
                tuple(part["expected_actions"]) if "expected_actions" in part else None,
            )
            for part in parts
        ]
    except FileNotFoundError as error:
        raise NotFound(f"no file of parts {path}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidCandidate(
            f'{path}: no list of parts ({error!r}); write [{{"text": ..., "support": [TURN, ...]}}]'
        ) from error
