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
from ..scorer.audit import AuditModels, AuditTexts, AuditTurn, record_turns
from ..scorer.model import LanguageModel
from ..scorer.recovery import free_gains, gains_of
from .auditing import beginnings_of, held_out, place_of, rendered_turns
from .record_cache import RecordCache, place
from .wiring import cache_folder

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
        """A record with the lp of all `texts` for every turn; what the cache has is not priced again."""
        facts = {"models": self._reference.revision, "beginnings": self._beginnings}
        cache = RecordCache(cache_folder() / "admissions", facts)
        lacking: dict[tuple[str, ...], list[AuditTurn]] = {}
        for turn in self._turns:
            known = _candidates(cache.records.get(place_of(turn)))
            new = tuple(sorted({text for text in texts if text not in known}))
            if new:
                lacking.setdefault(new, []).append(turn)
        done = len(self._turns) - sum(map(len, lacking.values()))
        self._progress(done, len(self._turns))
        models = AuditModels(self._reference, self._reference)
        with cache.appending() as appender:
            for new, turns in lacking.items():
                wanted = AuditTexts({text: text for text in new})
                for record in record_turns(turns, wanted, models, self._beginnings):
                    # the last line of a place counts, so it carries what earlier ones knew
                    known = _candidates(cache.records.get(place(record)))
                    record["lp"]["candidates"] = known | record["lp"]["candidates"]
                    appender.add(record)
                    cache.records[place(record)] = record
                    done += 1
                    self._progress(done, len(self._turns))
        return [cache.records[place_of(turn)] for turn in self._turns]


def _candidates(record: Json | None) -> dict[str, list[float]]:
    """Texts priced so far, with their lp."""
    return {} if record is None else record["lp"]["candidates"]
