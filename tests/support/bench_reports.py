"""Bench reports out of made-up records, by the same figures as real ones."""

from collections.abc import Callable, Sequence
from typing import Any

from forethought.data.candidates import CandidateSet
from forethought.scorer.agent.thinking import Mode
from forethought.ui.bench.figures import figures, mean_of
from forethought.ui.bench.plan import BenchPlan, Place, mode_of

Json = dict[str, Any]
SECONDS = {"select": 0.06, "think": 0.9, "think-65": 1.0, "draft": 0.4, "index": 0.05, "none": 0.0}
TOKENS = ("injected", "generated", "action", "prefilled", "context")
PLAN = BenchPlan((Place("published"),), (Mode.SELECT, Mode.THINK))


def turn(reasoning: float, rest: float, chosen: int | None = None, kind: str = "search") -> Json:
    """A turn of the model's seconds; `rest` is its action's."""
    parts = {"media": 0.0, "prefill": 0.0, "reasoning": reasoning, "action": rest, "tool": 0.02}
    return {
        "seconds": parts,
        **{f"{part}_tokens": 12 for part in TOKENS},
        **dict.fromkeys(("log_z", "fault", "match", "tool_failure")),
        "chosen": chosen,
        "action": {"name": kind, "arguments": {}},
        "capped": False,
    }


def record(mode: str, id: str, succeeds: bool | None, turns: Sequence[Json]) -> Json:  # noqa: FBT001
    told = {"mode": mode, "id": id, "answer": "a", "answers": ["a"], "f1": 0.5, "stop": "answer"}
    return told | {"success": succeeds, "turns": list(turns)}


def played(mode: str, number: int, succeeds: bool | None, candidates: int) -> Json:  # noqa: FBT001
    kind = mode_of(mode)
    chosen = number % candidates if kind in (Mode.SELECT, Mode.INDEX) else None
    seconds = SECONDS[kind] * (1 + 0.1 * (number % 5))
    return record(mode, f"q{number}", succeeds, [turn(seconds, 1.0, chosen)] * (1 + number % 3))


def bench_report(
    candidate_set: CandidateSet,
    benchmarks: Sequence[str] = ("mmsearch", "infoseek"),
    modes: Sequence[str] = ("select", "think", "none", "select@1"),
    succeeds: Callable[[str, int], bool | None] = lambda mode, n: (n + len(mode)) % 3 > 0,
    questions: int = 20,
) -> Json:
    """What a bench stores for `candidate_set`; recorded turns are compared on the first of `benchmarks`."""
    size = len(candidate_set.active)
    records = {
        name: [played(mode, n, succeeds(mode, n), size) for n in range(questions) for mode in modes]
        for name in benchmarks
    }
    found = {
        name: figures(PLAN, rows, candidate_set)
        | {"metric": "exact", "own_metric": "judge", "left_out": {"unusable": 2}, "verdicts": {}}
        for name, rows in records.items()
    }
    told = {"value": 0.4, "low": 0.3, "high": 0.5, "n": 60}
    agreed = {"turns": 60, "modes": dict.fromkeys(modes, told), "constant": 0.63}
    for one in list(found.values())[:1]:
        one["agreement"] = agreed | {"select_against": dict.fromkeys(modes[1:], told)}
    every = [one | {"id": f"{name}/{one['id']}"} for name, rows in records.items() for one in rows]
    return {
        "benchmark": ", ".join(benchmarks),
        "set": candidate_set.name,
        "candidates": size,
        "model": "tiny",
        "judge": None,
        "texts": {candidate.id: candidate.text for candidate in candidate_set.active},
        "plan": {"modes": list(modes), "limit": questions, "limits": {"turns": 4}, "tau": 0.0},
        **figures(PLAN, every, candidate_set),
        "benchmarks": found,
        "mean": mean_of(found),
    }
