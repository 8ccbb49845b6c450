"""What each candidate gets after a context that says nothing: summed once a set and model, and kept on disk.

PMI subtracts it. The file names what it was computed from; a damaged one is as good as none. Only a model whose
revision is a digest of its weights is remembered: any other name could stand for other weights tomorrow.
"""

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from ..data.identity import content_id
from .context import Context
from .model import LanguageModel
from .packaged import cache_folder
from .plain import totals
from .score import score_sharing_context
from .trie import Ids

PREMISE = "Question:\n"  # says nothing, and ends as a rendered context does
DIGEST = re.compile("[0-9a-f]{40,}")
LAYOUT = 1  # counts up when the scorer's numbers change


def premise_sums(model: LanguageModel, candidates: Sequence[Ids]) -> np.ndarray:
    """Summed log-probability (candidates,) of each after the premise, in nats."""
    facts = _facts(model, candidates)
    path = cache_folder() / "premises" / f"{content_id('premise', facts)}.json"
    if not DIGEST.fullmatch(model.revision):
        return _computed(model, candidates)
    found = _read(path, facts, len(candidates))
    if found is None:
        found = _computed(model, candidates)
        with contextlib.suppress(OSError):  # without a cache it is computed again
            _write(path, {"facts": facts, "sums": found.tolist()})
    return found


def _computed(model: LanguageModel, candidates: Sequence[Ids]) -> np.ndarray:
    premise = Context(model, model.encode(PREMISE), capacity=64)
    return totals(score_sharing_context(premise, candidates).log_probs)


def _facts(model: LanguageModel, candidates: Sequence[Ids]) -> dict[str, Any]:
    ids = json.dumps([list(map(int, sequence)) for sequence in candidates])
    return {
        "layout": LAYOUT,
        "revision": model.revision,
        "dtype": str(model.dtype).removeprefix("torch."),
        "device": model.device.type,
        "premise": model.encode(PREMISE),
        "ids": blake2b(ids.encode(), digest_size=16).hexdigest(),
    }


def _read(path: Path, facts: dict[str, Any], size: int) -> np.ndarray | None:
    """The stored sums; None where there are none, or none that can be trusted."""
    try:
        stored = json.loads(path.read_text("utf-8"))
        is_same, sums = stored["facts"] == facts, np.array(stored["sums"], dtype=np.float64)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return sums if is_same and sums.shape == (size,) and np.isfinite(sums).all() else None


def _write(path: Path, content: dict[str, Any]) -> None:
    """Whole or not at all, also where two processes write the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, suffix=".tmp", delete=False, encoding="utf-8"
    ) as file:
        json.dump(content, file)
    os.replace(file.name, path)
