"""A bench as a whole: the benchmark's questions and tools, an agent a mode, records on disk, the report kept in the store."""

import json
from dataclasses import replace
from pathlib import Path

from ..data.candidates import CandidateSet
from ..data.errors import ForethoughtError, NothingToDo
from ..data.store import Store
from ..scorer.agent.episode import Agent
from ..scorer.agent.thinking import Library, Mode, thinker_of
from ..scorer.agent.tools import guarded
from ..scorer.model import LanguageModel
from ..scorer.premise import premise_sums
from . import replaying
from .agreeing import agree_all, agreement
from .bench_records import Records
from .benching import BenchPlan, Json, Progress, play_all, report, run_id, traces_of
from .result_file import write_whole

RECORDS, AGREEMENT, REPORT = "records.jsonl", "agreement.jsonl", "report.json"
TOOL_SECONDS = 30.0
KIND = "bench"  # of the report among the store's documents


def run_bench(
    store: Store,
    candidate_set: CandidateSet,
    model: LanguageModel,
    plan: BenchPlan,
    out: Path,
    progress: Progress,
) -> Json:
    """The report, which the store and `out` keep too; free thoughts become traces of the store, ready to be mined."""
    if plan.benchmark != replaying.NAME:
        raise ForethoughtError(f"no benchmark {plan.benchmark!r} here; there is {replaying.NAME}")
    if not candidate_set.active:
        raise NothingToDo(f"the set {candidate_set.name} has no candidate to select")
    replay = replaying.replay_of(store, plan.source, plan.limit)
    texts = [candidate.text for candidate in candidate_set.active]
    library = _library(model, texts, plan)
    one = Agent(
        model=model,
        thinker=thinker_of(Mode.NONE, library, model, plan.freedom),
        tools={kind: guarded(tool, TOOL_SECONDS) for kind, tool in replay.tools.items()},
        limits=plan.limits,
        beginnings=_beginnings(model, replay.beginnings) if plan.is_guided else None,
        preamble=(_listing(texts) if plan.is_listed else "") + replay.preamble,
    )
    agents = {
        mode: replace(one, thinker=thinker_of(mode, library, model, plan.freedom))
        for mode in plan.modes
    }
    facts = {"model": model.fingerprint(), "texts": texts, "preamble": one.preamble}
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ForethoughtError(
            f"cannot write to {out} ({error.strerror}); name another --out folder"
        ) from error
    run = run_id(plan, facts)
    records = play_all(plan, replay.questions, agents, Records(out / RECORDS, run), progress)
    found = report(plan, records, candidate_set) | {"model": model.name}
    if plan.is_guided:
        turns = agree_all(replay.turns, agents, Records(out / AGREEMENT, run), plan.seed)
        found["agreement"] = agreement(turns, plan.seed)
    free = [one for one in records if one["mode"] == Mode.THINK]
    store.add(traces_of(free, f"{plan.benchmark}-think"))
    store.put(KIND, candidate_set.name, found)
    write_whole(out / REPORT, json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    return found


def _library(model: LanguageModel, texts: list[str], plan: BenchPlan) -> Library:
    library = Library.of(model, texts)
    if not plan.is_less_premise:
        return library
    compiled = library.compiled
    premise = premise_sums(model, compiled.ids) / compiled.divisors(library.normalisation)
    return replace(library, offsets=premise)


def _beginnings(model: LanguageModel, texts: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(model.encode(text)) for text in texts)


def _listing(texts: list[str]) -> str:
    lines = (f"[{place}] {text}" for place, text in enumerate(texts, start=1))
    return "Available reasoning strategies:\n" + "\n".join(lines) + "\n\n"
