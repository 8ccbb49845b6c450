"""The audit: what a set of candidates is worth on held-out turns. First records, then figures from records alone.

A record is one turn, *choose* turns included:

    {"question", "split", "source", "trace", "turn", "kind", "context_hash", "action",
     "file", "outcome", "nearest": {SET: cosine},
     "lp": {"free": [kind, arguments], "empty": [..], "neutral": [[..] x 5], "candidates": {ID: [..]}, "pool": [[..] x 64]},
     "assigned": ID or null, "assignments": {SET: ID or null},
     "scores": {"raw": {ID: x}, "pmi": {..}, "batch": {..}}, "selected": {"raw": ID, "pmi": ID, "batch": ID}}

lp comes from the reference model, scores from the audited one. Which candidate the assignment rule gives to a turn is
handed in as data: this module knows no miner.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from ..data.errors import NothingToDo
from ..data.identity import Split
from ..data.render import NEUTRAL, RenderedAction
from . import calibrate
from .compiled_set import candidate_bytes, candidate_ids
from .context import Context
from .likelihoods import encode_action, likelihoods
from .model import LanguageModel
from .plain import totals
from .premise import premise_sums
from .recovery import SetView, selected_choice
from .score import score_sharing_context
from .selection import Normalisation, scores_of

CALIBRATIONS = ("raw", "pmi", "batch")
Json = dict[str, Any]
Lengths = Mapping[str, int]


@dataclass(frozen=True)
class AuditTurn:
    """One turn to audit. `context` ends in a newline; `example` is its source's worked example, "" for none."""

    question: str
    split: Split
    source: str
    trace: str
    turn: int
    kind: str
    example: str
    context: str
    thought: str
    action: RenderedAction
    assignments: Mapping[str, str | None] = field(default_factory=dict)
    nearest: Mapping[str, float] = field(default_factory=dict)  # cosine of each set's nearest text
    outcome: str | None = None
    file: str = ""

    @property
    def context_hash(self) -> str:
        """Names what stands before the thought, the worked example included."""
        text = (self.example + self.context).encode("utf-8", "replace")
        return blake2b(text, digest_size=8).hexdigest()


@dataclass(frozen=True)
class AuditTexts:
    """The texts that are injected on every turn; `pool` (random *mine* thoughts) may be empty."""

    candidates: Mapping[str, str]
    pool: Sequence[str] = ()


@dataclass(frozen=True)
class AuditModels:
    """`reference` gives lp, `audited` selects; usually one and the same. alpha as in SSR's score."""

    reference: LanguageModel
    audited: LanguageModel
    alpha: float = 1.0


@dataclass(frozen=True)
class Asked:
    """What is to be priced on a turn: lp of the action after each of `lp` (None: no thought), and the audited model's own `sums`."""

    turn: AuditTurn
    lp: Sequence[str | None]
    sums: Sequence[str] = ()


@dataclass(frozen=True)
class Priced:
    """What was asked of a turn, by text: `lp` is [kind, arguments], `sums` the log-probability of the text itself, in nats."""

    turn: AuditTurn
    lp: Mapping[str | None, list[float]]
    sums: Mapping[str, float]


def needed(turn: AuditTurn, texts: AuditTexts) -> Asked:
    """All that the turn's record needs. Random thoughts are priced on *test* turns only: nothing is chosen by them."""
    pool = texts.pool if turn.split is Split.TEST else ()
    candidates = texts.candidates.values()
    lp = dict.fromkeys([*candidates, turn.thought, None, *NEUTRAL, *pool])
    return Asked(turn, tuple(lp), tuple(dict.fromkeys(candidates)))


def price_turns(
    asked: Sequence[Asked], models: AuditModels, beginnings: Mapping[str, Mapping[str, str]]
) -> Iterator[Priced]:
    """Prices what is asked, grouped by source; `beginnings` of the kinds by source."""
    for source in sorted({one.turn.source for one in asked}):
        contexts: dict[int, Context] = {}
        for one in (one for one in asked if one.turn.source == source):
            yield _price(one, models, beginnings[source], contexts)


def uncalibrated_record(priced: Priced, texts: AuditTexts, lengths: Lengths, alpha: float) -> Json:
    """The record of a turn whose every needed text is priced; `lengths` in tokens of the audited model, by text."""
    turn, lp = priced.turn, priced.lp
    pool = texts.pool if turn.split is Split.TEST else ()
    written = list(texts.candidates.values())
    sums = np.array([priced.sums[text] for text in written])
    raw = _by_id(texts.candidates, scores_of(sums, [lengths[text] for text in written], alpha))
    return {
        "question": turn.question,
        "split": turn.split.value,
        "source": turn.source,
        "file": turn.file,
        "outcome": turn.outcome,
        "trace": turn.trace,
        "turn": turn.turn,
        "kind": turn.kind,
        "context_hash": turn.context_hash,
        "action": turn.action.text,
        "lp": {
            "free": lp[turn.thought],
            "empty": lp[None],
            "neutral": [lp[text] for text in NEUTRAL],
            "candidates": {id: lp[text] for id, text in texts.candidates.items()},
            "pool": [lp[text] for text in pool],
        },
        "scores": {"raw": raw},
        "assignments": dict(turn.assignments),
        "nearest": dict(turn.nearest),
    }


