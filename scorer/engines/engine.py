"""What scores token sequences after a context and goes on from it, wherever its model runs, and which answers are believed.

Knows ids and log-probabilities; knows no HTTP and no engine's format. An answer that is not one finite
log-probability for each token that was asked for is an EngineError: never a zero, never a guess. So is one that breaks off.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

import numpy as np

from ...data.errors import EngineError
from ..generate import Decoded, Decoding, is_over
from ..model import LanguageModel

ROUNDING = 1e-4  # how far above zero a log-probability of a low-precision engine may lie


class EngineScores(NamedTuple):
    """As from score_plainly, with what the engine itself took: milliseconds from a request to its last byte."""

    log_probs: tuple[np.ndarray, ...]  # (tokens,) each, natural, float64; NaN before its start
    milliseconds: Mapping[str, float]  # `prefill` where the context was computed apart, `score`


class Engine(Protocol):
    """A scorer, and a decoder. `label` names `program` with its version, and place; figures of two programs are never mixed."""

    program: str
    label: str

    def prefill(self, context_ids: Sequence[int]) -> float:
        """Have the context computed, for what is asked after it; milliseconds."""
        ...

    def generate(self, context_ids: Sequence[int], decoding: Decoding) -> Decoded:
        """What `decode` gives after a context of these ids, at least one; `decoding` asks for at least one token.

        EngineError if the engine cannot be asked or gives anything else. A temperature's draws are the engine's own.
        """
        ...

    def score_timed(
        self,
        context_ids: Sequence[int],
        sequences: Sequence[Sequence[int]],
        starts: Sequence[int] | None = None,
    ) -> EngineScores:
        """Arguments as of score_plainly; EngineError if the engine cannot be asked or gives no scores."""
        ...

    def score(
        self,
        context_ids: Sequence[int],
        sequences: Sequence[Sequence[int]],
        starts: Sequence[int] | None = None,
    ) -> tuple[np.ndarray, ...]:
        """`score_timed` without the time."""
        return self.score_timed(context_ids, sequences, starts).log_probs


@dataclass(frozen=True)
class ExpectedModel:
    """The model whose ids are sent: what an engine must serve."""

    name: str
    vocabulary: int
    encode: Callable[[str], Sequence[int]]  # nothing added, special tokens kept as plain text
    decode: Callable[[Sequence[int]], str]
    ends: frozenset[int]


def expected_model(model: LanguageModel) -> ExpectedModel:
    vocabulary = model.config.vocab_size
    return ExpectedModel(model.name, vocabulary, model.encode, model.decode, model.ends)


class Asked(NamedTuple):
    """One candidate's tokens, of which those from `start` on are to be scored."""

    place: str  # for messages
    tokens: Sequence[int]
    start: int


class Reported(NamedTuple):
    """What an engine wrote for one token, not yet believed."""

    token: object
    log_prob: object


def asked_rows(
    label: str, sequences: Sequence[Sequence[int]], starts: Sequence[int]
) -> tuple[Asked, ...]:
    """The candidates with the places that messages name them by, counted from 1."""
    return tuple(
        Asked(f"{label}, candidate {number} of {len(sequences)}", tuple(map(int, tokens)), start)
        for number, (tokens, start) in enumerate(zip(sequences, starts, strict=True), 1)
    )


def believed(asked: Asked, reported: Sequence[Reported]) -> np.ndarray:
    """(tokens,) log-probabilities, NaN before the start; EngineError names the first token that has none."""
    wanted = asked.tokens[asked.start :]
    if len(reported) != len(wanted):
        raise EngineError(
            f"{asked.place}: {len(reported)} log-probabilities came back for {len(wanted)} tokens"
        )
    values = np.full(len(asked.tokens), np.nan)
    for offset, (token, one) in enumerate(zip(wanted, reported, strict=True)):
        where = f"{asked.place}, token {asked.start + offset + 1} of {len(asked.tokens)}"
        if one.token != token:
            raise EngineError(
                f"{where}: id {token} was sent and {one.token} came back; the engine changes the tokens"
            )
        values[asked.start + offset] = _log_probability(where, one.log_prob)
    return values


def require_scores(label: str, log_probs: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """`log_probs`; EngineError if all are 0, which is what a backend without log-probabilities says."""
    if log_probs and not any(np.nansum(np.abs(own)) for own in log_probs):
        raise EngineError(
            f"{label}: every log-probability is 0.0; this backend does not compute those of a prompt"
        )
    return tuple(log_probs)


def believed_text(
    label: str, model: ExpectedModel, decoding: Decoding, ids: Sequence[object], *, has_ended: bool
) -> Decoded:
    """What `decode` would have said of these tokens; EngineError if it could not have stopped there.

    `has_ended`: the engine says that the model did, with a token that may be an end there alone. Tokens behind the
    first end, which an engine that drafts may send, are left out.
    """
    known = range(model.vocabulary)
    for number, one in enumerate(ids, 1):
        if type(one) is not int or one not in known:
            raise EngineError(f"{label}: {one!r:.40} came back as token {number}, which is no id")
    found = tuple(cast(Sequence[int], ids))
    stops = decoding.stops
    if stops is not None:
        places = range(1, len(found) + 1)
        over = next((n for n in places if is_over(model, found[:n], stops)), None)
        found = found[:over]
        has_ended = over is not None or has_ended
    is_whole = len(found) == decoding.tokens or (has_ended and stops is not None and found)
    if not is_whole or len(found) > decoding.tokens:
        raise EngineError(
            f"{label}: {len(found)} tokens came back where {decoding.tokens} were asked for, and no end among them"
        )
    return Decoded(found, model.decode(found), stops is None or has_ended)


def _log_probability(where: str, value: object) -> float:
    if value is None:
        raise EngineError(f"{where}: no log-probability came back")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        value = float(value)
    if not isinstance(value, float) or not math.isfinite(value):
        raise EngineError(f"{where}: {value!r:.40} came back, which is no log-probability")
    if value > ROUNDING:
        raise EngineError(
            f"{where}: {value:.4g} came back, above the log of 1; the engine sends logits or scaled values"
        )
    return float(value)
