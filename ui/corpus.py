"""Traces with what is fitted on them: what audits, exports and screens ask about any set. Imports no language model."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..data.traces import Trace
from ..miner.assign import Assigner
from ..miner.embed import Embedder
from ..miner.mask import Mask
from ..miner.mask_rules import MaskRules
from ..miner.mine import mineable
from ..miner.thoughts import Thought
from ..miner.vectors import CheckedEmbedder


@dataclass(frozen=True)
class Corpus:
    """The traces with what is fitted on their *mine* part: one mask and one assignment rule for all sets."""

    traces: Sequence[Trace]
    thoughts: Sequence[Thought]  # of mine questions, in canonical order
    mask: Mask
    assigner: Assigner
    embedder: Embedder = field(repr=False)

    @classmethod
    def of(
        cls, traces: Sequence[Trace], embedder: Embedder, rules: MaskRules | None = None
    ) -> "Corpus":
        """Fitted with the mask `rules` of the sets that it is for (`masking.rules_of`), by default the shipped ones."""
        thoughts = mineable(traces)
        mask = Mask.fit(thoughts, rules)
        embedder = CheckedEmbedder(embedder)
        return cls(traces, thoughts, mask, Assigner(thoughts, mask, embedder), embedder)
