"""Policies of a bench: named, calibrated on turns that are not asked, played turn by turn, and told beside the modes."""

import json
from dataclasses import replace

import numpy as np
import pytest
from curated_store import mined
from tiny_models import tiny_model

from forethought.data.benchmarks.question import Question
from forethought.data.errors import ForethoughtError, NothingToDo
from forethought.scorer.agent.dialogue import Plain
from forethought.scorer.agent.episode import Limits
from forethought.scorer.agent.session import LocalSession
from forethought.scorer.agent.thinking import Mode
from forethought.scorer.routing.proactive.probe import Probe, write_probe
from forethought.scorer.routing.proactive.recorded import recorded_questions, recorded_turns
from forethought.ui.bench.agreeing import agree_all, agreement, turn_tasks
from forethought.ui.bench.arena import Arena, RecordedTurn
from forethought.ui.bench.casting import agents_of
from forethought.ui.bench.figures import figures
from forethought.ui.bench.plan import BenchPlan, Place, Policy, SignalName, parse_policies, run_id
from forethought.ui.bench.playing import Alone, play_all, tasks_of
from forethought.ui.bench.records import Records
from forethought.ui.bench.routes import NO_ROUTES, Routes
from forethought.ui.bench.verdicts import judged

MODEL = tiny_model()
SET = mined()
QUESTIONS = tuple(Question(f"q{n}", f"Which is {n}?", ("x",), "made-up") for n in range(6))
HISTORIES = tuple(f"Question: What about {n}?\n" for n in range(10))
ARENA = Arena(
    "made-up",
    QUESTIONS,
    {},
    lambda model, listed: Plain("Answer.\n"),
    limits=Limits(turns=1, thought_tokens=2, action_tokens=2),
    beginnings=("<answer>", "<tool"),
    turns=tuple(RecordedTurn(f"t{n}", f"Question: {n}?\n", n % 2) for n in range(5)),
    fitting=HISTORIES,
    is_guided=True,
)
NAMES = [name for name in SignalName if name is not SignalName.PROBE]
PLAN = BenchPlan((Place("made-up"),), (Mode.SELECT, Mode.THINK), limit=None)


def played(tmp_path, policies, routes=NO_ROUTES):
    plan = replace(PLAN, policies=policies)
    agents = agents_of(MODEL, ARENA, SET.active, plan, routes=routes)
    tasks = tasks_of(plan, plan.labels(len(SET.active)), QUESTIONS)
    with Records(tmp_path / "r.jsonl", run_id(plan, {})) as records:
        found = play_all(tasks, Alone(agents, plan.seed), records)
    with Records(tmp_path / "a.jsonl", "run") as records:
        turns = agree_all(turn_tasks(agents, ARENA.turns), agents, records, plan.seed)
    return plan, agents, found, turns


def test_every_signal_is_played_and_told_beside_the_modes(tmp_path):
    policies = tuple(Policy(name) for name in NAMES)
    plan, agents, records, turns = played(tmp_path, policies)
    found = figures(plan, judged(records, ARENA, None), SET)
    json.dumps(found, allow_nan=False)

    for name in NAMES:
        label = f"{name}=0.5"
        own = [one for one in records if one["mode"] == label]
        assert len(own) == len(QUESTIONS)
        for one in own:
            (turn,) = one["turns"]
            assert turn["route"] in ("select", "think")
            assert isinstance(turn["signal"], float)
            assert (turn["chosen"] is None) == (turn["route"] == "think")
        assert sum(found["modes"][label]["routes"].values()) == len(QUESTIONS)
        assert label in found["select_against"]
    assert found["modes"]["select"]["routes"] == {}
    assert set(agreement(turns, 0)["routes"]) == {f"{name}=0.5" for name in NAMES}


def test_a_policy_does_what_the_mode_does_that_it_sends_a_turn_to(tmp_path):
    _, _, records, _ = played(tmp_path, (Policy(SignalName.MARGIN), Policy(SignalName.RATING)))
    by_key = {(one["mode"], one["id"]): one["turns"][0] for one in records}
    for (_, id), turn in by_key.items():
        if turn["route"]:
            plain = by_key[turn["route"], id]
            assert turn["reasoning"] == plain["reasoning"]
            assert turn["action_text"] == plain["action_text"]


