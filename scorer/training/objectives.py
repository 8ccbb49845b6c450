"""SSR's objectives over one run: supervised, and by reinforcement with the surrogates of GRPO, GSPO and SAPO.

Every one treats a turn's inserted thought as one decision, never as tokens: log q(z | h) of selector.py. SSR (arXiv 2610.01892)
names the three surrogates and writes out the first; how the selector enters the other two is our reading: as one more term
that the surrogate is taken of (SAPO), or one more log-ratio in the sequence's mean (GSPO), weighted by `gamma`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .packing import Branch, LogProbs, Span, log_probs
from .selector import log_q, scores


@dataclass(frozen=True)
class Decision:
    """A turn in a trunk of tokens: where its chosen thought begins, all candidates' tokens, and where the action stands.

    The chosen candidate's tokens are the trunk's from `start` on.
    """

    start: int
    candidates: tuple[tuple[int, ...], ...]
    chosen: int
    action: tuple[int, int]  # its first token's place in the trunk, and the place after its last


class Spelled(NamedTuple):
    """A turn in a trunk whose thought is generated: where the thought stands, and where the action."""

    thought: Span
    action: Span


class SftLoss(NamedTuple):
    """The loss of a run and its two sums over turns: `selection` of -log q(z | h), `action` of the mean -log p of its tokens.

    `taken` says of each turn whether its candidate is the likeliest. Where thoughts are generated, `selection` is of the mean -log p
    of their tokens, and nothing is taken.
    """

    loss: Tensor
    selection: Tensor
    action: Tensor
    taken: tuple[bool, ...]


def sft_loss(
    network: Any,
    trunk: Sequence[int],
    decisions: Sequence[Decision],
    weight: float = 1.0,
    alpha: float = 1.0,
    tau: float = 1.0,
) -> SftLoss:
    """weight * selection + action, with the gradient of every candidate."""
    found = log_probs(network, trunk, branches_of(decisions), asked_of(decisions))
    chances = decision_log_q(found, decisions, alpha, tau)
    selection = -torch.stack([own[one.chosen] for own, one in zip(chances, decisions, strict=True)])
    actions = torch.stack([-found.between(*one.action).mean() for one in decisions])
    return SftLoss(
        weight * selection.sum() + actions.sum(),
        selection.sum().detach(),
        actions.sum().detach(),
        tuple(int(q.argmax()) == one.chosen for q, one in zip(chances, decisions, strict=True)),
    )


def thinking_loss(
    network: Any, trunk: Sequence[int], turns: Sequence[Spelled], weight: float = 1.0
) -> SftLoss:
    """weight * thoughts + actions: the same for a model that is to generate its thoughts, with which one that selects is compared."""
    found = log_probs(network, trunk, asked=[span for turn in turns for span in turn])
    thoughts = torch.stack([-found.between(*turn.thought).mean() for turn in turns]).sum()
    actions = torch.stack([-found.between(*turn.action).mean() for turn in turns]).sum()
    return SftLoss(weight * thoughts + actions, thoughts.detach(), actions.detach(), ())


def branches_of(decisions: Sequence[Decision]) -> list[Branch]:
    """The candidates that were not chosen, decision by decision."""
    return [
        Branch(one.start, ids)
        for one in decisions
        for place, ids in enumerate(one.candidates)
        if place != one.chosen
    ]


def asked_of(decisions: Sequence[Decision]) -> list[Span]:
    """Where in the trunk the chosen candidates and the actions stand."""
    thoughts = [(one.start, one.start + len(one.candidates[one.chosen])) for one in decisions]
    return thoughts + [one.action for one in decisions]


def decision_log_q(
    found: LogProbs, decisions: Sequence[Decision], alpha: float = 1.0, tau: float = 1.0
) -> list[Tensor]:
    """(N,) for each decision; `found` is of the trunk with `branches_of` them."""
    others = iter(found.branches)
    told = []
    for one in decisions:
        stop = one.start + len(one.candidates[one.chosen])
        own = [
            found.between(one.start, stop) if place == one.chosen else next(others)
            for place in range(len(one.candidates))
        ]
        told.append(log_q(scores(own, alpha), tau))
    return told


class Surrogate(StrEnum):
    """What stands in the place of ratio times advantage."""

    GRPO = "grpo"  # clipped, a term each
    GSPO = "gspo"  # clipped, of the whole run's mean log-ratio
    SAPO = "sapo"  # softly gated, a term each


@dataclass(frozen=True)
class Policy:
    """`gamma` weights selections against actions, `beta` the divergence from a reference, on generated tokens alone."""

    surrogate: Surrogate = Surrogate.GRPO
    gamma: float = 1.0
    beta: float = 0.0
    clip_low: float = 0.2
    clip_high: float = 0.2
    gate: float = 1.0  # SAPO's temperature where the advantage is positive
    gate_negative: float = 1.05


class Terms(NamedTuple):
    """Log-probabilities (n,) now and at the rollout."""

    new: Tensor
    old: Tensor

    @property
    def log_ratio(self) -> Tensor:
        return self.new - self.old.detach()


def policy_loss(
    policy: Policy,
    selections: Terms,
    actions: Terms,
    advantage: float,
    reference: Tensor | None = None,
) -> Tensor:
    """The loss of one rollout: `selections` a log q each turn, `actions` a log p each generated token.

    `reference` (n,) are the actions' log-probabilities under the reference model, needed where `beta` is above zero.
    """
    if policy.surrogate is Surrogate.GSPO:
        gain = _clipped(_run_log_ratio(policy, selections, actions), advantage, policy)
    else:
        chosen, acted = (gains(policy, one.log_ratio, advantage) for one in (selections, actions))
        gain = policy.gamma * _mean(chosen) + _mean(acted)
    if not policy.beta:
        return -gain
    if reference is None:
        raise ValueError("a divergence from a reference needs the reference's log-probabilities")
    return -gain + policy.beta * _divergence(actions.new, reference)


def gains(policy: Policy, log_ratio: Tensor, advantage: float) -> Tensor:
    """(n,) what stands in the place of ratio times advantage, a term each; for GSPO pass a run's mean log-ratio."""
    return (_gated if policy.surrogate is Surrogate.SAPO else _clipped)(
        log_ratio, advantage, policy
    )


