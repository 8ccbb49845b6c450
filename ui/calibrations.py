"""What was learned about a set's scores from other turns, and is kept in the store: batch offsets, and a fit.

An audit makes both. They hold for the set's texts, the model and the normalisation they were made with.
"""

from typing import TypeAlias

import numpy as np

from ..data.candidates import CandidateSet
from ..data.errors import NothingToDo
from ..data.library import library_hash
from ..data.store import Store
from ..scorer.calibrate import LEAST_CHOICES, Fit
from ..scorer.model import LanguageModel
from ..scorer.selection import Normalisation, Unit
from .auditing import choose_bias
from .score_options import Calibration, ScoreOptions

Learned: TypeAlias = (
    np.ndarray | Fit
)  # (candidates,) mean scores, which batch calibration subtracts; or a fit


def calibration_key(
    candidate_set: CandidateSet, revision: str, normalisation: Normalisation
) -> str:
    """The name in the store of what was learned with these texts, this model and this normalisation."""
    length = "byte" if normalisation.unit is Unit.BYTES else f"{normalisation.alpha:g}"
    return f"{library_hash(candidate_set)[:16]}:{revision[:16]}:{length}"


def find_learned(
    store: Store | None, candidate_set: CandidateSet, model: LanguageModel, options: ScoreOptions
) -> Learned | None:
    """What `options.calibration` goes by; None where it needs nothing. NothingToDo where it cannot be had."""
    if options.calibration is Calibration.BATCH:
        return _batch_means(store, candidate_set, model, options.normalisation)
    if options.calibration is Calibration.FITTED:
        return _fit(store, candidate_set, model, options.normalisation)
    return None


def _batch_means(
    store: Store | None,
    candidate_set: CandidateSet,
    model: LanguageModel,
    normalisation: Normalisation,
) -> np.ndarray:
    """(candidates,) mean raw scores over *choose* turns, measured now if no audit did."""
    if store is None:
        raise NothingToDo(
            "batch calibration takes mean scores over a store's traces; name one with --store, or use pmi"
        )
    key = calibration_key(candidate_set, model.revision, normalisation)
    found = store.document("calibration", key)
    if found is None:
        found = {"bias": choose_bias(list(store.traces()), candidate_set, model, normalisation)}
        store.put("calibration", key, found)
    return np.array([found["bias"][candidate.id] for candidate in candidate_set.active])


def _fit(
    store: Store | None,
    candidate_set: CandidateSet,
    model: LanguageModel,
    normalisation: Normalisation,
) -> Fit:
    key = calibration_key(candidate_set, model.revision, normalisation)
    found = (store.document("calibration", key) if store else None) or {}
    fit = found.get("fit")
    if fit is None:
        raise NothingToDo(
            f"no fitted calibration of set {candidate_set.name!r} by {normalisation} for this model: `forethought audit` "
            f"makes one where {LEAST_CHOICES} choose turns have a label (see --limit and --alpha); or use pmi"
        )
    bias = np.array([fit["bias"][candidate.id] for candidate in candidate_set.active])
    return Fit(**{**fit, "bias": bias})
