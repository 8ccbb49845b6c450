"""A benchmark's questions played in several modes by the same model with the same tools: one record a question and mode, and the report.

Records are written as they come, a JSON line each, so that a killed run goes on where it stopped. Imports no interface.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..data.benchmarks.question import Question
from ..data.candidates import CandidateSet
from ..data.errors import ForethoughtError
from ..data.identity import content_id
from ..data.traces import Action, Outcome, Trace, Turn, kind_of
from ..scorer.agent.answers import exact_match, token_f1
from ..scorer.agent.comparison import mcnemar, paired, paired_difference, rate
from ..scorer.agent.episode import Agent, Episode, Limits, turn_json
from ..scorer.agent.thinking import Freedom, Mode
from .bench_records import Records

Json = dict[str, Any]
Progress = Callable[[int, int], None]
LEAST_SECONDS = 1e-3  # of a mean that a share is saved of: not to think takes none
FLOOR = 0.1  # success under which two modes cannot be told apart by it


@dataclass(frozen=True)
class BenchPlan:
    """What is played: how many questions a mode (`fewer` by mode, where it is given), and within which limits."""

    benchmark: str
    modes: tuple[Mode, ...]
    source: str | None = None  # of recorded runs; None: all of the store's
    limit: int | None = 100
    fewer: Mapping[Mode, int] = field(default_factory=dict)
    seed: int = 0
    limits: Limits = Limits()
    freedom: Freedom = Freedom()
    is_listed: bool = False  # the set's texts stand before each question, in every mode
    is_less_premise: bool = False  # a score less what it is after a context that says nothing (PMI)
    is_guided: bool = True  # an action begins as one of those that the benchmark knows

    def asks(self, mode: Mode, place: int) -> bool:
        """Whether the question at this place is played in the mode."""
        mosts = (self.limit, self.fewer.get(mode))
        return all(place < most for most in mosts if most)


def parse_modes(names: Sequence[str]) -> tuple[Mode, ...]:
    """Each once, in the order given; ForethoughtError for a name that is none."""
    unknown = [name for name in names if name not in list(Mode)]
    if unknown:
        raise ForethoughtError(f"no mode {unknown[0]!r}; modes are {', '.join(Mode)}")
    return tuple(dict.fromkeys(Mode(name) for name in names))


def run_id(plan: BenchPlan, facts: Json) -> str:
    """Of all that decides the records; how many questions are asked does not."""
    decides = {
        "benchmark": plan.benchmark,
        "source": plan.source,
        "seed": plan.seed,
        "limits": asdict(plan.limits),
        "freedom": asdict(plan.freedom),
        "listed": plan.is_listed,
        "guided": plan.is_guided,
        **({"calibration": "pmi"} if plan.is_less_premise else {}),
    }
    return content_id("bench", {"plan": decides, **facts})


def play_all(
    plan: BenchPlan,
    questions: Sequence[Question],
    agents: Mapping[Mode, Agent],
    records: Records,
    progress: Progress = lambda done, total: None,
) -> list[Json]:
    """Every question in every mode; what `records` holds already is not played again.

    The modes take turns question by question, so that a machine's moods meet all of them.
    """
    contexts = {mode: agent.start() for mode, agent in agents.items()}
    wanted = [
        (mode, question)
        for place, question in enumerate(questions)
        for mode in plan.modes
        if plan.asks(mode, place)
    ]
    found = []
    for done, (mode, question) in enumerate(wanted):
        progress(done, len(wanted))
        key = (mode.value, question.id)
        kept = records.get(key)
        if kept is None:
            episode = agents[mode].play(contexts[mode], question.text, plan.seed)
            kept = records.add(key, record_of(question, episode))
        found.append(kept)
    progress(len(wanted), len(wanted))
    return found


def record_of(question: Question, episode: Episode) -> Json:
    """One question as it went."""
    answer = episode.answer
    return {
        "question": question.text,
        "answers": list(question.answers),
        "answer": answer,
        "stop": episode.stop.value,
        "detail": episode.detail,
        "exact": answer is not None and exact_match(answer, question.answers),
        "f1": 0.0 if answer is None else token_f1(answer, question.answers),
        "turns": [turn_json(turn) for turn in episode.turns],
    }


def report(plan: BenchPlan, records: Sequence[Json], candidate_set: CandidateSet) -> Json:
    """Success, latency and tokens by mode, and each mode against `select` on the questions that both were asked."""
    by_mode = {mode: [one for one in records if one["mode"] == mode] for mode in plan.modes}
    found = {mode.value: _mode(rows, candidate_set) for mode, rows in by_mode.items() if rows}
    pairs = {
        mode.value: _against(by_mode[Mode.SELECT], rows, plan.seed)
        for mode, rows in by_mode.items()
        if mode is not Mode.SELECT and rows and by_mode.get(Mode.SELECT)
    }
    floor = all(one["success"]["value"] < FLOOR for one in found.values())
    return {
        "benchmark": plan.benchmark,
        "set": candidate_set.name,
        "plan": asdict(plan),
        "modes": found,
        "select_against": pairs,
        "floor": floor,
        "claim": "floor: no claim" if floor else "",
    }


def traces_of(records: Iterable[Json], source: str) -> list[Trace]:
    """Runs that thought freely, as traces to mine; their outcome is by exact match."""
    return [
        Trace(
            question=one["question"],
            turns=tuple(map(_turn_of, one["turns"])),
            outcome=Outcome.SUCCESS if one["exact"] else Outcome.FAILURE,
            source=source,
            file=source,
            position=number,
            format="bench",
        )
        for number, one in enumerate(records)
        if one["turns"]
    ]


def _turn_of(turn: Json) -> Turn:
    action = turn["action"]
    actions = (Action(action["name"], action["arguments"]),) if action else ()
    observations = (turn["observation"],) if turn["observation"] is not None else ()
    thoughts = (turn["reasoning"].strip(),) if turn["reasoning"].strip() else ()
    return Turn(thoughts, actions, observations)


def _mode(records: Sequence[Json], candidate_set: CandidateSet) -> Json:
    turns = [turn for one in records for turn in one["turns"]]
    reasoning = [1000 * turn["seconds"]["reasoning"] for turn in turns]
    seconds = [sum(map(_model_seconds, one["turns"])) for one in records]
    return {
        "n": len(records),
        "failed": sum(one["answer"] is None for one in records),
        "success": rate([one["exact"] for one in records]).as_json(),
        "f1": float(np.mean([one["f1"] for one in records])),
        "reasoning_ms": _spread(reasoning),
        "model_s": float(np.mean(seconds)),
        "model_s_spread": _spread(seconds),
        "turns": float(np.mean([len(one["turns"]) for one in records])),
        "seconds_a_question": {
            part: float(np.mean([sum(t["seconds"][part] for t in one["turns"]) for one in records]))
            for part in ("media", "prefill", "reasoning", "action", "tool")
        },
        "tokens_a_turn": {
            part: float(np.mean([turn[f"{part}_tokens"] for turn in turns])) if turns else 0.0
            for part in ("injected", "generated", "action", "prefilled", "context")
        },
        "capped": float(np.mean([turn["capped"] for turn in turns])) if turns else 0.0,
        "stops": dict(Counter(one["stop"] for one in records).most_common()),
        "faults": dict(Counter(turn["fault"] for turn in turns if turn["fault"]).most_common()),
        "matches": dict(Counter(turn["match"] for turn in turns if turn["match"]).most_common()),
        "tool_failures": sum(bool(turn["tool_failure"]) for turn in turns),
        "shares": _shares(turns, candidate_set),
        "announced": _announced(turns, candidate_set),
    }


def _against(select: Sequence[Json], other: Sequence[Json], seed: int) -> Json:
    """`select` less the other mode on the questions both were asked; latencies as a share saved."""
    mine, theirs = ({one["id"]: one for one in rows} for rows in (select, other))
    both = paired(*({id: one["exact"] for id, one in rows.items()} for rows in (mine, theirs)))
    pairs = [(mine[id], theirs[id]) for id in both.questions]
    return {
        "n": len(pairs),
        "unpaired": both.unpaired,
        "success_difference": paired_difference(both.first, both.second, seed).as_json(),
        "mcnemar": mcnemar(both.first, both.second)._asdict(),
        "reasoning_saved": _saved(pairs, lambda turn: turn["seconds"]["reasoning"], by_turn=True),
        "model_saved": _saved(pairs, _model_seconds, by_turn=False),
    }


def _saved(
    pairs: Sequence[tuple[Json, Json]], seconds: Callable[[Json], float], *, by_turn: bool
) -> float | None:
    """Share of the other mode's mean time, a turn or a question, that selecting saves."""
    means = []
    for side in (0, 1):
        total = sum(seconds(turn) for pair in pairs for turn in pair[side]["turns"])
        means.append(total / max(1, sum(len(p[side]["turns"]) if by_turn else 1 for p in pairs)))
    return 1 - means[0] / means[1] if means[1] > LEAST_SECONDS else None


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


def _model_seconds(turn: Json) -> float:
    return sum(turn["seconds"][part] for part in ("media", "prefill", "reasoning", "action"))


def _spread(values: Sequence[float]) -> Json:
    if not values:
        return {"p50": None, "p95": None, "mean": None}
    p50, p95 = np.percentile(values, [50, 95])
    return {"p50": float(p50), "p95": float(p95), "mean": float(np.mean(values))}
