"""What a person wants of a set before it is chosen: texts that must be in it and texts that must not.

Texts are the same where they read the same but for case and white space. Pins come first in the set, in the person's
order, and the rest is chosen around them; whether they are worth it is not asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..data.candidates import check_text
from ..data.errors import ForethoughtError
from ..data.identity import canonical
from .choose import Group, Terms, TokenLimit


@dataclass(frozen=True)
class Wishes:
    """`pinned`: always in, first, in this order; `banned`: never in. A ban of a text that was not mined is no mistake."""

    pinned: tuple[str, ...] = ()
    banned: tuple[str, ...] = ()

    def phrases(self, mined: Sequence[str]) -> list[str]:
        """The pins that are not among `mined`, then `mined`: what is chosen from."""
        known = {_key(text) for text in mined}
        pins = {_key(text): check_text(text) for text in self.pinned}
        return [text for key, text in pins.items() if key not in known] + list(mined)

    def terms(
        self,
        phrases: Sequence[str],
        budget: int | None,
        tokens: TokenLimit | None = None,
        groups: tuple[Group, ...] = (),
    ) -> Terms:
        """These wishes as columns of `phrases`; ForethoughtError where they contradict each other or a budget."""
        columns: dict[str, int] = {}
        for column, text in enumerate(phrases):
            columns.setdefault(_key(text), column)
        pins = dict.fromkeys(map(_key, self.pinned))
        bans = {_key(text) for text in self.banned}
        self._check(bans, len(pins), budget)
        pinned = tuple(columns[key] for key in pins)
        if tokens is not None and tokens.costs[list(pinned)].sum() > tokens.most:
            raise ForethoughtError(
                f"the {len(pinned)} pinned candidates cost {tokens.costs[list(pinned)].sum():g} tokens and the budget is "
                f"{tokens.most:g}; unpin one or raise the budget"
            )
        banned = frozenset(column for key, column in columns.items() if key in bans)
        return Terms(pinned, banned, tokens, groups)

    def _check(self, bans: set[str], num_pins: int, budget: int | None) -> None:
        both = [text for text in self.pinned if _key(text) in bans]
        if both:
            raise ForethoughtError(
                f"{canonical(both[0])[:80]!r} is pinned and banned at once; take one of the two back"
            )
        if budget is not None and num_pins > budget:
            raise ForethoughtError(
                f"{num_pins} candidates are pinned and the budget is {budget}; unpin some or raise the budget"
            )


def _key(text: str) -> str:
    return canonical(text).casefold()
