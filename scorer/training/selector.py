"""log q(z | h), the log-probability of a selection, with gradients: q = softmax(S / tau), S_i = (sum of log p) / K_i**alpha.

With every candidate's gradient, or as SSR trains by reinforcement: the chosen one's alone, the others detached and summed into one
number a turn, L = log sum_{j != z} exp(S_j / tau). Its gradient is then (1 - q(z)) / (tau K_z**alpha) times that of the chosen tokens.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def scores(log_probs: Sequence[Tensor], alpha: float = 1.0) -> Tensor:
    """(N,) from each candidate's token log-probabilities (K_i,)."""
    return torch.stack([own.sum() / len(own) ** alpha for own in log_probs])


def log_q(scores: Tensor, tau: float = 1.0) -> Tensor:
    """(N,) of scores (N,)."""
    return (scores / tau).log_softmax(0)


def competitors(scores: Tensor, chosen: int, tau: float = 1.0) -> Tensor:
    """L of scores (N,), without gradient: minus infinity where there is no other."""
    others = torch.cat([scores[:chosen], scores[chosen + 1 :]]).detach()
    return (others / tau).logsumexp(0) if len(others) else scores.new_tensor(-torch.inf)


def log_q_against(score: Tensor, others: Tensor, tau: float = 1.0) -> Tensor:
    """log q of the chosen, from its score S_z and the L of the others, which may be a rollout's."""
    scaled = score / tau
    return scaled - torch.logaddexp(scaled, torch.as_tensor(others, dtype=scaled.dtype))
