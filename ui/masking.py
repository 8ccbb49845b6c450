"""Masking as a service: a preview of what it takes out of a store's thoughts, and the rules that a set was mined with."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..data.candidates import CandidateSet
from ..data.errors import ForethoughtError, InvalidRules, NotFound
from ..data.store import Store
from ..miner.mask import Mask, words
from ..miner.mask_rules import MaskRules, parse_rules, read_rules, shipped_rules
from ..miner.mine import mineable
from ..miner.slots import MaskedThought

MASK_RULES = "mask_rules"  # in a mined set's manifest


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


def rules_json(rules: MaskRules) -> dict[str, Any]:
    """Rules as a set's manifest carries them: whole, but for the shipped ones, which every installation has."""
    is_shipped = rules.digest == shipped_rules().digest
    return {"digest": rules.digest, "toml": None if is_shipped else rules.text}


def rules_of(*sets: CandidateSet) -> MaskRules:
    """The rules that `sets` were mined with; the shipped ones where none was mined with others.

    A set that was written, not mined, goes with any. ForethoughtError where two were mined with different rules, since what
    one mask says of them cannot be compared.
    """
    found = {s.name: _rules(s) for s in sets if MASK_RULES in s.manifest}
    for name, rules in found.items():
        first = next(iter(found))
        if rules.digest != found[first].digest:
            raise ForethoughtError(
                f"sets {first!r} and {name!r} were mined with different mask rules and cannot be measured under one mask; "
                "measure each by itself, or mine one anew with the --mask-rules of the other"
            )
    return next(iter(found.values()), shipped_rules())


def _rules(candidate_set: CandidateSet) -> MaskRules:
    told: Any = candidate_set.manifest[MASK_RULES]
    text = told.get("toml", 0) if isinstance(told, dict) else 0
    where = f"mask rules of set {candidate_set.name!r}"
    if text is None:
        return shipped_rules()
    if not isinstance(text, str):
        raise InvalidRules(f"{where}: its manifest holds none; mine it anew")
    return _parsed(text, where)


@lru_cache(maxsize=8)  # patterns take a while to compile, and a mask is remembered by its rules
def _parsed(text: str, where: str) -> MaskRules:
    return parse_rules(text, where)
