"""A set as a table: what of it is shown and in which order, edits cell by cell, and one decision over many candidates.

Imports no interface. Every change is a command made from the versions that were shown. A wording that is refused is not
lost: it stays a draft, which Review opens.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..data import commands, drafts
from ..data.candidates import Candidate, Status
from ..data.commands import Edit, StaleEdit
from ..data.drafts import StoredDraft
from ..data.errors import ForethoughtError, InvalidCandidate, NothingToDo
from ..data.listing import CandidateFilter, ListedCandidate, Sort, SortKey
from ..data.store import Store
from .access import Actor, Right
from .curation import Notice
from .grid import LONGEST_CELL, TEXT, TICK, CellEdit, Grid, status_of
from .roster import roster_of

PAGE = 50
PREVIEWED = 8  # candidates that stand in a preview
DECIDE: Mapping[Status, Callable[[Store, Edit], Candidate]] = {
    Status.ACCEPTED: commands.accept,
    Status.REJECTED: commands.reject,
    Status.NEEDS_WORK: commands.needs_work,
}


@dataclass(frozen=True)
class TableView:
    """What is shown of a set and in which order: what is kept under a name."""

    text: str = ""
    statuses: tuple[Status, ...] = ()
    action: str | None = None
    min_support: int = 0
    has_comments: bool = False
    has_aliases: bool = False
    in_bin: bool = False
    key: SortKey = SortKey.POSITION
    is_descending: bool = False

    @property
    def filter(self) -> CandidateFilter:
        return CandidateFilter(
            text=self.text,
            statuses=self.statuses,
            action=self.action,
            min_support=self.min_support,
            has_comments=self.has_comments,
            has_aliases=self.has_aliases,
            in_bin=self.in_bin,
        )

    @property
    def sort(self) -> Sort:
        return Sort(self.key, self.is_descending)


def view_of_json(stored: Mapping[str, Any]) -> TableView:
    """A view as it was kept; what it does not know, or no longer understands, filters nothing."""
    known = {name: stored[name] for name in asdict(TableView()) if name in stored}
    try:
        known["statuses"] = tuple(map(Status, known.get("statuses", ())))
        known["key"] = SortKey(known.get("key", SortKey.POSITION))
        return TableView(**known)
    except (TypeError, ValueError):
        return TableView()


@dataclass(frozen=True)
class Proposal:
    """One decision over many candidates, before it is confirmed: their versions as shown, and the first of them."""

    status: Status
    versions: Mapping[str, int]
    first: tuple[ListedCandidate, ...]


@dataclass
class Table:
    """One person's table of a set."""

    store: Store
    set_name: str
    actor: Actor
    view: TableView = TableView()
    page: int = 1
    total: int = 0
    ticked: dict[str, int] = field(default_factory=dict)  # id -> the version that was shown
    proposal: Proposal | None = None
    notice: Notice | None = None
    conflicts: tuple[StaleEdit, ...] = ()
    grid: Grid = field(default_factory=lambda: Grid(0, []))

    def look(self) -> Grid:
        """The grid to show: the same as before as long as it shows what the store holds."""
        found = self.store.candidates_page(
            self.set_name, self.view.filter, self.view.sort, PAGE * (self.page - 1), PAGE
        )
        self.total = found.total
        if self.page > self.num_pages:
            self.page = self.num_pages
            return self.look()
        ticked = frozenset(row.id for row in found.candidates if row.id in self.ticked)
        for row in found.candidates:
            if row.id in self.ticked:
                self.ticked[row.id] = row.version
        if not self.grid.shows(found.candidates, ticked):
            self.grid = Grid(self.grid.number + 1, list(found.candidates), ticked)
        return self.grid

    @property
    def num_pages(self) -> int:
        return max(1, -(-self.total // PAGE))

    def kinds(self) -> list[str]:
        """The kinds of action that the set's candidates announce."""
        listed = roster_of(self.store, self.set_name).candidates
        return sorted({kind for one in listed for kind in one.expected_actions})

    def show(self, view: TableView) -> None:
        """Another view, from its first page; ticks stay only where the candidates are the same kind of thing."""
        if view.in_bin != self.view.in_bin:
            self.ticked.clear()
        if view != self.view:
            self.page = 1
        self.view = view
        self._say(None)

    # Cells

    def take(self, grid: Grid, edited: Mapping[Any, Mapping[str, Any]]) -> None:
        """Carry out what was done to the grid's cells since the last time, each on the candidate that stood there."""
        edits = grid.edits(edited)
        if edits:
            self._say(None)
        for edit in edits:
            if edit.column == TICK:
                self._tick(grid, edit)
            else:
                self._change(grid, edit)

    def _tick(self, grid: Grid, edit: CellEdit) -> None:
        if edit.value:
            self.ticked[edit.row.id] = grid.rows[edit.place].version
            grid.ticked |= {edit.row.id}
        else:
            self.ticked.pop(edit.row.id, None)
            grid.ticked -= {edit.row.id}

    def _change(self, grid: Grid, edit: CellEdit) -> None:
        row = grid.rows[edit.place]  # an earlier cell of this row may have made it a newer version
        made = Edit(self.set_name, row.id, row.version, self.actor.name)
        change = self._reword if edit.column == TEXT else self._decide
        try:
            candidate = change(made, row, edit.value)
        except ForethoughtError as error:
            grid.is_spoilt = True
            kept = edit.column == TEXT and self._keep(made, edit.value)
            self._refused(error, " Your wording is kept: Review opens it." if kept else "")
            return
        grid.carried_out(edit.place, candidate)

    def _reword(self, made: Edit, row: ListedCandidate, text: Any) -> Candidate:
        if len(row.text) > LONGEST_CELL:
            raise InvalidCandidate(
                f"candidate {row.id} has {len(row.text):,} characters; edit it in Review"
            )
        return commands.reword(self.store, made, str(text or ""))

    def _decide(self, made: Edit, row: ListedCandidate, word: Any) -> Candidate:
        status = status_of(word)
        if status in DECIDE:
            return DECIDE[status](self.store, made)
        decided = commands.decide_many(self.store, self.set_name, [made], status)
        for conflict in decided.conflicts:
            raise conflict
        return self.store.candidate_set(self.set_name).get(row.id)

    def _keep(self, made: Edit, text: Any) -> bool:
        """Whether a refused wording could be kept as a draft."""
        kept = StoredDraft(
            self.set_name,
            made.candidate_id,
            self.actor.name,
            str(text or ""),
            made.expected_version,
        )
        try:
            drafts.keep_draft(self.store, kept)
        except ForethoughtError:
            return False
        return True

    # Many

    def tick_page(self) -> None:
        self.ticked |= {row.id: row.version for row in self.grid.rows}

    def untick(self) -> None:
        self.ticked.clear()

    def propose_ticked(self, status: Status) -> None:
        """A decision over what is ticked, to be confirmed."""
        self._propose(status, dict(self.ticked))

    def propose_all(self, status: Status) -> None:
        """A decision over all that match, on every page, to be confirmed."""
        self._propose(status, self.store.matching_versions(self.set_name, self.view.filter))

    def dismiss(self) -> None:
        self.proposal = None

    def confirm(self) -> None:
        """Carry the proposal out by one command; those that changed since it was shown are left alone and told."""
        proposal, self.proposal = self.proposal, None
        if proposal is None:
            return
        self._say(None)
        edits = [
            Edit(self.set_name, id, version, self.actor.name)
            for id, version in proposal.versions.items()
        ]
        try:
            self.actor.require(Right.BULK)
            decided = commands.decide_many(self.store, self.set_name, edits, proposal.status)
        except ForethoughtError as error:
            self._refused(error)
            return
        self.conflicts = decided.conflicts
        self.ticked = {
            conflict.theirs.id: conflict.theirs.version for conflict in decided.conflicts
        }
        self._say(Notice(_said(len(decided.applied), proposal)))

    def restore(self) -> None:
        """Bring what is ticked in the recycle bin back into the set, for review."""
        self._say(None)
        restored = 0
        for id in list(self.ticked):
            try:
                commands.restore(self.store, self.set_name, id, self.actor.name)
            except ForethoughtError as error:
                self._refused(error)
                return
            self.ticked.pop(id)
            restored += 1
        self._say(Notice(f"{_counted(restored)} back in the set, to be reviewed."))

    def undo(self) -> None:
        self._reverse(commands.undo, "Undone.")

    def redo(self) -> None:
        self._reverse(commands.redo, "Done again.")

    # Views

    def views(self) -> dict[str, TableView]:
        stored = drafts.views(self.store, self.set_name)
        return {name: view_of_json(view) for name, view in stored.items()}

    def keep_view(self, name: str) -> None:
        """Keep what is shown under a name, for everybody who looks at this set."""
        self._say(None)
        try:
            if not name.strip():
                raise NothingToDo("the view has no name; give it one")
            drafts.save_view(self.store, self.set_name, name.strip(), asdict(self.view))
        except ForethoughtError as error:
            self._refused(error)
            return
        self._say(Notice("The view is kept."))

    def drop_view(self, name: str) -> None:
        self._say(None)
        try:
            drafts.drop_view(self.store, self.set_name, name)
        except ForethoughtError as error:
            self._refused(error)

    def _propose(self, status: Status, versions: Mapping[str, int]) -> None:
        self._say(None)
        if not versions:
            self._say(Notice("No candidate is chosen.", "tick some, or decide over all that match"))
            return
        chosen = replace(CandidateFilter(in_bin=self.view.in_bin), ids=list(versions)[:PREVIEWED])
        first = self.store.candidates_page(self.set_name, chosen, limit=PREVIEWED)
        self.proposal = Proposal(status, versions, first.candidates)

    def _reverse(self, command: Callable[[Store, str, str], Candidate], said: str) -> None:
        self._say(None)
        try:
            command(self.store, self.set_name, self.actor.name)
        except ForethoughtError as error:
            self._refused(error)
            return
        self._say(Notice(said))

    def _say(self, notice: Notice | None) -> None:
        self.notice = notice
        if notice is None:
            self.conflicts = ()

    def _refused(self, error: ForethoughtError, kept: str = "") -> None:
        if isinstance(error, StaleEdit):
            text = f"Someone changed this candidate meanwhile. Nothing was written.{kept}"
            self._say(Notice(text, theirs=error.theirs, yours=error.yours))
        elif isinstance(error, NothingToDo):
            self._say(Notice("Nothing to do.", str(error)))
        else:
            self._say(Notice(f"Nothing was written.{kept}", str(error)))


def _said(num_applied: int, proposal: Proposal) -> str:
    word = proposal.status.value.replace("_", " ")
    return f"{_counted(num_applied)} changed to {word}. One undo takes it back."


def _counted(number: int) -> str:
    return f"{number:,} candidate{'s' * (number != 1)}"
