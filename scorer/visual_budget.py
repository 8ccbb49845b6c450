"""How much of a context's pictures a model goes on looking at behind one layer of its choice (VisionPulse, arXiv 2605.31457).

Plain numbers; knows no tensor, so that a command line can read it quickly. visual_choice.py does it, visual_twin.py defines it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..data.errors import ForethoughtError, PictureMismatch

WRITTEN = "write percents as LOW-HIGH or one number, then anchor=, temperature=, block= after commas: 5-10,anchor=17"


@dataclass(frozen=True)
class VisualBudget:
    """Layers behind `anchor` (from 0) attend to all text, but only to some of the visual tokens.

    One row decides at the anchor: its attention there, with scores divided by `temperature`, has a mass on the N visual
    tokens, the sum over them in the head where it is highest. K = ceil(clamp(mass, low, high) * N) tokens stay, as whole
    blocks of `block` neighbours: those with the most attention, meaned over heads. Blocks that hold text stay anyway, and
    so does at least one visual block. Low and high alike are a fixed share; 1 changes nothing. The defaults are the published
    ones for at most 10 %; for at most 5 % they are .01, .05 and a temperature of .1. ForethoughtError for numbers out of range.
    """

    anchor: int = 17
    low: float = 0.05
    high: float = 0.10
    temperature: float = 0.4
    block: int = 64

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.high <= 1:
            raise ForethoughtError(
                f"a visual budget keeps more than 0 % and at most 100 % of the visual tokens, the smaller share first, not "
                f"{100 * self.low:g} to {100 * self.high:g} %; give for example 5-10"
            )
        if not 0 < self.temperature <= 1:
            raise ForethoughtError(
                f"the temperature of a visual budget is above 0 and at most 1, not {self.temperature:g}; published: 0.4"
            )
        if self.block < 1:
            raise ForethoughtError(
                f"a block of a visual budget holds at least 1 token, not {self.block}; published: 64"
            )

    @classmethod
    def parse(cls, text: str) -> "VisualBudget":
        """Of its written form: `10`, `5-10`, `1-5,temperature=0.1,anchor=20`. ForethoughtError for anything else."""
        shares, *others = text.split(",")
        low, dash, high = shares.partition("-")
        changes: dict[str, int | float] = {}
        try:
            for name, _, value in (other.strip().partition("=") for other in others):
                changes[name] = _OPTIONS[name](value)
            budget = cls(low=float(low) / 100, high=float(high if dash else low) / 100)
        except (ValueError, KeyError) as error:
            raise ForethoughtError(f"no visual budget {text!r}: {WRITTEN}") from error
        return replace(budget, **changes)  # type: ignore[arg-type]  # each option has its own type

    def __str__(self) -> str:
        shares = f"{100 * self.low:g}-{100 * self.high:g}"
        return ",".join([shares, *(f"{name}={getattr(self, name):g}" for name in _OPTIONS)])

    def require_fits(self, name: str, num_layers: int, *, sees: bool) -> None:
        """PictureMismatch for a model `name` without eyes, ForethoughtError for one without layers behind the anchor."""
        if not sees:
            raise PictureMismatch(
                f"{name} reads text alone, so there is nothing to look at less; leave the visual budget out"
            )
        if not 0 <= self.anchor < num_layers - 1:
            raise ForethoughtError(
                f"a visual budget's anchor is a layer with others behind it: 0 to {num_layers - 2} in {name}, "
                f"not {self.anchor}; name one with anchor="
            )

    def blocks(self, share: float, tokens: int, most: int) -> int:
        """How many of `most` visual blocks hold ceil(share * tokens) tokens: at least one, if there is one."""
        kept = math.ceil(round(share * tokens, 9))  # 7 % of 100 are 7, also in floating point
        return min(most, max(1, math.ceil(kept / self.block)))


_OPTIONS: dict[str, Callable[[str], int | float]] = {
    "anchor": int,
    "temperature": float,
    "block": int,
}
