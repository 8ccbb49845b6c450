"""How a score is asked for. Apart from scoring.py so that the CLI can parse it without loading torch."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ..data.errors import ForethoughtError
from ..scorer.selection import Normalisation

if TYPE_CHECKING:  # only who looks at less needs it
    from ..scorer.visual_budget import VisualBudget

MOST_POWER = 100  # of ten, in a divisor
LARGEST = 1e6  # of alpha and tau, and the inverse of the smallest above zero


class Method(StrEnum):
    """The fast way and the definition."""

    SHARED = "shared"
    PLAIN = "plain"


class EngineKind(StrEnum):
    """Programs that serve models and tell the likelihoods of given tokens."""

    SGLANG = "sglang"
    VLLM = "vllm"


class Calibration(StrEnum):
    """What is taken out of a candidate's score before the choice."""

    RAW = "raw"
    PMI = "pmi"
    BATCH = "batch"
    FITTED = "fitted"


@dataclass(frozen=True)
class ScoreOptions:
    """As in SSR: S = sum of log-probabilities / length ** alpha, probabilities softmax(S / tau).

    `constrained` asks for what constrained decoding would say, beside it; `special_tokens` reads those written in the
    context as such; with a `visual_budget` some of the context's visual tokens are all that layers behind one see.
    """

    method: Method = Method.SHARED
    calibration: Calibration = Calibration.RAW
    normalisation: Normalisation = Normalisation()
    tau: float = 1.0
    constrained: bool = False
    special_tokens: bool = False
    visual_budget: "VisualBudget | None" = None

    def __post_init__(self) -> None:
        require_finite("alpha", self.normalisation.alpha)
        require_finite("tau", self.tau)

    @property
    def as_json(self) -> dict[str, str | float | bool]:
        """What was asked for, as the JSON of a score repeats it."""
        return {
            "method": self.method.value,
            "calibration": self.calibration.value,
            "normalisation": str(self.normalisation),
            "alpha": self.normalisation.alpha,
            "tau": self.tau,
            "constrained": self.constrained,
            "special_tokens": self.special_tokens,
            **({"visual_budget": str(self.visual_budget)} if self.visual_budget else {}),
        }


def parse_normalisation(normalisation: str | None, alpha: float | None) -> Normalisation:
    """Of the two options, of which at most one is given; SSR's mean where none is."""
    if normalisation is not None and alpha is not None:
        raise ForethoughtError(
            "--alpha X is short for --normalisation alpha=X; give one of the two, not both"
        )
    if normalisation is not None:
        return Normalisation.parse(normalisation)
    return Normalisation() if alpha is None else Normalisation(alpha)


def parse_visual_budget(text: str | None) -> "VisualBudget | None":
    """Of the option, if it is given."""
    if text is None:
        return None
    from ..scorer.visual_budget import VisualBudget

    return VisualBudget.parse(text)


def require_served(options: ScoreOptions, pictures: int = 0) -> None:
    """ForethoughtError for what only a model in this process can do."""
    local = {
        "--method plain": options.method is Method.PLAIN,
        f"--calibration {options.calibration}": options.calibration
        not in (Calibration.RAW, Calibration.PMI),
        "--constrained": options.constrained,
        "--image": pictures > 0,
        "--visual-budget": options.visual_budget is not None,
    }
    for option, is_asked in local.items():
        if is_asked:
            raise ForethoughtError(
                f"{option} needs the model's weights here; leave it out, or leave out --engine"
            )


def require_power(normalisation: Normalisation, longest: int) -> None:
    """ForethoughtError for an alpha that makes of a length a number that nothing can be divided by."""
    most = math.floor(MOST_POWER / math.log10(max(longest, 2)))
    if abs(normalisation.alpha) > most:
        raise ForethoughtError(
            f"--alpha {normalisation.alpha:g}: no score can be divided by {longest} to that power; "
            f"give one between -{most} and {most}, as in SSR 0 or 1"
        )


def require_finite(name: str, value: float) -> None:
    """ForethoughtError for a number that would make every score infinite, undefined or zero."""
    if not math.isfinite(value) or abs(value) > LARGEST or 0 < abs(value) < 1 / LARGEST:
        raise ForethoughtError(
            f"--{name} {value}: give a finite number of common size, as in SSR 0 or 1"
        )
