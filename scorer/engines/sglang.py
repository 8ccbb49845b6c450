"""SGLang's own `/generate`, asked for the log-probabilities of input tokens and for no output.

The context is prefilled by a request of its own, because candidates that arrive together before it is cached would
each compute it. Their rows then reuse it up to the token before the first that is scored.
"""

from collections.abc import Sequence
from typing import Any

from ...data.errors import EngineError
from ..plain import checked_starts
from .engine import (
    Asked,
    Engine,
    EngineScores,
    ExpectedModel,
    Reported,
    asked_rows,
    believed,
    require_scores,
)
from .handshake import require_model, require_tokenizer
from .transport import Reply, Transport, listed, part

# A server's `preferred_sampling_params` would scale the log-probabilities too; these overrule them.
SAMPLING = {"max_new_tokens": 0, "temperature": 1.0, "top_p": 1.0, "top_k": -1, "min_p": 0.0}


class SGLangEngine(Engine):
    """A running SGLang server. EngineError if it serves another model than `expected`."""

    def __init__(self, transport: Transport, expected: ExpectedModel) -> None:
        self._transport = transport
        self._vocabulary = expected.vocabulary
        model = self._info("model").content
        names = [str(part(transport.url, model, "model_path"))]
        if alias := model.get("served_model_name"):  # older servers tell none
            names.append(str(alias))
        require_model(transport.url, names, expected)
        require_tokenizer(transport, names[-1], expected)
        version = part(transport.url, self._info("server").content, "version")
        self.label = f"sglang {version} at {transport.url}"

    def score_timed(
        self,
        context_ids: Sequence[int],
        sequences: Sequence[Sequence[int]],
        starts: Sequence[int] | None = None,
    ) -> EngineScores:
        context = [int(token) for token in context_ids]
        asked = asked_rows(self.label, sequences, checked_starts(len(context), sequences, starts))
        milliseconds = {}
        if context and len(asked) > 1:
            milliseconds["prefill"] = self._generate([context]).milliseconds
        rows = [[*context, *one.tokens] for one in asked]
        reply = self._generate(
            rows,
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

    def _generate(self, rows: Sequence[Sequence[int]], **options: Any) -> Reply:
        reply = self._transport.ask(
            "/generate", {"input_ids": rows, "sampling_params": SAMPLING, **options}
        )
        if not isinstance(reply.content, list) or len(reply.content) != len(rows):
            count = len(reply.content) if isinstance(reply.content, list) else "no list of"
            raise EngineError(f"{self.label}: {count} answers came back for {len(rows)} rows")
        return reply

    def _reported(self, asked: Asked, row: Sequence[int], answer: Any) -> list[Reported]:
        """The scored tokens as the server wrote them: (log-probability, id, text) each, the first without one."""
        taken = part(asked.place, answer, "meta_info", "prompt_tokens")
        if taken != len(row):
            raise EngineError(f"{asked.place}: {len(row)} tokens were sent and {taken} were read")
        triples = listed(asked.place, answer, "meta_info", "input_token_logprobs")
        return [
            Reported(part(asked.place, one, 1), part(asked.place, one, 0)) for one in triples[1:]
        ]

    def _as_reported(self, asked: Asked) -> Asked:
        """The server writes 0 for ids that may stand for an image's place, the vocabulary's last id included."""
        ids = tuple(token if token < self._vocabulary - 1 else 0 for token in asked.tokens)
        return asked._replace(tokens=ids)
