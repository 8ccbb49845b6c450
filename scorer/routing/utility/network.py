"""LatentRouter's network (arXiv 2605.11301, section 3.2): what quality each arm would reach on a question.

Letters: B questions, T query tokens, C capsules, A arms, D width, H heads, E size of a query vector, F size of a profile.
An arm is only its profile: the network has no weight of its own for any arm, so that arms are exchangeable, may be added,
and one that is masked changes nothing for the others. Knows no table, no cost and no training.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention, softplus

LEAST_DEVIATION = 1e-4


@dataclass(frozen=True)
class Shape:
    """Sizes of a network; the defaults are the published ones, but for the width, which is half of theirs."""

    width: int = 48
    query_tokens: int = 6  # a query vector is unfolded into so many
    capsules: int = 7
    layers: int = 2
    heads: int = 4
    dropout: float = 0.1
    bound: float = 0.05  # of the correction
    temperature: float = 0.25  # of the scores that weigh an arm's feedback


class Query(NamedTuple):
    """What is known of the questions: `text` (B, E), and `image` (B, E') with `seen` (B,), which of them have one; or None."""

    text: Tensor
    image: Tensor | None = None
    seen: Tensor | None = None

    def rows(self, places: Tensor) -> "Query":
        image = None if self.image is None else self.image[places]
        return Query(self.text[places], image, None if self.seen is None else self.seen[places])


class Predicted(NamedTuple):
    """(B, A) each: `quality` is mean plus correction within 0..1. What stands at a masked arm means nothing."""

    mean: Tensor
    deviation: Tensor
    correction: Tensor
    quality: Tensor


class CommunicationLayer(nn.Module):
    """Arms read the capsules, compare themselves with each other, and tell the capsules what matters."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, heads = shape.width, shape.heads
        self.heads, self.temperature = heads, shape.temperature
        self.dropout = nn.Dropout(shape.dropout)
        self.read_query = nn.Linear(width, width)
        self.read_key = nn.Linear(width, width)
        self.read_value = nn.Linear(width, width)
        self.read_update = _perceptron(3 * width, 2 * width, width, shape.dropout)
        self.arm_query = nn.Linear(width, width)
        self.arm_key = nn.Linear(width, width)
        self.arm_value = nn.Linear(width, width)
        self.arm_out = nn.Linear(width, width)
        self.pair_bias = _perceptron(4 * width, width, heads, shape.dropout)
        self.score = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 1))
        self.back_query = nn.Linear(width, width)
        self.back_key = nn.Linear(width, width)
        self.back_value = nn.Linear(width, width)
        self.back_out = nn.Linear(width, width)
        self.arm_update = _perceptron(width, 4 * width, width, shape.dropout)
        self.capsule_update = _perceptron(width, 4 * width, width, shape.dropout)
        self.norms = nn.ModuleDict(
            {name: nn.LayerNorm(width) for name in ("read", "compared", "arm", "told", "capsule")}
        )

    def forward(self, capsules: Tensor, arms: Tensor, available: Tensor) -> tuple[Tensor, Tensor]:
        """New `capsules` (B, C, D) and `arms` (B, A, D); `available` (B, A) bool, at least one a question."""
        arms = self._read(capsules, arms)
        arms = self._compare(arms, available)
        return self._tell(capsules, arms, available), arms

    def _read(self, capsules: Tensor, arms: Tensor) -> Tensor:
        """Each arm attends to the capsules, one head, and is updated from [m; c; m*c]."""
        read = scaled_dot_product_attention(
            self.read_query(arms), self.read_key(capsules), self.read_value(capsules)
        )  # (B, A, D)
        update = self.read_update(torch.cat([arms, read, arms * read], dim=-1))
        return self.norms["read"](arms + self.dropout(update))

    def _compare(self, arms: Tensor, available: Tensor) -> Tensor:
        """Arms attend to available arms; the bias of a pair is learned from [mi; mj; mi-mj; mi*mj]."""
        mi, mj = torch.broadcast_tensors(arms[:, :, None], arms[:, None])  # (B, A, A, D)
        pairs = torch.cat([mi, mj, mi - mj, mi * mj], dim=-1)
        bias = self.pair_bias(pairs).permute(0, 3, 1, 2)  # (B, H, A, A)
        bias = bias.masked_fill(~available[:, None, None], -torch.inf)
        found = self._attend(self.arm_query(arms), self.arm_key(arms), self.arm_value(arms), bias)
        arms = self.norms["compared"](arms + self.dropout(self.arm_out(found)))
        return self.norms["arm"](arms + self.dropout(self.arm_update(arms)))

    def _tell(self, capsules: Tensor, arms: Tensor, available: Tensor) -> Tensor:
        """Capsules attend to arms, each scaled by the softmax of its current score."""
        scores = self.score(arms).squeeze(-1).masked_fill(~available, -torch.inf)  # (B, A)
        weighed = arms * torch.softmax(scores / self.temperature, dim=-1)[..., None]
        mask = torch.zeros_like(scores).masked_fill(~available, -torch.inf)[:, None, None]
        told = self._attend(
            self.back_query(capsules), self.back_key(weighed), self.back_value(weighed), mask
        )
        capsules = self.norms["told"](capsules + self.dropout(self.back_out(told)))
        return self.norms["capsule"](capsules + self.dropout(self.capsule_update(capsules)))

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
        """Attention by heads with an additive `bias` (B, H or 1, queries or 1, keys)."""
        q, k, v = (
            one.unflatten(-1, (self.heads, -1)).transpose(1, 2) for one in (query, key, value)
        )  # (B, H, queries or keys, D / H)
        shape = (query.shape[0], self.heads, query.shape[1], key.shape[1])
        found = scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(shape))
        return found.transpose(1, 2).flatten(2)


class LatentNetwork(nn.Module):
    """Capsules out of the query's tokens, arms out of their profiles, communication, and a head."""

    def __init__(self, shape: Shape, text: int, profile: int, image: int = 0) -> None:
        """`text`, `image` (0: no question has one) and `profile` are sizes of vectors."""
        super().__init__()
        width = shape.width
        self.shape = shape
        self.text_tokens = _tokens(text, shape)
        self.image_tokens = _tokens(image, shape) if image else None
        self.capsules = nn.Parameter(torch.randn(shape.capsules, width) * 0.02)
        self.attend = nn.MultiheadAttention(width, shape.heads, shape.dropout, batch_first=True)
        self.arm = _perceptron(profile, width, width, shape.dropout)
        self.layers = nn.ModuleList(CommunicationLayer(shape) for _ in range(shape.layers))
        self.head = _perceptron(width, width, 2, shape.dropout)
        self.correct = _perceptron(2 * width, width, 1, shape.dropout)

    def forward(self, query: Query, profiles: Tensor, available: Tensor) -> Predicted:
        """`profiles` (A, F), the last of them the normalised cost; `available` (B, A) bool, at least one a question."""
        capsules = self._capsules(query)
        arms = self.arm(profiles).expand(len(query.text), -1, -1)  # (B, A, D)
        for layer in self.layers:
            capsules, arms = layer(capsules, arms, available)
        told = self.head(arms)
        mean, deviation = torch.sigmoid(told[..., 0]), softplus(told[..., 1]) + LEAST_DEVIATION
        pooled = capsules.mean(dim=1, keepdim=True).expand_as(arms)
        correction = self.correct(torch.cat([arms, pooled], dim=-1)).squeeze(-1)
        correction = self.shape.bound * torch.tanh(correction)
        return Predicted(mean, deviation, correction, (mean + correction).clamp(0.0, 1.0))

    def _capsules(self, query: Query) -> Tensor:
        """(B, C, D): attention of the learned capsules to the tokens of text, and of image where there is one."""
        tokens = self.text_tokens(query.text)  # (B, T, D)
        absent = torch.zeros(tokens.shape[:2], dtype=torch.bool, device=tokens.device)
        if self.image_tokens is not None and query.image is not None and query.seen is not None:
            more = self.image_tokens(query.image)
            absent = torch.cat([absent, ~query.seen[:, None].expand(more.shape[:2])], dim=1)
            tokens = torch.cat([tokens, more], dim=1)
        seeds = self.capsules.expand(len(tokens), -1, -1)
        return self.attend(seeds, tokens, tokens, absent, need_weights=False)[0]


def _tokens(size: int, shape: Shape) -> nn.Module:
    """A vector unfolded into tokens, (B, size) to (B, T, D)."""
    return nn.Sequential(
        nn.LayerNorm(size),
        nn.Linear(size, shape.query_tokens * shape.width),
        nn.Unflatten(-1, (shape.query_tokens, shape.width)),
    )


def _perceptron(before: int, between: int, after: int, dropout: float) -> nn.Module:
    return nn.Sequential(
        nn.LayerNorm(before),
        nn.Linear(before, between),
        nn.GELU(),
        nn.Dropout(dropout),
        nn.Linear(between, after),
    )
