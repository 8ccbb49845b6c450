"""Rewrites the extractive phrases of groups, where a writer finds a better sentence and the checks agree.

Drafts are untrusted: the writer may have obeyed a trace. Each must pass the lint, carry no word of an instance, say what no
other group says, and lie nearer to its group's thoughts than the outsiders do. Where none does, the phrase stays, and the reason is told.
Knows no prompt and no model.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .embed import Embedder
from .lint import DEFAULT, LintSettings, Problem, is_blocked, lint
from .mask import words
from .writer import Draft, Evidence, Writer, WriterUnavailable

PATIENCE = 2  # groups in a row without an answer, after which the writer is given up
UNCHECKED = "language"  # the lint's flag for what it cannot read


@dataclass(frozen=True)
class Fit:
    """How a text stands to its group: mean cosine to the members and to the outsiders, and the share of members that are
    nearer to it than to any outsider."""

    inside: float
    outside: float
    faithful: float

    @property
    def margin(self) -> float:
        return self.inside - self.outside


@dataclass(frozen=True)
class Checks:
    """What a draft must pass. Hand a lint whose `leaks` are the mask's, and whose `tools` are the traces' kinds."""

    embedder: Embedder
    lint: LintSettings = DEFAULT
    min_faithful: float = 0.5
    min_margin: float = 0.0  # exclusive


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
    failures: list[str] = []
    results: list[Rephrased] = []
    for done, group in enumerate(groups, start=1):
        if len(failures) == PATIENCE:
            results.append(Rephrased(group.phrase, f"the writer was given up: {failures[-1]}"))
        else:
            try:
                result = _rephrase_one(group, writer, checks, taken - {_key(group.phrase)})
                failures.clear()
            except WriterUnavailable as error:
                failures.append(str(error))
                result = Rephrased(group.phrase, str(error))
            taken.add(_key(result.text))
            results.append(result)
        progress(done, len(groups))
    return results


def _rephrase_one(group: Evidence, writer: Writer, checks: Checks, taken: set[str]) -> Rephrased:
    fits = _Fits(group, checks.embedder)
    trials = tuple(_try(draft, group, checks, taken, fits) for draft in writer.write(group))
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
        replaced_fit=fits.of(group.phrase),
    )
    return Rephrased(trial.draft.text, provenance=provenance, trials=trials)


def _try(draft: Draft, group: Evidence, checks: Checks, taken: set[str], fits: "_Fits") -> Trial:
    if draft.dropped:
        return Trial(draft, (draft.dropped,))
    problems = [*_said_against(draft.text, group, checks.lint)]
    if _key(draft.text) in taken:
        problems.append("says the same as another candidate")
    if problems:
        return Trial(draft, tuple(problems))
    fit = fits.of(draft.text)
    if fit.margin <= checks.min_margin:
        problems.append(
            f"is no nearer to its group ({fit.inside:.2f}) than to others ({fit.outside:.2f})"
        )
    if fit.faithful < checks.min_faithful:
        problems.append(f"is nearest for only {fit.faithful:.0%} of its group")
    return Trial(draft, tuple(problems), fit)


def _said_against(text: str, group: Evidence, settings: LintSettings) -> Iterable[str]:
    problems = lint(text, settings)
    if is_blocked(problems):
        yield from map(str, problems)
    elif _is_unchecked(problems) and not _is_unchecked(lint(group.phrase, settings)):
        yield "is in another language than its group"
    if copied := sorted(instance_words(group) & set(words(text))):
        yield f"copies words of an instance: {', '.join(copied)}"


def instance_words(group: Evidence) -> frozenset[str]:
    """The words that masking took from some quote and left in none."""
    quotes = group.members + group.outsiders
    kept = {word for quote in quotes for word in words(quote.masked)}
    return frozenset(word for quote in quotes for word in words(quote.original)) - kept


class _Fits:
    """Measures texts against one group; its thoughts are embedded once."""

    def __init__(self, group: Evidence, embedder: Embedder) -> None:
        quotes = [quote.masked for quote in group.members + group.outsiders]
        vectors = embedder.embed(quotes)
        self.embedder = embedder
        self.members = vectors[: len(group.members)]  # (members, d)
        self.outsiders = vectors[len(group.members) :]  # (outsiders, d)

    def of(self, text: str) -> Fit:
        vector = self.embedder.embed([text])[0]
        near = (self.members @ vector).round(6)  # (members,)
        far = (self.outsiders @ vector).round(6)  # (outsiders,)
        rivals = (self.members @ self.outsiders.T).round(6).max(axis=1, initial=-1.0)  # (members,)
        return Fit(
            inside=float(near.mean()),
            outside=float(far.mean()) if len(far) else 0.0,
            faithful=float(np.mean(near > rivals)),
        )


def _is_unchecked(problems: Sequence[Problem]) -> bool:
    return any(problem.rule == UNCHECKED for problem in problems)


def _reason(trials: Sequence[Trial]) -> str:
    if not trials:
        return "the writer gave no draft"
    told = dict.fromkeys(trial.problems[0] for trial in trials)
    return f"no draft of {len(trials)} passed: " + "; ".join(f"one {problem}" for problem in told)


def _key(text: str) -> str:
    return " ".join(words(text))
