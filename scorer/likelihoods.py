"""lp(x): the log-probability of the action an agent took, after its context and a thought x in the thought's place.

In two parts. *Kind*: of the action's beginning under decoding constrained to the source's kinds: their beginnings as one token
trie, renormalised at each branching on the true path. *Arguments*: of the rest, given the true kind. Every text of a turn is priced in one
forward over one trie; the alternatives at a branching are leaves of it and cost no forward of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..data.render import RenderedAction, render_thought
from .context import Context
from .model import LanguageModel
from .score import score_sharing_context


@dataclass(frozen=True)
class Branching:
    """A place in an action's beginning where another kind's beginning goes on with another token."""

    position: int
    others: tuple[int, ...]


@dataclass(frozen=True)
class ActionCode:
    """An action as token ids: `beginning` fixes the kind, `rest` is what is left given it."""

    beginning: tuple[int, ...]
    rest: tuple[int, ...]
    branchings: tuple[Branching, ...]


@dataclass(frozen=True)
class Likelihood:
    """Log-probabilities in nats. `thought` (tokens,) prices the thought's own tokens, where asked for."""

    kind: float
    arguments: float
    thought: np.ndarray | None = None

    @property
    def parts(self) -> list[float]:
        return [self.kind, self.arguments]


def encode_action(
    model: LanguageModel, action: RenderedAction, kind: str, beginnings: Mapping[str, str]
) -> ActionCode:
    """Token ids of `action`; `beginnings` are the rendered beginnings of every kind its source knows."""
    own = tuple(model.encode(action.beginning))
    codes = {own} | {
        tuple(model.encode(text)) for other, text in beginnings.items() if other != kind
    }
    branchings = []
    for position, token in enumerate(own):
        siblings = {
            code[position]
            for code in codes
            if len(code) > position and code[:position] == own[:position]
        }
        if siblings != {token}:
            branchings.append(Branching(position, tuple(sorted(siblings - {token}))))
    return ActionCode(own, tuple(model.encode(action.rest)), tuple(branchings))


def likelihoods(
    context: Context, thoughts: Sequence[str | None], action: ActionCode, priced: int = 0
) -> list[Likelihood]:
    """lp of `action` after `context` and each of `thoughts` (None: no thinking tag at all).

    The first `priced` thoughts get the log-probabilities of their own tokens too: what selection scores.
    """
    model = context.model
    newline = model.encode("\n")
    leads = [
        [] if text is None else model.encode(render_thought(text)) + newline for text in thoughts
    ]
    sequences: list[list[int]] = []
    starts: list[int] = []
    for i, lead in enumerate(leads):
        sequences.append([*lead, *action.beginning, *action.rest])
        starts.append(0 if i < priced else len(lead))
        for branching in action.branchings:
            for other in branching.others:
                sequences.append([*lead, *action.beginning[: branching.position], other])
                starts.append(len(sequences[-1]) - 1)
    scored = iter(score_sharing_context(context, sequences, starts).log_probs)
    found = []
    for i, lead in enumerate(leads):
        own = next(scored)
        others = [[next(scored)[-1] for _ in b.others] for b in action.branchings]
        own_tokens = own[: len(lead) - len(newline)] if i < priced else None
        found.append(_likelihood(own[len(lead) :], others, action, own_tokens))
    return found


def _likelihood(
    tokens: np.ndarray, others: list[list[float]], action: ActionCode, thought: np.ndarray | None
) -> Likelihood:
    kind = 0.0
    for branching, alternatives in zip(action.branchings, others, strict=True):
        own = tokens[branching.position]
        kind += own - np.logaddexp.reduce([own, *alternatives])
    return Likelihood(float(kind), float(tokens[len(action.beginning) :].sum()), thought)
