"""Scores every candidate of a set after one context, and says which is taken. Timed by its parts."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from ..data.candidates import CandidateSet
from ..data.errors import ForethoughtError, NotFound, NothingToDo
from ..data.library import library_hash
from ..data.store import Store
from ..scorer import calibrate
from ..scorer.context import Context
from ..scorer.model import LanguageModel
from ..scorer.plain import score_plainly, totals
from ..scorer.score import score_sharing_context
from ..scorer.selection import candidate_ids, scores_of, select
from .auditing import choose_bias
from .score_options import Calibration, Method, ScoreOptions


def score_set(
    candidate_set: CandidateSet,
    context: str,
    model: LanguageModel,
    options: ScoreOptions,
    bias: np.ndarray | None = None,
) -> dict[str, Any]:
    """`{"candidates": [{"id", "tokens", "sum", "score", "probability"}], "selected", "milliseconds"}`.

    `context` is taken word for word. `bias` (candidates,) is what batch calibration subtracts.
    """
    active = candidate_set.active
    if not active:
        raise NothingToDo(f"set {candidate_set.name!r} has no candidate that is not rejected")
    clock = _Clock()
    context_ids = model.encode(context)
    ids = candidate_ids(model, [candidate.text for candidate in active])
    require_room(model, len(context_ids) + max(map(len, ids)))
    clock.lap("tokenize")
    if options.method is Method.PLAIN:
        log_probs = score_plainly(model, context_ids, ids)
    else:
        prefilled = Context(model, context_ids, capacity=max(1, len(context_ids)))
        clock.lap("prefill")
        log_probs = score_sharing_context(prefilled, ids).log_probs
    clock.lap("score")
    sums, tokens = totals(log_probs), [len(sequence) for sequence in ids]
    scores = scores_of(sums, tokens, options.alpha)
    if options.calibration is Calibration.PMI:
        premise = scores_of(calibrate.premise_sums(model, ids), tokens, options.alpha)
        scores = calibrate.pmi(scores, premise)
        clock.lap("premise")
    elif options.calibration is Calibration.BATCH:
        assert bias is not None, "batch calibration needs each candidate's mean score"
        scores = calibrate.batch(scores, bias)
    selection = select(scores, options.tau)
    clock.lap("select")
    rows = zip(active, tokens, sums, selection.scores, selection.probabilities, strict=True)
    return {
        "candidates": [
            {
                "id": candidate.id,
                "text": candidate.text,
                "tokens": count,
                "sum": float(total),
                "score": float(score),
                "probability": float(probability),
            }
            for candidate, count, total, score, probability in rows
        ],
        "selected": active[selection.selected].id,
        "milliseconds": clock.milliseconds,
        "context_tokens": len(context_ids),
        "model": f"{model.name}@{model.revision[:12]}",
    }


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
        bias = _bias(store, candidate_set, model, options.alpha)
    return score_set(candidate_set, context, model, options, bias)


def bias_key(candidate_set: CandidateSet, revision: str, alpha: float) -> str:
    """Names a stored batch calibration: it holds for these texts, this model and this alpha only."""
    return f"{library_hash(candidate_set)[:16]}:{revision[:16]}:{alpha:g}"


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
    store: Store | None, candidate_set: CandidateSet, model: LanguageModel, alpha: float
) -> np.ndarray:
    """(candidates,) mean raw scores over *choose* turns."""
    if store is None:
        raise NothingToDo(
            "batch calibration takes mean scores over a store's traces; name one with --store, or use pmi"
        )
    key = bias_key(candidate_set, model.revision, alpha)
    found = store.document("calibration", key)
    if found is None:
        found = {"bias": choose_bias(list(store.traces()), candidate_set, model, alpha)}
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
