"""SGLang's own `/generate`, asked for the log-probabilities of input tokens and no output, or for output alone.

The context is prefilled by a request of its own, because candidates that arrive together before it is cached would
each compute it. Their rows then reuse it up to the token before the first that is scored.
"""

from collections.abc import Mapping, Sequence
from typing import Any

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
from .handshake import require_model, require_tokenizer
from .transport import Reply, Transport, listed, part

# A server's `preferred_sampling_params` would scale the log-probabilities too; these overrule them.
SAMPLING = {"max_new_tokens": 0, "temperature": 1.0, "top_p": 1.0, "top_k": -1, "min_p": 0.0}
UNCHANGED = {
    "repetition_penalty": 1.0,
    "frequency_penalty": 0.0,
    "presence_penalty": 0.0,
    "skip_special_tokens": False,
    "no_stop_trim": True,
}


class SGLangEngine(Engine):
    """A running SGLang server. EngineError if it serves another model than `expected`."""

    def __init__(self, transport: Transport, expected: ExpectedModel) -> None:
        self._transport = transport
        self._expected = expected
        self._prefilled: list[int] = []
        model = self._info("model").content
        names = [str(part(transport.url, model, "model_path"))]
        if alias := model.get("served_model_name"):  # older servers tell none
            names.append(str(alias))
        require_model(transport.url, names, expected)
        require_tokenizer(transport, names[-1], expected)
        version = part(transport.url, self._info("server").content, "version")
        self.program = f"sglang {version}"
        self.label = f"{self.program} at {transport.url}"

    def prefill(self, context_ids: Sequence[int]) -> float:
        self._prefilled = [int(token) for token in context_ids]
        return self._generate([self._prefilled], SAMPLING).milliseconds

    def generate(self, context_ids: Sequence[int], decoding: Decoding) -> Decoded:
        """Draws follow their seed on servers that were started with --enable-deterministic-inference."""
        row = [int(token) for token in context_ids]
        (answer,) = self._generate([row], self._sampling(decoding)).content
        self._require_read(self.label, row, answer)
        ids = listed(self.label, answer, "output_ids")
        reason = part(self.label, answer, "meta_info", "finish_reason", "type")
        return believed_text(self.label, self._expected, decoding, ids, has_ended=reason == "stop")

    def score_timed(
        self,
        context_ids: Sequence[int],
        sequences: Sequence[Sequence[int]],
        starts: Sequence[int] | None = None,
    ) -> EngineScores:
        context = [int(token) for token in context_ids]
        asked = asked_rows(self.label, sequences, checked_starts(len(context), sequences, starts))
        milliseconds = {}
        if context and len(asked) > 1 and context != self._prefilled:
            milliseconds["prefill"] = self.prefill(context)
        rows = [[*context, *one.tokens] for one in asked]
        reply = self._generate(
            rows,
            SAMPLING,
            return_logprob=True,
            return_text_in_logprobs=False,
            # The first position that is returned never has a log-probability: start one before.
            logprob_start_len=[len(context) + one.start - 1 for one in asked],
        )
        milliseconds["score"] = reply.milliseconds
        log_probs = [
            believed(self._as_reported(one), self._reported(one, row, answer))
            for one, row, answer in zip(asked, rows, reply.content, strict=True)
        ]
        return EngineScores(require_scores(self.label, log_probs), milliseconds)

    def _info(self, what: str) -> Reply:
        """`/model_info` or `/server_info`; older servers call them `/get_...`."""
        return self._transport.find(f"/{what}_info") or self._transport.ask(f"/get_{what}_info")

    def _sampling(self, decoding: Decoding) -> Mapping[str, Any]:
        draw = {"temperature": decoding.temperature}
        if decoding.temperature:
            draw["sampling_seed"] = decoding.seed
        ends = (
            {"ignore_eos": True}
            if decoding.stops is None
            else {"stop": decoding.stops, "stop_token_ids": sorted(self._expected.ends)}
        )
        return {**SAMPLING, **UNCHANGED, **draw, **ends, "max_new_tokens": decoding.tokens}

    def _generate(
        self, rows: Sequence[Sequence[int]], sampling: Mapping[str, Any], **options: Any
    ) -> Reply:
        reply = self._transport.ask(
            "/generate", {"input_ids": rows, "sampling_params": sampling, **options}
        )
        if not isinstance(reply.content, list) or len(reply.content) != len(rows):
            count = len(reply.content) if isinstance(reply.content, list) else "no list of"
            raise EngineError(f"{self.label}: {count} answers came back for {len(rows)} rows")
        return reply

    def _reported(self, asked: Asked, row: Sequence[int], answer: Any) -> list[Reported]:
        """The scored tokens as the server wrote them: (log-probability, id, text) each, the first without one."""
        self._require_read(asked.place, row, answer)
        triples = listed(asked.place, answer, "meta_info", "input_token_logprobs")
        return [
            Reported(part(asked.place, one, 1), part(asked.place, one, 0)) for one in triples[1:]
        ]

    def _require_read(self, place: str, row: Sequence[int], answer: Any) -> None:
        taken = part(place, answer, "meta_info", "prompt_tokens")
        if taken != len(row):
            raise EngineError(f"{place}: {len(row)} tokens were sent and {taken} were read")

    def _as_reported(self, asked: Asked) -> Asked:
        """The server writes 0 for ids that may stand for an image's place, the vocabulary's last id included."""
        ids = tuple(token if token < self._expected.vocabulary - 1 else 0 for token in asked.tokens)
        return asked._replace(tokens=ids)
