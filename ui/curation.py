"""What a person can do with a candidate set: look, decide, reword, undo, and what evidence stands beside it.

Imports no interface: the app's screens call a `Desk`, and so may anything else. Every change is a command of the
store made from the version that was shown; nothing here writes in any other way.
"""

import getpass
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from ..data import commands
from ..data.candidates import Candidate, CandidateSet, Status
from ..data.commands import Edit, StaleEdit
from ..data.errors import ForethoughtError, NothingToDo
from ..data.store import Store
from ..miner.lint import LintSettings, lint
from ..miner.mask import Mask
from ..miner.mask_rules import MaskRules, shipped_rules
from ..miner.mine import mineable
from .masking import rules_of


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


@dataclass(frozen=True)
class Notice:
    """What came of the last command, in our own words; `detail` is an error's and may quote anything.

    With a conflict, the candidate as stored and as it would have become.
    """

    text: str
    detail: str = ""
    theirs: Candidate | None = None
    yours: Candidate | None = None


class NextStep(NamedTuple):
    """One sentence, and the command that does it where there is one."""

    sentence: str
    command: str = ""


@dataclass(frozen=True)
class Draft:
    """A wording that is not saved yet, and the candidate it was begun from."""

    base: Candidate
    text: str


@dataclass(frozen=True)
class View:
    """One candidate as it lies on the desk: `number` of `total` in the set, and the wording to show."""

    candidate: Candidate
    number: int
    total: int
    wording: str
    draft: Draft | None

    @property
    def shown_version(self) -> int:
        """The version that a command on this view is made from."""
        return self.draft.base.version if self.draft else self.candidate.version

    @property
    def changed_meanwhile(self) -> bool:
        """Someone changed the candidate after this draft was begun."""
        return self.draft is not None and self.draft.base.version != self.candidate.version


@dataclass
class Desk:
    """One person's place in a set: which candidate is open, unsaved wordings, what happened last."""

    store: Store
    set_name: str
    actor: str
    open_id: str | None = None
    drafts: dict[str, Draft] = field(default_factory=dict)
    notice: Notice | None = None

    def look(self) -> View | None:
        """The open candidate as the store has it now; the first to review if none is open; None in an empty set."""
        candidates = self.store.candidate_set(self.set_name).candidates
        if not candidates:
            return None
        ids = [candidate.id for candidate in candidates]
        if self.open_id not in ids:
            self.open_id = next_to_review(candidates, after=None) or ids[0]
        place = ids.index(self.open_id)
        draft = self.drafts.get(self.open_id)
        wording = draft.text if draft else candidates[place].text
        return View(candidates[place], place + 1, len(ids), wording, draft)

    def type(self, view: View, wording: str) -> None:
        """Keep an unsaved wording; one that equals the shown text is no draft."""
        base = view.draft.base if view.draft else view.candidate
        if wording == base.text:
            self.drafts.pop(base.id, None)
        else:
            self.drafts[base.id] = Draft(base, wording)

    def decide(self, view: View, decision: Decision) -> None:
        """Carry out a decision and go on to the next to review. Accepting saves the draft's wording first."""
        draft = self.drafts.get(view.candidate.id)
        edit = self._edit(view)
        if decision is Decision.ACCEPT and draft is not None:
            reworded = self._run(lambda: commands.reword(self.store, edit, draft.text))
            if reworded is None:
                return
            self.drafts.pop(reworded.id)
            edit = Edit(self.set_name, reworded.id, reworded.version, self.actor)
        decided = self._run(lambda: DECIDE[decision](self.store, edit))
        if decided is not None:
            self._go_on(decided.id, f"{view.number} of {view.total}: {_past(decided.status)}.")

    def reword(self, view: View) -> None:
        """Save the draft's wording and stay."""
        draft = self.drafts.get(view.candidate.id)
        if draft is None:
            self.notice = Notice("The wording is unchanged.")
            return
        reworded = self._run(lambda: commands.reword(self.store, self._edit(view), draft.text))
        if reworded is not None:
            self.drafts.pop(reworded.id)
            self.notice = Notice("Wording saved.")

    def take_theirs(self, view: View) -> None:
        """Give up the draft for what is stored."""
        self.drafts.pop(view.candidate.id, None)
        self.notice = None

    def keep_mine(self, view: View) -> None:
        """Go on with the draft, now from what is stored."""
        if view.draft:
            self.type(View(view.candidate, view.number, view.total, "", None), view.draft.text)
        self.notice = None

    def step(self, by: int) -> None:
        """To the next (1) or the previous (-1) candidate, around the ends."""
        ids = [candidate.id for candidate in self.store.candidate_set(self.set_name).candidates]
        if ids:
            place = ids.index(self.open_id) if self.open_id in ids else 0
            self.open_id = ids[(place + by) % len(ids)]
        self.notice = None

    def undo(self) -> None:
        self._reverse(commands.undo, "Undone.")

    def redo(self) -> None:
        self._reverse(commands.redo, "Done again.")

    def _reverse(self, command: Callable[[Store, str, str], Candidate], said: str) -> None:
        """Undo or redo, and open the candidate that it changed."""
        candidate = self._run(lambda: command(self.store, self.set_name, self.actor))
        if candidate is not None:
            self.open_id = candidate.id
            self.notice = Notice(said)

    def _edit(self, view: View) -> Edit:
        return Edit(self.set_name, view.candidate.id, view.shown_version, self.actor)

    def _run(self, command: Callable[[], Candidate]) -> Candidate | None:
        """The candidate after a command, or None with a notice that says why nothing was written."""
        self.notice = None
        try:
            return command()
        except StaleEdit as conflict:
            text = "Someone changed this candidate meanwhile. Nothing was written; your wording is kept."
            self.notice = Notice(text, theirs=conflict.theirs, yours=conflict.yours)
        except NothingToDo as nothing:
            self.notice = Notice("Nothing to do.", str(nothing))
        except ForethoughtError as error:
            self.notice = Notice("Nothing was written.", str(error))
        return None

    def _go_on(self, decided_id: str, said: str) -> None:
        candidates = self.store.candidate_set(self.set_name).candidates
        following = next_to_review(candidates, after=decided_id)
        self.open_id = following or decided_id
        self.notice = Notice(said if following else f"{said} Every candidate is reviewed.")


