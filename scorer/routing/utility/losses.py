"""The published loss of a router's predictions against what the arms did; its terms and weights.

(B, A) throughout: B questions, A arms; a cell that is not available enters no term. Knows no network.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from .network import Predicted

TARGET_TEMPERATURE = 0.05
NOTHING = -1e6  # a score no softmax gives a share


class Terms(NamedTuple):
    """Each a mean, in the published order."""

    likelihood: (
        Tensor  # of the quality under Normal(mean, deviation), negative, without its constant
    )
    pairwise: Tensor  # logistic, of which arm of a pair has the higher utility
    listwise: Tensor  # divergence of the utilities' softmax, without its constant
    utility: Tensor  # squared error
    mean: Tensor  # squared error of the quality's mean
    correction: Tensor  # squared


WEIGHTS = Terms(*map(torch.tensor, (1.0, 0.35, 0.65, 0.25, 0.10, 0.05)))


def terms(
    predicted: Predicted, quality: Tensor, cost: Tensor, available: Tensor, weight: float
) -> Terms:
    """`quality` in 0..1 and normalised `cost`; a utility is quality less `weight` times cost."""
    score = predicted.quality - weight * cost
    utility = quality - weight * cost
    error = (quality - predicted.mean)[available]
    deviation = predicted.deviation[available]
    return Terms(
        likelihood=(0.5 * (error / deviation) ** 2 + deviation.log()).mean(),
        pairwise=_pairwise(score, utility, available),
        listwise=_listwise(score, utility, available),
        utility=((score - utility)[available] ** 2).mean(),
        mean=(error**2).mean(),
        correction=(predicted.correction[available] ** 2).mean(),
    )


def total(found: Terms) -> Tensor:
    return sum((w * term for w, term in zip(WEIGHTS, found, strict=True)), torch.zeros(()))


def _pairwise(score: Tensor, utility: Tensor, available: Tensor) -> Tensor:
    """Over ordered pairs of two available arms; a tie counts as no preference for the first of them."""
    both = available[:, :, None] & available[:, None]
    both &= ~torch.eye(score.shape[1], dtype=torch.bool, device=score.device)
    if not both.any():
        return score.new_zeros(())
    ahead = (score[:, :, None] - score[:, None])[both]
    wins = (utility[:, :, None] > utility[:, None]).to(score)[both]
    return binary_cross_entropy_with_logits(ahead, wins)


def _listwise(score: Tensor, utility: Tensor, available: Tensor) -> Tensor:
    target = torch.softmax(utility.masked_fill(~available, NOTHING) / TARGET_TEMPERATURE, dim=1)
    logs = torch.log_softmax(score.masked_fill(~available, NOTHING), dim=1)
    return -(target * logs).sum(dim=1).mean()
