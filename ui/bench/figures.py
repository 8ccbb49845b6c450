"""A bench's figures: success, coverage and latency by mode, and each mode against select over the same questions.

Over the records of one benchmark, or of several together. Plays nothing, and judges nothing.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np

from ...data.candidates import CandidateSet
from ...data.traces import kind_of
from ...scorer.agent.comparison import mcnemar, paired, paired_difference, rate
from ...scorer.agent.thinking import Mode
from .plan import BenchPlan

Json = dict[str, Any]
Seconds = Callable[[Json], float | None]
LEAST_SECONDS = 1e-3  # of a mean that a share is saved of: not to think takes none
FLOOR = 0.1  # success under which two modes cannot be told apart by it
NO_CLAIM = "floor: no claim"


def figures(plan: BenchPlan, records: Sequence[Json], candidate_set: CandidateSet) -> Json:
    """By mode, and each mode against `select` on the questions that both were asked; `records` say whether they succeeded."""
    by_label = _by_label(records)
    found = {label: _mode(rows, candidate_set, plan) for label, rows in by_label.items()}
    rates = [one["success"]["value"] for one in found.values() if one["success"]["n"]]
    is_floor = bool(rates) and all(value < FLOOR for value in rates)
    return {
        "modes": found,
        "select_against": against(records, Mode.SELECT, plan.seed),
        "floor": is_floor,
        "claim": NO_CLAIM if is_floor else "",
    }


def against(records: Sequence[Json], first: str, seed: int) -> Json:
    """The mode `first` against each other on the questions that both were asked; nothing where it was not played."""
    by_label = _by_label(records)
    mine = by_label.pop(first, None)
    if mine is None:
        return {}
    return {label: _against(mine, rows, seed) for label, rows in by_label.items()}


def mean_of(benchmarks: Mapping[str, Json]) -> Json:
    """The mean of every benchmark's figure by mode, each benchmark counting once, as in the papers' tables.

    A mode that was not played in all of them has none.
    """
    each = [one["modes"] for one in benchmarks.values()]
    labels = [label for label in each[0] if all(label in modes for modes in each)] if each else []
    return {label: _mean([modes[label] for modes in each]) for label in labels}


def _by_label(records: Sequence[Json]) -> dict[str, list[Json]]:
    labels = dict.fromkeys(one["mode"] for one in records)
    return {label: [one for one in records if one["mode"] == label] for label in labels}


def _mean(figures: Sequence[Json]) -> Json:
    def mean(values: Sequence[float | None]) -> float | None:
        told = [value for value in values if value is not None]
        return float(np.mean(told)) if len(told) == len(values) else None

    return {
        "success": mean([one["success"]["value"] for one in figures]),
        "reasoning_ms": mean([one["reasoning_ms"]["mean"] for one in figures]),
        "model_s": mean([one["model_s"] for one in figures]),
        "turns": mean([one["turns"] for one in figures]),
    }


def _mode(records: Sequence[Json], candidate_set: CandidateSet, plan: BenchPlan) -> Json:
    """What a record does not tell (None: seconds, tokens, turns at all) is in no mean; without a truth it is no success and no failure."""
    turns = [turn for one in records for turn in one["turns"] or ()]
    reasoning = [_milliseconds(turn["seconds"]["reasoning"]) for turn in turns]
    seconds = [_of_question(one) for one in records]
    known = [one for one in records if one["answers"]]
    return {
        "n": len(records),
        "failed": sum(one["answer"] is None for one in records),
        "unjudged": sum(one["success"] is None for one in known),
        "without_truth": len(records) - len(known),
        "success": rate([one["success"] for one in known]).as_json(),
        "coverage": _coverage(turns, plan.least_log_z),
        "f1": _average([one["f1"] for one in known]),
        "reasoning_ms": _spread(reasoning),
        "model_s": _average(seconds),
        "model_s_spread": _spread(seconds),
        "turns": _average([_total(one, lambda turn: 1) for one in records]),
        "seconds_a_question": {
            part: _average([_total(one, _part(part)) for one in records])
            for part in ("media", "prefill", "reasoning", "action", "tool")
        },
        "tokens_a_turn": {
            part: _average([turn[f"{part}_tokens"] for turn in turns]) if turns else 0.0
            for part in ("injected", "generated", "action", "prefilled", "context")
        },
        "capped": _average([turn["capped"] for turn in turns]) if turns else 0.0,
        "stops": dict(Counter(one["stop"] for one in records).most_common()),
        "faults": dict(Counter(turn["fault"] for turn in turns if turn["fault"]).most_common()),
        "matches": dict(Counter(turn["match"] for turn in turns if turn["match"]).most_common()),
        "tool_failures": sum(bool(turn["tool_failure"]) for turn in turns),
        "shares": _shares(turns, candidate_set),
        "announced": _announced(turns, candidate_set),
        "routes": dict(Counter(turn["route"] for turn in turns if turn.get("route")).most_common()),
        "arms": dict(Counter(one["arm"] for one in records if one.get("arm")).most_common()),
    }


def _against(first: Sequence[Json], other: Sequence[Json], seed: int) -> Json:
    """A mode less the other on the questions both were asked; latencies as a share saved."""
    mine, theirs = ({one["id"]: one for one in rows} for rows in (first, other))
    both = paired(*({id: one["success"] for id, one in rows.items()} for rows in (mine, theirs)))
    pairs = [(mine[id], theirs[id]) for id in both.questions]
    known = [bool(one["answers"] and other["answers"]) for one, other in pairs]
    ours, others = (list(compress(side, known)) for side in (both.first, both.second))
    return {
        "n": len(pairs),
        "unpaired": both.unpaired,
        "success_difference": paired_difference(ours, others, seed).as_json(),
        "mcnemar": mcnemar(ours, others)._asdict(),
        "reasoning_saved": _saved(pairs, _reasoning, by_turn=True),
        "model_saved": _saved(pairs, _of_question, by_turn=False),
    }


def _saved(pairs: Sequence[tuple[Json, Json]], seconds: Seconds, *, by_turn: bool) -> float | None:
    """Share of the other mode's mean time, a turn or a question, that selecting saves; None where a record tells no time."""
    means = []
    for side in (0, 1):
        totals = [seconds(pair[side]) for pair in pairs]
        if None in totals:
            return None
        count = sum(len(pair[side]["turns"]) if by_turn else 1 for pair in pairs)
        means.append(sum(total or 0.0 for total in totals) / max(1, count))
    return 1 - means[0] / means[1] if means[1] > LEAST_SECONDS else None


