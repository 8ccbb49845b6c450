"""Thinking by generating, to compare with: our own decoder, and transformers' `generate`, on the same context.

Both start from the context's known last logits, so the first token costs no forward, and the last token's keys
and values are left to whatever comes next: exactly where a selection with its commit starts and ends.
"""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from transformers import DynamicCache

from ..data.render import CLOSING
from .context import Context


class Speaker(Protocol):
    """As much of a model as decoded ids are read with."""

    @property
    def ends(self) -> frozenset[int]: ...

    def decode(self, ids: Sequence[int]) -> str: ...


@dataclass(frozen=True)
class Decoding:
    """How to decode: at most `tokens`, until the text holds `stop` (one of several) or the model ends it; temperature 0 is greedy.

    Without `stop` exactly `tokens` are decoded, whatever they say.
    """

    tokens: int = 256
    stop: str | tuple[str, ...] | None = CLOSING
    temperature: float = 0.0
    seed: int = 0

    @property
    def stops(self) -> tuple[str, ...] | None:
        return (self.stop,) if isinstance(self.stop, str) else self.stop


class Decoded(NamedTuple):
    """What was decoded; `is_complete` unless it was cut off at the number of tokens."""

    ids: tuple[int, ...]
    text: str
    is_complete: bool


def decode(context: Context, decoding: Decoding) -> Decoded:
    """Decode after `context`, which grows by the decoded tokens."""
    generator = torch.Generator().manual_seed(decoding.seed)
    ids: list[int] = []
    is_complete = decoding.stop is None
    stops = decoding.stops
    while len(ids) < decoding.tokens:
        ids.append(_pick(context.logits(), decoding.temperature, generator))
        context.append_text(ids[-1:])
        if stops is not None and is_over(context.model, ids, stops):
            is_complete = True
            break
    return Decoded(tuple(ids), context.model.decode(ids), is_complete)


def is_over(model: Speaker, ids: Sequence[int], stops: tuple[str, ...]) -> bool:
    """Whether the last of `ids` ends what is said, or completes one of `stops`."""
    if ids[-1] in model.ends:
        return True
    longest = max(len(stop.encode()) for stop in stops)
    tail = model.decode(ids[-longest:])  # a token is at least one byte of it
    return any(stop in tail for stop in stops)


def transformers_cache(context: Context) -> DynamicCache:
    """A copy of the context's keys and values as transformers keeps them; each `generate` uses one up."""
    context.settle()
    cache = DynamicCache()
    for layer in range(len(context.slab.keys)):
        cache.update(*context.slab.read(layer, context.length), layer)
    return cache


@torch.inference_mode()
def generate_with_transformers(
    context: Context, cache: DynamicCache, tokens: int
) -> tuple[int, ...]:
    """Exactly `tokens` ids from transformers' greedy `generate` on `cache`; the context stays as it is."""
    network = context.model.network
    first = int(context.logits().argmax())
    ids = torch.tensor([[*context.ids, first]], device=context.model.device)  # (1, S + 1)
    if tokens == 1:
        return (first,)
    if (
        context.model.eyes
    ):  # else it would go on from the pictures that it saw last, here or elsewhere
        shift = context.next_position - context.length
        network.model.rope_deltas = torch.tensor([[shift]], device=network.device)
    output = network.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        do_sample=False,
        min_new_tokens=tokens - 1,
        max_new_tokens=tokens - 1,
        **{_cache_argument(network): cache},
    )
    return tuple(output[0, context.length :].tolist())


def _pick(logits: Tensor, temperature: float, generator: torch.Generator) -> int:
    if temperature == 0:
        return int(logits.argmax())
    weights = (logits.double() / temperature).softmax(-1).cpu()  # (V,)
    return int(torch.multinomial(weights, 1, generator=generator))


def _cache_argument(network: Any) -> str:
    """transformers renamed it on the way through 5.x."""
    parameters = inspect.signature(type(network).forward).parameters
    return "cache" if "cache" in parameters else "past_key_values"
