"""Rewrites the extractive phrases of groups, where a writer finds a better sentence and the checks agree.

Drafts are untrusted: the writer may have obeyed a trace. Each must pass the lint, carry no word of an instance, repeat no single
thought, say what no other group says, and be near to its group, nearer than to the outsiders. Where none does, the phrase
stays, and the reason is told.
Knows no prompt and no model.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .embed import Embedder
from .language import ENGLISH, language, words
from .lint import DEFAULT, LintSettings, Problem, is_blocked, lint
from .writer import Draft, Evidence, Writer, WriterUnavailable

PATIENCE = 2  # groups in a row without an answer, after which the writer is given up
UNCHECKED = "language"  # the lint's flag for what it cannot read


@dataclass(frozen=True)
class Fit:
    """How a text stands to its group. `inside` and `outside` are median cosines to the members and to the outsiders: one
    thought that says something else, and got the writer to say it too, does not move a median. `faithful` is the share of
    members that are nearer to the text than to any other group's phrase."""

    inside: float
    outside: float
    faithful: float

    @property
    def margin(self) -> float:
        return self.inside - self.outside


@dataclass(frozen=True)
class Checks:
    """What a draft must pass.

    Hand a lint whose `tools` are the traces' kinds. Its `leaks` stay the default: a mask's would refuse every word that these
    traces happen not to use; the words that masking took from the evidence are looked for anyway. `min_share` is of the
    phrase's own nearness to its group: a sentence about something else has less than half of it.
    """

    embedder: Embedder
    lint: LintSettings = DEFAULT
    min_share: float = 0.5
    min_faithful: float = 0.25


@dataclass(frozen=True)
class Trial:
    """A draft before the checks: `problems` is empty for one that passed; `fit` is None where it was not worth measuring."""

    draft: Draft
    problems: tuple[str, ...]
    fit: Fit | None = None


@dataclass(frozen=True)
class Provenance:
    """Where a rewritten text comes from, for the set's manifest."""

    model: str
    revision: str
    prompt: str
    sample: int
    temperature: float
    members: tuple[str, ...]
    outsiders: tuple[str, ...]
    replaced: str
    fit: Fit
    replaced_fit: Fit

    def json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Rephrased:
    """A group's text now. `provenance` is None where the phrase stays, and `reason` then says why; `trials` are all drafts."""

    text: str
    reason: str | None = None
    provenance: Provenance | None = None
    trials: tuple[Trial, ...] = field(default=(), repr=False)


def rephrase(
    groups: Sequence[Evidence],
    writer: Writer,
    checks: Checks,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Rephrased]:
    """One result a group, in their order. Resumable if the writer remembers (ChatWriter does).

    A writer that does not answer leaves phrases as they are, and is given up after PATIENCE groups in a row.
    WriterRefused ends the run: no group would fare better.
    """
    taken = {_key(group.phrase) for group in groups}
    phrases = _embedded(checks.embedder, [group.phrase for group in groups])  # (groups, d)
    failures: list[str] = []
    results: list[Rephrased] = []
    for done, group in enumerate(groups, start=1):
        if len(failures) == PATIENCE:
            results.append(Rephrased(group.phrase, f"the writer was given up: {failures[-1]}"))
        else:
            try:
                rivals = np.delete(phrases, done - 1, axis=0)
                panel = _Panel(group, checks, rivals, frozenset(taken - {_key(group.phrase)}))
                result = _rephrase_one(group, writer.write(group), panel)
                failures.clear()
            except WriterUnavailable as error:
                failures.append(str(error))
                result = Rephrased(group.phrase, str(error))
            taken.add(_key(result.text))
            results.append(result)
        progress(done, len(groups))
    return results


def _rephrase_one(group: Evidence, drafts: Sequence[Draft], panel: "_Panel") -> Rephrased:
    trials = tuple(panel.judge(draft) for draft in drafts)
    passed = [(trial, trial.fit) for trial in trials if not trial.problems and trial.fit]
    if not passed:
        return Rephrased(group.phrase, _reason(trials), trials=trials)
    trial, fit = max(passed, key=lambda pair: (pair[1].faithful, pair[1].margin, pair[1].inside))
    provenance = Provenance(
        **asdict(trial.draft.origin),
        members=tuple(quote.turn for quote in group.members),
        outsiders=tuple(quote.turn for quote in group.outsiders),
        replaced=group.phrase,
        fit=fit,
        replaced_fit=panel.phrase_fit,
    )
    return Rephrased(trial.draft.text, provenance=provenance, trials=trials)


