"""How a run ended, from the fields and closing words in which its source says so.

NaN, a missing field and anything but a number or a boolean say nothing: unknown is not failure.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from ..traces import Outcome

SCORES = ("llm_score", "em_score_mcq", "em_score", "score", "acc", "accuracy", "correct", "success")
CLOSING = re.compile(r"\s*Episode finished, reward =\s*(\w*)")
CLOSING_REWARDS = {"True": 1, "1": 1, "False": 0, "0": 0}


def outcome_in(record: Mapping[str, Any]) -> Outcome | None:
    """From `em` (exact match) where there is one, else from `reward`."""
    return outcome_of(record.get("em")) or outcome_of(record.get("reward"))


def scored(record: Mapping[str, Any]) -> Outcome | None:
    """The same of a rollout's record, whose score stands under a name of its own."""
    told = outcome_in(record)
    for name in SCORES:
        told = told or outcome_of(record.get(name))
    return told


def is_unread(record: Any) -> bool:
    """Whether something stands where the outcome would, and is neither a number nor a boolean."""
    told = [record.get(name) for name in ("em", "reward")] if isinstance(record, dict) else []
    return any(one is not None and not isinstance(one, int | float) for one in told)


def outcome_of(reward: Any) -> Outcome | None:
    """True and 1 are success, all other finite numbers failure."""
    is_finite = isinstance(reward, int) or (isinstance(reward, float) and math.isfinite(reward))
    if not is_finite:
        return None
    return Outcome.SUCCESS if reward == 1 else Outcome.FAILURE


def is_closing(observation: str) -> bool:
    """Whether an observation only announces the end: it is no tool's result."""
    return CLOSING.match(observation) is not None


def closing_outcome(observation: str) -> Outcome | None:
    """What a closing observation says, "Episode finished, reward = 1." as well as "= True"."""
    closing = CLOSING.match(observation)
    return outcome_of(CLOSING_REWARDS.get(closing[1])) if closing else None
