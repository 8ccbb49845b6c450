"""Many workers: the records of one, each question in one place, and one line where a worker is lost."""

import multiprocessing
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest
from bench_players import (
    PLAN,
    QUESTIONS,
    Search,
    agents,
    alone,
    loader,
    played,
    tasks,
)
from curated_store import mined
from engine_clients import ENGINES, connect
from engine_server import EngineServer
from tiny_folders import save_folder

from forethought.data.benchmarks.question import ImageSource
from forethought.data.errors import ForethoughtError
from forethought.data.store import Store
from forethought.scorer.agent.dialogue import Plain
from forethought.scorer.agent.passages import Passage, Passages, PassageSearch
from forethought.scorer.agent.tools import Situation
from forethought.scorer.engines.served import load_served
from forethought.scorer.model import load_model
from forethought.ui.bench.arena import Arena
from forethought.ui.bench.runs import Bench
from forethought.ui.bench.workers import Endpoints, Processes, at_servers
from forethought.ui.cli import main
from forethought.ui.wiring import ServedModel, make_engines


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_folder(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="module")
def model(folder):
    return load_model(str(folder))


@pytest.fixture(scope="module")
def expected(tmp_path_factory, model):
    return alone(tmp_path_factory.mktemp("alone") / "r.jsonl", model)


@pytest.fixture
def servers(model):
    """So many servers of the model, and endpoints at them."""
    with ExitStack() as stack:

        def started(count, kind="sglang"):
            running = [stack.enter_context(EngineServer(model, kind)) for _ in range(count)]
            return running

        yield started


def endpoints(servers, folder):
    """Their model is a tokenizer without weights."""
    bare = load_served(str(folder))
    served = [ServedModel(connect(server), load_served(str(folder))) for server in servers]
    return Endpoints(agents(bare), PLAN.seed, served)


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("count", [1, 3])
def test_any_number_of_servers_plays_what_one_process_plays(
    servers, folder, expected, tmp_path, kind, count
):
    assert played(tmp_path / "r", endpoints(servers(count, kind), folder)) == expected


@pytest.mark.parametrize("count", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_any_number_of_processes_plays_what_one_plays(folder, model, expected, tmp_path, count):
    players = Processes(agents(model), PLAN.seed, loader(folder), count)

    assert played(tmp_path / "r", players) == expected
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_a_question_is_asked_at_one_server_in_all_modes_and_again(servers, folder, tmp_path):
    running = servers(3)
    for attempt in range(2):
        played(tmp_path / str(attempt), endpoints(running, folder))
    asked = [str(server.posted("/generate")) for server in running]
    encode = running[0].model.encode

    for question in QUESTIONS:
        ids = str(list(encode(question.text)))[1:-1]
        assert sum(ids in one for one in asked) == 1, question.id
    assert sum(len(one) > 2 for one in asked) > 1, "the questions are spread"


def test_a_server_that_goes_away_is_one_line_and_a_resume_goes_on(
    servers, folder, expected, tmp_path
):
    running = servers(2)
    playing = endpoints(running, folder)
    running[1].mishaps = [503] * 1000
    with pytest.raises(ForethoughtError, match="the same command goes on") as caught:
        played(tmp_path / "r", playing)
    assert running[1].url in str(caught.value)
    assert "\n" not in str(caught.value)
    kept = (tmp_path / "r").read_bytes()
    running[1].mishaps = []

    assert played(tmp_path / "r", playing) == expected
    assert (tmp_path / "r").read_bytes().startswith(kept)


def test_a_process_that_dies_is_one_line_and_a_resume_goes_on(folder, model, expected, tmp_path):
    mended = tmp_path / "mended"
    casting = agents(model, Search(QUESTIONS[4].text, mended))
    players = Processes(casting, PLAN.seed, loader(folder), 2)
    with pytest.raises(ForethoughtError, match=r"worker \d was ended \(exit code -9\)") as caught:
        played(tmp_path / "r", players)
    assert "\n" not in str(caught.value)
    assert not multiprocessing.active_children()
    kept = (tmp_path / "r").read_bytes()
    assert kept.count(b"\n") >= 6
    mended.touch()

    assert alone(tmp_path / "r", model) == expected
    assert (tmp_path / "r").read_bytes().startswith(kept)


@pytest.mark.slow
def test_what_a_process_says_that_cannot_start_is_one_line(model, tmp_path):
    players = Processes(agents(model), PLAN.seed, loader(tmp_path / "nowhere"), 2)
    with pytest.raises(ForethoughtError, match=r"worker \d: no model at") as caught:
        played(tmp_path / "r", players)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_whoever_stops_taking_leaves_nobody_at_work(folder, model):
    playing = Processes(agents(model), PLAN.seed, loader(folder), 2).play(tasks())
    next(playing)
    playing.close()

    assert not multiprocessing.active_children()


def test_what_searches_passages_can_be_handed_to_a_process():
    """They are indexed by a library that is a module, which nobody can be handed."""
    passages = Passages([Passage("1", "Lisbon", "a city"), Passage("2", "Porto", "wine")])
    tool = ForkingPickler.loads(ForkingPickler.dumps(PassageSearch(passages, "search")))

    assert "Lisbon" in tool.call({"query": "city"}, Situation("")).text


def test_servers_of_two_versions_are_refused_and_one_named_twice_is_one(servers, folder):
    one, other = servers(2)
    one.name = other.name = "org/tiny"
    urls = [one.url, other.url, one.url]
    assert len(make_engines("sglang", urls, str(folder))) == 2

    truth = other.answer
    newer = {"version": "0.6.0", "model_path": "org/tiny"}
    other.answer = lambda path, body: newer if path == "/server_info" else truth(path, body)
    with pytest.raises(
        ForethoughtError, match=r"sglang 0\.5\.23 .* and sglang 0\.6\.0 .* not mixed"
    ):
        make_engines("sglang", urls, str(folder))


def test_questions_with_pictures_are_not_played_on_servers():
    seen = replace(QUESTIONS[0], images=(ImageSource("a.png", "row 1"),))
    arena = Arena("b", (*QUESTIONS, seen), {}, lambda model, listed: Plain())
    with pytest.raises(ForethoughtError, match="b: 1 questions have pictures"):
        at_servers(arena, {}, 0, [])


def test_a_run_on_servers_is_told_by_what_serves_and_not_by_where(model):
    def facts(program, workers):
        bench = Bench(None, mined(), model, PLAN, (), Path("out"), program=program, workers=workers)
        return bench._facts(Arena("b", QUESTIONS, {}, lambda model, listed: Plain()))

    assert facts("vllm 1", 2) == facts("vllm 1", 3)
    assert len({str(facts(program, 1)) for program in (None, "vllm 1", "vllm 2")}) == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--engine", "vllm"], "go together"),
        (["--url", "http://127.0.0.1:1"], "go together"),
        (["--engine", "vllm", "--url", "http://127.0.0.1:1", "--workers", "2"], "--workers"),
        (["--engine", "vllm", "--url", "http://127.0.0.1:1", "--dtype", "float16"], "--dtype"),
    ],
)
def test_a_wrong_call_is_one_line(tmp_path, monkeypatch, capsys, options, said):
    Store.open(str(tmp_path / "s.db")).close()
    call = ["forethought", "bench", "ssr", "--store", str(tmp_path / "s.db"), *options]
    monkeypatch.setattr("sys.argv", call)
    with pytest.raises(SystemExit):
        main()
    err = capsys.readouterr().err

    assert said in err
    assert err.count("\n") == 1
