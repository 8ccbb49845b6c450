"""Scoring and decoding with shapes that stay the same, so that a GPU can record a forward once and replay it.

A model of two billion parameters spends most of an eager forward launching kernels. A CUDA graph launches all of them at once,
but every shape in it is fixed, and a context's length is not. So the context is seen through a `Window`: whole
steps of STEP keys, which the kernel reads without a mask, and one step more that a bias cuts where the context ends.
One recording serves all contexts that end in the same step. Elsewhere than on CUDA nothing is recorded and the
same forward runs eagerly, which is how its equality with trie_run.py is tested.
"""

import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .attention import Partial, Seen, attend_biased, attend_part, merge
from .context import Context, Continuation, Slab
from .plain import require_numbers
from .trie import Trie
from .trie_run import ROWS_AT_ONCE, Branches, continuation_of

STEP = 256
MOST_RECORDINGS = 16  # of one context; the least recently used goes first
WARM_UP = 3  # eager runs before recording, so that libraries have allocated what they keep


class Window:
    """The first tokens of a slab in fixed shapes: `head` keys that are all there, and STEP of which some are.

    Move it with `set`. The tail is never empty, since a softmax over nothing has no log-sum-exp.
    """

    def __init__(self, slab: Slab, length: int, device: torch.device) -> None:
        if not length:
            raise ValueError("an empty context cannot be seen through a window")
        self.head = head_of(length)
        slab.reserve(self.head + STEP)
        self._slab = slab
        self.bias = torch.empty(STEP, dtype=torch.float32, device=device)  # 0 or -inf
        self.position = torch.zeros((), dtype=torch.int64, device=device)

    def set(self, length: int, next_position: int) -> None:
        """Show the first `length` tokens, which must end in this window's step."""
        assert head_of(length) == self.head, f"{length = } is not in the step after {self.head}"
        self.bias.fill_(float("-inf"))
        self.bias[: length - self.head] = 0
        self.position.fill_(next_position)

    def parts(self, layer: int, query: Tensor, scale: float, start: int = 0) -> list[Partial]:
        """As attention.Seen."""
        keys, values = self._slab.read(layer, self.head + STEP)
        first = max(start, self.head)
        bias = self.bias[first - self.head :]
        parts = [attend_biased(query, keys[:, :, first:], values[:, :, first:], scale, bias)]
        if start < self.head:
            head = slice(start, self.head)
            parts.append(attend_part(query, keys[:, :, head], values[:, :, head], scale))
        return parts


def head_of(length: int) -> int:
    """Whole steps before the one in which a context of `length` tokens ends."""
    return (length - 1) // STEP * STEP


class Recording:
    """A function of no arguments whose kernels are replayed; run as it is where there are no CUDA graphs.

    Its outputs are the same tensors each time: use them before the next replay. `reset` undoes what a run
    does to its own inputs; it is called before each run that recording takes.
    """

    def __init__(
        self, function: Callable[[], Any], reset: Callable[[], None], device: torch.device
    ) -> None:
        self._function = function
        self._reset = reset
        self._graph: Any = None
        self._outputs: Any = None
        if device.type == "cuda":
            self._record()

    def replay(self) -> Any:
        if self._graph is None:
            return self._function()
        self._graph.replay()
        return self._outputs

    def _record(self) -> None:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                self._reset()
                self._function()
            self._reset()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                self._outputs = self._function()
        except RuntimeError as error:
            reason = str(error).splitlines()[0]
            warnings.warn(f"no CUDA graph, so scoring runs eagerly: {reason}", stacklevel=2)
            torch.cuda.synchronize()
            return
        self._graph = graph


@dataclass(frozen=True, eq=False)
class Replayed:
    """What one replay gave; its keys and values are its own. As trie_run.TrieRun, to those who use one."""

    trie: Trie
    log_probs: np.ndarray  # (E,)
    keys: tuple[Tensor, ...]
    values: tuple[Tensor, ...]
    state: int

    @property
    def nodes_run(self) -> int:
        return len(self.trie.tokens)

    def continuation(self, index: int) -> Continuation:
        slots = torch.from_numpy(self.trie.nodes(index)).to(self.keys[0].device)
        return continuation_of(self.trie, index, slots, self.keys, self.values, self.state)


