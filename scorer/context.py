"""One growing context: its token ids, and the keys and values that the model computed for them, kept once.

Knows the model and positions; knows nothing of candidates. Token i stands at position i. Of the `length` tokens
the first `computed` have their keys and values in the slab; the rest wait until something needs them:

    [0, computed)        in the slab, read-only for everybody who scores
    [computed, length)   known ids without keys and values yet (after `append`, or a commit's last token)
    [length, capacity)   free
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ..data.errors import NothingToDo
from .attention import attend_part, merge, verify_attention
from .model import LanguageModel

CHUNK = 2048  # tokens a prefill step takes; bounds its memory, and more steps mean more merges


class Continuation(NamedTuple):
    """Tokens that were scored after a context, with the keys and values of all of them but the last."""

    ids: tuple[int, ...]
    keys: tuple[Tensor, ...]  # a layer each: (1, B, len(ids) - 1, D); none for a single token
    values: tuple[Tensor, ...]
    state: int  # the context's `state` when it was scored


class Slab:
    """Room for the keys and values of `capacity` tokens in every layer; doubles when it is full."""

    def __init__(self, model: LanguageModel, capacity: int) -> None:
        config = model.config
        width = (
            getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        )
        self._shape = (1, config.num_key_value_heads, width)
        self._dtype, self._device = model.dtype, model.device
        self.keys = [self._empty(capacity) for _ in range(config.num_hidden_layers)]
        self.values = [self._empty(capacity) for _ in range(config.num_hidden_layers)]

    @property
    def capacity(self) -> int:
        return self.keys[0].shape[2]

    def reserve(self, length: int) -> None:
        """Make room for `length` tokens; what is stored stays."""
        if length <= (old := self.capacity):
            return
        for tensors in (self.keys, self.values):
            for layer, tensor in enumerate(tensors):
                tensors[layer] = self._empty(max(length, 2 * old))
                tensors[layer][:, :, :old] = tensor

    def write(self, layer: int, start: int, keys: Tensor, values: Tensor) -> None:
        stop = start + keys.shape[-2]
        self.keys[layer][:, :, start:stop] = keys
        self.values[layer][:, :, start:stop] = values

    def read(self, layer: int, length: int) -> tuple[Tensor, Tensor]:  # a view: nothing is copied
        """Keys and values (1, B, length, D) of the first `length` tokens."""
        return self.keys[layer][:, :, :length], self.values[layer][:, :, :length]

    def _empty(self, capacity: int) -> Tensor:
        batch, heads, width = self._shape
        return torch.empty(  # (1, B, capacity, D)
            (batch, heads, capacity, width), dtype=self._dtype, device=self._device
        )


class _Prefill:
    """The plan of tokens that come right after the first `start`: each sees those and the ones before it."""

    def __init__(self, slab: Slab, start: int) -> None:
        self._slab = slab
        self._start = start

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        self._slab.write(layer, self._start, key, value)
        if query.shape[2] == 1:  # decoding: a single row sees everything
            return attend_part(query, *self._slab.read(layer, self._start + 1), scale).output
        new = attend_part(query, key, value, scale, causal=True)
        if self._start == 0:
            return new.output
        return merge(attend_part(query, *self._slab.read(layer, self._start), scale), new)


class Context:
    """A context that grows, is rolled back, is scored against any number of times, and takes a winner in.

    `state` changes whenever the tokens do, so that a Continuation cannot be committed to another context.
    """

    @torch.inference_mode()
    def __init__(self, model: LanguageModel, ids: Sequence[int] = (), capacity: int = 2048) -> None:
        verify_attention(model.dtype, model.device)
        self.model = model
        self.slab = Slab(model, max(1, capacity))
        self.computed = 0
        self.state = 0
        self._ids: list[int] = []
        self._last_hidden: Tensor | None = None  # (1, H) at the end; None when not known
        self.extend(ids)

    @property
    def length(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(self._ids)

    def extend(self, ids: Sequence[int]) -> None:
        """Add tokens and compute them now, together with any that wait. Earlier ones are not computed again."""
        self.append(ids)
        if self._ids:
            self.settle()

    def append(self, ids: Sequence[int]) -> None:
        """Add tokens without computing anything yet."""
        self._ids.extend(int(token) for token in ids)
        if len(ids):
            self._changed()

    def rollback(self, length: int) -> None:
        """Forget all tokens from `length` on. The end's logits are recomputed when they are next needed."""
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot roll back to {length} tokens: there are {self.length}")
        if length < self.length:
            del self._ids[length:]
            self.computed = min(self.computed, length)
            self._changed()

    @torch.inference_mode()
    def commit(self, continuation: Continuation) -> None:
        """Take in tokens that were scored after this very context, with the keys and values they got there.

        The last token was never run, so it waits: the next extend, score or logits runs it together with
        what comes after. The same holds for the last token that a decoder produces.
        """
        if continuation.state != self.state:
            raise ValueError("this continuation was scored after another state of the context")
        start, ready = self.length, len(continuation.ids) - 1
        self.slab.reserve(start + ready)
        for layer, (keys, values) in enumerate(
            zip(continuation.keys, continuation.values, strict=True)
        ):
            self.slab.write(layer, start, keys, values)
        self.computed = start + ready
        self.append(continuation.ids)

    @torch.inference_mode()
    def settle(self) -> Tensor:
        """Compute what waits, and return the last hidden state (1, H) of the context's end."""
        if not self._ids:
            raise NothingToDo(
                "the context is empty, so nothing follows from it; give it at least one token"
            )
        if self._last_hidden is None:
            self.slab.reserve(self.length)
            first = min(
                self.computed, self.length - 1
            )  # the end's state may be lost: run that token again
            for start in range(first, self.length, CHUNK):
                stop = min(start + CHUNK, self.length)
                hidden = self.model.hidden(
                    self._ids[start:stop], range(start, stop), _Prefill(self.slab, start)
                )
                self.computed = stop
            self._last_hidden = hidden[-1:].clone()
        return self._last_hidden

    def logits(self) -> Tensor:
        """Next-token logits (V,) at the context's end."""
        return self.model.logits(self.settle())[0]

    def check(self) -> None:
        """Raise AssertionError unless the slab holds what the ids say. Recomputes nothing."""
        assert 0 <= self.computed <= self.length, f"{self.computed = } {self.length = }"
        assert self.computed <= self.slab.capacity, f"{self.computed = } {self.slab.capacity = }"
        if self._last_hidden is not None:
            assert self.computed == self.length, f"{self.computed = } {self.length = }"
        for layer in range(len(self.slab.keys)):
            keys, values = self.slab.read(layer, self.computed)
            finite = torch.isfinite(keys).all() and torch.isfinite(values).all()
            assert finite, f"layer {layer} holds a key or value that is no number"

    def _changed(self) -> None:
        self.state += 1
        self._last_hidden = None
