"""Scores every candidate of a set after one context, and says which is taken. Timed by its parts."""

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data.candidates import Candidate, CandidateSet
from ..data.errors import ForethoughtError, NotFound, NothingToDo
from ..data.library import library_hash
from ..data.store import Store
from ..scorer import calibrate
from ..scorer.compiled_set import CompiledSet, compile_set, seams
from ..scorer.constrained import TrieLocal, score_constrained
from ..scorer.context import Context
from ..scorer.model import LanguageModel
from ..scorer.plain import score_plainly, totals
from ..scorer.premise import premise_sums
from ..scorer.score import score_sharing_context
from ..scorer.selection import (
    Margin,
    Normalisation,
    Selection,
    Unit,
    log_z,
    margin,
    select,
    sum_noise,
)
from .auditing import choose_bias
from .score_options import Calibration, Method, ScoreOptions

SEAM_CHARACTERS = 200  # of the context's end, tokenised together with each candidate


def score_set(
    candidate_set: CandidateSet,
    context: str,
    model: LanguageModel,
    options: ScoreOptions,
    bias: np.ndarray | None = None,
) -> dict[str, Any]:
    """What `forethought score --json` prints (docs/json.md), options, warnings and milliseconds included.

    `context` is taken word for word. `bias` (candidates,) is what batch calibration subtracts.
    """
    active = candidate_set.active
    if not active:
        raise NothingToDo(f"set {candidate_set.name!r} has no candidate that is not rejected")
    clock = _Clock()
    context_ids = model.encode(context)
    compiled = compile_set(model, [candidate.text for candidate in active])
    require_room(model, len(context_ids) + int(compiled.num_tokens.max()))
    clock.lap("tokenize")
    scored = _likelihoods(model, context_ids, compiled, options, clock)
    choice = _choice(model, compiled, scored.sums, options, bias)
    clock.lap("select" if options.calibration is not Calibration.PMI else "premise")
    return {
        "candidates": _rows(active, compiled, scored, choice.selection),
        "selected": active[choice.selection.selected].id,
        "log_z": choice.log_z,
        "gap": choice.margin.gap,
        "stable": choice.margin.is_stable,
        "normalisation": str(options.normalisation),
        "options": options.as_json,
        "warnings": _warnings(model, context, compiled, choice.selection),
        "milliseconds": clock.milliseconds,
        "context_tokens": len(context_ids),
        "model": f"{model.name}@{model.revision[:12]}",
    } | _constrained(active, choice.selection.selected, scored.local)


class _Likelihoods(NamedTuple):
    """Summed log-probabilities (candidates,) in nats, and constrained decoding's where asked for."""

    sums: np.ndarray
    local: TrieLocal | None


class _Choice(NamedTuple):
    selection: Selection
    margin: Margin
    log_z: float


def _likelihoods(
    model: LanguageModel,
    context_ids: list[int],
    compiled: CompiledSet,
    options: ScoreOptions,
    clock: "_Clock",
) -> _Likelihoods:
    if options.method is Method.PLAIN:
        sums = totals(score_plainly(model, context_ids, compiled.ids))
        clock.lap("score")
    if options.method is Method.SHARED or options.constrained:
        prefilled = Context(model, context_ids, capacity=max(1, len(context_ids)))
        clock.lap("prefill")
    if options.method is Method.SHARED:
        sums = totals(score_sharing_context(prefilled, compiled.ids).log_probs)
        clock.lap("score")
    if not options.constrained:
        return _Likelihoods(sums, None)
    local = score_constrained(prefilled, compiled.ids)
    clock.lap("constrained")
    return _Likelihoods(sums, local)


def _choice(
    model: LanguageModel,
    compiled: CompiledSet,
    sums: np.ndarray,
    options: ScoreOptions,
    bias: np.ndarray | None,
) -> _Choice:
    divisors = compiled.divisors(options.normalisation)
    noise = sum_noise(str(model.dtype).removeprefix("torch."), compiled.num_tokens)
    scores, spread = sums / divisors, noise / divisors
    if options.calibration is Calibration.PMI:
        scores = calibrate.pmi(scores, premise_sums(model, compiled.ids) / divisors)
        spread = spread * np.sqrt(2)  # the premise's scores are as noisy
    elif options.calibration is Calibration.BATCH:
        assert bias is not None, "batch calibration needs each candidate's mean score"
        scores = calibrate.batch(scores, bias)
    whole = log_z(sums, float(noise.max()))
    return _Choice(select(scores, options.tau), margin(scores, spread), whole)


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
    model: LanguageModel, context: str, compiled: CompiledSet, selection: Selection
) -> list[str]:
    warnings = []
    if len(compiled.ids) > 1 and np.ptp(selection.scores) == 0:
        warnings.append(
            "all candidates have the same score, so the choice says nothing; does the model give likelihoods?"
        )
    if merged := seams(model, context[-SEAM_CHARACTERS:], compiled.texts):
        warnings.append(
            f"{len(merged)} of {len(compiled.ids)} candidates would be other tokens if they were tokenised together "
            "with the context's end; they are scored as ids joined to it. End it in a single newline to be the same"
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
    context: str,
    model: LanguageModel,
    options: ScoreOptions,
) -> dict[str, Any]:
    """`score_set`, with the batch offsets that an audit stored, or else measured now over *choose* turns."""
    bias = None
    if options.calibration is Calibration.BATCH:
        bias = _bias(store, candidate_set, model, options.normalisation)
    return score_set(candidate_set, context, model, options, bias)


def bias_key(candidate_set: CandidateSet, revision: str, normalisation: Normalisation) -> str:
    """Names a stored batch calibration: it holds for these texts, this model and this normalisation only."""
    length = "byte" if normalisation.unit is Unit.BYTES else f"{normalisation.alpha:g}"
    return f"{library_hash(candidate_set)[:16]}:{revision[:16]}:{length}"


def read_context(path: Path) -> str:
    """The file's text word for word; a byte-order mark, which is no text, is dropped."""
    try:
        return path.read_text("utf-8-sig")
    except FileNotFoundError as error:
        raise NotFound(
            f"{path}: no such file; --context names a file that holds the context"
        ) from error
    except UnicodeDecodeError as error:
        raise NotFound(
            f"{path}: not UTF-8 text (byte {error.start}); save the context as UTF-8"
        ) from error
    except OSError as error:
        raise NotFound(f"{path}: cannot be read ({error.strerror})") from error


def _bias(
    store: Store | None,
    candidate_set: CandidateSet,
    model: LanguageModel,
    normalisation: Normalisation,
) -> np.ndarray:
    """(candidates,) mean raw scores over *choose* turns."""
    if store is None:
        raise NothingToDo(
            "batch calibration takes mean scores over a store's traces; name one with --store, or use pmi"
        )
    key = bias_key(candidate_set, model.revision, normalisation)
    found = store.document("calibration", key)
    if found is None:
        found = {"bias": choose_bias(list(store.traces()), candidate_set, model, normalisation)}
        store.put("calibration", key, found)
    return np.array([found["bias"][candidate.id] for candidate in candidate_set.active])


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
