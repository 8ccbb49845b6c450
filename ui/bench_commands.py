"""`forethought bench`: benchmarks' questions in several modes, same model, tools and limits. Parses, calls `bench` and prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..data.errors import ForethoughtError
from ..data.identity import Split
from ..data.store import DEFAULT
from . import terminal
from .command_options import AsJson, EmbedderPath, Model, Seed, SetName, StoreUrl
from .result_file import require_writable
from .score_options import EngineKind, parse_visual_budget
from .wiring import (
    ServedModel,
    find_set,
    make_embedder,
    make_engine,
    make_engines,
    make_judge,
    make_model,
    open_existing,
)

if TYPE_CHECKING:
    from ..scorer.model import LanguageModel
    from .bench.dispatch import Dispatcher
    from .bench.routes import Routes

bench_app = typer.Typer()
MODES = ("select", "think")
REPLAY = "hotpotqa-replay"


class BenchCalibration(StrEnum):
    """What is taken out of a candidate's score, of what needs no observed choices."""

    RAW = "raw"
    PMI = "pmi"
    BATCH = "batch"


class BenchPrompt(StrEnum):
    """How a run is written down."""

    CHAT = "chat"
    PLAIN = "plain"


class BenchSplit(StrEnum):
    """Which questions, by the hash of each."""

    MINE = "mine"
    CHOOSE = "choose"
    TEST = "test"