def instance_words(group: Evidence) -> frozenset[str]:
    """The words that masking took from some quote and left in none, less those that carry grammar."""
    quotes = group.members + group.outsiders
    kept = {word for quote in quotes for word in words(quote.masked)}
    owned = frozenset(word for quote in quotes for word in words(quote.original))
    return owned - kept - language(ENGLISH).words


class _Panel:
    """Judges the drafts of one group; its thoughts are embedded once.

    `rivals` (other groups, d) are the other groups' phrases, `taken` the keys of texts that others have.
    """

    def __init__(
        self, group: Evidence, checks: Checks, rivals: np.ndarray, taken: frozenset[str]
    ) -> None:
        self.group, self.checks, self.taken = group, checks, taken
        vectors = _embedded(checks.embedder, [q.masked for q in group.members + group.outsiders])
        self.members = vectors[: len(group.members)]  # (members, d)
        self.outsiders = vectors[len(group.members) :]  # (outsiders, d)
        nearness = (self.members @ rivals.T).round(6)  # (members, other groups)
        self.rivalry = nearness.max(axis=1, initial=-1.0)  # (members,)
        self.phrase_fit = self.fit(group.phrase)

    def judge(self, draft: Draft) -> Trial:
        if draft.dropped:
            return Trial(draft, (draft.dropped,))
        if problems := tuple(self._said_against(draft.text)):
            return Trial(draft, problems)
        fit = self.fit(draft.text)
        return Trial(draft, tuple(self._measured_against(fit)), fit)

    def fit(self, text: str) -> Fit:
        vector = self.checks.embedder.embed([text])[0]
        near = (self.members @ vector).round(6)  # (members,)
        far = (self.outsiders @ vector).round(6)  # (outsiders,)
        return Fit(
            inside=float(np.median(near)),
            outside=float(np.median(far)) if len(far) else 0.0,
            faithful=float(np.mean(near > self.rivalry)),
        )

    def _said_against(self, text: str) -> Iterator[str]:
        problems = lint(text, self.checks.lint)
        if is_blocked(problems):
            yield from map(str, problems)
        elif _is_unchecked(problems) and not _is_unchecked(
            lint(self.group.phrase, self.checks.lint)
        ):
            yield "is in another language than its group"
        if copied := sorted(instance_words(self.group) & set(words(text))):
            yield f"copies words of an instance: {', '.join(copied)}"
        if sum(_key(text) in _key(q.original) for q in self.group.members) == 1:
            yield "repeats a single thought word for word"
        if _key(text) in self.taken:
            yield "says the same as another candidate"

    def _measured_against(self, fit: Fit) -> Iterator[str]:
        least = self.checks.min_share * self.phrase_fit.inside
        if fit.inside < least:
            yield f"is too far from its group ({fit.inside:.2f}, wanted {least:.2f})"
        if fit.margin <= 0:
            yield f"is no nearer to its group ({fit.inside:.2f}) than to others ({fit.outside:.2f})"
        if fit.faithful < self.checks.min_faithful:
            yield f"is nearest for only {fit.faithful:.0%} of its group"


def _embedded(embedder: Embedder, texts: Sequence[str]) -> np.ndarray:
    return embedder.embed(texts) if texts else np.zeros((0, 1), np.float32)


def _is_unchecked(problems: Sequence[Problem]) -> bool:
    return any(problem.rule == UNCHECKED for problem in problems)


def _reason(trials: Sequence[Trial]) -> str:
    if not trials:
        return "the writer gave no draft"
    told = dict.fromkeys(trial.problems[0] for trial in trials)
    return f"no draft of {len(trials)} passed: " + "; ".join(f"one {problem}" for problem in told)


def _key(text: str) -> str:
    return " ".join(words(text))
