"""What a person can do with the candidates of a set, one at a time: look, decide, reword, say something, undo.

Imports no interface: the app's screens call a `Desk`, and so may anything else. Every change is a command of the
store made from the version that was shown; unsaved wordings lie in the store, too, so that nothing is lost with a browser.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import TypeVar

from ..data import commands, drafts
from ..data.candidates import Candidate, Status
from ..data.commands import Edit, StaleEdit
from ..data.drafts import StoredDraft
from ..data.errors import ForethoughtError, NothingToDo
from ..data.store import Store
from .conflict import Conflict, Resolution, write
from .review_order import Order, next_to_review, ordered
from .roster import Roster, roster_of
from .wording import doubts

T = TypeVar("T")
STALE = (
    "Someone changed this candidate meanwhile. Nothing was written, and nothing of yours is lost."
)


class Decision(StrEnum):
    """What can be said of a candidate with one key."""

    ACCEPT = "accept"
    REJECT = "reject"
    NEEDS_WORK = "needs work"


DECIDE: Mapping[Decision, Callable[[Store, Edit], Candidate]] = {
    Decision.ACCEPT: commands.accept,
    Decision.REJECT: commands.reject,
    Decision.NEEDS_WORK: commands.needs_work,
}
STATUS = {
    Decision.ACCEPT: Status.ACCEPTED,
    Decision.REJECT: Status.REJECTED,
    Decision.NEEDS_WORK: Status.NEEDS_WORK,
}


class Mode(StrEnum):
    """What the desk is laid out for."""

    REVIEW = "review"
    MERGE = "merge"
    SPLIT = "split"


@dataclass(frozen=True)
class Notice:
    """What came of the last command, in our own words; `detail` is an error's or a draft and may quote anything.

    With a conflict that is not settled where it is told: the candidate as stored and as it would have become.
    """

    text: str
    detail: str = ""
    theirs: Candidate | None = None
    yours: Candidate | None = None
    is_problem: bool = False


@dataclass(frozen=True)
class View:
    """One candidate as it lies on the desk: `number` of `total` in the order, and the wording to show.

    `base` is what the draft was begun from, where there is a draft and that version was.
    """

    candidate: Candidate
    number: int
    total: int
    wording: str
    draft: StoredDraft | None = None
    base: Candidate | None = None

    @property
    def shown_version(self) -> int:
        """The version that a command on this view is made from."""
        return self.draft.base_version if self.draft else self.candidate.version

    @property
    def changed_meanwhile(self) -> bool:
        """Someone changed the candidate after this draft was begun."""
        if self.draft is None:
            return False
        return self.base is None or replace(self.base, version=self.candidate.version) != (
            self.candidate
        )


@dataclass
class Desk:
    """One person's place in a set: which candidate is open, what happened last, by candidate what is in conflict."""

    store: Store
    set_name: str
    actor: str
    order: Order = Order.POSITION
    open_id: str | None = None
    mode: Mode = Mode.REVIEW
    notice: Notice | None = None
    conflicts: dict[str, Conflict] = field(default_factory=dict)
    stale: Conflict | None = None  # what the last command ran into
    shown: dict[str, str] = field(
        default_factory=dict
    )  # by candidate, the wording on this person's page
    unkept: dict[str, str] = field(
        default_factory=dict
    )  # wordings that could not be stored as drafts
    told_undo: int | None = None  # somebody else's command that the last undo named, and left alone

    @property
    def roster(self) -> Roster:
        return roster_of(self.store, self.set_name)

    def queue(self) -> list[str]:
        """The ids of the set in the order of review; in its own order as long as the doubts are being worked out."""
        roster = self.roster
        weighed = doubts(self.store, self.set_name, roster) if self.order is Order.DOUBT else {}
        return ordered(roster, self.order if weighed is not None else Order.POSITION, weighed or {})

    def look(self) -> View | None:
        """The open candidate as the store has it now; the first to review if none is open; None in an empty set."""
        ids = self.queue()
        if self.open_id not in ids:
            self.open_id = next_to_review(self.roster, ids, after=None) or (ids[0] if ids else None)
        if self.open_id is None:
            return None
        candidate = self.store.candidate(self.set_name, self.open_id)
        if candidate is None:  # taken out between the two looks
            return None
        draft = self._draft(candidate.id)
        base = None
        if draft is not None:
            base = self.store.candidate(self.set_name, candidate.id, draft.base_version)
        wording = draft.text if draft else candidate.text
        if draft is None and candidate.id in self.unkept:  # what the disk had no room for
            wording = self.unkept[candidate.id]
        self.shown[candidate.id] = wording
        return View(candidate, ids.index(candidate.id) + 1, len(ids), wording, draft, base)

    def conflict_of(self, view: View) -> Conflict | None:
        """What must be settled before this candidate is edited further: a command's conflict, or a draft's."""
        kept = self.conflicts.get(view.candidate.id)
        if kept is not None:
            return replace(kept, theirs=view.candidate)
        if not view.changed_meanwhile or view.draft is None:
            return None
        begun = view.base or view.candidate
        return Conflict(view.base, view.candidate, replace(begun, text=view.draft.text))

    def type(self, view: View, wording: str) -> None:
        """Keep an unsaved wording; one that equals the text it was begun from is no draft."""
        self.shown[view.candidate.id] = wording
        if wording == view.wording:
            return
        kept = self._draft(view.candidate.id)
        begun = view.base if view.draft and view.base else view.candidate
        if wording == begun.text:
            self._run(lambda: self._drop_draft(view.candidate.id))
            return
        draft = StoredDraft(
            self.set_name, view.candidate.id, self.actor, wording, view.shown_version
        )
        self.unkept[view.candidate.id] = wording
        self._run(lambda: drafts.keep_draft(self.store, draft))
        if self.notice is None:
            del self.unkept[view.candidate.id]
        if self.notice is None and kept and kept != view.draft and kept.text != wording:
            said = (
                "Under your name another wording was being written elsewhere; this one replaced it:"
            )
            self.notice = Notice(said, kept.text)

    def decide(self, view: View, decision: Decision) -> None:
        """Carry out a decision and go on to the next to review. Accepting saves the draft's wording first.

        A second press that came before the next candidate was shown is no decision: the desk has gone on.
        """
        if self.open_id != view.candidate.id:
            return
        draft, accepted = self._draft(view.candidate.id), decision is Decision.ACCEPT
        if accepted and self._is_elsewhere(view, draft):
            return
        edit = self._edit(view, draft)

        def carry_out() -> Candidate:
            if not (draft and accepted):
                return DECIDE[decision](self.store, edit)
            reworded = commands.reword(self.store, edit, draft.text)
            self._drop_draft(reworded.id)
            return DECIDE[decision](self.store, replace(edit, expected_version=reworded.version))

        wanted = {"status": STATUS[decision]} | ({"text": draft.text} if draft else {})
        decided = self._run(carry_out, wanted)
        if decided is not None:
            said = decided.status.value.replace("_", " ")
            self.go_on(decided.id, f"{view.number} of {view.total}: {said}.")

    def reword(self, view: View) -> None:
        """Save the draft's wording and stay."""
        draft = self._draft(view.candidate.id)
        if self._is_elsewhere(view, draft):
            return
        text = self.shown.get(view.candidate.id, view.wording)
        if draft is None and text == view.candidate.text:
            self.notice = Notice("The wording is unchanged.")
            return
        edit = self._edit(view, draft)
        if self._run(lambda: commands.reword(self.store, edit, text)) is not None:
            self.unkept.pop(view.candidate.id, None)
            self._drop_draft(view.candidate.id)
            self.notice = Notice("Wording saved.")

    def expect(self, view: View, actions: list[str]) -> None:
        """Say which kinds of action the candidate announces; those it announces are nothing new."""
        if tuple(actions) == view.candidate.expected_actions:
            return
        edit = Edit(self.set_name, view.candidate.id, view.candidate.version, self.actor)
        if self._run(lambda: commands.expect(self.store, edit, actions)) is not None:
            self.notice = Notice("Expected actions saved.")

    def comment(self, view: View, text: str) -> None:
        edit = Edit(self.set_name, view.candidate.id, view.candidate.version, self.actor)
        self._run(lambda: commands.comment(self.store, edit, text))

    def settle(self, conflict: Conflict, resolution: Resolution) -> None:
        """Write what was resolved over what is stored; if that has changed again, the new conflict keeps it."""
        settled = self._run(
            lambda: write(self.store, self.set_name, self.actor, conflict, resolution),
            resolution.fields,
        )
        if settled is not None:
            self.conflicts.pop(settled.id, None)
            self._drop_draft(settled.id)
            self.notice = Notice("Settled, and written.")

    def take_theirs(self, conflict: Conflict) -> None:
        """Give up one's own side for what is stored."""
        self.conflicts.pop(conflict.theirs.id, None)
        self._run(lambda: self._drop_draft(conflict.theirs.id))

    def step(self, by: int) -> None:
        """To the next (1) or the previous (-1) candidate, around the ends."""
        ids = self.queue()
        if ids:
            place = ids.index(self.open_id) if self.open_id in ids else 0
            self.open_id = ids[(place + by) % len(ids)]
        self.notice = None

    def open(self, candidate_id: str, mode: Mode = Mode.REVIEW) -> None:
        self.open_id, self.mode, self.notice, self.stale = candidate_id, mode, None, None

    def undo(self) -> None:
        """Take back the last change; somebody else's only when asked again, after it was told whose it is."""
        last = self._try(lambda: commands.next_undo(self.store, self.set_name))
        if last is None:
            return
        if last.actor != self.actor and last.id != self.told_undo:
            self.told_undo = last.id
            said = "The last change is not yours. Undo once more takes it back:"
            self.notice = Notice(said, f"{last.what}, by {last.actor}")
            return
        self.told_undo = None
        self._reverse(partial(commands.undo, command_id=last.id), f"Undone: {last.what}.")

    def redo(self) -> None:
        self._reverse(commands.redo, "Done again.")

    def go_on(self, decided_id: str, said: str) -> None:
        """To the next candidate to review."""
        following = next_to_review(self.roster, self.queue(), after=decided_id)
        self.open_id, self.mode = following or decided_id, Mode.REVIEW
        self.notice = Notice(said if following else f"{said} Every candidate is reviewed.")

    def _reverse(self, command: Callable[[Store, str, str], Candidate], said: str) -> None:
        """Undo or redo, and open the candidate that it changed."""
        candidate = self._run(lambda: command(self.store, self.set_name, self.actor))
        if candidate is not None:
            self.open_id = candidate.id
            self.notice = Notice(said)

    def _is_elsewhere(self, view: View, draft: StoredDraft | None) -> bool:
        """Whether the draft under this person's name is not what this page shows: then it is shown, and nothing written."""
        shown = self.shown.get(view.candidate.id, view.wording)
        if draft is None or draft.text == shown:
            return False
        said = "Under your name another wording was written elsewhere; it is shown now. Nothing was written. Yours was:"
        self.notice = Notice(said, shown, is_problem=True)
        return True

    def _draft(self, candidate_id: str) -> StoredDraft | None:
        return drafts.drafts(self.store, self.set_name, self.actor).get(candidate_id)

    def _drop_draft(self, candidate_id: str) -> None:
        if self._draft(candidate_id) is not None:
            drafts.drop_draft(self.store, self.set_name, candidate_id, self.actor)

    def _edit(self, view: View, draft: StoredDraft | None) -> Edit:
        version = draft.base_version if draft else view.candidate.version
        return Edit(self.set_name, view.candidate.id, version, self.actor)

    def regroup(self, command: Callable[[], Candidate], said: str) -> None:
        """Carry out a merge or a split and go on; after a conflict (`stale`) all that was chosen stays to be given again."""
        done = self._try(command)
        if done is not None:
            self._drop_draft(done.id)
            self.open_id, self.mode = done.id, Mode.REVIEW
            self.notice = Notice(said)

    def _run(
        self, command: Callable[[], T], wanted: Mapping[str, object] | None = None
    ) -> T | None:
        """As `_try`; a conflict is kept until it is settled.

        `wanted` are all the fields that the person was about to change, of which the command may only know some.
        """
        done = self._try(command)
        if self.stale is not None:
            yours = replace(self.stale.yours, **(wanted or {}))  # type: ignore[arg-type]
            self.conflicts[yours.id] = replace(self.stale, yours=yours)
        return done

    def _try(self, command: Callable[[], T]) -> T | None:
        """What a command returns, or None with a notice that says why nothing was written."""
        self.notice = self.stale = None
        try:
            return command()
        except StaleEdit as stale:
            self.stale = Conflict(stale.base, stale.theirs, stale.yours)
            self.notice = Notice(STALE, is_problem=True)
        except NothingToDo as nothing:
            self.notice = Notice("Nothing to do.", str(nothing))
        except ForethoughtError as error:
            self.notice = Notice("Nothing was written.", str(error))
        return None
