"""A set's past and what can be done with it: its log told in words, releases, going back to one, a new set from a version.

Imports no interface. Versions are named as `data.versions` names them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..data import activity, commands, versions
from ..data.activity import Activity
from ..data.candidates import CandidateSet, Release
from ..data.errors import ForethoughtError, NothingToDo
from ..data.identity import Split
from ..data.store import Store
from ..data.tables import CommandType
from ..data.traces import turn_id
from ..miner.embed import Embedder
from ..miner.thoughts import thoughts_of
from . import fitted
from .access import Actor, Right
from .charts import legible, shortened
from .computations import PROCESS, Computation, Report
from .curation import Notice
from .held_out import held_out
from .roster import Roster, roster_of

PAGE = 50  # commands of the log listed at once
COMPARED_TURNS = 1000  # choose turns at most that two versions are compared on
SAID = {
    CommandType.SAVE_SET: "set stored",
    CommandType.ACCEPT: "accepted",
    CommandType.REJECT: "rejected",
    CommandType.NEEDS_WORK: "needs work",
    CommandType.REWORD: "reworded",
    CommandType.UNDO: "undone",
    CommandType.REDO: "done again",
    CommandType.DECIDE_MANY: "decided over many",
    CommandType.EXPECT: "announced actions changed",
    CommandType.PLACE: "moved in the order",
    CommandType.RESTORE: "brought back",
    CommandType.ADD: "added",
    CommandType.MERGE: "merged",
    CommandType.SPLIT: "split",
    CommandType.RESTORE_RELEASE: "release restored",
    CommandType.COMMENT: "commented on",
    CommandType.RELEASE: "released",
    CommandType.BRANCH: "begun from another set",
}


@dataclass(frozen=True)
class LogPage:
    """Rows of the log, newest first, ready to be shown; `total` commands in all."""

    rows: tuple[dict[str, str | int], ...]
    total: int


@dataclass
class Archive:
    """One person's view of a set's past: what was asked for and is to be confirmed, what happened last."""

    store: Store
    set_name: str
    actor: Actor
    to_restore: int | None = None
    notice: Notice | None = None

    def forget(self) -> None:
        """What happened last is not told any more."""
        self.notice = None

    def release(self, notes: str) -> None:
        """Freeze the set as it is."""

        def command() -> str:
            made = self.store.release(self.set_name, notes, self.actor.name)
            return f"Release {made.number} holds {len(made.candidates):,} candidates, unchangeable."

        self._run(command)

    def propose_restore(self, number: int) -> None:
        """Going back to a release, to be confirmed."""
        self.notice, self.to_restore = None, number

    def dismiss(self) -> None:
        self.to_restore = None

    def restore(self) -> None:
        """Make the set what it was in the proposed release."""
        number, self.to_restore = self.to_restore, None
        if number is None:
            return

        def command() -> str:
            versions.restore_release(self.store, self.set_name, number, self.actor.name)
            return f"The set is as in release {number} again. One undo takes it back."

        self._run(command)

    def branch(self, version: str, new_name: str) -> None:
        """Begin a new set from a version of this one."""

        def command() -> str:
            made = versions.branch(
                self.store, self.set_name, version, new_name.strip(), self.actor.name
            )
            return f"A new set of {len(made.candidates):,} candidates: choose it on the left."

        self._run(command)

    def undo(self) -> None:
        def command() -> str:
            commands.undo(self.store, self.set_name, self.actor.name)
            return "Undone."

        self._run(command, needed=None)

    def _run(self, command: Callable[[], str], needed: Right | None = Right.RELEASE) -> None:
        try:
            if needed is not None:
                self.actor.require(needed)
            self.notice = Notice(command())
        except NothingToDo as nothing:
            self.notice = Notice("Nothing to do.", str(nothing))
        except ForethoughtError as error:
            self.notice = Notice("Nothing was written.", str(error))


def log_page(store: Store, set_name: str, page: int) -> LogPage:
    """Page `page` (from 1) of what was done to the set."""
    found = activity.log(store, set_name, PAGE * (page - 1), PAGE)
    roster = roster_of(store, set_name)
    rows = tuple(_row(entry, roster) for entry in found.entries)
    return LogPage(rows, found.total)


def first_version(store: Store, set_name: str) -> str | None:
    """The command that the set began with, as a version."""
    total = activity.log(store, set_name, 0, 1).total
    if not total:
        return None
    return str(log_page(store, set_name, -(-total // PAGE)).rows[-1]["version"])


def version_labels(releases: list[Release]) -> dict[str, str]:
    """What can be compared, newest first: as now, and every release with its notes."""
    labels = {versions.NOW: "as it is now"}
    for one in reversed(releases):
        labels[str(one.number)] = shortened(f"release {one.number}: {one.notes or 'no notes'}", 60)
    return labels


def coverage_of_both(
    store: Store, set_name: str, a: str, b: str, make: Callable[[], Embedder] | None = None
) -> Computation[dict[str, object]]:
    """Two versions on the same *choose* turns: whoever compares them chooses by it, so that *test* turns stay out."""
    basis = fitted.basis_of(store, set_name)
    first, second = (_set_at(store, set_name, version) for version in (a, b))

    def compute(report: Report) -> dict[str, object]:
        from .comparing import coverage_difference  # loads torch: not before somebody compares

        mask = fitted.mask_of(store, set_name).result(None)
        report("reading the turns")
        turns = held_out(list(store.traces(basis.source)), Split.CHOOSE, COMPARED_TURNS)
        if mask is None or not turns:
            raise NothingToDo("the store has no choose turns to compare on; import more traces")
        wanted = {turn_id(turn.trace.id, turn.index) for turn in turns}
        traces = {turn.trace.id: turn.trace for turn in turns}.values()
        thoughts = [thought for thought in thoughts_of(traces) if thought.turn in wanted]
        report(f"comparing {len(thoughts):,} thoughts with both")
        return coverage_difference(first, second, thoughts, mask, (make or fitted.embedder)())

    texts = tuple(tuple(c.text for c in side.active) for side in (first, second))
    return PROCESS.ask(("coverage of both", basis, texts), compute)


def _set_at(store: Store, set_name: str, version: str) -> CandidateSet:
    candidate_set = store.candidate_set(set_name)
    return replace(candidate_set, candidates=versions.candidates_at(store, set_name, version))


def _row(entry: Activity, roster: Roster) -> dict[str, str | int]:
    undone = f", undone by @{entry.undone_by}" if entry.undone_by else ""
    return {
        "version": f"@{entry.command_id}",
        "when (UTC)": entry.at[:16].replace("T", " "),
        "who": legible(entry.actor),
        "what": f"{SAID[entry.command]}{undone}",
        "about": _about(entry, roster),
        "candidates": entry.num_candidates,
        "why": legible(entry.reason),
    }


def _about(entry: Activity, roster: Roster) -> str:
    """Which candidate, or the new wording, or the command that was undone."""
    args = entry.args
    for key in ("text", "notes"):
        if isinstance(args.get(key), str) and args[key]:
            return shortened(args[key], 200)
    known = roster.by_id.get(str(args.get("candidate")))
    if known is not None:
        return shortened(known.text, 200)
    told = {"of": "@{}", "release": "release {}", "status": "to {}"}
    return " ".join(say.format(args[key]) for key, say in told.items() if key in args)
