"""Scores every candidate of a set after one context, and says which is taken. Timed by its parts."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..data.candidates import Candidate, CandidateSet
from ..data.errors import ForethoughtError, NothingToDo
from ..data.store import Store
from ..scorer import calibrate
from ..scorer.compiled_set import CompiledSet, compile_set, seams
from ..scorer.constrained import TrieLocal, score_constrained
from ..scorer.context import Context
from ..scorer.engines.engine import Engine
from ..scorer.model import LanguageModel
from ..scorer.plain import score_plainly, totals
from ..scorer.premise import PREMISE, premise_sums
from ..scorer.score import score_sharing_context
from ..scorer.selection import (
    Margin,
    Selection,
    log_z,
    margin,
    select,
    sum_noise,
)
from .calibrations import Learned, find_learned
from .context_file import (
    ContextTokens,
    Illustrated,
    as_tokens,
    illustrated,
    tail,
    warnings_of_context,
)
from .score_options import Calibration, Method, ScoreOptions, require_power, require_served


def score_set(
    candidate_set: CandidateSet,
    context: str | Illustrated,
    model: LanguageModel,
    options: ScoreOptions,
    learned: Learned | None = None,
    engine: Engine | None = None,
) -> dict[str, Any]:
    """What `forethought score --json` prints (docs/json.md), options, warnings and milliseconds included.

    `context` is taken word for word, with its pictures where it has any. `learned` is what the calibration goes by, if by anything. With an `engine`, which
    serves `model`, likelihoods come from there and `model` only tokenises.
    """
    active = candidate_set.active
    if not active:
        raise NothingToDo(f"set {candidate_set.name!r} has no candidate that is not rejected")
    clock = _Clock()
    given = illustrated(context)
    read = as_tokens(model, given, options)
    compiled = compile_set(model, [candidate.text for candidate in active])
    lengths = compiled.divisors(replace(options.normalisation, alpha=1.0))
    require_power(options.normalisation, int(lengths.max()))
    require_room(model, len(read.ids) + int(compiled.num_tokens.max()))
    clock.lap("tokenize")
    scored = _likelihoods(model, read, compiled, options, clock, engine)
    choice = _choice(model, compiled, scored.sums, options, learned, engine)
    clock.lap("select" if options.calibration is not Calibration.PMI else "premise")
    return {
        "candidates": _rows(active, compiled, scored, choice.selection),
        "selected": active[choice.selection.selected].id,
        "log_z": choice.log_z,
        "gap": choice.margin.gap,
        "stable": choice.margin.is_stable,
        "normalisation": str(options.normalisation),
        "options": options.as_json,
        "warnings": [
            *warnings_of_context(model, given, options),
            *_warnings(model, tail(model, given, options), compiled, choice.selection),
        ],
        "milliseconds": clock.milliseconds,
        "context_tokens": len(read.ids),
        "pictures": len(read.pictures),
        "model": f"{model.name}@{model.revision[:12]}",
        **_constrained(active, choice.selection.selected, scored.local),
        **scored.engine,
        **scored.visual,
    }


class _Likelihoods(NamedTuple):
    """Summed log-probabilities (candidates,) in nats, and constrained decoding's where asked for.

    `engine` is the JSON that names an engine and what it took, empty without one; `visual` that of a visual budget.
    """

    sums: np.ndarray
    local: TrieLocal | None = None
    engine: Mapping[str, Any] = {}
    visual: Mapping[str, Any] = {}


class _Choice(NamedTuple):
    selection: Selection
    margin: Margin
    log_z: float


def _likelihoods(
    model: LanguageModel,
    context: ContextTokens,
    compiled: CompiledSet,
    options: ScoreOptions,
    clock: "_Clock",
    engine: Engine | None,
) -> _Likelihoods:
    if engine is not None:
        scored = engine.score_timed(context.ids, compiled.ids)
        clock.lap("score")
        told = {"label": engine.label, "milliseconds": dict(scored.milliseconds)}
        return _Likelihoods(totals(scored.log_probs), engine={"engine": told})
    if options.method is Method.PLAIN:
        sums = totals(_plain(model, context, compiled, options))
        clock.lap("score")
    if options.method is Method.SHARED or options.constrained:
        prefilled = Context(model, capacity=max(1, len(context.ids)), budget=options.visual_budget)
        prefilled.extend(context.ids, context.pictures)
        clock.lap("prefill")
    if options.method is Method.SHARED:
        sums = totals(score_sharing_context(prefilled, compiled.ids).log_probs)
        clock.lap("score")
    local = None
    if options.constrained:
        local = score_constrained(prefilled, compiled.ids)
        clock.lap("constrained")
    if options.visual_budget is None or options.method is Method.PLAIN:
        return _Likelihoods(sums, local)
    return _Likelihoods(sums, local, visual=_looked_at(prefilled, context))


def _plain(
    model: LanguageModel, context: ContextTokens, compiled: CompiledSet, options: ScoreOptions
) -> tuple[np.ndarray, ...]:
    if options.visual_budget is None:
        return score_plainly(model, context.ids, compiled.ids, pictures=context.pictures)
    from ..scorer.visual_twin import score_plainly_within  # only who looks at less needs it

    return score_plainly_within(
        model, context.ids, compiled.ids, options.visual_budget, context.pictures
    )


def _looked_at(prefilled: Context, context: ContextTokens) -> dict[str, Any]:
    """How many visual tokens there are, and how many of them layers behind the anchor saw."""
    eyes, gaze = prefilled.model.eyes, prefilled.gaze
    assert eyes is not None, "a visual budget was taken by a model without eyes"
    tokens = sum(map(eyes.count, context.pictures))
    return {"visual": {"tokens": tokens, "kept": gaze.share().kept if gaze else tokens}}


def _choice(
    model: LanguageModel,
    compiled: CompiledSet,
    sums: np.ndarray,
    options: ScoreOptions,
    learned: Learned | None,
    engine: Engine | None,
) -> _Choice:
    divisors = compiled.divisors(options.normalisation)
    noise = sum_noise(str(model.dtype).removeprefix("torch."), compiled.num_tokens)
    scores, spread, tau = sums / divisors, noise / divisors, options.tau
    if options.calibration is Calibration.PMI:
        scores = calibrate.pmi(scores, _premise(model, compiled, engine) / divisors)
        spread = spread * np.sqrt(2)  # the premise's scores are as noisy
    elif options.calibration is Calibration.BATCH:
        assert isinstance(learned, np.ndarray), "batch calibration needs each candidate's mean"
        scores = calibrate.batch(scores, learned)
    elif options.calibration is Calibration.FITTED:
        assert isinstance(learned, calibrate.Fit), "the fitted calibration needs its fit"
        scores, tau = learned.shift(scores), learned.tau * tau
    whole = log_z(sums, float(noise.max()))
    return _Choice(select(scores, tau), margin(scores, spread), whole)


def _premise(model: LanguageModel, compiled: CompiledSet, engine: Engine | None) -> np.ndarray:
    """(candidates,) from the same place as the scores that they are subtracted from."""
    if engine is None:
        return premise_sums(model, compiled.ids)
    return totals(engine.score(model.encode(PREMISE), compiled.ids))


def _rows(
    active: tuple[Candidate, ...],
    compiled: CompiledSet,
    scored: _Likelihoods,
    selection: Selection,
) -> list[dict[str, Any]]:
    rows = [
        {
            "id": candidate.id,
            "text": candidate.text,
            "tokens": int(compiled.num_tokens[place]),
            "bytes": int(compiled.num_bytes[place]),
            "sum": float(scored.sums[place]),
            "score": float(selection.scores[place]),
            "probability": float(selection.probabilities[place]),
        }
        for place, candidate in enumerate(active)
    ]
    if scored.local is not None:
        for row, log_prob in zip(rows, scored.local.log_probs, strict=True):
            row["trie_local"] = float(np.exp(log_prob))
    return rows


def _constrained(
    active: tuple[Candidate, ...], selected: int, local: TrieLocal | None
) -> dict[str, Any]:
    if local is None:
        return {}
    found = {
        "selected": active[local.likeliest].id,
        "greedy": active[local.greedy].id,
        "disagrees": local.likeliest != selected,
        "greedy_disagrees": local.greedy != selected,
    }
    return {"constrained": found}


def _warnings(
    model: LanguageModel, tail: str, compiled: CompiledSet, selection: Selection
) -> list[str]:
    warnings = []
    if len(compiled.ids) > 1 and np.allclose(selection.scores, selection.scores[0], 1e-12, 1e-12):
        warnings.append(
            "all candidates have the same score, so the choice says nothing; does the model give likelihoods?"
        )
    if merged := seams(model, tail, compiled.texts):
        warnings.append(
            f"{len(merged)} of {len(compiled.ids)} candidates would be other tokens if they were tokenised together "
            "with the context's end; they are scored as ids joined to it. End it in text and a single newline to be the same"
        )
    return warnings


def require_room(model: LanguageModel, num_tokens: int) -> None:
    """ForethoughtError where context and candidate are longer than the model's positions."""
    most = getattr(model.config, "max_position_embeddings", None)
    if most is not None and num_tokens > most:
        raise ForethoughtError(
            f"context and longest candidate have {num_tokens} tokens, {model.name} takes {most}; shorten the context"
        )


def score_with_store(
    store: Store | None,
    candidate_set: CandidateSet,
    context: str | Illustrated,
    model: LanguageModel,
    options: ScoreOptions,
    engine: Engine | None = None,
) -> dict[str, Any]:
    """`score_set`, with what an audit learned and stored, where the calibration goes by that."""
    if engine is not None:
        require_served(options, len(illustrated(context).images))
    learned = find_learned(store, candidate_set, model, options)
    return score_set(candidate_set, context, model, options, learned, engine)


class _Clock:
    """Milliseconds by part, and the total of all parts."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {"total": 0.0}
        self._last = time.perf_counter()

    def lap(self, part: str) -> None:
        now = time.perf_counter()
        spent = 1000 * (now - self._last)
        self.milliseconds[part] = spent
        self.milliseconds["total"] += spent
        self._last = now
