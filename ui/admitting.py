"""Verified admission as a service: prices texts on *choose* turns with the reference model, for the miner to judge.

The miner knows no model and the scorer no miner, so the miner is handed a function. Log-probabilities are kept by model,
context and text: a run that was interrupted, or that tries other texts, prices only what is new. Reads no *test* turn.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..data.errors import NothingToDo
from ..data.identity import Split
from ..data.traces import Trace, turn_id
from ..miner.admission import ChooseGains
from ..scorer.audit import AuditModels, AuditTexts
from ..scorer.model import LanguageModel
from ..scorer.recovery import free_gains, gains_of
from .auditing import beginnings_of, rendered_turns
from .held_out import held_out
from .recording import record_turns

ADMISSION_TURNS = 96
Json = dict[str, Any]
Progress = Callable[[int, int], None]


class ReferenceGains:
    """The gain function that verified admission asks (miner.admission.GainFunction), over `traces`' *choose* turns."""

    def __init__(
        self,
        traces: Sequence[Trace],
        reference: LanguageModel,
        limit: int | None = ADMISSION_TURNS,
        seed: int = 0,
        progress: Progress = lambda done, total: None,
    ) -> None:
        picked = held_out(traces, Split.CHOOSE, limit, seed)
        if not picked:
            raise NothingToDo(
                f"no choose turn to verify candidates on among {len(traces)} traces: it takes choose questions whose run did "
                "not fail and turns with one thought and one action; import more traces or mine without it"
            )
        self._turns = rendered_turns(traces, picked, {}, reference)
        self._beginnings = beginnings_of(traces)
        self._reference = reference
        self._progress = progress

    def __call__(self, texts: Sequence[str]) -> ChooseGains:
        """Gains over neutral in nats, of `texts` and of the free thoughts; the turns in the order they were picked."""
        records = self._priced(texts)
        columns = [gains_of(records, [text] * len(records)).total for text in texts]
        return ChooseGains(
            gains=np.array(columns).reshape(len(texts), len(records)).T,
            free=free_gains(records).total,
            turns=tuple(turn_id(turn.trace, turn.turn) for turn in self._turns),
            questions=tuple(turn.question for turn in self._turns),
            sources=tuple(turn.source for turn in self._turns),
        )

    def _priced(self, texts: Sequence[str]) -> list[Json]:
        """A record with the lp of all `texts` for every turn; what was ever priced is not priced again."""
        wanted = AuditTexts({text: text for text in texts})
        models = AuditModels(self._reference, self._reference)
        return record_turns(self._turns, wanted, models, self._beginnings, self._progress)
