"""A bench: resumed anywhere it is the same, its figures are those of its records, and free runs become traces."""

import json
from dataclasses import replace

import pytest
from curated_store import mined
from hypothesis import given, settings
from hypothesis import strategies as st
from speaking_models import speaking_model

from forethought.data.benchmarks.question import Question
from forethought.data.errors import ForethoughtError
from forethought.data.traces import Outcome
from forethought.scorer.agent.episode import Agent, Stop
from forethought.scorer.agent.thinking import Freedom, Library, Mode, thinker_of
from forethought.scorer.agent.tools import Observation
from forethought.ui.bench.agreeing import agree_all, agreement, turn_tasks
from forethought.ui.bench.arena import Arena, RecordedTurn
from forethought.ui.bench.figures import NO_CLAIM, figures
from forethought.ui.bench.plan import BenchPlan, Place, parse_modes, places_of, run_id
from forethought.ui.bench.playing import Alone, play_all, tasks_of, traces_of
from forethought.ui.bench.records import Records
from forethought.ui.bench.verdicts import judged

ANSWER = "<answer>Lisbon</answer>"
SEARCH = '<tool_call>{"name": "search", "arguments": {"query": "capital"}}</tool_call>'
QUESTIONS = tuple(
    Question(f"q{n}", f"Which is number {n}?", ("Lisbon",) if n % 2 else ("Porto",), "made-up")
    for n in range(4)
)
MODES = (Mode.SELECT, Mode.THINK, Mode.NONE)
PLAN = BenchPlan((Place("made-up"),), MODES, limits={"turns": 2})
FREEDOM = Freedom(tokens=3)
SET = mined()
TEXTS = [candidate.text for candidate in SET.active]


class Search:
    name = "search"

    def call(self, arguments, situation):
        return Observation("It is Lisbon.")


def agents(says: str = ANSWER) -> dict[str, Agent]:
    model = speaking_model({"\n": says})
    library = Library.of(model, TEXTS)
    return {
        mode.value: Agent(model, thinker_of(mode, library, model, FREEDOM), {"search": Search()})
        for mode in MODES
    }


AGENTS = agents()


def played(path, plan=PLAN, questions=QUESTIONS, playing=AGENTS, *progress) -> list:
    tasks = tasks_of(plan, plan.labels(len(TEXTS)), questions)
    with Records(path, run_id(plan, {})) as records:
        return play_all(tasks, Alone(playing, plan.seed), records, *progress)


def report(records, questions=QUESTIONS):
    arena = Arena("made-up", tuple(questions), {}, lambda model, listed: None)
    return figures(PLAN, judged(records, arena, None), SET)


def without_clock(records: list) -> list:
    told = json.loads(json.dumps(records))
    for one in told:
        for turn in one["turns"]:
            del turn["seconds"]
    return told


class Killed(BaseException):
    pass


@settings(max_examples=10, deadline=None)
@given(killed_at=st.integers(0, 11), cut=st.integers(0, 40))
def test_a_killed_bench_that_goes_on_has_the_records_of_an_unbroken_one(
    tmp_path_factory, killed_at, cut
):
    folder = tmp_path_factory.mktemp("bench")
    whole = played(folder / "whole.jsonl")

    def kill(done: int, total: int) -> None:
        if done == killed_at:
            raise Killed

    with pytest.raises(Killed):
        played(folder / "killed.jsonl", PLAN, QUESTIONS, AGENTS, kill)
    path = folder / "killed.jsonl"
    written = path.read_bytes() if path.exists() else b""
    path.write_bytes(written[: max(0, len(written) - cut)])  # the last line may be cut off
    resumed = played(path)

    assert without_clock(resumed) == without_clock(whole)
    assert sorted(map(str, without_clock(_lines(path)))) == sorted(map(str, without_clock(whole)))


def _lines(path) -> list:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_more_questions_go_on_from_fewer(tmp_path):
    path = tmp_path / "records.jsonl"
    few = played(path, replace(PLAN, limit=2))
    before = path.read_bytes()
    all = played(path)

    assert len(few) == 6
    assert len(all) == 12
    assert path.read_bytes().startswith(before), "nothing was played again"


@pytest.mark.parametrize(
    ("plan", "facts"),
    [
        (replace(PLAN, seed=1), {}),
        (replace(PLAN, tau=0.5), {}),
        (PLAN, {"model": "another"}),
    ],
)
def test_records_of_another_run_are_refused_and_left_alone(tmp_path, plan, facts):
    path = tmp_path / "records.jsonl"
    played(path, replace(PLAN, limit=1))
    with path.open("a") as lines:
        lines.write("and a line that was cut off")
    before = path.read_bytes()
    with pytest.raises(ForethoughtError, match="another plan, model or set"):
        Records(path, run_id(plan, facts))

    assert path.read_bytes() == before


@pytest.mark.parametrize("content", ["no JSON\n", "[1, 2]\n", '{"mode": "select"}\n', "3\n"])
def test_a_file_that_holds_no_records_is_told(tmp_path, content):
    path = tmp_path / "records.jsonl"
    path.write_text(content)
    with pytest.raises(ForethoughtError, match="no records of a bench"):
        Records(path, "bench_0")