class TrieRecording:
    """The forward of all of a trie's nodes after a context, and the log-probabilities of all its edges."""

    @torch.inference_mode()
    def __init__(self, context: Context, trie: Trie) -> None:
        device = context.model.device
        self.trie = trie
        self.window = Window(context.slab, context.length, device)
        self._model = context.model
        self._tokens = torch.from_numpy(trie.tokens).to(device)  # (U,)
        self._depths = torch.from_numpy(trie.depths).to(device)  # (U,)
        self._edge_rows = torch.from_numpy(trie.edge_rows).to(device)  # (E,)
        self._edge_tokens = torch.from_numpy(trie.edge_tokens).to(device)  # (E,)
        context.settle()
        self._gaze = context.gaze.through(self.window) if context.gaze else None
        self._plan = Branches(self._gaze or self.window, trie.whole, device)
        self._end = torch.zeros(1, context.model.width, dtype=context.model.dtype, device=device)
        self._recording = Recording(self._forward, lambda: self._set(context), device)

    @torch.inference_mode()
    def score(self, context: Context) -> Replayed:
        """Replay for the context as it is now; it must end in the window's step."""
        self._set(context)
        log_probs, keys, values = self._recording.replay()
        return Replayed(
            self.trie,
            require_numbers(log_probs.double().cpu().numpy()),
            tuple(key.clone() for key in keys),
            tuple(value.clone() for value in values),
            context.state,
        )

    def _set(self, context: Context) -> None:
        self._end.copy_(context.settle())
        if self._gaze and context.gaze:
            self._gaze.take_over(context.gaze)
        self.window.set(context.length, context.next_position)

    def _forward(self) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        plan = self._plan
        plan.keys, plan.values = [], []
        positions = (self.window.position + self._depths).expand(3, -1)
        hidden = torch.cat([self._end, self._model.hidden(self._tokens, positions, plan)])
        log_probs = [
            self._edge_log_probs(hidden, first, min(first + ROWS_AT_ONCE, len(hidden)))
            for first in range(0, len(hidden), ROWS_AT_ONCE)
        ]
        return torch.cat(log_probs), plan.keys, plan.values

    def _edge_log_probs(self, hidden: Tensor, first: int, last: int) -> Tensor:
        """Of the edges from the rows [first, last); edges ascend by row."""
        low, high = np.searchsorted(self.trie.edge_rows, [first, last])
        logits = self._model.logits(hidden[first:last])  # (rows, V)
        rows = self._edge_rows[low:high] - first
        return logits[rows, self._edge_tokens[low:high]] - logits.logsumexp(-1)[rows]


class DecodeRecording:
    """One greedy step behind a context: reads a token, writes its keys and values, leaves the next one in its place.

    Serves the places of one step; `ahead` tokens behind the context's end is one of them.
    """

    @torch.inference_mode()
    def __init__(self, context: Context, ahead: int = 0) -> None:
        device = context.model.device
        self.window = Window(context.slab, context.length + ahead + 1, device)
        self.token = torch.zeros(1, dtype=torch.int64, device=device)
        self._slab, self._model = context.slab, context.model
        self._place = torch.zeros(1, dtype=torch.int64, device=device)  # in the slab
        self._nought = torch.zeros(1, device=device)
        self._gaze = context.gaze_over(context.length + ahead + 1, self.window)
        self._seen: Seen = self._gaze or self.window
        self._recording = Recording(self._forward, lambda: self.set(context, ahead), device)

    def set(self, context: Context, ahead: int, token: int | Tensor = 0) -> None:
        """Stand `ahead` decoded tokens behind the context's end, with `token` to be read next."""
        length = context.length + ahead
        self.window.set(length + 1, context.next_position + ahead)
        self._place.fill_(length)
        self.token.copy_(torch.as_tensor(token, device=self.token.device).reshape(1))

    def step(self) -> Tensor:
        """The next token (1,), on the device; the step after it may follow at once."""
        return self._recording.replay()

    def attend(self, layer: int, query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        self._slab.keys[layer].index_copy_(2, self._place, key)
        self._slab.values[layer].index_copy_(2, self._place, value)
        if self._gaze:
            self._gaze.choose(layer, query, scale)
        return merge(*self._seen.parts(layer, query, scale))

    def _forward(self) -> Tensor:
        self.window.bias.index_copy_(0, self._place - self.window.head, self._nought)
        position = self.window.position.expand(3, 1)
        hidden = self._model.hidden(self.token, position, self)
        self.token.copy_(self._model.logits(hidden).argmax(-1))
        self._place.add_(1)
        self.window.position.add_(1)
        return self.token


class Recordings:
    """The recordings of one context, kept over its turns and rollbacks. A trie is recorded when it is scored again."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
        self._scored: set[tuple[Any, ...]] = set()

    def score(self, context: Context, trie: Trie) -> Replayed | None:
        """None the first time, and where there is nothing to record: run it eagerly then."""
        if not context.length or not len(trie.tokens):
            return None
        key = ("trie", id(trie), *_place_of(context, context.length))
        if key not in self._scored:
            self._scored.add(key)
            return None
        return self._get(key, lambda: TrieRecording(context, trie)).score(context)

    @torch.inference_mode()
    def generate(self, context: Context, tokens: int) -> tuple[int, ...]:
        """Exactly `tokens` greedy ids after the context, which takes them in; every step is a replay.

        The host waits for the device only at the end.
        """
        found = [context.logits().argmax().reshape(1)]
        _place_of(
            context, context.length + tokens
        )  # room for all, so that the slab stays where it is
        recording: DecodeRecording | None = None
        for ahead in range(tokens - 1):
            place = context.length + ahead + 1
            if recording is None or recording.window.head != head_of(place):
                recording = self._decoder(context, ahead)
                recording.set(context, ahead, found[-1])
            found.append(recording.step().clone())
        ids = tuple(torch.cat(found).tolist())
        context.take_in(ids)
        return ids

    def _decoder(self, context: Context, ahead: int) -> DecodeRecording:
        key = ("decode", *_place_of(context, context.length + ahead + 1))
        return self._get(key, lambda: DecodeRecording(context, ahead))

    def _get(self, key: tuple[Any, ...], record: Callable[[], Any]) -> Any:
        if key not in self._kept:
            self._kept[key] = record()
            while len(self._kept) > MOST_RECORDINGS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


def _place_of(context: Context, length: int) -> tuple[int, int, Any]:
    """The step that `length` tokens end in, where the slab, with room for that step, lies, and what of it may be dropped."""
    context.slab.reserve(head_of(length) + STEP)
    return head_of(length), context.slab.keys[0].data_ptr(), context.visual_blocks(length)
