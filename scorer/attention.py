"""Attention over a context that is stored once, and over what follows it, merged by log-sum-exp.

Registers one implementation with transformers. A forward that carries a `plan` gets its attention from the plan;
one without is transformers' own scaled dot-product attention, untouched. Attention over a part of the keys is
a `Partial`: the part's softmax average, and the log of the softmax's denominator (natural log). Two partials over
disjoint keys merge into the attention over both, exactly. Letters as in model.py; N is any batch.
"""

from functools import cache
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from ..data.errors import ModelUnavailable

IMPLEMENTATION = "forethought"
ROWS_AT_ONCE = 256  # of the portable path, whose scores would otherwise be U x S


class Partial(NamedTuple):
    """Attention over some of the keys."""

    output: Tensor  # (N, A, U, D)
    log_mass: Tensor  # (N, A, U) log of the sum of exp(scores), float32 or better


class Plan(Protocol):
    """Says what the new tokens of one forward attend to."""

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        """(1, A, U, D) for query (1, A, U, D), key and value (1, B, U, D)."""
        ...


class Seen(Protocol):
    """A context, or what is seen of it."""

    def parts(self, layer: int, query: Tensor, scale: float, start: int = 0) -> list[Partial]:
        """Attention of query (1, A, U, D) over its tokens from `start` on, in parts over disjoint keys."""
        ...


def attention_forward(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    plan: Plan | None = None,
    **kwargs: Any,
) -> Any:
    """What transformers calls in every layer; the signature is its own."""
    if plan is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs)
    output = plan.attend(module.layer_idx, query, key, value, kwargs["scaling"])
    return output.transpose(1, 2), None  # (1, U, A, D)


AttentionInterface.register(IMPLEMENTATION, attention_forward)
AttentionMaskInterface.register(IMPLEMENTATION, sdpa_mask)


class Kernel(Protocol):
    """Attention of query (N, A, U, D) over keys and values (N, B, S, D); S must not be 0.

    With `causal`, U equals S and row u sees the keys up to u.
    """

    def __call__(
        self, query: Tensor, keys: Tensor, values: Tensor, scale: float, *, causal: bool = False
    ) -> Partial: ...


def attend_part(
    query: Tensor, keys: Tensor, values: Tensor, scale: float, *, causal: bool = False
) -> Partial:
    """A Kernel: the fastest that passes its test in this dtype on this device.

    Without a mask all the query heads of a key head are as good as more rows of one head, so they are folded
    into rows: keys and values are read once, and never expanded.
    """
    kernel = kernel_for(query.dtype, query.device)
    if causal:
        return kernel(query, keys, values, scale, causal=True)
    return _unfolded(kernel(_folded(query, keys), keys, values, scale), query)


def attend_biased(
    query: Tensor, keys: Tensor, values: Tensor, scale: float, bias: Tensor
) -> Partial:
    """Like `attend_part`, with `bias` (S,) added to every row's scores: -inf for a key that is not there.

    One must be: a softmax over nothing has no log-sum-exp.
    """
    folded = attend_part_plainly(_folded(query, keys), keys, values, scale, bias=bias)
    return _unfolded(folded, query)


def _folded(query: Tensor, keys: Tensor) -> Tensor:
    """(N, A, U, D) -> (N, B, A / B * U, D)"""
    return query.reshape(query.shape[0], keys.shape[1], -1, query.shape[3])


def _unfolded(part: Partial, query: Tensor) -> Partial:
    return Partial(part.output.reshape(query.shape), part.log_mass.reshape(query.shape[:3]))


def _attend_on_cpu(
    query: Tensor, keys: Tensor, values: Tensor, scale: float, *, causal: bool = False
) -> Partial:
    flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    return Partial(*flash(query, keys, values, 0.0, causal, scale=scale))


def _attend_on_cuda(
    query: Tensor, keys: Tensor, values: Tensor, scale: float, *, causal: bool = False
) -> Partial:
    flash = torch.ops.aten._scaled_dot_product_flash_attention
    return Partial(*flash(query, keys, values, 0.0, causal, False, scale=scale)[:2])


