"""How a score is asked for. Apart from scoring.py so that the CLI can parse it without loading torch."""

from dataclasses import dataclass
from enum import StrEnum


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