def next_to_review(candidates: tuple[Candidate, ...], after: str | None) -> str | None:
    """The id of the next proposed candidate behind `after`, from the start again at the end."""
    ids = [candidate.id for candidate in candidates]
    start = ids.index(after) + 1 if after in ids else 0
    for candidate in (*candidates[start:], *candidates[:start]):
        if candidate.status is Status.PROPOSED:
            return candidate.id
    return None


def status_counts(candidate_set: CandidateSet) -> dict[Status, int]:
    """Every status and how many candidates stand there."""
    counts = Counter(candidate.status for candidate in candidate_set.candidates)
    return {status: counts[status] for status in Status}


def next_step(candidate_set: CandidateSet, report: Mapping[str, Any] | None) -> NextStep:
    """What this set needs now."""
    counts, name = status_counts(candidate_set), shlex.quote(candidate_set.name)
    audit = f"forethought audit {name}"
    if not candidate_set.active:
        return NextStep(
            "No candidate is left in this set: undo a rejection in Review, or mine again."
        )
    if waiting := counts[Status.PROPOSED]:
        wait = "candidate waits" if waiting == 1 else "candidates wait"
        said = f"{waiting} {wait} for your decision: open Review."
        return NextStep(said) if report else NextStep(f"{said} The set is not audited yet.", audit)
    if weak := counts[Status.NEEDS_WORK]:
        need = "candidate needs" if weak == 1 else "candidates need"
        return NextStep(f"{weak} {need} work: reword and accept, or reject, in Review.")
    if report is None:
        return NextStep("Every candidate is reviewed; now measure the set.", audit)
    if is_outdated(candidate_set, report):
        return NextStep("The set has changed since its audit; measure it again.", audit)
    return NextStep(
        "Reviewed and measured: take it into training.",
        f"forethought export {name} --to trl-sft --out out/",
    )


def is_outdated(candidate_set: CandidateSet, report: Mapping[str, Any]) -> bool:
    """Whether the audit measured other sentences than the set holds now."""
    texts = report.get("texts") or {}
    audited = [texts.get(id) for id in (report.get("members") or {}).get(candidate_set.name) or ()]
    return audited != [candidate.text for candidate in candidate_set.active]


def mask_of(store: Store, set_name: str | None = None) -> Mask | None:
    """The mask of the store's own thoughts, or None where there are none to fit it on; by the rules of that set."""
    rules = rules_of(store.candidate_set(set_name)) if set_name else shipped_rules()
    return _fitted_mask(store, store.counts().traces, rules)


@lru_cache(maxsize=2)
def _fitted_mask(store: Store, num_traces: int, rules: MaskRules) -> Mask | None:
    """Fitted once for a store as long as no trace joins it."""
    try:
        return Mask.fit(mineable(store.traces()), rules)
    except NothingToDo:
        return None


def wording_problems(wording: str, mask: Mask | None) -> list[str]:
    """What speaks against a wording; advice, not a refusal."""
    settings = LintSettings(leaks=mask.leaked_words) if mask else LintSettings()
    return [problem.message for problem in lint(wording, settings)]


def actor_name() -> str:
    """Who is at the keyboard, for the history."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user, as in some containers
        return "curator"


def _past(status: Status) -> str:
    return status.value.replace("_", " ")