@pytest.mark.parametrize("name", [name for name in NAMES if name is not SignalName.RANDOM])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_cuts_give_the_turns_that_are_not_asked_their_share(tmp_path, name, share):
    plan = replace(PLAN, policies=(Policy(name, (share,)),))
    agent = agents_of(MODEL, ARENA, SET.active, plan)[f"{name}={share:g}"]
    session = agent.start()
    routes = []
    for history in HISTORIES:
        routes.append(agent.decide(session, history)[0].route)

    assert routes.count("think") == round(share * len(HISTORIES))


def test_records_tell_what_a_signal_is_worth(tmp_path):
    _, _, records, turns = played(tmp_path, (Policy(SignalName.RATING), Policy(SignalName.MARGIN)))
    whole = recorded_questions(records)
    single = recorded_turns(turns)

    assert len(whole.ids) == len(QUESTIONS)
    assert len(single.ids) == len(ARENA.turns)
    for found in (whole, single):
        assert {"margin", "log Z", "entropy", "rating=0.5", "margin=0.5"} <= set(found.needs)
        assert np.allclose(found.needs["margin"], found.needs["margin=0.5"], atol=1e-5)
    seconds = records[0]["turns"][0]["seconds"]
    assert whole.arms.cost[0, 0] == pytest.approx(
        sum(seconds[part] for part in ("media", "prefill", "reasoning", "action"))
    )
    with pytest.raises(NothingToDo, match="both select and draft"):
        recorded_questions(records, "select", "draft")


def test_older_records_without_signals_are_read_too():
    turns = [
        {
            "mode": mode,
            "id": f"t{n}",
            "recorded": 0,
            "action": int(mode == "think"),
            "reasoning": "",
        }
        for mode in ("select", "think")
        for n in range(3)
    ]
    found = recorded_turns(turns)

    assert found.needs == {}
    assert found.arms.gain.tolist() == [-1, -1, -1]
    assert agreement(turns, 0)["routes"] == {}


def test_a_probe_and_a_second_model_are_given_beside_the_plan(tmp_path):
    file = tmp_path / "probe.json"
    write_probe(file, Probe(np.linspace(-1, 1, MODEL.width), 0.0, "tiny"))
    second = tiny_model("qwen3")
    routes = Routes(file, lambda: LocalSession(second), "another")
    policies = (Policy(SignalName.PROBE, (1.0,)), Policy(SignalName.ENTROPY, (0.5, 0.5)))
    _, _, records, _ = played(tmp_path, policies, routes)
    sent = {one["mode"]: {turn["route"] for turn in one["turns"]} for one in records}

    assert sent["probe=1"] == {"hand-over"}
    assert sent["entropy=0.5,0.5"] <= {"think", "hand-over"}
    assert set(routes.facts()) == {"second", "probe"}


def test_what_a_policy_lacks_is_told(tmp_path):
    def cast(policy, arena=ARENA, routes=NO_ROUTES):
        agents_of(MODEL, arena, SET.active, replace(PLAN, policies=(policy,)), routes=routes)

    with pytest.raises(ForethoughtError, match="needs --probe"):
        cast(Policy(SignalName.PROBE))
    with pytest.raises(ForethoughtError, match="no probe can be read"):
        cast(Policy(SignalName.PROBE), routes=Routes(tmp_path / "none.json"))
    bare = replace(ARENA, fitting=())
    with pytest.raises(NothingToDo, match="no turns to calibrate a policy on"):
        cast(Policy(SignalName.MARGIN), bare)
    cast(Policy(SignalName.RANDOM), bare)


def test_policies_are_named_once_and_known():
    assert parse_policies(["margin", "rating=0.3", "margin"]) == (
        Policy(SignalName.MARGIN),
        Policy(SignalName.RATING, (0.3,)),
    )
    assert parse_policies(["joint=.25,.5"], 2)[0].label == "joint=0.25,0.5"
    for text, why in (
        ("sing", "no policy 'sing'"),
        ("margin=2", "from 0 to 1"),
        ("margin=-1", "from 0 to 1"),
        ("margin=x", "from 0 to 1"),
        ("margin=nan", "from 0 to 1"),
        ("margin=.6,.6", "add up to 1"),
        ("margin=.2,.2", "takes --hand-over"),
    ):
        with pytest.raises(ForethoughtError, match=why):
            parse_policies([text])