class Dtype(StrEnum):
    """What a model's weights are held in."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    FLOAT16 = "float16"


@bench_app.command()
def bench(
    name: SetName,
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME, or NAME=PATH where its files lie here; may be repeated. `seven` are those of SSR's tables. mmsearch, hr-mmsearch, fvqa-test, simplevqa, livevqa, "
            "mat-search, infoseek, hotpotqa. Default: hotpotqa-replay, HotpotQA over the store's recorded runs."
        ),
    ] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            help="select, think, think-65, none, draft, index, hybrid; may be repeated. Default: select and think."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Questions a mode; 0: all.")] = 100,
    out: Annotated[
        Path, typer.Option(help="Folder of the records; a killed run goes on from it.")
    ] = Path("bench-out"),
    source: Annotated[
        str | None, typer.Option(help="Replay this collection only, and answers of it.")
    ] = None,
    split: Annotated[
        BenchSplit | None,
        typer.Option(
            help="Questions of this split only: runs to train a router on are of mine and choose. Default: all; of hotpotqa-replay test."
        ),
    ] = None,
    turns: Annotated[int | None, typer.Option(min=1, help="Most turns a question.")] = None,
    thought_tokens: Annotated[
        int | None, typer.Option(min=1, help="Most tokens of a free thought.")
    ] = None,
    action_tokens: Annotated[
        int | None, typer.Option(min=1, help="Most tokens of an action.")
    ] = None,
    fewer: Annotated[
        int, typer.Option(min=0, help="Questions of the modes other than select and think; 0: all.")
    ] = 20,
    guided: Annotated[
        bool | None,
        typer.Option(help="Begin each action as the likeliest of those that the benchmark knows."),
    ] = None,
    listed: Annotated[
        bool | None,
        typer.Option(
            help="List the set's texts before the question, as SSR does, in modes that choose from them. Default: all but hotpotqa-replay."
        ),
    ] = None,
    prompt: Annotated[
        BenchPrompt | None, typer.Option(help="As a chat by the model's own template, or plain.")
    ] = None,
    calibration: Annotated[
        BenchCalibration, typer.Option(help="Of the scores that select goes by.")
    ] = BenchCalibration.RAW,
    tau: Annotated[
        float, typer.Option(min=0.0, help="Draw from select's scores; 0: the best.")
    ] = 0.0,
    size: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Select from the set's first SIZE too; may be repeated."),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="Decide turn by turn: NAME or NAME=SHARE of the turns to think about (default 0.5); may be repeated. "
            "random, margin, logz, entropy, rating, joint, probe; select, think: as --mode. utility=PRICE decides question by question."
        ),
    ] = None,
    probe: Annotated[Path | None, typer.Option(help="A fitted probe, for --policy probe.")] = None,
    router: Annotated[
        Path | None, typer.Option(help="What `forethought route` trained, for --policy utility.")
    ] = None,
    embedder: EmbedderPath = None,
    hand_over: Annotated[
        str | None,
        typer.Option(
            help="A second model: policies hand their share over to it; NAME=SHARE,SHARE thinks about the first and hands over the second."
        ),
    ] = None,
    hand_over_at: Annotated[
        str | None, typer.Option(help="KIND=URL of the server that has it: sglang=URL, vllm=URL.")
    ] = None,
    visual_budget: Annotated[
        str | None,
        typer.Option(help="Look at 5-10 percent of the pictures' tokens behind one layer."),
    ] = None,
    agreement_turns: Annotated[
        int,
        typer.Option(
            min=0,
            help="Recorded turns whose actions each mode is compared with, where there are such.",
        ),
    ] = 60,
    context_tokens: Annotated[int | None, typer.Option(min=1, help="Most tokens of a run.")] = None,
    observation_tokens: Annotated[
        int | None, typer.Option(min=1, help="Most of an observation.")
    ] = None,
    text_search: Annotated[
        str | None,
        typer.Option(
            help="A file of passages, or KIND=URL of a server: search-r1 (if KIND lacks), searxng, serpapi."
        ),
    ] = None,
    image_searches: Annotated[
        Path | None, typer.Option(help="Recorded reverse image searches, by the picture's SHA-256.")
    ] = None,
    dtype: Annotated[
        Dtype | None, typer.Option(help="Default: bfloat16 on a GPU, float32 without one.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="URL of an OpenAI-compatible server that judges answers.")
    ] = None,
    judge_model: Annotated[str, typer.Option(help="The judging model's name there.")] = "",
    workers: Annotated[
        int, typer.Option(min=1, help="Processes that play at once, with the model in each.")
    ] = 1,
    engine: Annotated[
        EngineKind | None,
        typer.Option(help="Play on servers of the model; --model is only the tokenizer here."),
    ] = None,
    url: Annotated[
        list[str] | None, typer.Option(help="Of a server; may be repeated, for many at once.")
    ] = None,
    store: StoreUrl = DEFAULT,
    model: Model = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Does a set keep success and cut time? Play benchmarks' questions selecting and thinking."""
    from .bench.arenas import arenas_of
    from .bench.plan import (
        BenchPlan,
        Calibration,
        Prompt,
        is_utility,
        parse_modes,
        parse_policies,
        parse_utility,
        places_of,
    )
    from .bench.runs import Bench
    from .bench.searching import BackEnds
    from .bench_report import write_bench_report
    from .bench_rows import KIND
    from .bench_table import show_bench

    limits = {
        "turns": turns,
        "thought_tokens": thought_tokens,
        "action_tokens": action_tokens,
        "observation_tokens": observation_tokens,
        "context_tokens": context_tokens,
    }
    plain, sent = _told_apart(policy or ())
    budget = parse_visual_budget(visual_budget)
    if budget and engine:
        raise ForethoughtError("--visual-budget is of models here; leave out --engine")
    modes = parse_modes([*(mode or MODES), *plain])
    plan = BenchPlan(
        places=places_of(benchmark or [REPLAY]),
        modes=modes,
        source=source,
        limit=limit or None,
        fewer=fewer or None,
        seed=seed,
        limits={limit: value for limit, value in limits.items() if value is not None},
        is_listed=listed,
        is_guided=guided,
        prompt=Prompt(prompt) if prompt else None,
        calibration=Calibration(calibration),
        tau=tau,
        sizes=tuple(size or ()),
        policies=parse_policies(
            [one for one in sent if not is_utility(one)], 2 if hand_over else 1
        ),
        utilities=tuple(dict.fromkeys(parse_utility(one) for one in sent if is_utility(one))),
        split=Split(split) if split else None,
        visual_budget=str(budget) if budget else None,
        agreement_turns=agreement_turns,
    )
    opened = open_existing(store)
    candidate_set = find_set(opened, name)
    plan = replace(plan, sizes=_smaller(plan.sizes, len(candidate_set.active)))
    if engine and (dtype or workers > 1):
        raise ForethoughtError("--dtype and --workers are of models here; leave out --engine")
    served = make_engines(engine, url or (), model)
    require_writable(out / "report.json")
    arenas = arenas_of(opened, candidate_set, plan, BackEnds(text_search, image_searches))
    told = make_judge(judge, judge_model)
    load = partial(make_model, model, dtype)
    playing = served[0].model if served else load()
    if hand_over and max(workers, len(served)) > 1:
        raise ForethoughtError(
            "--hand-over is for one player at a time; leave out --workers and name one --url"
        )
    staff = _staff(served, load, workers, seed) | {
        "routes": _routes(probe, hand_over, hand_over_at, _dispatcher(router, embedder))
    }
    running = Bench(opened, candidate_set, playing, plan, arenas, out, told, **staff)
    with terminal.bar("bench", quiet=as_json) as progress:
        found = running.run(progress)
    write_bench_report(out / "report.html", found, opened.documents(KIND))
    show_bench(found, as_json=as_json)


