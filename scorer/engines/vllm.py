"""vLLM's `/v1/completions`, asked for the log-probabilities of the prompt, or for tokens that follow it.

For log-probabilities vLLM reads no cached prefix: every candidate costs a prefill of the whole context, and every
position of it comes back as JSON. Exact, but the slow way to score. To go on from a context it does read it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...data.errors import EngineError
from ..generate import Decoded, Decoding
from ..plain import checked_starts
from .engine import (
    Asked,
    Engine,
    EngineScores,
    ExpectedModel,
    Reported,
    asked_rows,
    believed,
    believed_text,
    require_scores,
)
from .handshake import is_model, require_model, require_tokenizer
from .transport import Transport, listed, part

SCORING = {"max_tokens": 1, "temperature": 1.0, "prompt_logprobs": 0}  # of the prompt's own alone
ROWS_AT_ONCE = 32  # in one request; bounds an answer that repeats the context for each row
MINUS_INFINITY = -9999.0  # what the server writes where the log-probability is none
# A model's `generation_config.json` is a server's default; these overrule it.
UNCHANGED = {
    "top_p": 1.0,
    "top_k": -1,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "frequency_penalty": 0.0,
    "presence_penalty": 0.0,
    "skip_special_tokens": False,
    "include_stop_str_in_output": True,
}


class _Answered(NamedTuple):
    choices: list[Any]
    milliseconds: float


class VLLMEngine(Engine):
    """A running vLLM server. EngineError if it serves another model than `expected`."""

    def __init__(self, transport: Transport, expected: ExpectedModel) -> None:
        self._transport = transport
        self._served = _served(transport, expected)
        require_tokenizer(transport, self._served, expected)
        version = part(transport.url, transport.ask("/version").content, "version")
        self._expected = expected
        self.program = f"vllm {version}"
        self.label = f"{self.program} at {transport.url}"

    def prefill(self, context_ids: Sequence[int]) -> float:
        row = [int(token) for token in context_ids]
        return self._complete([row], {"max_tokens": 1}).milliseconds

    def generate(self, context_ids: Sequence[int], decoding: Decoding) -> Decoded:
        row = [int(token) for token in context_ids]
        (choice,) = self._complete([row], self._sampling(decoding)).choices
        _require_read(self.label, row, choice)
        ids = listed(self.label, choice, "token_ids")
        has_ended = part(self.label, choice, "finish_reason") == "stop"
        return believed_text(self.label, self._expected, decoding, ids, has_ended=has_ended)

    def score_timed(
        self,
        context_ids: Sequence[int],
        sequences: Sequence[Sequence[int]],
        starts: Sequence[int] | None = None,
    ) -> EngineScores:
        context = [int(token) for token in context_ids]
        asked = asked_rows(self.label, sequences, checked_starts(len(context), sequences, starts))
        log_probs, milliseconds = [], 0.0
        for first in range(0, len(asked), ROWS_AT_ONCE):
            group = asked[first : first + ROWS_AT_ONCE]
            rows = [[*context, *one.tokens] for one in group]
            answered = self._complete(rows, SCORING)
            milliseconds += answered.milliseconds
            log_probs += [
                believed(one, _reported(one, row, choice))
                for one, row, choice in zip(group, rows, answered.choices, strict=True)
            ]
        return EngineScores(require_scores(self.label, log_probs), {"score": milliseconds})

    def _sampling(self, decoding: Decoding) -> Mapping[str, Any]:
        ends = (
            {"ignore_eos": True}
            if decoding.stops is None
            else {"stop": decoding.stops, "stop_token_ids": sorted(self._expected.ends)}
        )
        draw = {"max_tokens": decoding.tokens, "temperature": decoding.temperature}
        return {**UNCHANGED, **draw, "seed": decoding.seed, **ends}

    def _complete(self, rows: Sequence[Sequence[int]], sampling: Mapping[str, Any]) -> _Answered:
        """The choice of each row, in their order."""
        asked = {"model": self._served, "prompt": rows, "return_token_ids": True}
        reply = self._transport.ask("/v1/completions", {**asked, **sampling})
        choices = listed(self.label, reply.content, "choices")
        by_row = {str(part(self.label, choice, "index")): choice for choice in choices}
        if len(choices) != len(rows) or set(by_row) != {*map(str, range(len(rows)))}:
            raise EngineError(f"{self.label}: {len(by_row)} answers came back for {len(rows)} rows")
        return _Answered([by_row[str(i)] for i in range(len(rows))], reply.milliseconds)


def _served(transport: Transport, expected: ExpectedModel) -> str:
    """The name under which requests reach the expected model; an alias has the model's own name as its root."""
    cards = listed(transport.url, transport.ask("/v1/models").content, "data")
    names = {
        str(part(transport.url, card, "id")): [str(card["id"]), str(card.get("root") or "")]
        for card in cards
    }
    found = next((id for id in names if is_model(names[id], expected)), "")
    require_model(transport.url, [one for own in names.values() for one in own if one], expected)
    return found


def _reported(asked: Asked, row: Sequence[int], choice: Any) -> list[Reported]:
    """The scored tokens as the server wrote them: {id: {logprob, rank, decoded_token}} each."""
    positions = listed(asked.place, choice, "prompt_logprobs")
    _require_read(asked.place, row, choice)
    if len(positions) != len(row):
        raise EngineError(
            f"{asked.place}: {len(row)} tokens were sent, and {len(positions)} log-probabilities came back"
        )
    wanted = asked.tokens[asked.start :]
    scored = positions[len(row) - len(wanted) :]
    return [_one(asked, token, found) for token, found in zip(wanted, scored, strict=True)]


def _require_read(place: str, row: Sequence[int], choice: Any) -> None:
    """EngineError if others were read than were sent, as far as the server tells: older ones do not."""
    if choice.get("prompt_token_ids") is None:
        return
    read = listed(place, choice, "prompt_token_ids")
    if read != list(row):
        raise EngineError(f"{place}: {len(row)} tokens were sent, and {len(read)} others read")


def _one(asked: Asked, token: int, found: Any) -> Reported:
    if not isinstance(found, dict) or not found:
        return Reported(token, None)
    key = str(token)
    if key not in found:
        return Reported(next(iter(found)), None)
    value = part(asked.place, found, key, "logprob")
    return Reported(token, None if value == MINUS_INFINITY else value)
