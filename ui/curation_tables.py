"""What the curation commands print: JSON for scripts, tables for people. Decides nothing."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from ..data.activity import Activity, ActivityPage, Comment
from ..data.candidates import Candidate, Release
from ..data.commands import Decided
from ..data.history import Revision
from ..data.listing import CandidatesPage
from ..data.set_diff import SetDiff
from .terminal import OUT, plain, print_json, printable

SHOWN_ARGS = 60


def candidate_json(candidate: Candidate) -> dict[str, Any]:
    """A candidate in full; its support are the turns themselves."""
    return asdict(candidate)


def show_candidates(candidates: Sequence[Candidate], done: str, *, as_json: bool) -> None:
    """Candidates that a command changed, and what it did."""
    if as_json:
        return print_json({"candidates": [candidate_json(c) for c in candidates]})
    for candidate in candidates:
        OUT.print(plain(f"{done} {candidate.id} v{candidate.version}: {printable(candidate.text)}"))


def show_decided(decided: Decided, *, as_json: bool) -> None:
    conflicts = [
        {"id": stale.theirs.id, "theirs": candidate_json(stale.theirs)}
        for stale in decided.conflicts
    ]
    if as_json:
        return print_json({"applied": decided.applied, "conflicts": conflicts})
    OUT.print(f"{len(decided.applied)} candidates changed")
    for stale in decided.conflicts:
        OUT.print(plain(f"left alone: {stale}"))


def show_page(page: CandidatesPage, *, as_json: bool) -> None:
    if as_json:
        rows = [asdict(candidate) for candidate in page.candidates]
        return print_json({"candidates": rows, "total": page.total})
    table = Table("id", "candidate", "then", "support", "questions", "status", "version")
    for c in page.candidates:
        status = c.status if c.is_member else f"{c.status}, taken out"
        numbers = (str(c.num_support), str(c.questions), status, str(c.version))
        table.add_row(c.id, plain(c.text), plain(", ".join(c.expected_actions) or "-"), *numbers)
    OUT.print(table)
    OUT.print(f"{len(page.candidates)} of {page.total}")


def show_history(
    revisions: Sequence[Revision], comments: Sequence[Comment], *, as_json: bool
) -> None:
    if as_json:
        return print_json(
            {
                "revisions": [asdict(revision) for revision in revisions],
                "comments": [asdict(comment) for comment in comments],
            }
        )
    table = Table("version", "command", "at", "who", "what", "why")
    for r in revisions:
        what = "; ".join(_column_change(r, key) for key in r.after)
        cells = (plain(r.actor), plain(what), plain(r.reason))
        table.add_row(str(r.version), f"@{r.command_id} {r.command}", r.at, *cells)
    OUT.print(table)
    for comment in comments:
        OUT.print(plain(f"{comment.at} {comment.actor}: {comment.text}"))


def _column_change(revision: Revision, key: str) -> str:
    if key == "support":
        before, after = (len(side.get(key, ())) for side in (revision.before, revision.after))
        return f"support: {before} -> {after} turns"
    if key not in revision.before:
        return f"{key}: {printable(str(revision.after[key]))}"
    return f"{key}: {printable(str(revision.before[key]))} -> {printable(str(revision.after[key]))}"


def show_log(page: ActivityPage, *, as_json: bool) -> None:
    if as_json:
        return print_json(
            {"commands": [asdict(entry) for entry in page.entries], "total": page.total}
        )
    table = Table("command", "at", "who", "what", "candidates", "why")
    for entry in page.entries:
        cells = (entry.at, plain(entry.actor), plain(_said(entry)), str(entry.num_candidates))
        table.add_row(f"@{entry.command_id}", *cells, plain(entry.reason))
    OUT.print(table)
    OUT.print(f"{len(page.entries)} of {page.total}")


def _said(entry: Activity) -> str:
    about = ", ".join(f"{key} {value}" for key, value in entry.args.items())
    about = about if len(about) <= SHOWN_ARGS else f"{about[:SHOWN_ARGS]}..."
    undone = f" (undone by @{entry.undone_by})" if entry.undone_by else ""
    return printable(f"{entry.command} {about}{undone}")


def show_release(release: Release, *, as_json: bool) -> None:
    facts = {
        "set": release.set_name,
        "release": release.number,
        "hash": release.hash,
        "notes": release.notes,
        "actor": release.actor,
        "at": release.at,
        "candidates": len(release.candidates),
    }
    if as_json:
        return print_json(facts)
    OUT.print(
        plain(
            f"release {release.number} of {release.set_name}: {len(release.candidates)} candidates, "
            f"hash {release.hash[:16]}"
        )
    )


def diff_json(diff: SetDiff) -> dict[str, Any]:
    """A diff as `sets diff --json` prints it, candidates by id and text."""
    return {
        "a": diff.a,
        "b": diff.b,
        "added": [_named(c) for c in diff.added],
        "removed": [_named(c) for c in diff.removed],
        "reworded": [
            {"id": after.id, "before": before.text, "after": after.text}
            for before, after in diff.reworded
        ],
        "merged": [
            {"survivor": _named(one.survivor), "others": [_named(c) for c in one.others]}
            for one in diff.merged
        ],
        "split": [
            {"original": _named(one.original), "parts": [_named(c) for c in one.parts]}
            for one in diff.split
        ],
        "status": [
            {"id": after.id, "before": before.status, "after": after.status}
            for before, after in diff.status
        ],
        "actions": [
            {"id": after.id, "before": before.expected_actions, "after": after.expected_actions}
            for before, after in diff.actions
        ],
        "moved": [_named(c) for c in diff.moved],
        "unchanged": diff.unchanged,
    }


def _named(candidate: Candidate) -> dict[str, str]:
    return {"id": candidate.id, "text": candidate.text}


def show_diff(diff: SetDiff, *, as_json: bool) -> None:
    if as_json:
        return print_json(diff_json(diff))
    for line in _diff_lines(diff):
        OUT.print(plain(line))
    OUT.print(f"{diff.unchanged} unchanged" if not diff.is_empty else "no difference")


def _diff_lines(diff: SetDiff) -> list[str]:
    lines = [f"+ {printable(c.text)}" for c in diff.added]
    lines += [f"- {printable(c.text)}" for c in diff.removed]
    lines += [f"~ {printable(b.text)} -> {printable(a.text)}" for b, a in diff.reworded]
    for merged in diff.merged:
        gone = "; ".join(printable(c.text) for c in merged.others)
        lines.append(f"merged into {printable(merged.survivor.text)}: {gone}")
    for divided in diff.split:
        parts = "; ".join(printable(c.text) for c in divided.parts)
        lines.append(f"split off {printable(divided.original.text)}: {parts}")
    lines += [f"{b.status} -> {a.status}: {printable(a.text)}" for b, a in diff.status]
    for before, after in diff.actions:
        names = " -> ".join(", ".join(c.expected_actions) or "none" for c in (before, after))
        lines.append(f"then {names}: {printable(after.text)}")
    return lines + [f"moved: {printable(c.text)}" for c in diff.moved]
