"""A session on an engine: the ids are kept here, and the engine is asked for all that takes weights.

Knows no engine's format, and no candidate. Engines keep keys and values by their tokens, so nothing is ever taken back there:
what follows other tokens is asked anew, and what follows known ones is found again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...data.errors import NothingToDo, PictureMismatch
from ..context import STATES, Continuation
from ..engines.engine import Engine
from ..generate import Decoded, Decoding
from ..model import LanguageModel
from ..vision import Picture


@dataclass(frozen=True)
class ServedScores:
    """An engine's scores after one state of a session."""

    sequences: tuple[tuple[int, ...], ...]
    log_probs: tuple[np.ndarray, ...]
    state: int

    def continuation(self, index: int) -> Continuation:
        """The tokens alone: their keys and values stay where they were computed."""
        return Continuation(self.sequences[index], (), (), self.state)


class ServedSession:
    """Of the `length` tokens the engine was given the first `computed`; the counts are those of a session in this process.

    `model` is read for its tokenizer and its configuration. EngineError from whatever asks the engine.
    """

    def __init__(self, engine: Engine, model: LanguageModel) -> None:
        self.model = model
        self.computed = 0
        self._engine = engine
        self._ids: list[int] = []
        self._state = next(STATES)

    @property
    def length(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(self._ids)

    def append(self, ids: Sequence[int], pictures: Sequence[Picture] = ()) -> None:
        """Add tokens. PictureMismatch for pictures."""
        if pictures:
            raise PictureMismatch(
                "pictures are not sent to an engine; ask a model with pictures here, without --engine"
            )
        self.append_text(ids)

    def append_text(self, ids: Sequence[int]) -> None:
        self.model.require_room(self.length, len(ids))
        self._ids.extend(int(token) for token in ids)
        if len(ids):
            self._state = next(STATES)

    def settle(self) -> None:
        if not self.length:
            raise NothingToDo(
                "the session is empty, so nothing follows from it; give it at least one token"
            )
        if self.computed < self.length:
            self._engine.prefill(self._ids)
            self.computed = self.length

    def score(self, sequences: Sequence[Sequence[int]]) -> ServedScores:
        self.model.require_room(self.length, max(map(len, sequences), default=0))
        log_probs = self._engine.score(self._ids, sequences)
        self.computed = self.length
        rows = tuple(tuple(map(int, sequence)) for sequence in sequences)
        return ServedScores(rows, log_probs, self._state)

    def commit(self, continuation: Continuation) -> None:
        if continuation.state != self._state:
            raise ValueError("this continuation was scored after another state of the session")
        self.append_text(continuation.ids)
        self.computed = self.length - 1

    def decode(self, decoding: Decoding) -> Decoded:
        """Go on, and keep what was decoded. ContextTooLong where the model runs out of positions first."""
        if decoding.tokens <= 0:
            return Decoded((), "", decoding.stops is None)
        self.model.require_room(self.length, 1)
        most = self.model.most_positions
        room = decoding.tokens if most is None else most - self.length
        asked = replace(decoding, tokens=min(decoding.tokens, room))
        decoded = self._engine.generate(self._ids, asked)
        self.append_text(decoded.ids)
        self.computed = self.length - 1
        if room < decoding.tokens and (decoding.stops is None or not decoded.is_complete):
            self.model.require_room(self.length, 1)
        return decoded

    def rollback(self, length: int) -> None:
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot roll back to {length} tokens: there are {self.length}")
        if length < self.length:
            del self._ids[length:]
            self.computed = min(self.computed, length)
            self._state = next(STATES)