def advantages(rewards: Sequence[float], least_deviation: float = 1e-4) -> Tensor:
    """(n,) of a group's rewards: less their mean, over their deviation, which is at least `least_deviation`."""
    told = torch.tensor(rewards, dtype=torch.float64)
    return (told - told.mean()) / told.std(correction=0).clamp(min=least_deviation)


def _clipped(log_ratio: Tensor, advantage: float, policy: Policy) -> Tensor:
    ratio = log_ratio.exp()
    bounded = ratio.clamp(1 - policy.clip_low, 1 + policy.clip_high)
    return torch.minimum(ratio * advantage, bounded * advantage)


def _gated(log_ratio: Tensor, advantage: float, policy: Policy) -> Tensor:
    """SAPO: (4 / t) sigmoid(t (ratio - 1)) in the place of the ratio; its slope at 1 is 1 (arXiv 2511.20347)."""
    temperature = policy.gate if advantage > 0 else policy.gate_negative
    gated = 4 / temperature * torch.sigmoid(temperature * (log_ratio.exp() - 1))
    return gated * advantage


def _run_log_ratio(policy: Policy, selections: Terms, actions: Terms) -> Tensor:
    weights = policy.gamma * len(selections.new) + len(actions.new)
    total = policy.gamma * selections.log_ratio.sum() + actions.log_ratio.sum()
    return total / max(weights, 1e-9)


def _divergence(new: Tensor, reference: Tensor) -> Tensor:
    """Schulman's third estimate of KL(new || reference), never negative, a token's mean."""
    away = reference.detach() - new
    return _mean(away.exp() - away - 1)


def _mean(values: Tensor) -> Tensor:
    return values.mean() if len(values) else values.sum()