def text_lengths(model: LanguageModel, texts: AuditTexts) -> Lengths:
    """Tokens of each candidate as it is selected, delimiters counted."""
    written = list(texts.candidates.values())
    return dict(zip(written, map(len, candidate_ids(model, written)), strict=True))


def calibrate_records(
    records: Sequence[Json], premise: Mapping[str, float], views: Sequence[SetView]
) -> list[Json]:
    """The records with `pmi` and `batch` scores and every set's selections; batch offsets come from *choose* turns."""
    choose = [record for record in records if record["split"] == Split.CHOOSE]
    bias = batch_bias(choose)
    calibrated = []
    for record in records:
        raw = record["scores"]["raw"]
        scores = np.array(list(raw.values()))  # (candidates,)
        means = np.array([bias.get(id, 0.0) for id in raw])
        found = {
            "raw": raw,
            "pmi": _by_id(raw, calibrate.pmi(scores, np.array([premise[id] for id in raw]))),
            "batch": _by_id(raw, calibrate.batch(scores, means)),
        }
        calibrated.append({**record, "scores": found})
    for view in views:
        for calibration in CALIBRATIONS:
            choices = selected_choice(calibrated, view.ids, calibration)
            for record, id in zip(calibrated, choices, strict=True):
                record.setdefault("selections", {}).setdefault(view.name, {})[calibration] = id
    main = views[0].name
    return [
        {
            **record,
            "assigned": record["assignments"].get(main),
            "selected": record["selections"][main],
        }
        for record in calibrated
    ]


def batch_bias(choose: Sequence[Json]) -> dict[str, float]:
    """Each candidate's mean raw score over *choose* turns; what batch calibration subtracts."""
    return mean_scores([record["scores"]["raw"] for record in choose])


def mean_scores(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Each candidate's mean over contexts, a row of scores by id each; {} without any."""
    if not rows:
        return {}
    scores = np.array([[row[id] for id in rows[0]] for row in rows])  # (contexts, candidates)
    return _by_id(rows[0], calibrate.batch_means(scores))


def fit_choices(choose: Sequence[Json], view: SetView) -> Json | None:
    """The offsets and temperature under which the raw scores choose what was assigned on *choose* turns.

    `{"tau", "bias": {ID: x}, "choices", "log_loss_before", "log_loss_after"}`; None where too few turns have a label.
    """
    labelled = [r for r in choose if r["assignments"].get(view.name) in view.ids]
    scores = np.array([[r["scores"]["raw"][id] for id in view.ids] for r in labelled])
    chosen = np.array([view.ids.index(r["assignments"][view.name]) for r in labelled])
    try:
        found = calibrate.fit(scores, chosen, [record["question"] for record in labelled])
    except NothingToDo:
        return None
    return {**found._asdict(), "bias": dict(zip(view.ids, found.bias.tolist(), strict=True))}


def premise_scores(
    model: LanguageModel, texts: Mapping[str, str], alpha: float
) -> dict[str, float]:
    """Each candidate's score after the content-free premise; what PMI subtracts."""
    ids = candidate_ids(model, list(texts.values()))
    return _by_id(texts, scores_of(premise_sums(model, ids), [*map(len, ids)], alpha))


def selection_scores(
    context: Context, texts: Mapping[str, str], normalisation: Normalisation
) -> dict[str, float]:
    """Each candidate's score after `context`; `texts` may come from several sets, so they may repeat."""
    written = list(texts.values())
    ids = candidate_ids(context.model, written)
    sums = totals(score_sharing_context(context, ids).log_probs)
    return _by_id(texts, sums / normalisation.divisors([*map(len, ids)], candidate_bytes(written)))


def _price(
    asked: Asked,
    models: AuditModels,
    beginnings: Mapping[str, str],
    contexts: dict[int, Context],
) -> Priced:
    """Where one model does both, the texts' own prices come out of the same forward."""
    turn, same = asked.turn, models.audited is models.reference
    thoughts = dict.fromkeys([*asked.sums, *asked.lp]) if same else dict.fromkeys(asked.lp)
    lp: dict[str | None, list[float]] = {}
    sums: dict[str, float] = {}
    if thoughts:
        context = _context(turn, models.reference, contexts)
        code = encode_action(models.reference, turn.action, turn.kind, beginnings)
        found = likelihoods(context, list(thoughts), code, priced=len(asked.sums) if same else 0)
        lp = {text: one.parts for text, one in zip(thoughts, found, strict=True)}
        tokens = [one.thought for one in found if one.thought is not None]
        sums = dict(zip(asked.sums if same else (), totals(tokens).tolist(), strict=True))
    if asked.sums and not same:
        context = _context(turn, models.audited, contexts)
        ids = candidate_ids(models.audited, list(asked.sums))
        scored = totals(score_sharing_context(context, ids).log_probs)
        sums = dict(zip(asked.sums, scored.tolist(), strict=True))
    return Priced(turn, lp, sums)


def _context(turn: AuditTurn, model: LanguageModel, contexts: dict[int, Context]) -> Context:
    """The turn's context, prefilled; the source's worked example is prefilled once and kept."""
    example = model.encode(turn.example)
    context = contexts.get(id(model))
    if context is None:
        context = contexts[id(model)] = Context(model)
        if example:
            context.extend(example)
    context.rollback(len(example))
    context.extend(model.encode(turn.context))
    return context


def _by_id(texts: Mapping[str, object], scores: np.ndarray) -> dict[str, float]:
    return dict(zip(texts, scores.tolist(), strict=True))
