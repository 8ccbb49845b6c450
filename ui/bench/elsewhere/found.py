"""What a file of run records holds, whatever its shape: records as a bench writes them, the figures that stand beside them, and what is none.

Knows no shape of a file. What a record does not tell is None, never 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....scorer.agent.answers import exact_match, relaxed_match, token_f1

Json = dict[str, Any]
Figures = Mapping[str, float]
MOST = 1e15  # of a figure: more is damage, as NaN is
TOKENS = ("context", "prefilled", "injected", "generated", "action")
SECONDS = ("media", "prefill", "reasoning", "action", "tool")


class Unreadable(Exception):
    """Why something is no record; becomes a NoRecord."""


@dataclass(frozen=True)
class Run:
    """One run in the keys of a bench's own records; `told` are the figures that stand in it, `mode` is "" where it names none.

    `candidates` names, by place in the library, what its turns chose from; only those that were chosen need be there.
    """

    record: Json
    told: Figures = field(default_factory=dict)
    mode: str = ""
    candidates: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Replayed:
    """A run, and where it stands."""

    file: Path
    where: str
    shape: str
    run: Run


@dataclass(frozen=True)
class Summary:
    """Figures that are told of all runs in `folder` and below, or of `file` alone where the folder is None."""

    file: Path
    shape: str
    values: Figures
    folder: Path | None


@dataclass(frozen=True)
class Library:
    """What the candidates of a run announce, by id."""

    expected_actions: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class NoRecord:
    """What was no record: where ("results.jsonl:7"), and why."""

    where: str
    reason: str


def record_of(
    id: str, question: str, answers: Sequence[str], answer: str | None, **rest: object
) -> Json:
    """A record as a bench keeps one; `rest` are stop, detail, turns (None: not told) and facts."""
    is_told = answer is not None
    return {
        "id": id,
        "question": question,
        "answers": list(answers),
        "facts": {},
        "answer": answer,
        "stop": "",
        "detail": "",
        "exact": is_told and exact_match(answer or "", answers),
        "relaxed": is_told and relaxed_match(answer or "", answers),
        "f1": token_f1(answer, answers) if answer is not None else 0.0,
        "turns": None,
        **rest,
    }


def turn_of(told: Mapping[str, Any]) -> Json:
    """A turn as a bench keeps one; what is not told of it, or is of another kind than a bench's, is None or empty.

    Unreadable where it took less than no time or tokens, or without end.
    """
    seconds, action = told.get("seconds"), told.get("action")
    seconds = seconds if isinstance(seconds, Mapping) else {}
    is_action = isinstance(action, Mapping) and isinstance(action.get("name"), str)
    chosen = told.get("chosen")
    return {
        **{f"{part}_tokens": amount(told, f"{part}_tokens") for part in TOKENS},
        **{key: text(told.get(key)) for key in ("reasoning", "action_text", "tool_failure")},
        **{key: text(told.get(key)) or None for key in ("fault", "observation", "match")},
        "capped": told["capped"] if isinstance(told.get("capped"), bool) else None,
        "scores": told.get("scores") or [],
        "probabilities": told.get("probabilities") or [],
        "chosen": chosen if type(chosen) is int and chosen >= 0 else None,
        "log_z": number(told.get("log_z")),
        "action": action if is_action else None,
        "seconds": {part: amount(seconds, part) for part in SECONDS},
    }


def number(value: object) -> float | None:
    """A number that a run could have, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < MOST:
        return None
    return value


def amount(told: Mapping[str, Any], key: str) -> float | None:
    """Seconds, or a count of tokens: a number or None. Unreadable where it is negative, not finite or beyond any run."""
    value = told.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value < MOST:
        shown = f"{value:g}" if isinstance(value, float) or abs(value) < MOST else "so much"
        raise Unreadable(f"{key}: {shown} is no amount of seconds or tokens")
    return value


def numbers(values: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """All numbers in an object and the objects in it, by their keys with points between."""
    found: dict[str, float] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            found |= numbers(value, f"{prefix}{key}.")
        elif (told := number(value)) is not None:
            found[f"{prefix}{key}"] = told
    return found


def texts(value: object) -> tuple[str, ...]:
    """A text or a list of them, without empty ones."""
    values = value if isinstance(value, list) else [value]
    return tuple(one.strip() for one in values if isinstance(one, str) and one.strip())


def text(value: object) -> str:
    return value if isinstance(value, str) else ""
