"""Likelihoods with gradients: a text and everything that might have stood at places of it, in one forward.

    trunk     h0 z0 a0 o0 z1 a1              each token sees those before it
    branches     r  r        r               each sees the trunk up to its start, and itself

So a run of several turns and all candidates of each cost one pass over their tokens. Works with any causal language model of
transformers whose attention takes a mask of four dimensions; nothing is cached, since weights change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor


@dataclass(frozen=True)
class Branch:
    """Tokens that might have followed the trunk's first `start` (at least one)."""

    start: int
    ids: tuple[int, ...]


Span = tuple[int, int]  # places of a trunk, the last left out


class LogProbs(NamedTuple):
    """Natural log-probabilities: of the trunk's tokens but the first, (T - 1,), NaN where not asked for, and of each branch's, (K,)."""

    trunk: Tensor
    branches: tuple[Tensor, ...]

    def between(self, start: int, stop: int) -> Tensor:
        """Those of the trunk's tokens from `start`, at least 1, to `stop`."""
        return self.trunk[start - 1 : stop - 1]


def log_probs(
    network: Any,
    trunk: Sequence[int],
    branches: Sequence[Branch] = (),
    asked: Sequence[Span] | None = None,
) -> LogProbs:
    """One forward of a transformers network; logits are made for the branches and the `asked` tokens of the trunk (None: for all).

    ValueError for a branch that starts nowhere in the trunk.
    """
    for branch in branches:
        if not (1 <= branch.start <= len(trunk) and branch.ids):
            raise ValueError(f"a branch of {len(branch.ids)} tokens cannot start at {branch.start}")
    device = network.device
    ids = torch.tensor([[*trunk, *(i for branch in branches for i in branch.ids)]], device=device)
    hidden = network.get_decoder()(
        input_ids=ids,
        position_ids=_positions(len(trunk), branches).to(device)[None],
        attention_mask=_mask(len(trunk), branches, network.dtype).to(device)[None, None],
        use_cache=False,
    ).last_hidden_state[0]
    spans = [(1, len(trunk))] if asked is None else asked
    told = torch.cat([torch.arange(*span) for span in spans]) if spans else torch.arange(0)
    rows, targets = _predictions(len(trunk), told, branches)  # which row predicts which token
    logits = network.get_output_embeddings()(hidden[rows])
    values = logits.log_softmax(-1).gather(-1, ids[0, targets, None])[:, 0]
    own, *others = values.split([len(told), *(len(branch.ids) for branch in branches)])
    whole = own.new_full((len(trunk) - 1,), torch.nan).index_put((told.to(device) - 1,), own)
    return LogProbs(whole, tuple(others))


def _positions(length: int, branches: Sequence[Branch]) -> Tensor:
    parts = [torch.arange(length)]
    parts += [torch.arange(len(branch.ids)) + branch.start for branch in branches]
    return torch.cat(parts)


def _mask(length: int, branches: Sequence[Branch], dtype: torch.dtype) -> Tensor:
    """(U, U) to be added to attention scores: 0 where the row's token sees the column's."""
    total = length + sum(len(branch.ids) for branch in branches)
    sees = torch.zeros(total, total, dtype=torch.bool)
    sees[:length, :length] = torch.ones(length, length).tril().bool()
    first = length
    for branch in branches:
        stop = first + len(branch.ids)
        sees[first:stop, : branch.start] = True
        sees[first:stop, first:stop] = torch.ones(stop - first, stop - first).tril().bool()
        first = stop
    return torch.zeros(total, total, dtype=dtype).masked_fill(~sees, torch.finfo(dtype).min)


def _predictions(length: int, told: Tensor, branches: Sequence[Branch]) -> tuple[Tensor, Tensor]:
    rows, targets = [told - 1], [told]
    first = length
    for branch in branches:
        stop = first + len(branch.ids)
        before = torch.tensor([branch.start - 1])
        rows.append(torch.cat([before, torch.arange(first, stop - 1)]))
        targets.append(torch.arange(first, stop))
        first = stop
    return torch.cat(rows), torch.cat(targets)
