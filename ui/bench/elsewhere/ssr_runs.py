"""SSR's run records: `trajectory.json` of each question, `profiling.json` and `settings.json` beside, as its inference code writes them.

The shape is that of GitHub zfy0314/ssr-unofficial, commit 2d554730: src/ssr/inference.py (a turn), src/ssr/cli.py (a trajectory),
src/ssr/profiling.py (totals). They hold no truth, unless the row that was asked has one. Their shared prefill and what lies between it and
scoring count as prefill here, thinking_only_seconds as reasoning.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ....data.traces import ANSWER
from ....scorer.agent.episode import Stop
from .found import (
    Figures,
    Json,
    Run,
    Unreadable,
    amount,
    number,
    numbers,
    record_of,
    text,
    texts,
    turn_of,
)

NAME = "ssr"
TRUTHS = ("answers", "answer", "ground_truth", "gt", "gts")
TOOL_ERROR = Stop.TOOL_ERROR.value
OPENING, CLOSING = "<thinking>", "</thinking>"
END = "<|im_end|>"
UNFINISHED = "continue"  # what stands in a turn that another was to follow


def is_run(value: Any) -> bool:
    return isinstance(value, dict) and "delta" in value and isinstance(value.get("turns"), list)


def run_of(value: Json, name: str) -> Run:
    """A trajectory; `name` is its id where its input has none. Unreadable where its turns are none, or it was cut off."""
    asked = value["input"] if isinstance(value.get("input"), dict) else {}
    turns = [_turn(one) for one in value["turns"]]
    stop = text(value["delta"])
    if stop in ("", UNFINISHED):
        raise Unreadable(f"a run that did not end (delta {value['delta']!r})")
    sample = value.get("sample")
    id = str(asked.get("id") or name)
    last = value["turns"][-1].get("parsed") if turns else None
    record = record_of(
        id if sample in (None, 1) else f"{id}#{sample}",
        text(asked.get("question")),
        _truths(asked),
        text(last.get("answer")) if stop == ANSWER and isinstance(last, dict) else None,
        stop=stop,
        detail=turns[-1]["fault"] or "" if turns else "",
        turns=turns,
    )
    return Run(record, candidates=_chosen(value["turns"]))


def totals_told(value: Json) -> Figures:
    """The totals of a trajectory's `summary` or of a profiling.json, and how often its runs ended how."""
    totals = value.get("summary", value.get("totals"))
    told = numbers(totals) if isinstance(totals, dict) else {}
    if isinstance(value.get("status_counts"), dict):
        told |= numbers(value["status_counts"], "status_counts.")
    counts = ("completed_turns", "trajectories_completed")
    return told | {key: value[key] for key in counts if number(value.get(key)) is not None}


def totals_of(records: Sequence[Json]) -> Figures:
    """The same figures out of the turns; those that a turn does not tell are left out."""
    turns = [turn for one in records for turn in one["turns"]]
    seconds = {
        "media_preparation_seconds": ("media",),
        "thinking_only_seconds": ("reasoning",),
        "action_generation_seconds": ("action",),
        "total_generation_seconds": ("prefill", "reasoning", "action"),
        "tool_seconds": ("tool",),
    }
    tokens = {
        "selected_candidate_tokens": ("injected",),
        "generated_thinking_tokens": ("generated",),
        "total_generated_tokens": ("generated", "action"),
        "total_response_tokens": ("injected", "generated", "action"),
    }
    found = {
        key: _sum(turns, lambda t, p: t["seconds"][p], parts) for key, parts in seconds.items()
    }
    found |= {
        key: _sum(turns, lambda t, p: t[f"{p}_tokens"], parts) for key, parts in tokens.items()
    }
    found |= {"completed_turns": len(turns), "trajectories_completed": len(records)}
    for one in records:
        key = f"status_counts.{one['stop']}"
        found[key] = (found.get(key) or 0) + 1
    return {key: value for key, value in found.items() if value is not None}


def _sum(turns: Sequence[Json], value: Any, parts: Sequence[str]) -> float | None:
    values = [value(turn, part) for turn in turns for part in parts]
    return None if None in values else math.fsum(values)


def _turn(turn: Any) -> Json:
    if not isinstance(turn, dict) or not isinstance(turn.get("parsed"), dict):
        raise Unreadable("a turn is no object that tells what was parsed")
    parsed, result, index = turn["parsed"], turn.get("tool_result"), turn.get("index")
    made = amount(turn, "generated_thinking_tokens")
    decoded = amount(turn, "total_generated_tokens")
    return turn_of(
        {
            "context_tokens": turn.get("context_tokens"),
            "prefilled_tokens": _prefilled(turn),
            "injected_tokens": turn.get("selected_candidate_tokens"),
            "generated_tokens": made,
            "action_tokens": None if decoded is None else decoded - (made or 0),
            "reasoning": text(turn.get("reasoning")).removeprefix(OPENING).removesuffix(CLOSING),
            "capped": False,
            "scores": turn.get("scores"),
            "probabilities": turn.get("selection_probabilities"),
            "chosen": index - 1 if type(index) is int else None,
            "log_z": _log_z(turn.get("candidate_token_logprobs")),
            "action_text": text(turn.get("action")).removesuffix(END),
            "action": _action(parsed),
            "fault": parsed.get("reason"),
            "seconds": _seconds(turn),
            **_observed(result if isinstance(result, dict) else {}),
        }
    )


def _seconds(turn: Json) -> Json:
    prefill, setup = amount(turn, "prefill_seconds"), amount(turn, "scoring_setup_seconds")
    return {
        "media": amount(turn, "media_preparation_seconds"),
        "prefill": None if prefill is None else prefill + (setup or 0.0),
        "reasoning": amount(turn, "thinking_only_seconds"),
        "action": amount(turn, "action_generation_seconds"),
        "tool": amount(turn, "tool_seconds"),
    }


def _observed(result: Json) -> Json:
    why = text(result.get("error")) or text(result.get("error_type")) or TOOL_ERROR
    is_failure = result.get("status") == TOOL_ERROR
    return {
        "observation": result.get("observation"),
        "tool_failure": why if is_failure else "",
    }


def _action(parsed: Json) -> Json | None:
    match parsed:
        case {"kind": "answer", "answer": str(answer)}:
            return {"name": ANSWER, "arguments": {"answer": answer}}
        case {"kind": "tool", "name": str(name)}:
            return {"name": name, "arguments": parsed.get("arguments") or {}}
    return None


def _prefilled(turn: Json) -> float | None:
    """What its engine had not kept of the context."""
    meta = turn.get("prefill_meta")
    cached = amount(meta, "cached_tokens") if isinstance(meta, dict) else None
    context = amount(turn, "context_tokens")
    return None if cached is None or context is None or cached > context else context - cached


def _log_z(rows: Any) -> float | None:
    """Of all candidates together: the logarithm of the sum of their probabilities."""
    try:
        sums = [math.fsum(row) for row in rows]
        most = max(sums)
        return most + math.log(math.fsum(math.exp(one - most) for one in sums))
    except (TypeError, ValueError, OverflowError):
        return None


def _chosen(turns: Sequence[Json]) -> Mapping[int, str]:
    return {
        turn["index"] - 1: text(turn.get("candidate_id")) or f"candidate {turn['index']}"
        for turn in turns
        if type(turn.get("index")) is int and turn["index"] > 0
    }


def _truths(asked: Json) -> tuple[str, ...]:
    model = asked.get("reward_model")
    held = asked | (model if isinstance(model, dict) else {})
    return next((found for key in TRUTHS if (found := texts(held.get(key)))), ())
