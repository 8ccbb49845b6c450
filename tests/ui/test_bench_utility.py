"""A bench whose questions are sent to modes by a router, before anybody has begun on them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from bench_players import without_clock
from curated_store import mined
from embedders import HashingEmbedder
from routing_tables import outcomes
from tiny_models import tiny_model

from forethought.data.benchmarks.question import Question
from forethought.data.errors import ForethoughtError, NothingToDo
from forethought.data.identity import Split, split_of
from forethought.data.store import Store
from forethought.scorer.agent.dialogue import Plain
from forethought.scorer.agent.episode import Limits
from forethought.scorer.agent.thinking import Mode
from forethought.scorer.routing.outcome_files import read_outcomes
from forethought.scorer.routing.utility.features import Asked
from forethought.scorer.routing.utility.fitting import Schedule
from forethought.scorer.routing.utility.latent_router import Example, Settings, train_router
from forethought.scorer.routing.utility.network import Shape
from forethought.ui.bench.arena import Arena, RecordedTurn
from forethought.ui.bench.arenas import arenas_of
from forethought.ui.bench.dispatch import Dispatcher, QuestionRouting
from forethought.ui.bench.plan import BenchPlan, Place, Utility, is_utility, parse_utility
from forethought.ui.bench.routes import Routes
from forethought.ui.bench.runs import Bench

MODEL, SET = tiny_model(), mined()
SMALL = Settings(
    Shape(width=16, query_tokens=2, capsules=3, layers=1, heads=2, dropout=0.0),
    Schedule(rate=1e-2, batch=16, epochs=12),
)
EASY, HARD = "Which river is number {}?", "Which king came before number {}?"
QUESTIONS = tuple(
    Question(f"q{n}", (EASY if n % 2 else HARD).format(n), ("x",), "made-up") for n in range(8)
)
ARENA = Arena(
    "made-up",
    QUESTIONS,
    {},
    lambda model, listed: Plain(f"Answer {len(listed)}.\n"),
    limits=Limits(turns=2, thought_tokens=3, action_tokens=4),
    beginnings=("<answer>", "<tool"),
    turns=tuple(
        RecordedTurn(f"t{n}", f"Question: {one.text}\n", n % 2, one.text)
        for n, one in enumerate(QUESTIONS[:4])
    ),
    is_guided=True,
)
FREE, PRICY = Utility(), Utility(1e4)
PLAN = BenchPlan((Place("made-up"),), (Mode.SELECT,), limit=None, utilities=(FREE, PRICY))


def trained(arms=("none", "nobody", "think"), costs=(1.0, 2.0, 5.0)):
    """The first arm answers what is easy, the last what is hard."""
    texts = [(EASY if n % 2 else HARD).format(n) for n in range(120)]
    right = [[n % 2, 0.4] + [1 - n % 2] * (len(arms) - 2) for n in range(120)]
    table = outcomes(right, [costs[: len(arms)]] * 120, arms, texts)
    embedder = HashingEmbedder()
    whole = Example(Asked(table.questions, embedder.embed(table.questions)), table)
    return train_router(whole, whole, SMALL, embedder.name)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("router") / "router.safetensors"
    trained().save(path)
    return path


@pytest.fixture(scope="module")
def routes(file):
    return Routes(dispatcher=Dispatcher.of(file, HashingEmbedder()))


def bench(folder, routes, plan=PLAN, arena=ARENA):
    return Bench(
        Store.open(folder / "a.db"), SET, MODEL, plan, (arena,), folder / "out", routes=routes
    )


def records(folder, name="records"):
    lines = (folder / "out" / "made-up" / f"{name}.jsonl").read_text("utf-8").splitlines()
    return {(one["mode"], one["id"]): one for one in map(json.loads, lines)}


def test_a_question_is_played_by_the_mode_that_it_is_sent_to(tmp_path, routes):
    report = bench(tmp_path, routes).run()
    own = replace(PLAN, modes=(Mode.THINK, Mode.NONE), utilities=())
    bench(tmp_path, Routes(), own).run()
    kept = records(tmp_path)

    for number, question in enumerate(QUESTIONS):
        sent = kept["utility=0", question.id]
        assert sent["arm"] == ("none" if number % 2 else "think")
        assert sent["deciding_s"] > 0
        alone = without_clock(kept[sent["arm"], question.id])
        expected = alone | {name: sent[name] for name in ("mode", "arm", "deciding_s")}
        assert without_clock(sent) == expected
    assert report["modes"]["utility=0"]["arms"] == {"think": 4, "none": 4}
    assert report["modes"]["utility=10000"]["arms"] == {"none": 8}
    assert report["modes"]["select"]["arms"] == {}
    assert set(report["modes"]) == {"select", "utility=0", "utility=10000"}


def test_deciding_is_part_of_the_time_a_question_takes(tmp_path, routes):
    report = bench(tmp_path, routes).run()
    kept = [one for (mode, _), one in records(tmp_path).items() if mode == "utility=0"]

    played = [
        sum(turn["seconds"][part] for part in ("media", "prefill", "reasoning", "action"))
        for one in kept
        for turn in one["turns"]
    ]
    told = (sum(played) + sum(one["deciding_s"] for one in kept)) / len(kept)
    assert report["modes"]["utility=0"]["model_s"] == pytest.approx(told)


def test_the_report_tells_who_is_withdrawn_and_what_the_router_has_seen(tmp_path, routes):
    report = bench(tmp_path, routes).run()
    json.dumps(report, allow_nan=False)

    assert report["router"]["arms"] == ["none", "think"]
    assert report["router"]["withdrawn"] == ["nobody"]
    assert report["router"]["trained_on"] == 0
    known = replace(routes.dispatcher.router, ids=("made-up/q1", "made-up/q2", "other/q3"))
    seen = Routes(dispatcher=replace(routes.dispatcher, router=known))
    assert bench(tmp_path, seen).run()["router"]["trained_on"] == 2
    assert bench(tmp_path, Routes(), replace(PLAN, utilities=())).run()["router"] == {}


def test_a_recorded_turn_goes_where_its_question_goes(tmp_path, routes):
    report = bench(tmp_path, routes).run()
    own = replace(PLAN, modes=(Mode.THINK, Mode.NONE), utilities=())
    bench(tmp_path, Routes(), own).run()
    kept = records(tmp_path, "agreement")

    assert set(report["agreement"]["modes"]) == {"select", "utility=0", "utility=10000"}
    for number, turn in enumerate(report["agreement"]["decisions"]):
        arm = "none" if number % 2 else "think"
        assert turn["routes"] == {"utility=0": arm, "utility=10000": "none"}
        sent, alone = kept["utility=0", turn["turn"]], kept[arm, turn["turn"]]
        assert (sent["action"], sent["reasoning"]) == (alone["action"], alone["reasoning"])


def test_a_bench_goes_on_with_its_router_and_refuses_another(tmp_path, routes):
    first = bench(tmp_path, routes, replace(PLAN, limit=3)).run()
    before = records(tmp_path)
    whole = bench(tmp_path, routes).run()
    assert {key: one for key, one in records(tmp_path).items() if key in before} == before
    assert first["modes"]["utility=0"]["n"] == 3
    assert whole["modes"]["utility=0"]["n"] == len(QUESTIONS)

    turned = replace(
        routes.dispatcher, router=trained(("think", "nobody", "none"), (1.0, 2.0, 5.0))
    )
    content = (tmp_path / "out" / "made-up" / "records.jsonl").read_bytes()
    with pytest.raises(
        ForethoughtError, match="sent q0 to think, and this router says none"
    ) as caught:
        bench(tmp_path, Routes(dispatcher=turned)).run()
    assert "\n" not in str(caught.value)
    assert (tmp_path / "out" / "made-up" / "records.jsonl").read_bytes() == content


def test_records_of_sent_questions_are_no_arms_of_another_router(tmp_path, routes):
    bench(tmp_path, routes, replace(PLAN, modes=(Mode.SELECT, Mode.THINK))).run()

    table = read_outcomes([tmp_path / "out"])
    assert table.arms == ("select", "think")
    assert len(table.ids) == len(QUESTIONS)


def test_what_cannot_be_sent_is_told(tmp_path, file, routes):
    other = HashingEmbedder()
    other.name = "another"
    with pytest.raises(
        ForethoughtError, match="trained with the embedder hashing, and this one is another"
    ):
        Dispatcher.of(file, other)
    with pytest.raises(ForethoughtError, match="cannot be read as a router"):
        Dispatcher.of(tmp_path / "none.safetensors", HashingEmbedder())
    with pytest.raises(ForethoughtError, match="needs --router FILE"):
        bench(tmp_path, Routes()).run()
    with pytest.raises(ForethoughtError, match=r"none of its arms \(none, nobody, think\)"):
        _ = QuestionRouting((FREE,), routes.dispatcher, ("select",)).arms


def test_no_question_to_send_is_no_error(routes):
    routing = QuestionRouting((FREE,), routes.dispatcher, ("think",))
    assert routing.dispatch([]).arm("utility=0", "?") is None
    assert set(routing.dispatch(["a", "b", "a"]).arms.values()) == {"think"}


def test_a_price_is_a_number_from_nothing_on():
    assert [parse_utility(text).label for text in ("utility", "utility=.25", "utility=3")] == [
        "utility=0",
        "utility=0.25",
        "utility=3",
    ]
    assert is_utility("utility=x")
    assert not is_utility("random")
    for text in ("utility=-1", "utility=nan", "utility=inf", "utility=x", "utility=1,2"):
        with pytest.raises(ForethoughtError, match="a price is a number from 0 on"):
            parse_utility(text)


def test_policies_of_the_plan_and_sizes_may_be_arms():
    plan = replace(PLAN, policies=())
    assert {"select", "think", "select@1", "none"} <= set(plan.playable(3))
    assert "select@3" not in plan.playable(3)


def hotpot(folder, texts):
    path = folder / "hotpot.jsonl"
    rows = [{"_id": f"q{n}", "question": text, "answer": "x"} for n, text in enumerate(texts)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Place("hotpotqa", str(path))


@pytest.mark.parametrize("split", Split)
def test_questions_of_one_split_are_asked_and_the_others_counted(tmp_path, split):
    texts = [question.text for question in QUESTIONS] + ["What is it?", "Who was there?"]
    plan = replace(PLAN, places=(hotpot(tmp_path, texts),), split=split)
    (arena,) = arenas_of(Store.open(tmp_path / "a.db"), SET, plan)

    own = {text for text in texts if split_of(text) is split}
    assert {question.text for question in arena.questions} == own
    assert arena.left_out["of another split"] == len(texts) - len(own)
    assert np.all([split_of(question.text) is split for question in arena.questions])


def test_a_split_without_questions_is_told(tmp_path):
    text = next(one.text for one in QUESTIONS if split_of(one.text) is Split.MINE)
    plan = replace(PLAN, places=(hotpot(tmp_path, [text]),), split=Split.TEST)
    with pytest.raises(NothingToDo, match="none of its 1 questions falls to test"):
        arenas_of(Store.open(tmp_path / "a.db"), SET, plan)
