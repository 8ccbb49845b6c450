"""A bench as a whole: arenas, an agent a mode, records on disk, verdicts, the report kept in the store."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ...data.candidates import CandidateSet
from ...data.errors import ForethoughtError
from ...data.store import Store
from ...scorer.agent.episode import Agent
from ...scorer.agent.judge import Judge
from ...scorer.agent.session import Session
from ...scorer.agent.thinking import Mode
from ...scorer.model import LanguageModel
from ..bench_rows import KIND
from ..result_file import write_whole
from .agreeing import agree_all, agreement, turn_tasks
from .arena import Arena, RecordedTurn
from .casting import agents_of
from .dispatch import EACH_ITS_OWN, Dispatch, QuestionRouting
from .figures import figures, mean_of
from .plan import BenchPlan, run_id
from .playing import Alone, Players, Progress, Task, play_all, tasks_of, traces_of
from .records import Records
from .routes import Routes
from .verdicts import judged, metric_of, require_answering, verdicts

Json = dict[str, Any]
Cast = Callable[[Arena, Mapping[str, Agent]], Players]
RECORDS, AGREEMENT, REPORT = "records.jsonl", "agreement.jsonl", "report.json"


@dataclass(frozen=True)
class Bench:
    """A set, a model and a plan, ready to play the plan's benchmarks; `out` keeps what was played.

    `start` opens an agent's session, `cast` says who plays (None: this process alone); `program` is what serves the model where
    its weights are not here.
    """

    store: Store
    candidate_set: CandidateSet
    model: LanguageModel
    plan: BenchPlan
    arenas: Sequence[Arena]
    out: Path
    judge: Judge | None = None
    start: Callable[[Agent], Session] = Agent.start
    cast: Cast | None = None
    program: str | None = None
    workers: int = 1
    routes: Routes = Routes()

    def run(self, progress: Progress = lambda done, total: None) -> Json:
        """The report, which the store and `out` keep too; free thoughts become traces of the store, ready to be mined."""
        if self.judge is not None:
            require_answering(self.judge)
        played = {}
        for arena, tell in zip(self.arenas, self._shares(progress), strict=True):
            played[arena.name] = self._play(arena, tell)
        report = self._report({name: found for name, (found, _) in played.items()})
        report["benchmarks"] = {name: figures for name, (_, figures) in played.items()}
        report["mean"] = mean_of(report["benchmarks"])
        if agreed := [
            one["agreement"] for one in report["benchmarks"].values() if "agreement" in one
        ]:
            report["agreement"] = agreed[0]
        told = json.dumps(report, indent=2, ensure_ascii=False)
        if json.loads(told) != self.store.document(KIND, self.candidate_set.name):
            self.store.put(KIND, self.candidate_set.name, report)
        write_whole(self.out / REPORT, f"{told}\n")
        return report

    def _shares(self, progress: Progress) -> Iterator[Progress]:
        """What each arena tells its own progress to, as a part of all."""
        sizes = [len(self._tasks(arena)) for arena in self.arenas]
        for number in range(len(self.arenas)):
            yield _part_of(progress, sum(sizes[:number]), sum(sizes))

    def _tasks(self, arena: Arena, dispatch: Dispatch = EACH_ITS_OWN) -> list[Task]:
        return tasks_of(self.plan, self._labels, arena.questions, dispatch)

    @property
    def _labels(self) -> tuple[str, ...]:
        return self.plan.labels(len(self.candidate_set.active))

    def _play(self, arena: Arena, progress: Progress) -> tuple[list[Json], Json]:
        """The records, and what they come to."""
        active = self.candidate_set.active
        turns = arena.turns[: self.plan.agreement_turns]
        sent = self._dispatch(arena, turns)
        agents = agents_of(self.model, arena, active, self.plan, self.start, self.routes)
        run = run_id(self.plan, self._facts(arena))
        folder = _folder(self.out / arena.name)
        players = (self.cast or self._alone)(arena, agents)
        with Records(folder / RECORDS, run) as kept:
            played = play_all(self._tasks(arena, sent), players, kept, progress, sent.seconds)
        records = judged(played, arena, self.judge)
        found = figures(self.plan, records, self.candidate_set)
        found |= {
            "metric": metric_of(arena, self.judge),
            "own_metric": arena.metric,
            "left_out": dict(arena.left_out),
            "verdicts": verdicts(records),
        }
        if turns and all(agent.beginnings for agent in agents.values()):
            seed, start = self.plan.seed, self.start
            tasks = turn_tasks(self._labels, turns, sent)
            with Records(folder / AGREEMENT, run) as kept:
                told = agree_all(tasks, agents, kept, seed, start)
            found["agreement"] = agreement(told, seed)
        free = [one for one in records if one["mode"] == Mode.THINK]
        self.store.add(traces_of(free, f"{arena.name}-think"))
        return records, found

    def _alone(self, arena: Arena, agents: Mapping[str, Agent]) -> Players:
        return Alone(agents, self.plan.seed, self.start)

    @property
    def _routing(self) -> QuestionRouting:
        candidates = len(self.candidate_set.active)
        return QuestionRouting.of(self.plan, self.routes.dispatcher, candidates)

    def _dispatch(self, arena: Arena, turns: Sequence[RecordedTurn]) -> Dispatch:
        """Who plays which of the arena's questions, and decides on which of its turns."""
        asked = [task.question.text for task in self._tasks(arena)]
        return self._routing.dispatch([*asked, *(turn.question for turn in turns)])

    def _facts(self, arena: Arena) -> Json:
        """What decides an arena's records beside the plan."""
        dialogues = [
            arena.dialogue(self.model, listed) for listed in ((), self.candidate_set.active)
        ]
        return {
            "model": self._served or self.model.fingerprint(),
            "arena": arena.name,
            "texts": [candidate.text for candidate in self.candidate_set.active],
            "openings": [piece.text for one in dialogues for piece in one.opening()],
            "tools": sorted(arena.tools),
            "limits": asdict(replace(arena.limits, **self.plan.limits)),
            **self.routes.facts(),
        }

    @property
    def _served(self) -> str | None:
        """What tells served weights: not where, nor at how many places, they are served."""
        return self.program and f"{self.model.name} on {self.program}"

    def _report(self, played: Mapping[str, Sequence[Json]]) -> Json:
        pooled = [
            one | {"id": f"{name}/{one['id']}"}
            for name, records in played.items()
            for one in records
        ]
        return {
            "benchmark": ", ".join(played),
            "set": self.candidate_set.name,
            "candidates": len(self.candidate_set.active),
            "texts": {candidate.id: candidate.text for candidate in self.candidate_set.active},
            "model": self.model.name,
            "engine": self.program,
            "workers": self.workers,
            "judge": self.judge and {"name": self.judge.name, "version": self.judge.version},
            "plan": asdict(self.plan)
            | {
                "policies": [one.label for one in self.plan.policies],
                "utilities": [one.label for one in self.plan.utilities],
            },
            "router": self._routing.facts([one["id"] for one in pooled]),
            **figures(self.plan, pooled, self.candidate_set),
        }


def _part_of(progress: Progress, before: int, total: int) -> Progress:
    return lambda done, _: progress(before + done, total)


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ForethoughtError(
            f"cannot write to {path} ({error.strerror}); name another --out folder"
        ) from error
    return path
