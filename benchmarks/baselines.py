"""The usual ways to score sequences after one context with stock transformers, to compare the scorer with.

Each is `(model, context_ids, sequences)` to the natural log-probability of every token, float64, a sequence each (tokens,);
equal to score_plainly up to rounding. Each also has a form that starts from a `Prefill`, for timing what comes after it.
For text models on any device and in any dtype; knows nothing of our own scorer. Letters: S context tokens, K sequences of at
most L tokens, V vocabulary, N all tokens that are run.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from transformers import DynamicCache

from forethought.scorer.model import LanguageModel

Ids = Sequence[int]
Scores = tuple[np.ndarray, ...]
ROWS_AT_ONCE = 64  # of the batch: each carries a copy of the whole context


class Prefill(NamedTuple):
    """A context that was run once: keys and values (1, B, S, D) of every layer, and the logits (V,) at its end."""

    keys: tuple[Tensor, ...]
    values: tuple[Tensor, ...]
    logits: Tensor

    @property
    def length(self) -> int:
        return self.keys[0].shape[2]

    def cache(self, rows: int = 1) -> DynamicCache:
        """A transformers cache of the context for that many rows. Views: the forward that adds to it copies them."""
        cache = DynamicCache()
        for layer, (keys, values) in enumerate(zip(self.keys, self.values, strict=True)):
            cache.update(keys[:, :, :0], values[:, :, :0], layer)  # makes the layer
            cache.layers[layer].keys = keys.expand(rows, -1, -1, -1)
            cache.layers[layer].values = values.expand(rows, -1, -1, -1)
        return cache


class Baseline(NamedTuple):
    """One way to score: all of it, and the part after the shared prefill."""

    whole: Callable[[LanguageModel, Ids, Sequence[Ids]], Scores]
    after: Callable[[LanguageModel, Prefill, Sequence[Ids]], Scores]


@torch.inference_mode()
def prefill(model: LanguageModel, context_ids: Ids) -> Prefill:
    """Run the context, of at least one token, once."""
    cache = DynamicCache()
    ids = torch.tensor([context_ids], device=model.device)  # (1, S)
    logits = model.network(ids, logits_to_keep=1, **_with(model, cache)).logits[0, -1]
    keys = tuple(layer.keys for layer in cache.layers)
    return Prefill(keys, tuple(layer.values for layer in cache.layers), logits)


@torch.inference_mode()
def score_naively(model: LanguageModel, context_ids: Ids, sequences: Sequence[Ids]) -> Scores:
    """A full forward over context and sequence for each sequence; logits of the sequence's rows alone."""
    found = []
    for sequence in sequences:
        ids = torch.tensor([[*context_ids, *sequence]], device=model.device)  # (1, S + tokens)
        kept = len(sequence) + 1
        logits = model.network(ids, use_cache=False, logits_to_keep=kept).logits[0, :-1]
        found.append(_log_probs(logits, sequence))
    return tuple(found)


@torch.inference_mode()
def score_naively_after(
    model: LanguageModel, prefilled: Prefill, sequences: Sequence[Ids]
) -> Scores:
    """One forward a sequence on the context's cache, which each takes a copy of."""
    return tuple(_score_rows(model, prefilled, [sequence])[0] for sequence in sequences)


def score_expanded(model: LanguageModel, context_ids: Ids, sequences: Sequence[Ids]) -> Scores:
    """The context once, then its cache expanded to a batch: one right-padded row a sequence."""
    return score_expanded_after(model, prefill(model, context_ids), sequences)


@torch.inference_mode()
def score_expanded_after(
    model: LanguageModel, prefilled: Prefill, sequences: Sequence[Ids]
) -> Scores:
    """ROWS_AT_ONCE sequences a forward."""
    found: list[np.ndarray] = []
    for first in range(0, len(sequences), ROWS_AT_ONCE):
        found += _score_rows(model, prefilled, sequences[first : first + ROWS_AT_ONCE])
    return tuple(found)


def score_packed(model: LanguageModel, context_ids: Ids, sequences: Sequence[Ids]) -> Scores:
    """The context once, then all sequences in one row, kept apart by a 4-D mask and positions of their own."""
    return score_packed_after(model, prefill(model, context_ids), sequences)


