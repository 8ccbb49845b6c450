"""A preview of masking as a service: what it takes out of a store's thoughts, by rule, kind and owner."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.errors import NotFound
from ..data.store import Store
from ..miner.mask import Mask, words
from ..miner.mask_rules import read_rules, shipped_rules
from ..miner.mine import mineable
from ..miner.slots import MaskedThought


@dataclass(frozen=True)
class MaskPreview:
    """Some masked thoughts by turn id, and counts over all of them.

    `rules`, `kinds` and `owners` count slots; `word_types` are the distinct words before, `kept_types` those that are left.
    """

    shown: tuple[tuple[str, MaskedThought], ...]
    num_thoughts: int
    num_whole: int
    rules: Counter[str]
    kinds: Counter[str]
    owners: Counter[str]
    word_types: int
    kept_types: int

    def as_json(self) -> dict[str, Any]:
        return {
            "thoughts": self.num_thoughts,
            "whole": self.num_whole,
            "word_types": self.word_types,
            "kept_types": self.kept_types,
            "rules": dict(self.rules.most_common()),
            "kinds": dict(self.kinds.most_common()),
            "owners": dict(self.owners.most_common()),
            "shown": [
                {
                    "turn": turn,
                    "original": masked.original,
                    "typed": masked.typed,
                    "masked": masked.text,
                    "slots": [slot._asdict() for slot in masked.slots],
                }
                for turn, masked in self.shown
            ],
        }


def preview(
    store: Store, limit: int, rules: Path | None = None, source: str | None = None
) -> MaskPreview:
    """Masks the store's *mine* thoughts as `mine` does; shows the first `limit` in the order of their ids."""
    if source is not None and source not in store.sources():
        raise NotFound(f"no traces of source {source!r}; there are: {', '.join(store.sources())}")
    chosen = read_rules(rules) if rules else shipped_rules()
    thoughts = mineable(store.traces(source))
    mask = Mask.fit(thoughts, chosen)
    masked = [mask.apply(thought.text, thought.owned) for thought in thoughts]
    slots = [slot for one in masked for slot in one.slots]
    return MaskPreview(
        shown=tuple(zip((t.turn for t in thoughts[:limit]), masked, strict=False)),
        num_thoughts=len(masked),
        num_whole=sum(one.is_whole for one in masked),
        rules=Counter(slot.rule for slot in slots),
        kinds=Counter(slot.kind for slot in slots),
        owners=Counter(str(slot.owner) for slot in slots),
        word_types=len(_types(masked)),
        kept_types=len(_kept_types(masked)),
    )


def _types(masked: Sequence[MaskedThought]) -> set[str]:
    return {word for one in masked for word in words(one.original)}


def _kept_types(masked: Sequence[MaskedThought]) -> set[str]:
    """The words outside slots, the original's own "it" among them and the filler not."""
    return {word for one in masked for part in one.kept for word in words(part)}