def attend_part_plainly(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    scale: float,
    *,
    causal: bool = False,
    bias: Tensor | None = None,
) -> Partial:
    """The definition of a Kernel, in any dtype and on any device; `bias` (S,) is added to all rows' scores."""
    wide = torch.promote_types(query.dtype, torch.float32)
    groups = query.shape[1] // keys.shape[1]
    keys = keys.to(wide).repeat_interleave(groups, dim=1)  # (N, A, S, D)
    values = values.to(wide).repeat_interleave(groups, dim=1)  # (N, A, S, D)
    outputs, masses = [], []
    for first in range(0, query.shape[2], ROWS_AT_ONCE):
        rows = query[:, :, first : first + ROWS_AT_ONCE].to(wide)
        scores = rows @ keys.transpose(-1, -2) * scale  # (N, A, rows, S)
        if bias is not None:
            scores = scores + bias
        if causal:
            seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).tril(first)
            scores = scores.masked_fill(~seen, float("-inf"))
        masses.append(scores.logsumexp(-1))
        outputs.append((scores.softmax(-1) @ values).to(query.dtype))
    return Partial(torch.cat(outputs, dim=2), torch.cat(masses, dim=2))


KERNELS: dict[str, tuple[Kernel, ...]] = {
    "cpu": (_attend_on_cpu, attend_part_plainly),
    "cuda": (_attend_on_cuda, attend_part_plainly),
}


def merge(*parts: Partial) -> Tensor:
    """Attention (N, A, U, D) over the keys of all parts, in the dtype of their outputs."""
    if len(parts) == 1:
        return parts[0].output
    top = torch.stack([part.log_mass for part in parts]).amax(0)
    shares = [(part.log_mass - top).exp().unsqueeze(-1) for part in parts]  # (N, A, U, 1) each
    merged = sum(part.output * share for part, share in zip(parts, shares, strict=True))
    return (merged / torch.stack(shares).sum(0)).to(parts[0].output.dtype)


@cache
def kernel_for(dtype: torch.dtype, device: torch.device) -> Kernel:
    """The first of the device's kernels that two merged parts of equal one softmax with, tried once a process.

    Catches one that is missing, whose log-sum-exp has another base or layout, or that groups heads differently.
    ModelUnavailable if there is none.
    """
    reasons = []
    for kernel in KERNELS.get(device.type, (attend_part_plainly,)):
        try:
            error = _error_of(kernel, dtype, device)
        except (RuntimeError, NotImplementedError, AttributeError) as refusal:
            reasons.append(str(refusal).splitlines()[0])
            continue
        if error <= 32 * torch.finfo(dtype).eps:
            return kernel
        reasons.append(f"off by {error:.1e}")
    raise ModelUnavailable(
        f"no attention in {dtype} works on {device} with torch {torch.__version__}: {'; '.join(reasons)}"
    )


def _error_of(kernel: Kernel, dtype: torch.dtype, device: torch.device) -> float:
    """Largest deviation of two merged parts from one softmax in float64, heads grouped and folded."""
    generator = torch.Generator().manual_seed(0)
    query, keys, values = (
        torch.randn(1, heads, 9, 16, generator=generator).to(device, dtype) for heads in (6, 2, 2)
    )
    scale = 0.7
    queries = query[:, :, 5:]
    folded = kernel(queries.reshape(1, 2, -1, 16), keys[:, :, :5], values[:, :, :5], scale)
    early = Partial(folded.output.reshape(queries.shape), folded.log_mass.reshape(1, 6, 4))
    late = kernel(queries, keys[:, :, 5:], values[:, :, 5:], scale, causal=True)
    whole = attend_part_plainly(query.double(), keys.double(), values.double(), scale, causal=True)
    return (merge(early, late).double() - whole.output[:, :, 5:]).abs().max().item()
