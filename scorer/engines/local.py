"""The model of this process as an engine."""

import time
from collections.abc import Sequence

from ..context import Context
from ..generate import Decoded, Decoding, decode
from ..model import LanguageModel
from ..score import score_sharing_context
from .engine import Engine, EngineScores


class LocalEngine(Engine):
    """Keeps its context from call to call: of the next one only the tokens that differ are computed."""

    def __init__(self, model: LanguageModel) -> None:
        dtype = str(model.dtype).removeprefix("torch.")
        self.program = "forethought"
        self.label = f"{self.program}: {model.name}, {dtype} on {model.device}"
        self._context = Context(model)

    def prefill(self, context_ids: Sequence[int]) -> float:
        began = time.perf_counter()
        known = self._context.ids
        pairs = zip(known, context_ids, strict=False)
        same = next((i for i, (old, new) in enumerate(pairs) if old != new), None)
        self._context.rollback(min(len(known), len(context_ids)) if same is None else same)
        self._context.extend(context_ids[self._context.length :])
        return 1000 * (time.perf_counter() - began)

    def generate(self, context_ids: Sequence[int], decoding: Decoding) -> Decoded:
        self.prefill(context_ids)
        return decode(self._context, decoding)

    def score_timed(
        self,
        context_ids: Sequence[int],
        sequences: Sequence[Sequence[int]],
        starts: Sequence[int] | None = None,
    ) -> EngineScores:
        prefill = self.prefill(context_ids)
        began = time.perf_counter()
        log_probs = score_sharing_context(self._context, sequences, starts).log_probs
        score = 1000 * (time.perf_counter() - began)
        return EngineScores(log_probs, {"prefill": prefill, "score": score})
