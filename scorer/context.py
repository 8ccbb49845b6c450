"""One growing context: its tokens and pictures, and the keys and values that the model computed for them, kept once.

Knows the model; knows nothing of candidates. layout.py says where tokens stand. Of the `length` tokens
the first `computed` have their keys and values in the slab; the rest wait until something needs them:

    [0, computed)        in the slab, read-only for everybody who scores
    [computed, length)   known ids without keys and values yet (after `append`, or a commit's last token)
    [length, capacity)   free
"""

from collections.abc import Callable, Sequence
from functools import wraps
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from ..data.errors import ContextTooLong, NothingToDo
from .attention import Partial, Seen, attend_part, kernel_for, merge
from .layout import Layout, Placed
from .memory import reporting_memory
from .model import LanguageModel, Sight
from .vision import Features, Picture

if TYPE_CHECKING:  # who has no visual budget, imports nothing of it
    from .visual_budget import VisualBudget
    from .visual_choice import Blocks, Gaze

STATES = count()  # of all contexts
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
        self._model = model
        self.keys = [self._empty(capacity) for _ in range(model.num_layers)]
        self.values = [self._empty(capacity) for _ in range(model.num_layers)]

    @property
    def capacity(self) -> int:
        return min(tensor.shape[2] for tensor in (*self.keys, *self.values))

    def reserve(self, length: int) -> None:
        """Make room for `length` tokens; what is stored stays, even if memory ends half-way."""
        for tensors in (self.keys, self.values):
            for layer, tensor in enumerate(tensors):
                old = tensor.shape[2]
                if length > old:
                    larger = self._empty(max(length, 2 * old))
                    larger[:, :, :old] = tensor
                    tensors[layer] = larger

    def write(self, layer: int, start: int, keys: Tensor, values: Tensor) -> None:
        stop = start + keys.shape[-2]
        self.keys[layer][:, :, start:stop] = keys
        self.values[layer][:, :, start:stop] = values

    def read(self, layer: int, length: int) -> tuple[Tensor, Tensor]:  # a view: nothing is copied
        """Keys and values (1, B, length, D) of the first `length` tokens."""
        return self.keys[layer][:, :, :length], self.values[layer][:, :, :length]

    def _empty(self, capacity: int) -> Tensor:
        model = self._model
        with reporting_memory(f"room for {capacity} tokens of context"):
            return torch.zeros(  # (1, B, capacity, D); what is masked still has to be a number
                (1, model.num_key_heads, capacity, model.head_width),
                dtype=model.dtype,
                device=model.device,
            )


class Stored:
    """What a forward sees of a context: the first `length` tokens in its slab."""

    def __init__(self, slab: Slab, length: int) -> None:
        self._slab = slab
        self._length = length

    def parts(self, layer: int, query: Tensor, scale: float, start: int = 0) -> list[Partial]:
        """As attention.Seen; none over no keys, which have no log-sum-exp to merge."""
        if start >= self._length:
            return []
        keys, values = self._slab.read(layer, self._length)
        return [attend_part(query, keys[:, :, start:], values[:, :, start:], scale)]


class _Prefill:
    """The plan of tokens that come right after the first `start`: each sees those and the ones before it.

    With a `gaze` the last one chooses what stays visible; itself it obeys only if it is a decoding step.
    """

    def __init__(self, slab: Slab, start: int, gaze: "Gaze | None", *, is_step: bool) -> None:
        self._slab = slab
        self._start = start
        self._gaze = gaze
        self._before = Stored(slab, start)
        self._upto: Seen = gaze if gaze and is_step else Stored(slab, start + 1)

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        self._slab.write(layer, self._start, key, value)
        if self._gaze:
            self._gaze.choose(layer, query[:, :, -1:], scale)
        if query.shape[2] == 1:  # a single row sees everything, itself included
            return merge(*self._upto.parts(layer, query, scale))
        new = attend_part(query, key, value, scale, causal=True)
        return merge(*self._before.parts(layer, query, scale), new)


def alone(method: Callable[..., Any]) -> Callable[..., Any]:
    """Holds the context's lock during a call, so that no other thread sees it half-way."""

    @wraps(method)
    def held(self: "Context", *arguments: Any, **options: Any) -> Any:
        with self.lock:
            return method(self, *arguments, **options)

    return held


