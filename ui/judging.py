"""From which cosine a candidate covers a thought, as people judged it: a file of pairs to a threshold, measured on the other half.

A line is `{"thought", "candidate", "fits"}` and may hold `question` (any name of it: pairs of one question stay in one half) and `turn`
(the thought's id: its run's own words are masked where the store has it). Other keys are passed over.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data.errors import ForethoughtError, NotFound
from ..data.traces import Trace
from ..miner.coverage import fit_at, in_train_half, masked_vectors, pick_threshold
from ..miner.embed import Embedder
from ..miner.mask import Mask
from ..miner.thoughts import Stage, Thought, thoughts_of
from ..scorer.metrics import Resampler

PRECISION = 0.8  # of the pairs at or above the threshold so many are to fit
LEAST_PAIRS = 20
Json = dict[str, Any]


@dataclass(frozen=True)
class JudgedPair:
    """One judgement: whether `candidate` could stand in the place of `thought`."""

    thought: str
    candidate: str
    fits: bool
    question: str = ""
    turn: str = ""

    @property
    def half(self) -> str:
        """What decides the half that the pair is in."""
        return self.question or self.turn or self.thought


def read_judged(path: Path) -> list[JudgedPair]:
    """The pairs of a JSONL file; NotFound, or ForethoughtError with the line that is none."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound(f"{path}: no file of judged pairs can be read there ({error})") from error
    return [_pair(line, f"{path}:{i}") for i, line in enumerate(lines, start=1) if line.strip()]


def calibrate_coverage(
    pairs: Sequence[JudgedPair],
    traces: Iterable[Trace],
    mask: Mask,
    embedder: Embedder,
    precision: float = PRECISION,
) -> Json:
    """The lowest threshold of that precision on one half of the questions, and how it does on the other half.

    Of a thought that is in `traces`, its own run's words are masked too. ForethoughtError where no threshold can be picked.
    """
    train = np.array([in_train_half(pair.half) for pair in pairs], dtype=bool)
    if min(train.sum(), (~train).sum()) < LEAST_PAIRS:
        raise ForethoughtError(
            f"{len(pairs)} judged pairs are too few: each half of the questions needs {LEAST_PAIRS}; judge some more"
        )
    fits = np.array([pair.fits for pair in pairs])
    cosine = _cosine(pairs, traces, mask, embedder)
    threshold = pick_threshold(cosine[train], fits[train], precision)
    if threshold is None:
        raise ForethoughtError(
            f"at no threshold do {precision:.0%} of the judged pairs fit; ask for less precision or judge some more"
        )
    picked = fit_at(cosine[train], fits[train], threshold)
    held_out = [pair for pair, chose in zip(pairs, train, strict=True) if not chose]
    above, right = cosine[~train] >= threshold, fits[~train]
    resampler = Resampler([{"question": pair.half} for pair in held_out])
    return {
        "threshold": threshold,
        "target_precision": precision,
        "pairs": len(pairs),
        "fitting": int(fits.sum()),
        "train": {
            "n": int(train.sum()),
            "precision": picked.right / picked.above,
            "recall": picked.right / picked.fitting if picked.fitting else None,
        },
        "held_out": {
            "n": len(held_out),
            "precision": resampler.ratio((above & right) * 1.0, above * 1.0).as_json(),
            "recall": resampler.ratio((above & right) * 1.0, right * 1.0).as_json(),
        },
    }


def _cosine(
    pairs: Sequence[JudgedPair], traces: Iterable[Trace], mask: Mask, embedder: Embedder
) -> np.ndarray:
    """(pairs,): cosine of each masked thought and its candidate."""
    wanted = {pair.turn for pair in pairs}
    thoughts = {thought.turn: thought for thought in thoughts_of(traces) if thought.turn in wanted}
    seen = [
        thoughts[pair.turn]
        if pair.turn in thoughts
        and pair.thought in (thoughts[pair.turn].text, thoughts[pair.turn].whole)
        else Thought(pair.turn, pair.question, pair.thought, Stage.OPENING, "", None)
        for pair in pairs
    ]
    candidates = embedder.embed([pair.candidate for pair in pairs])
    return (masked_vectors(seen, mask, embedder) * candidates).sum(axis=1).round(6)


def _pair(line: str, place: str) -> JudgedPair:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ForethoughtError(f"{place}: is no JSON; a line is one judged pair") from error
    if not (
        isinstance(found, dict)
        and isinstance(found.get("thought"), str)
        and isinstance(found.get("candidate"), str)
        and isinstance(found.get("fits"), bool)
    ):
        raise ForethoughtError(f'{place}: a judged pair holds "thought", "candidate" and "fits"')
    return JudgedPair(
        found["thought"],
        found["candidate"],
        found["fits"],
        str(found.get("question") or ""),
        str(found.get("turn") or ""),
    )
