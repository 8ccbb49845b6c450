"""What a bench's records tell of two modes: both arms' successes and seconds on the same questions or turns, and the signals read there.

Over records as they stand on disk (scorer/agent/episode.py writes the turns). Plays nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....data.errors import NothingToDo
from .share_curve import TwoArms
from .signals import entropy_need, margin_need

Json = Mapping[str, Any]
SEEN: dict[str, Callable[[Json], float]] = {  # what a turn's own record tells
    "margin": lambda turn: margin_need(np.array(turn["scores"])),
    "log Z": lambda turn: -float(turn["log_z"]),
    "entropy": lambda turn: entropy_need(np.array(turn["scores"])),
}


@dataclass(frozen=True)
class RecordedArms:
    """Questions or turns that both modes played, by their ids, with needs (n,) by the name of the signal."""

    ids: tuple[str, ...]
    arms: TwoArms
    needs: Mapping[str, np.ndarray]


def recorded_questions(
    records: Sequence[Json], first: str = "select", second: str = "think"
) -> RecordedArms:
    """Whole runs: success by the record's own word (`success`, else `exact`), cost in the model's seconds, needs of the first turn.

    NothingToDo where no question was played in both modes.
    """
    return _recorded(records, first, second, _success, _seconds, _first_turn)


def recorded_turns(
    records: Sequence[Json], first: str = "select", second: str = "think"
) -> RecordedArms:
    """Single recorded turns: whether the action is of the recorded kind; a turn costs nothing that was told."""
    return _recorded(
        records,
        first,
        second,
        lambda one: float(one["action"] == one["recorded"]),
        lambda one: 0.0,
        lambda one: one,
    )


def _recorded(
    records: Sequence[Json],
    first: str,
    second: str,
    success: Callable[[Json], float],
    cost: Callable[[Json], float],
    turn_of: Callable[[Json], Json | None],
) -> RecordedArms:
    by_mode: dict[str, dict[str, Json]] = {}
    for one in records:
        by_mode.setdefault(one["mode"], {})[one["id"]] = one
    cheap, strong = by_mode.get(first, {}), by_mode.get(second, {})
    ids = [id for id in cheap if id in strong]
    if not ids:
        raise NothingToDo(
            f"nothing was played in both {first} and {second}; the records have {', '.join(by_mode) or 'nothing'}"
        )
    pairs = [(cheap[id], strong[id]) for id in ids]
    arms = TwoArms(
        np.array([[success(one) for one in pair] for pair in pairs]),
        np.array([[cost(one) for one in pair] for pair in pairs]),
    )
    turns = [turn_of(cheap[id]) for id in ids]
    read = {name: _column(turns, own) for name, own in SEEN.items()}
    for mode, rows in by_mode.items():  # what routed modes read, whatever they then did
        seen = [turn_of(rows[id]) if id in rows else None for id in ids]
        read[mode] = _column(seen, lambda turn: float(turn["signal"]))
    needs = {name: column for name, column in read.items() if column is not None}
    return RecordedArms(tuple(ids), arms, needs)


def _column(turns: Sequence[Json | None], read: Callable[[Json], float]) -> np.ndarray | None:
    """One need a turn; None where a turn does not tell it."""
    found = []
    for turn in turns:
        try:
            found.append(read(turn or {}))
        except (KeyError, TypeError, ValueError):
            return None
    return np.array(found)


def _success(record: Json) -> float:
    told = record.get("success")
    return float(record["exact"] if told is None else told)


def _seconds(record: Json) -> float:
    parts = ("media", "prefill", "reasoning", "action")
    return float(sum(turn["seconds"][part] for turn in record["turns"] for part in parts))


def _first_turn(record: Json) -> Json | None:
    return record["turns"][0] if record["turns"] else None
