"""A linear probe on the state that a prefill leaves behind (Probe & Prefill, arXiv 2605.09252): logistic regression, to compare with.

Knows states and labels as arrays; what a label means, its maker knows.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ....data.errors import ForethoughtError, NothingToDo
from ...model import LanguageModel


@dataclass(frozen=True, eq=False)
class Probe:
    """`weights` (H,) and `bias` in units of the states that it was fitted on; `width` and `model` say where it fits."""

    weights: np.ndarray
    bias: float
    model: str = ""

    def chances(self, states: np.ndarray) -> np.ndarray:
        """(n,) of label 1, from states (n, H)."""
        logits = states @ self.weights + self.bias
        return np.exp(-np.logaddexp(0.0, -logits))

    def require_fits(self, model: LanguageModel) -> None:
        """ForethoughtError for a model of another width."""
        if len(self.weights) != model.width:
            raise ForethoughtError(
                f"the probe reads states of {len(self.weights)} numbers ({self.model or 'no model named'}), "
                f"and {model.name} has {model.width}; fit one on this model"
            )

    def as_json(self) -> dict[str, Any]:
        return {"model": self.model, "bias": self.bias, "weights": self.weights.tolist()}


def fit_probe(
    states: np.ndarray, labels: np.ndarray, strength: float = 0.01, model: str = ""
) -> Probe:
    """Of states (n, H) and labels (n,) 0 or 1, states standardised; `strength` is scikit-learn's C.

    NothingToDo where all labels are the same: there is nothing to tell apart.
    """
    from sklearn.linear_model import LogisticRegression  # a second of import that only this needs

    if len(set(map(int, labels))) < 2:
        raise NothingToDo(
            f"all {len(labels)} outcomes are the same, so a probe has nothing to tell apart; record more runs"
        )
    middle, spread = states.mean(axis=0), states.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    fitted = LogisticRegression(C=strength, max_iter=2000)
    fitted.fit((states - middle) / spread, labels)
    weights = fitted.coef_[0] / spread
    return Probe(weights, float(fitted.intercept_[0] - weights @ middle), model)


def write_probe(path: Path, probe: Probe) -> None:
    path.write_text(json.dumps(probe.as_json()), "utf-8")


def read_probe(path: Path) -> Probe:
    """ForethoughtError for a file that holds none."""
    try:
        told = json.loads(path.read_text("utf-8"))
        weights = np.array(told["weights"], dtype=np.float64)
        bias = float(told["bias"])
        if weights.ndim != 1 or not np.isfinite([*weights, bias]).all():
            raise ValueError("weights are one row of numbers")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ForethoughtError(
            f"{path}: no probe can be read from it ({error}); name a file that `forethought ratings` wrote"
        ) from error
    return Probe(weights, bias, str(told.get("model", "")))
