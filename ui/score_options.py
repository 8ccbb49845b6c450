"""How a score is asked for. Apart from scoring.py so that the CLI can parse it without loading torch."""

import math
from dataclasses import dataclass
from enum import StrEnum

from ..data.errors import ForethoughtError

LARGEST = 1e6  # of alpha and tau, and the inverse of the smallest above zero


class Method(StrEnum):
    """The fast way and the definition."""

    SHARED = "shared"
    PLAIN = "plain"


class Calibration(StrEnum):
    """What is taken out of a candidate's score before the choice."""

    RAW = "raw"
    PMI = "pmi"
    BATCH = "batch"


@dataclass(frozen=True)
class ScoreOptions:
    """As in SSR: S = sum of log-probabilities / tokens ** alpha, probabilities softmax(S / tau)."""

    method: Method = Method.SHARED
    calibration: Calibration = Calibration.RAW
    alpha: float = 1.0
    tau: float = 1.0

    def __post_init__(self) -> None:
        require_finite("alpha", self.alpha)
        require_finite("tau", self.tau)


def require_finite(name: str, value: float) -> None:
    """ForethoughtError for a number that would make every score infinite, undefined or zero."""
    if not math.isfinite(value) or abs(value) > LARGEST or 0 < abs(value) < 1 / LARGEST:
        raise ForethoughtError(
            f"--{name} {value}: give a finite number of common size, as in SSR 0 or 1"
        )
