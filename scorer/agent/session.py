"""What an agent writes a run into: tokens that stay, scores after them, and a decoder that goes on from them.

Knows no candidate and no tool. A session that runs here is a Context; one on a server keeps ids and asks (served_session.py).
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from torch import Tensor

from ..context import Context, Continuation
from ..generate import Decoded, Decoding, decode
from ..model import LanguageModel
from ..score import Scored, score_sharing_context
from ..vision import Picture


class Scores(Protocol):
    """Log-probabilities by sequence, and each sequence as `commit` takes it."""

    @property
    def log_probs(self) -> tuple[np.ndarray, ...]: ...

    def continuation(self, index: int) -> Continuation: ...


class Session(Protocol):
    """Of the `length` tokens the first `computed` are known to the model; `settle` computes the others."""

    model: LanguageModel
    computed: int

    @property
    def length(self) -> int: ...

    @property
    def ids(self) -> tuple[int, ...]: ...

    def append(self, ids: Sequence[int], pictures: Sequence[Picture] = ()) -> None:
        """Add tokens, and the pictures that picture tokens among them stand for."""

    def append_text(self, ids: Sequence[int]) -> None:
        """Add tokens that a model made or chose."""

    def settle(self) -> Tensor | None: ...

    def score(self, sequences: Sequence[Sequence[int]]) -> Scores:
        """Every sequence right after the session, which stays as it is."""

    def commit(self, continuation: Continuation) -> None: ...

    def decode(self, decoding: Decoding) -> Decoded:
        """Go on, and keep what was decoded."""

    def rollback(self, length: int) -> None: ...


class LocalSession(Context):
    """A session on a model of this process."""

    def score(self, sequences: Sequence[Sequence[int]]) -> Scored:
        return score_sharing_context(self, sequences)

    def decode(self, decoding: Decoding) -> Decoded:
        return decode(self, decoding)
