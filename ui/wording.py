"""What speaks against a wording: the lint, words that belong to one question, candidates that say nearly the same. Advice, not a refusal."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from ..data.errors import ForethoughtError
from ..data.store import Store
from ..miner.lint import LintSettings, lint
from ..miner.mask import Mask
from . import fitted
from .computations import PROCESS, Report
from .effects import effects_asked_for
from .likeness import Alike, alike, vectors_of
from .review_order import doubts_of
from .roster import Roster

PATIENCE = 0.1  # seconds that a screen waits for what is being computed


@dataclass(frozen=True)
class Advice:
    """On one wording; `pending` says what is not known yet, and why."""

    problems: tuple[str, ...]
    alike: tuple[Alike, ...]
    pending: str = ""

    def without(self, ids: Collection[str]) -> "Advice":
        """The same, but that these candidates are nearly the same is known."""
        return replace(self, alike=tuple(one for one in self.alike if one.id not in ids))


def advice(store: Store, set_name: str, roster: Roster, text: str, own_id: str | None) -> Advice:
    """What is known at once of a wording of the candidate `own_id`, or of a new one."""
    fitting = fitted.mask_of(store, set_name)
    try:
        mask = fitting.result(PATIENCE)
        pending = "" if fitting.is_over else f"words of one question are told soon: {fitting.stage}"
    except ForethoughtError:  # told in full where the traces are worked with
        mask, pending = None, "which words belong to one question: its traces cannot be masked"
    near = alike(text, roster, own_id)
    return Advice(wording_problems(text, mask), tuple(near), pending)


@lru_cache(maxsize=20_000)
def wording_problems(wording: str, mask: Mask | None) -> tuple[str, ...]:
    """What the lint has against a wording; by its form alone without a mask."""
    settings = LintSettings(leaks=mask.leaked_words) if mask else LintSettings()
    return tuple(problem.message for problem in lint(wording, settings))


def doubts(store: Store, set_name: str, roster: Roster) -> Mapping[str, float] | None:
    """How doubtful each candidate is, by id; None while that is being worked out."""

    def compute(report: Report) -> dict[str, float]:
        report("weighing the candidates")
        mask = fitted.mask_of(store, set_name).result(None)
        vectors = vectors_of(roster, None)
        return doubts_of(roster, lambda text: wording_problems(text, mask), vectors, contested)

    asked = effects_asked_for(store, set_name, roster)
    effects = asked.value if asked else None
    contested = effects.contested if effects else {}
    key = ("doubts", fitted.basis_of(store, set_name), roster.state, set_name, effects is None)
    try:
        return PROCESS.ask(key, compute).result(PATIENCE)
    except ForethoughtError:
        return None