def _coverage(turns: Sequence[Json], least_log_z: float) -> Json | None:
    """Share of selected turns that the set as a whole is likely enough for not to think freely, as `hybrid` decides."""
    told = [turn["log_z"] >= least_log_z for turn in turns if turn["log_z"] is not None]
    return rate(told).as_json() | {"least_log_z": least_log_z} if told else None


def _shares(turns: Sequence[Json], candidate_set: CandidateSet) -> Json:
    """How often each candidate was taken, by its id."""
    taken = Counter(turn["chosen"] for turn in turns if turn["chosen"] is not None)
    active = candidate_set.active
    return {active[place].id: n / taken.total() for place, n in taken.most_common()}


def _announced(turns: Sequence[Json], candidate_set: CandidateSet) -> float | None:
    """Of the selected turns with an action, the share whose action is a kind that the candidate announces."""
    hits = []
    for turn in turns:
        if turn["chosen"] is not None and turn["action"]:
            expected = candidate_set.active[turn["chosen"]].expected_actions
            if expected:
                hits.append(kind_of(turn["action"]["name"]) in set(map(kind_of, expected)))
    return float(np.mean(hits)) if hits else None


def _of_question(record: Json) -> float | None:
    """The model's seconds, and what it took to decide who plays it."""
    total = _total(record, _model_seconds)
    return None if total is None else total + record.get("deciding_s", 0.0)


def _reasoning(record: Json) -> float | None:
    return _total(record, _part("reasoning"))


def _model_seconds(turn: Json) -> float | None:
    return _sum([turn["seconds"][part] for part in ("media", "prefill", "reasoning", "action")])


def _part(name: str) -> Seconds:
    return lambda turn: turn["seconds"][name]


def _total(record: Json, figure: Seconds) -> float | None:
    """Over a record's turns; None where it does not tell them, or one of them not this."""
    return None if record["turns"] is None else _sum([figure(turn) for turn in record["turns"]])


def _sum(values: Sequence[float | None]) -> float | None:
    told = [value for value in values if value is not None]
    return sum(told) if len(told) == len(values) else None


def _average(values: Sequence[float | None]) -> float | None:
    told = [value for value in values if value is not None]
    return float(np.mean(told)) if told else None


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds


def _spread(values: Sequence[float | None]) -> Json:
    told = [value for value in values if value is not None]
    if not told:
        return {"p50": None, "p95": None, "mean": None}
    p50, p95 = np.percentile(told, [50, 95])
    return {"p50": float(p50), "p95": float(p95), "mean": float(np.mean(told))}