def _told_apart(policies: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those that are modes, and those that decide."""
    plain = [one for one in policies if one in MODES]
    return plain, [one for one in policies if one not in MODES]


def _dispatcher(router: Path | None, embedder: str | None) -> Dispatcher | None:
    from .bench.dispatch import Dispatcher

    return None if router is None else Dispatcher.of(router, make_embedder(embedder))


def _routes(
    probe: Path | None, second: str | None, place: str | None, dispatcher: Dispatcher | None
) -> Routes:
    """What policies need beside the plan. ForethoughtError for a place without a model."""
    from ..scorer.agent.served_session import ServedSession
    from ..scorer.agent.session import LocalSession
    from .bench.routes import Routes

    if place and not second:
        raise ForethoughtError("--hand-over-at is where a model is; name the model by --hand-over")
    if second is None:
        return Routes(probe, dispatcher=dispatcher)
    if place is None:
        model = make_model(second, None)
        return Routes(probe, lambda: LocalSession(model), second, dispatcher)
    kind, _, url = place.partition("=")
    if kind not in list(EngineKind):
        raise ForethoughtError(f"{place}: write sglang=URL or vllm=URL")
    served = make_engine(kind, url, second)
    assert served is not None
    return Routes(probe, lambda: ServedSession(served.engine, served.model), second, dispatcher)


def _smaller(sizes: Sequence[int], candidates: int) -> tuple[int, ...]:
    """Those that are no whole set; tells of the others on standard error."""
    asked = sorted(set(sizes))
    for whole in (size for size in asked if size >= candidates):
        terminal.ERR.print(
            f"--size {whole} is left out: the whole set is {candidates}, which select takes from anyway",
            soft_wrap=True,
        )
    return tuple(size for size in asked if size < candidates)


def _staff(
    served: Sequence[ServedModel], load: Callable[[], LanguageModel], workers: int, seed: int
) -> dict[str, Any]:
    """Who plays, as Bench takes it: servers, processes, or this process alone."""
    from .bench import workers as many

    if served:
        return {
            "start": partial(many.session_at, served[0]),
            "cast": lambda arena, agents: many.at_servers(arena, agents, seed, served),
            "program": served[0].engine.program,
            "workers": len(served),
        }
    if workers == 1:
        return {}
    return {
        "cast": lambda arena, agents: many.Processes(agents, seed, load, workers),
        "workers": workers,
    }
