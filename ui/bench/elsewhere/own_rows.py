"""A bench's own records.jsonl, and the report.json beside it."""

import math
from collections.abc import Mapping
from typing import Any

from ....data.identity import candidate_id
from .found import Figures, Json, Run, Unreadable, numbers, record_of, text, texts, turn_of

NAME = "bench"
SCORES = ("exact", "relaxed", "f1")
COMPARED = ("n", "failed", "f1", "reasoning_ms", "model_s", "turns")  # of a report's modes


def is_run(value: Any) -> bool:
    return isinstance(value, dict) and {"run", "mode", "id", "turns"} <= value.keys()


def run_of(value: Json, name: str) -> Run:
    """A record as it is, its scores reckoned again. Unreadable where its turns are no turns of a bench."""
    if not isinstance(value["turns"], list) or not all(map(_is_turn, value["turns"])):
        raise Unreadable("its turns are none of a bench's own")
    turns = [turn_of(turn) for turn in value["turns"]]
    chosen = [turn for turn in turns if turn["chosen"] is not None]
    candidates = {turn["chosen"]: candidate_id(turn["reasoning"].strip()) for turn in chosen}
    answer = value.get("answer")
    record = record_of(
        str(value["id"] or name),
        text(value.get("question")),
        texts(value.get("answers")),
        answer if isinstance(answer, str) else None,
        stop=text(value.get("stop")),
        detail=text(value.get("detail")),
        turns=turns,
    )
    told = {key: float(value[key]) for key in SCORES if _is_score(value.get(key))}
    return Run(record, told, text(value["mode"]), candidates)


def figures_told(value: Json) -> Figures:
    """Of a report's modes, what records alone decide."""
    return figures_of(value["modes"])


def figures_of(modes: Mapping[str, Json]) -> Figures:
    return {
        f"{mode}.{key}": told
        for mode, found in modes.items()
        if isinstance(found, Mapping)
        for key, told in numbers({one: found.get(one) for one in COMPARED}).items()
    }


def _is_score(value: Any) -> bool:
    return isinstance(value, bool | float) and math.isfinite(value)


def _is_turn(turn: Any) -> bool:
    return isinstance(turn, dict) and {"seconds", "context_tokens", "action_text"} <= turn.keys()
