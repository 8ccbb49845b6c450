"""What a bench was played with, in words: each setting of its report by a name that needs no code to be read. Draws nothing."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from .bench_rows import NAME_CHARACTERS, TEXT_CHARACTERS, number
from .charts import legible, shortened

Json = Mapping[str, Any]
NAMES = {  # of a plan, and the limits in it, in words
    "source": "recorded runs of",
    "limit": "most questions",
    "fewer": "most questions of other modes",
    "least_log_z": "covered from log Z (nats)",
    "is_listed": "candidates listed",
    "is_guided": "actions guided",
    "tau": "temperature of select (0: the best)",
    "sizes": "select from the first",
    "agreement_turns": "most recorded turns",
    "turns": "most turns",
    "thought_tokens": "most tokens of a thought",
    "action_tokens": "most tokens of an action",
    "observation_tokens": "most tokens of an observation",
    "context_tokens": "most tokens of a run",
}


class RouterTold(NamedTuple):
    """What a report tells of the router that sent its questions; empty where none did."""

    name: str = ""
    withdrawn: tuple[str, ...] = ()
    trained_on: int = 0


def router_told(report: Json) -> RouterTold:
    found = _mapping(report.get("router"))
    withdrawn, seen = found.get("withdrawn"), number(found.get("trained_on"))
    arms = withdrawn if isinstance(withdrawn, list) else ()
    return RouterTold(
        shortened(str(found.get("name") or ""), TEXT_CHARACTERS),
        tuple(shortened(str(arm), NAME_CHARACTERS) for arm in arms),
        int(seen or 0),
    )


def settings(report: Json) -> dict[str, str]:
    """What was played, with what: name and value of each."""
    judge, router = _mapping(report.get("judge")), router_told(report)
    told = {
        "benchmarks": report.get("benchmark"),
        "model": report.get("model"),
        "served by": report.get("engine"),
        "workers": report.get("workers"),
        "candidates": report.get("candidates"),
        "judge": f"{judge.get('name')}, {judge.get('version')}" if judge else "none",
        "router": router.name or None,
        "router's arms not played here": ", ".join(router.withdrawn) or None,
        "questions the router learned from": router.trained_on or None,
    }
    for key, value in _mapping(report.get("plan")).items():
        for inner, one in _mapping(value).items() or {"": value}.items():
            if one not in (None, {}, [], ()) and key != "places":
                told[_named(inner or key)] = one
    return {
        shortened(name, NAME_CHARACTERS): shortened(_words(value), TEXT_CHARACTERS)
        for name, value in told.items()
        if value is not None
    }


def _named(key: str) -> str:
    return NAMES.get(key, key.replace("_", " "))


def _mapping(found: Any) -> Json:
    return found if isinstance(found, Mapping) else {}


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else legible(str(value))
