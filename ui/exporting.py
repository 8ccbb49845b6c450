"""A set to a training run: labels from the one assignment rule or from an audit's records, rows from the table of targets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ..data.candidates import CandidateSet
from ..data.errors import ForethoughtError
from ..data.exports.conversation import Form
from ..data.exports.dialects import dialect, export
from ..data.exports.export_inputs import ExportInputs, TokenizedSet
from ..data.exports.labelled import TurnScope
from ..data.exports.training_bundle import RECIPES
from ..data.folder_lock import alone_in
from ..data.store import Store
from ..data.traces import Trace, turn_id
from ..miner.embed import Embedder
from ..miner.thoughts import thoughts_of
from .chat_prompts import ChatPrompts
from .comparing import read_records
from .corpus import Corpus
from .masking import rules_of
from .tokenizing import require_chat_template, tokenizer_hash, tokenizing_model
from .wiring import token_counter

Json = dict[str, Any]
CALIBRATION = "raw"  # of the scores by which a model's choice is told


class LabelKind(StrEnum):
    """Whose word a turn's label is."""

    ASSIGNED = "assigned"  # the rule's, where the candidate announces the action taken
    ORACLE = "oracle"  # the candidate after which the action was likeliest, by an audit's records
    SELECTED = "selected"  # what the audited model took


@dataclass(frozen=True)
class ExportOptions:
    """What is let in beyond the default, and how it is written down.

    `count_tokens` and `budget` say how long a context may be (None: any length, the form's usual one). `records` are an audit's,
    for labels that are not assigned; `pictures` the folder that imports keep them in.
    """

    include_failures: bool = False
    include_test: bool = False
    count_tokens: Callable[[str], int] | None = None
    budget: int | None = None
    label: LabelKind = LabelKind.ASSIGNED
    records: Path | None = None
    form: Form | None = None
    pictures: Path | None = None
    seed: int = 0
    tokens: TokenizedSet | None = None
    allows_findings: bool = False

    @property
    def scope(self) -> TurnScope:
        return TurnScope(
            self.include_failures,
            self.include_test,
            self.count_tokens,
            self.budget,
            must_expect=self.label is LabelKind.ASSIGNED,
        )


def export_set(
    store: Store,
    candidate_set: CandidateSet,
    to: str,
    folder: Path,
    embedder: Embedder,
    options: ExportOptions = ExportOptions(),
) -> Json:
    """Writes the set in dialect `to` into `folder`; returns the manifest.

    ForethoughtError where another command writes there, or the options name what is not read.
    """
    require_read(to, options)
    with alone_in(folder):
        return export(to, _inputs(store, candidate_set, to, embedder, options), folder)


def _inputs(
    store: Store, candidate_set: CandidateSet, to: str, embedder: Embedder, options: ExportOptions
) -> ExportInputs:
    if not dialect(to).needs_labels:
        return ExportInputs(candidate_set, tokens=options.tokens)
    traces: Sequence[Trace] = list(store.traces())
    if options.label is LabelKind.ASSIGNED:
        corpus = Corpus.of(traces, embedder, rules_of(candidate_set))
        traces, labels = corpus.traces, assigned_labels(corpus, candidate_set)
    else:
        labels = recorded_labels(_records(options), candidate_set, options.label)
    return ExportInputs(
        candidate_set=candidate_set,
        traces=traces,
        labels=labels,
        options=options.scope,
        labelled_by=options.label.value,
        form=options.form,
        system=ChatPrompts.of(traces, candidate_set).system,
        pictures=options.pictures,
        seed=options.seed,
        allows_findings=options.allows_findings,
    )


def require_read(to: str, options: ExportOptions) -> None:
    """ForethoughtError for records of an audit by which no label would be told."""
    if options.records is None:
        return
    if not dialect(to).needs_labels:
        raise ForethoughtError(f"--records: {to} has no turns to be labelled; leave it out")
    if options.label is LabelKind.ASSIGNED:
        raise ForethoughtError(
            "--records: labels are assigned by the rule, not by an audit; add --label oracle or selected, or leave it out"
        )


def context_counter(to: str, model: str | None) -> Callable[[str], int] | None:
    """What counts a context's tokens; None for dialects that hold no contexts, which need no model."""
    return token_counter(tokenizing_model(model)) if dialect(to).needs_labels else None


def tokenized_set(to: str, candidate_set: CandidateSet, path: str | None) -> TokenizedSet | None:
    """The candidates in a model's tokens, checked as for scoring; None for dialects that hold none."""
    if not dialect(to).needs_tokens:
        return None
    from ..scorer.compiled_set import compile_set

    model = tokenizing_model(path)
    active = candidate_set.active
    compiled = compile_set(model, [candidate.text for candidate in active])
    ids = {one.id: own for one, own in zip(active, compiled.ids, strict=True)}
    return TokenizedSet(model.name, model.revision, tokenizer_hash(model.tokenizer), ids)


def require_template_for(to: str, form: Form | None, model: str | None) -> None:
    """ModelUnavailable where the rows are chats (`form`, or the target's usual one) and the model that is named has no template."""
    recipe = RECIPES.get(to)
    if model is not None and recipe is not None and (form or recipe.form) is Form.CHAT:
        require_chat_template(tokenizing_model(model))


def assigned_labels(corpus: Corpus, candidate_set: CandidateSet) -> dict[str, str | None]:
    """turn id -> id of the candidate that the assignment rule gives to the turn's thought."""
    active = candidate_set.active
    thoughts = list(thoughts_of(corpus.traces))
    rows = corpus.assigner.assign(thoughts, [candidate.text for candidate in active]).rows
    return {
        thought.turn: None if row is None else active[row].id
        for thought, row in zip(thoughts, rows, strict=True)
    }


def recorded_labels(
    records: Sequence[Json], candidate_set: CandidateSet, kind: LabelKind
) -> dict[str, str | None]:
    """turn id -> id of a candidate, of the turns that an audit has records of. ForethoughtError where it audited other candidates."""
    ids = [candidate.id for candidate in candidate_set.active]
    labels: dict[str, str | None] = {}
    for record in records:
        try:
            key = turn_id(record["trace"], record["turn"])
            if kind is LabelKind.ORACLE:
                labels[key] = _likeliest(record["lp"]["candidates"], ids)
            else:
                chosen = record.get("selections", {}).get(candidate_set.name, record["selected"])
                labels[key] = chosen[CALIBRATION]
        except (KeyError, TypeError) as error:
            raise ForethoughtError(
                f"the records say nothing of {error} of set {candidate_set.name!r}; audit it as it is now, with --records"
            ) from error
    return labels


def _likeliest(lp: Mapping[str, Sequence[float]], ids: Sequence[str]) -> str:
    """The candidate after which the action was likeliest, the first of several."""
    return max(ids, key=lambda id: sum(lp[id]))


def _records(options: ExportOptions) -> list[Json]:
    if options.records is None:
        raise ForethoughtError(
            f"--label {options.label.value} needs --records FILE, which `forethought audit --records FILE` writes"
        )
    return read_records(options.records)