class Context:
    """A context that grows, is rolled back, is scored against any number of times, and takes a winner in.

    `state` changes whenever the tokens do, and is no other context's, so that a Continuation can be committed to nothing
    but the very context that it was scored after. Threads may share a context: each call holds its `lock`. The keys
    and values are those of the weights as they were: after a training step, start anew.

    With a visual `budget` the last token of every forward chooses which visual tokens stay visible behind the anchor: to all
    that is scored after it, and to itself where it is a decoding step, that is a token which a model made and which runs
    alone. Whatever runs with others (prompts, observations) sees everything.
    """

    @torch.inference_mode()
    def __init__(
        self,
        model: LanguageModel,
        ids: Sequence[int] = (),
        capacity: int = 2048,
        budget: "VisualBudget | None" = None,
    ) -> None:
        kernel_for(model.dtype, model.device)  # refuses a device before anything is computed on it
        if budget is not None:
            budget.require_fits(model.name, model.num_layers, sees=model.eyes is not None)
        self.model = model
        self.budget = budget
        self.slab = Slab(model, max(1, capacity))
        self.computed = 0
        self.state = next(STATES)
        self.lock = RLock()
        self._layout = Layout(model.eyes)
        self._features: dict[Placed, Features] = {}  # of pictures not wholly computed
        self._last_hidden: Tensor | None = None  # (1, H) at the end; None when not known
        self._gaze: Gaze | None = None  # of the last token, where a budget drops anything
        self.extend(ids)

    @property
    def length(self) -> int:
        return len(self._layout.ids)

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(self._layout.ids)

    @property
    def next_position(self) -> int:
        """Where the next token will stand; pictures make it smaller than `length`."""
        return self._layout.next_position

    @alone
    def extend(self, ids: Sequence[int], pictures: Sequence[Picture] = ()) -> None:
        """Add tokens and compute them now, together with any that wait. Earlier ones are not computed again.

        Where that fails nothing was added, so that it can be tried again.
        """
        before = self.length
        self.append(ids, pictures)
        try:
            if self.length:
                self.settle()
        except BaseException:
            self.rollback(before)
            raise

    @alone
    def append(self, ids: Sequence[int], pictures: Sequence[Picture] = ()) -> None:
        """Add tokens, and the pictures that picture tokens among them stand for, without computing anything yet."""
        self.model.require_known(ids)
        before = self.length
        self._layout.add(ids, pictures)
        try:
            self.require_room(0)
        except ContextTooLong:
            self._layout.cut(before)
            raise
        if len(ids):
            self._changed()

    @alone
    def append_text(self, ids: Sequence[int]) -> None:
        """Add tokens that a model made or chose: a picture token among them stands for no picture."""
        self.model.require_known(ids)
        self.require_room(len(ids))
        self._layout.add_text(ids)
        if len(ids):
            self._changed()

    @alone
    def rollback(self, length: int) -> None:
        """Forget all tokens from `length` on. The end's logits are recomputed when they are next needed."""
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot roll back to {length} tokens: there are {self.length}")
        if length < self.length:
            self._layout.cut(length)
            self._features.clear()
            self.computed = min(self.computed, length)
            self._changed()

    @alone
    @torch.inference_mode()
    def commit(self, continuation: Continuation) -> None:
        """Take in tokens that were scored after this very context, with the keys and values they got there.

        The last token was never run, so it waits: the next extend, score or logits runs it together with
        what comes after. The same holds for the last token that a decoder produces.
        """
        if continuation.state != self.state:
            raise ValueError("this continuation was scored after another state of the context")
        start, ready = self.length, len(continuation.ids) - 1
        self.require_room(ready + 1)
        self.slab.reserve(start + ready)
        for layer, (keys, values) in enumerate(
            zip(continuation.keys, continuation.values, strict=True)
        ):
            self.slab.write(layer, start, keys, values)
        self.take_in(continuation.ids)  # at last: what is written behind the end changes nothing

    @alone
    def take_in(self, ids: Sequence[int]) -> None:
        """Add tokens of which all but the last have their keys and values in the slab, behind the end, already."""
        ready = self.length + len(ids) - 1
        self.append_text(ids)
        self.computed = ready

    @alone
    @torch.inference_mode()
    def settle(self) -> Tensor:
        """Compute what waits, and return the last hidden state (1, H) of the context's end."""
        if not self.length:
            raise NothingToDo(
                "the context is empty, so nothing follows from it; give it at least one token"
            )
        if self._last_hidden is None:
            self.slab.reserve(self.length)
            first = min(
                self.computed, self.length - 1
            )  # the end's state may be lost: run that token again
            is_step = first == self.length - 1 and self._layout.is_made(first)
            for start in range(first, self.length, CHUNK):
                stop = min(start + CHUNK, self.length)
                hidden = self._compute(start, stop, is_step=is_step)
                self.computed = stop
            self._features.clear()
            self._last_hidden = hidden[-1:].clone()
        return self._last_hidden

    @property
    def seen(self) -> Seen:
        """What follows the settled context sees of it."""
        return self._gaze or Stored(self.slab, self.length)

    @property
    def gaze(self) -> "Gaze | None":
        """What the settled context's end chose; None where everything is seen."""
        return self._gaze

    def visual_blocks(self, length: int) -> "Blocks | None":
        """Of the first `length` tokens, whose last is never in one; None where everything stays visible."""
        if self.budget is None:
            return None
        from .visual_choice import blocks_of  # only those with a budget need it

        return blocks_of(self.budget, self._layout.spans(length - 1), self.model.device)

    def gaze_over(self, length: int, whole: Seen) -> "Gaze | None":
        """One that is to choose from the first `length` tokens, which `whole` shows."""
        blocks = self.visual_blocks(length)
        return blocks.gaze(self.slab, whole) if blocks else None

    def require_room(self, tokens: int) -> None:
        """ContextTooLong if the model has no positions for `tokens` more."""
        self.model.require_room(self.next_position, tokens)

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

    def _compute(self, start: int, stop: int, *, is_step: bool) -> Tensor:
        """Hidden states of tokens [start, stop), whose keys and values go into the slab."""
        self._gaze = self.gaze_over(stop, Stored(self.slab, stop))
        return self.model.hidden(
            self._layout.ids[start:stop],
            self._layout.positions(start, stop),
            _Prefill(self.slab, start, self._gaze, is_step=is_step),
            self._sights(start, stop),
        )

    def _sights(self, start: int, stop: int) -> list[Sight]:
        """What of which picture lies in [start, stop), places counted from `start`; a picture is looked at once."""
        sights = []
        for placed in self._layout.within(start, stop):
            if placed not in self._features:
                self._features[placed] = self.model.look(placed.picture)
            low, high = max(start, placed.start), min(stop, placed.stop)
            part = self._features[placed].part(low - placed.start, high - placed.start)
            sights.append(Sight(low - start, part))
        return sights

    def _changed(self) -> None:
        self.state = next(STATES)
        self._last_hidden = self._gaze = None