@torch.inference_mode()
def score_packed_after(
    model: LanguageModel, prefilled: Prefill, sequences: Sequence[Ids]
) -> Scores:
    """All sequences in one forward; its mask has N x (S + N) numbers."""
    lengths = [len(ids) - 1 for ids in sequences]  # the last token predicts nothing asked for
    rest = np.empty(0)
    if sum(lengths):
        ids = [token for sequence in sequences for token in sequence[:-1]]
        positions = [prefilled.length + place for length in lengths for place in range(length)]
        logits = model.network(
            torch.tensor([ids], device=model.device),  # (1, N)
            position_ids=torch.tensor([positions], device=model.device),
            attention_mask=_packed_mask(prefilled.length, lengths, model),
            **_with(model, prefilled.cache()),
        ).logits[0]  # (N, V)
        rest = _log_probs(logits, [token for sequence in sequences for token in sequence[1:]])
    own = np.split(rest, np.cumsum(lengths)[:-1])
    return _joined(_first_log_probs(prefilled, sequences), own)


BASELINES = {
    "naive": Baseline(score_naively, score_naively_after),
    "batch-expanded cache": Baseline(score_expanded, score_expanded_after),
    "packed 4-D mask": Baseline(score_packed, score_packed_after),
}


def _score_rows(model: LanguageModel, prefilled: Prefill, sequences: Sequence[Ids]) -> Scores:
    """One forward with a row for each sequence; padding comes last, where causality hides it."""
    width = max(map(len, sequences)) - 1
    rest = np.empty((len(sequences), 0))
    if width:
        padded = [[*ids, *[0] * (width + 1 - len(ids))] for ids in sequences]
        rows = torch.tensor([ids[:-1] for ids in padded], device=model.device)  # (K, L - 1)
        logits = model.network(rows, **_with(model, prefilled.cache(len(sequences)))).logits
        rest = _log_probs(logits, [ids[1:] for ids in padded])
    own = [row[: len(ids) - 1] for row, ids in zip(rest, sequences, strict=True)]
    return _joined(_first_log_probs(prefilled, sequences), own)


def _packed_mask(start: int, lengths: Sequence[int], model: LanguageModel) -> Tensor:
    """(1, 1, N, S + N), to be added to scores: 0 where a row may look, the dtype's lowest number elsewhere."""
    owner = torch.repeat_interleave(torch.tensor(lengths, device=model.device))  # (N,)
    seen = (owner[:, None] == owner[None, :]).tril()  # (N, N)
    lowest = torch.finfo(model.dtype).min
    mask = torch.zeros(len(owner), start + len(owner), dtype=model.dtype, device=model.device)
    mask[:, start:].masked_fill_(~seen, lowest)
    return mask[None, None]


def _first_log_probs(prefilled: Prefill, sequences: Sequence[Ids]) -> np.ndarray:
    """Of the sequences' first tokens (K,), which the context's end predicts."""
    ends = prefilled.logits[None, None]  # (1, 1, V)
    return _log_probs(ends.expand(len(sequences), 1, -1), [[ids[0]] for ids in sequences])[:, 0]


def _joined(first: np.ndarray, rest: Sequence[np.ndarray]) -> Scores:
    return tuple(np.append(one, own) for one, own in zip(first, rest, strict=True))


def _log_probs(logits: Tensor, ids: Sequence[Any]) -> np.ndarray:
    """Of `ids` (...), from the logits (..., V) that predict them, in float32 or better; one trip to the CPU."""
    wide = logits if logits.dtype == torch.float64 else logits.float()
    targets = torch.tensor(ids, device=logits.device)[..., None]
    own = wide.gather(-1, targets)[..., 0] - wide.logsumexp(-1)
    return own.double().cpu().numpy()


def _with(model: LanguageModel, cache: DynamicCache) -> dict[str, Any]:
    """The cache under the name that this transformers gives it; it was renamed on the way through 5.x."""
    names = inspect.signature(type(model.network).forward).parameters
    return {"cache" if "cache" in names else "past_key_values": cache, "use_cache": True}