def test_the_report_says_what_the_records_say(tmp_path):
    records = played(tmp_path / "r.jsonl")
    found = report(records)
    select = found["modes"]["select"]

    assert set(found["modes"]) == {"select", "think", "none"}
    assert (select["n"], select["failed"]) == (4, 0)
    assert select["success"]["value"] == 0.5
    assert select["success"]["low"] < 0.5 < select["success"]["high"]
    assert select["turns"] == 1.0
    assert select["stops"] == {Stop.ANSWER: 4}
    times = [turn["seconds"]["reasoning"] for one in records[::3] for turn in one["turns"]]
    assert min(times) * 1000 <= select["reasoning_ms"]["p50"] <= max(times) * 1000
    assert sum(select["shares"].values()) == pytest.approx(1)
    assert set(select["shares"]) <= {candidate.id for candidate in SET.active}
    assert select["tokens_a_turn"]["generated"] == 0
    assert found["modes"]["think"]["tokens_a_turn"]["generated"] == 3
    assert found["modes"]["think"]["capped"] == 1.0
    against = found["select_against"]["think"]
    assert against["success_difference"]["value"] == 0
    assert against["mcnemar"] == {"only_first": 0, "only_second": 0, "p": 1.0}
    assert found["select_against"]["none"]["reasoning_saved"] is None
    assert found["claim"] == ""
    json.dumps(found, allow_nan=False)


def test_under_a_tenth_nothing_is_claimed(tmp_path):
    wrong = [replace(question, answers=("Rome",)) for question in QUESTIONS]
    records = played(tmp_path / "r.jsonl", PLAN, wrong)

    assert report(records, wrong)["claim"] == NO_CLAIM


def test_free_runs_are_traces_to_mine(tmp_path):
    playing = agents(SEARCH)
    records = played(tmp_path / "r.jsonl", PLAN, QUESTIONS, playing)
    free = [one | {"success": one["exact"]} for one in records if one["mode"] == "think"]
    traces = traces_of(free, "made-up-think")

    assert [trace.question for trace in traces] == [question.text for question in QUESTIONS]
    assert {trace.outcome for trace in traces} == {Outcome.FAILURE}
    for trace in traces:
        assert [action.name for turn in trace.turns for action in turn.actions] == ["search"] * 4
        assert {turn.observations for turn in trace.turns} == {("It is Lisbon.",)}
    assert len({trace.id for trace in traces}) == len(traces)


def test_modes_are_named_once_and_known():
    assert parse_modes(["select", "think", "select"]) == (Mode.SELECT, Mode.THINK)
    with pytest.raises(ForethoughtError, match="no mode 'sing'"):
        parse_modes(["sing"])


def test_benchmarks_are_named_with_and_without_a_place():
    seven = places_of(["seven"])

    assert places_of(["a", "b=/c=d"]) == (Place("a"), Place("b", "/c=d"))
    assert [place.name for place in seven] == [
        "mmsearch", "hr-mmsearch", "fvqa-test", "simplevqa", "livevqa", "mat-search", "infoseek",
    ]  # fmt: skip
    assert set(places_of(["infoseek=here", "seven"])) == {*seven[:-1], Place("infoseek", "here")}


def test_agreement_is_counted_turn_by_turn_and_resumed(tmp_path):
    """The model says an answer whatever it thought: it agrees where the run answered."""
    model = speaking_model({"\n": "<answer>"})
    beginnings = (tuple(model.encode("<tool")), tuple(model.encode("<answer>")))
    library = Library.of(model, TEXTS)
    playing = {
        mode.value: Agent(
            model, thinker_of(mode, library, model, FREEDOM), {}, beginnings=beginnings
        )
        for mode in MODES
    }
    turns = [RecordedTurn(f"t{n}", f"Question: {n}?\n", n % 3 > 0) for n in range(6)]
    with Records(tmp_path / "a.jsonl", "run") as kept:
        first = agree_all(turn_tasks(playing, turns[:2]), playing, kept, 0)
    before = (tmp_path / "a.jsonl").read_bytes()
    with Records(tmp_path / "a.jsonl", "run") as kept:
        found = agree_all(turn_tasks(playing, turns), playing, kept, 0)
    told = agreement(found, 0)

    assert (tmp_path / "a.jsonl").read_bytes().startswith(before)
    assert found[: len(first)] == first
    assert told["turns"] == 6
    assert {mode: one["value"] for mode, one in told["modes"].items()} == pytest.approx(
        dict.fromkeys(map(str, MODES), 4 / 6)
    )
    assert told["constant"] == pytest.approx(4 / 6)
    assert set(told["select_against"]) == {"think", "none"}
    assert all(one["value"] == 0 for one in told["select_against"].values())


def test_fewer_questions_are_for_all_but_the_two_that_are_compared():
    plan = replace(PLAN, modes=(Mode.SELECT, Mode.THINK, Mode.DRAFT), fewer=2, limit=3, sizes=(1,))
    asked = {label: sum(plan.asks(label, place) for place in range(9)) for label in plan.labels(9)}

    assert asked == {"select": 3, "think": 3, "draft": 2, "select@1": 2}
