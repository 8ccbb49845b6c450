"""Records of turns as a service: what the cache knows is not priced again, whoever asked for it first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..data.identity import content_id
from ..scorer.audit import (
    Asked,
    AuditModels,
    AuditTexts,
    AuditTurn,
    Priced,
    needed,
    price_turns,
    text_lengths,
    uncalibrated_record,
)
from ..scorer.cache import cache_folder
from ..scorer.model import LanguageModel
from .price_cache import PriceCache

Json = dict[str, Any]
Beginnings = Mapping[str, Mapping[str, str]]
Progress = Callable[[int, int], None]


def record_turns(
    turns: Sequence[AuditTurn],
    texts: AuditTexts,
    models: AuditModels,
    beginnings: Beginnings,
    progress: Progress = lambda done, total: None,
) -> list[Json]:
    """An uncalibrated record for every turn, in their order; `beginnings` of the kinds by source."""
    prices = _Prices.of(models, beginnings)
    wanted = [needed(turn, texts) for turn in turns]
    missing = [lacking for asked in wanted if (lacking := prices.lacking(asked)) is not None]
    done = len(turns) - len(missing)
    progress(done, len(turns))
    with prices.lp.appending() as lp, prices.sums.appending() as sums:
        for found in price_turns(missing, models, beginnings):
            lp.add(prices.of_action(found.turn), found.lp)
            sums.add(found.turn.context_hash, found.sums)
            done += 1
            progress(done, len(turns))
    lengths = text_lengths(models.audited, texts)
    return [
        uncalibrated_record(prices.known(asked), texts, lengths, models.alpha) for asked in wanted
    ]


@dataclass(frozen=True)
class _Prices:
    """lp belongs to the reference model and the action, sums to the audited one: another audited model prices its own only."""

    lp: PriceCache
    sums: PriceCache
    beginnings: Beginnings

    @classmethod
    def of(cls, models: AuditModels, beginnings: Beginnings) -> "_Prices":
        folder = cache_folder() / "prices"
        return cls(
            PriceCache(folder, "lp", _named(models.reference)),
            PriceCache(folder, "sums", _named(models.audited)),
            beginnings,
        )

    def of_action(self, turn: AuditTurn) -> str:
        """Where lp stands: the context, the action, and the kinds it is told from."""
        kinds = dict(self.beginnings[turn.source])
        return content_id("a", [turn.context_hash, turn.kind, turn.action.text, kinds])

    def lacking(self, asked: Asked) -> Asked | None:
        """What of `asked` was never priced; None where all was."""
        action, context = self.of_action(asked.turn), asked.turn.context_hash
        lp = tuple(text for text in asked.lp if self.lp.lacks(action, text))
        sums = tuple(text for text in asked.sums if self.sums.lacks(context, text))
        return Asked(asked.turn, lp, sums) if lp or sums else None

    def known(self, asked: Asked) -> Priced:
        action, context = self.of_action(asked.turn), asked.turn.context_hash
        return Priced(
            asked.turn,
            {text: self.lp.price(action, text) for text in asked.lp},
            {text: self.sums.price(context, text) for text in asked.sums},
        )


def _named(model: LanguageModel) -> str:
    return f"{model.revision} {model.dtype}"
