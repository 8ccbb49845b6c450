"""What each candidate gets after a context that says nothing: summed once a set and model, and kept on disk.

PMI subtracts it. It is kept under what it was computed from, the weights in memory included: a network that is being
trained is no longer what its folder says. Only a model whose revision is a digest is remembered: any other name could
stand for another model tomorrow.
"""

import json
import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from .cache import keep, recall
from .context import Context
from .model import LanguageModel
from .plain import totals
from .score import score_sharing_context
from .trie import Ids

PREMISE = "Question:\n"  # says nothing, and ends as a rendered context does
DIGEST = re.compile("[0-9a-f]{40,}")
LAYOUT = 2  # counts up when the scorer's numbers change


def premise_sums(model: LanguageModel, candidates: Sequence[Ids]) -> np.ndarray:
    """Summed log-probability (candidates,) of each after the premise, in nats."""
    if not DIGEST.fullmatch(model.revision):
        return _computed(model, candidates)
    facts = _facts(model, candidates)
    found = _as_sums(recall("premises", facts), len(candidates))
    if found is None:
        found = _computed(model, candidates)
        keep("premises", facts, found.tolist())
    return found


def _computed(model: LanguageModel, candidates: Sequence[Ids]) -> np.ndarray:
    premise = Context(model, model.encode(PREMISE), capacity=64)
    return totals(score_sharing_context(premise, candidates).log_probs)


def _facts(model: LanguageModel, candidates: Sequence[Ids]) -> dict[str, Any]:
    ids = json.dumps([list(map(int, sequence)) for sequence in candidates])
    return {
        "layout": LAYOUT,
        "revision": model.revision,
        "weights": model.fingerprint(),
        "dtype": str(model.dtype).removeprefix("torch."),
        "device": model.device.type,
        "premise": model.encode(PREMISE),
        "ids": blake2b(ids.encode(), digest_size=16).hexdigest(),
    }


def _as_sums(kept: Any, size: int) -> np.ndarray | None:
    """The kept sums; None where there are none, or none that can be trusted."""
    try:
        sums = np.array(kept, dtype=np.float64)
    except (ValueError, TypeError):
        return None
    return sums if sums.shape == (size,) and np.isfinite(sums).all() else None
