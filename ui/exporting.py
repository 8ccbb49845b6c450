"""A set to a training run: labels from the one assignment rule, rows from the dialect table."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.candidates import CandidateSet
from ..data.exports.dialects import ExportInputs, dialect, export
from ..data.exports.trl_sft import SftOptions
from ..data.store import Store
from ..miner.embed import Embedder
from ..miner.thoughts import thoughts_of
from .corpus import Corpus
from .masking import rules_of
from .wiring import make_model, token_counter


@dataclass(frozen=True)
class ExportOptions:
    """What is let in beyond the default, and how long a context may be (None: any length)."""

    include_failures: bool = False
    include_test: bool = False
    count_tokens: Callable[[str], int] | None = None


def export_set(
    store: Store,
    candidate_set: CandidateSet,
    to: str,
    folder: Path,
    embedder: Embedder,
    options: ExportOptions = ExportOptions(),
) -> dict[str, Any]:
    """Writes the set in dialect `to` into `folder`; returns the manifest."""
    if not dialect(to).needs_labels:
        return export(to, ExportInputs(candidate_set), folder)
    corpus = Corpus.of(list(store.traces()), embedder, rules_of(candidate_set))
    inputs = ExportInputs(
        candidate_set=candidate_set,
        traces=corpus.traces,
        labels=assigned_labels(corpus, candidate_set),
        options=SftOptions(options.include_failures, options.include_test, options.count_tokens),
    )
    return export(to, inputs, folder)


def context_counter(to: str, model: str | None) -> Callable[[str], int] | None:
    """What counts a context's tokens; None for dialects that hold no contexts, which need no model."""
    return token_counter(make_model(model)) if dialect(to).needs_labels else None


def assigned_labels(corpus: Corpus, candidate_set: CandidateSet) -> dict[str, str | None]:
    """turn id -> id of the candidate that the assignment rule gives to the turn's thought."""
    active = candidate_set.active
    thoughts = list(thoughts_of(corpus.traces))
    rows = corpus.assigner.assign(thoughts, [candidate.text for candidate in active]).rows
    return {
        thought.turn: None if row is None else active[row].id
        for thought, row in zip(thoughts, rows, strict=True)
    }
