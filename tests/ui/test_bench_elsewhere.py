"""Run records made elsewhere: our figures reproduce those that stand in them, and nothing in a file is lost silently."""

import json
from pathlib import Path

import pytest
from foreign_runs import mars_row, ssr_trajectory, ssr_turn, write_ssr_run
from hypothesis import given, settings
from hypothesis import strategies as st
from speaking_models import speaking_model
from typer.testing import CliRunner
from writer_server import WriterServer

from forethought.data.benchmarks.question import Question
from forethought.data.candidates import CandidateSet, written
from forethought.data.errors import ForethoughtError, NotFound, NothingToDo
from forethought.scorer.agent.episode import Agent
from forethought.scorer.agent.judge import Judge
from forethought.scorer.agent.thinking import Freedom, Library, Mode, thinker_of
from forethought.scorer.engines.transport import Patience
from forethought.ui.bench.arena import Arena
from forethought.ui.bench.elsewhere.reading import Reading
from forethought.ui.bench.elsewhere.reckoning import Reckoning
from forethought.ui.bench.figures import figures
from forethought.ui.bench.plan import BenchPlan, Place, run_id
from forethought.ui.bench.playing import Alone, play_all, tasks_of
from forethought.ui.bench.records import Records
from forethought.ui.bench.verdicts import judged
from forethought.ui.cli import app

SAMPLE = Path(__file__).parents[1] / "data" / "records" / "visual_arft_mat_search.json"
SEARCH = {"name": "text_search_tool", "arguments": {"query": "Porto"}}
CALL = f"<thinking>I look it up.</thinking><tool_call>{json.dumps(SEARCH)}</tool_call>"


def reckoned(*places, **changes) -> dict:
    return Reckoning(**changes).report([Reading.of(str(place)) for place in places])


def lines(path: Path, *values: object) -> Path:
    told = [value if isinstance(value, str) else json.dumps(value) for value in values]
    path.write_text("\n".join(told) + "\n")
    return path


def ssr_run(folder: Path, **asked: object) -> Path:
    """Three questions: one answers at once, one after a search, one says nothing valid."""
    first = [ssr_turn(0, 1, "Porto", 0.05)]
    second = [ssr_turn(0, 2, SEARCH, 0.06), ssr_turn(1, 1, "Lisbon", 0.07)]
    third = [ssr_turn(0, 2, {}, 0.08)]
    runs = {"q1": first, "q2": second, "q3": third}
    return write_ssr_run(folder, [ssr_trajectory(id, turns, **asked) for id, turns in runs.items()])


def test_an_ssr_run_has_the_figures_that_its_turns_tell(tmp_path):
    report = reckoned(ssr_run(tmp_path / "run"))
    found = report["modes"]["run"]

    assert report["shapes"] == {"ssr": 3}
    assert (found["n"], found["failed"], found["turns"]) == (3, 1, pytest.approx(4 / 3))
    assert found["reasoning_ms"]["p50"] == pytest.approx(65)
    assert found["reasoning_ms"]["mean"] == pytest.approx(65)
    whole = 4 * (0.01 + 0.201 + 0.5) + 0.26
    assert found["model_s"] == pytest.approx(whole / 3)
    assert found["seconds_a_question"]["tool"] == pytest.approx(0.5)
    assert found["tokens_a_turn"] == {
        "injected": 9,
        "generated": 0,
        "action": 20,
        "prefilled": 50,
        "context": 325,
    }
    assert found["stops"] == {"answer": 2, "invalid-output": 1}
    assert found["shares"] == {"answer_from_image": 0.5, "lookup_fact": 0.5}
    assert found["announced"] == 1.0
    json.dumps(report, allow_nan=False)


def test_an_ssr_run_agrees_with_its_own_totals(tmp_path):
    report = reckoned(ssr_run(tmp_path / "run"))

    assert len(report["summaries"]) == 3 + 3 + 1, "of each trajectory, of each profile, of the run"
    for one in report["summaries"]:
        assert one["figures"] >= 9
        assert one["differ"] == []
    assert report["no_records"] == []
    assert report["passed_over"] == {"turns.jsonl": 3, "engine_compatibility.json": 1, ".txt": 1}


def test_totals_that_do_not_follow_from_the_turns_are_named(tmp_path):
    folder = ssr_run(tmp_path / "run")
    path = folder / "profiling.json"
    told = json.loads(path.read_text())
    told["totals"]["thinking_only_seconds"] = 9.0
    path.write_text(json.dumps(told))
    (wrong,) = [one for one in reckoned(folder)["summaries"] if one["differ"]]

    assert wrong["where"] == str(path)
    assert wrong["differ"] == [
        {"figure": "thinking_only_seconds", "told": 9.0, "ours": pytest.approx(0.26)}
    ]


def test_ssr_records_hold_no_truth_and_are_no_success_and_no_failure_without_one(tmp_path):
    found = reckoned(ssr_run(tmp_path / "run"))["modes"]["run"]

    assert found["without_truth"] == 3
    assert found["success"] == {"value": None, "low": None, "high": None, "n": 0}
    assert found["f1"] is None


def test_truths_come_from_the_row_that_was_asked_or_from_a_benchmark(tmp_path):
    in_rows = reckoned(ssr_run(tmp_path / "run", reward_model={"ground_truth": ["Porto"]}))
    truths = [
        Question("q1", "", ("Porto",), "x"),
        Question("another", "What is  q2?", ("Porto",), "x"),
        Question("q3", "", ("Porto",), "x"),
    ]
    joined = reckoned(ssr_run(tmp_path / "bare" / "run"), truths=truths)

    for report in (in_rows, joined):
        assert report["modes"]["run"]["success"]["value"] == pytest.approx(1 / 3)
        assert report["modes"]["run"]["success"]["n"] == 3


def test_an_ssr_run_that_was_cut_off_is_named(tmp_path):
    folder = ssr_run(tmp_path / "run")
    (folder / "example_0002_sample_001" / "trajectory.json").unlink()
    path = folder / "example_0003_sample_001" / "trajectory.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"delta": "continue"}))
    report = reckoned(folder)

    assert report["records"] == 1
    assert [one["where"] for one in report["no_records"]] == [
        str(folder / "example_0002_sample_001" / "turns.jsonl"),
        f"{path}:1",
    ]


def mars_rows() -> list[dict]:
    return [
        mars_row(
            "mm-0",
            [CALL, "<thinking>So.</thinking><answer>Porto</answer>"],
            ["Porto"],
            llm_score=1.0,
        ),
        mars_row("mm-1", ["<answer>the city of Porto</answer>"], ["Porto"], llm_score=1.0),
        mars_row("mm-2", ["<answer>Lisbon</answer>"], ["Porto"], llm_score=0.0),
        mars_row("mm-3", ["It is Porto."], ["Porto"], llm_score=0.0),
        mars_row("vstar-0", ["<answer>(B) the left</answer>"], ["B"], em_score_mcq=1.0),
        mars_row("vstar-1", ["<answer>c</answer>"], ["A"], em_score_mcq=0.0),
        mars_row(
            "mm-4",
            [""],
            ["Porto"],
            llm_score=0.0,
            finish_reason="error",
            num_round=1,
            error="HTTP 500",
        ),
    ]


def test_mars_scores_are_compared_run_by_run(tmp_path):
    report = reckoned(lines(tmp_path / "results.jsonl", *mars_rows()))
    found, told = report["modes"]["results"], report["told"]["results"]

    assert found["stops"] == {"answer": 5, "invalid-output": 1, "error": 1}
    assert found["turns"] == pytest.approx(8 / 7)
    assert found["model_s"] is None, "they tell no seconds"
    assert told["llm_score"] == {
        "n": 5,
        "not_comparable": 0,
        "told": 0.4,
        "ours": 0.2,
        "agree": 4,
        "told_more": 1,
        "ours_more": 0,
        "differ": ["mm-1"],
    }
    assert (told["em_score_mcq"]["agree"], told["em_score_mcq"]["n"]) == (2, 2)
    assert (told["num_round"]["agree"], told["num_round"]["n"]) == (7, 7)


def test_a_mars_summary_agrees_with_its_rows(tmp_path):
    lines(tmp_path / "results.jsonl", *mars_rows())
    llm = {"llm_correct": 2, "llm_total": 5, "llm_accuracy": 0.4}
    em = {"em_correct": 1, "em_total": 2, "em_accuracy": 0.5}
    told = {"mm": {"total": 5, "errors": 1, **llm}, "vstar": {"total": 2, "errors": 0, **em}}
    (tmp_path / "summary.json").write_text(json.dumps({"datasets": told}, indent=2))
    (summary,) = reckoned(tmp_path)["summaries"]

    assert (summary["agree"], summary["figures"], summary["differ"]) == (10, 10, [])


def test_a_judge_reproduces_what_another_judge_said(tmp_path, monkeypatch):
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path / "cache"))
    path = lines(tmp_path / "results.jsonl", *mars_rows()[:5])

    def reply(body: dict) -> str:
        asked = json.loads(body["messages"][1]["content"])
        return f"<judge>{'Yes' if 'Porto' in asked['answer'] else 'No'}</judge>"

    with WriterServer(reply) as server:
        judge = Judge(server.url, "judge", patience=Patience(2, 2, 0.01, 1))
        report = reckoned(path, metric="judge", judge=judge)

    assert report["told"]["results"]["llm_score"]["agree"] == 4
    assert report["verdicts"] == {"yes": 2, "no": 3}


def test_a_validation_dump_of_verl_is_read(tmp_path):
    row = {"input": "user\nWho?", "output": "<answer>Porto</answer>", "gts": "Porto", "score": 1.0}
    report = reckoned(lines(tmp_path / "60.jsonl", row | {"step": 60}, row | {"score": 0.0}))

    assert report["told"]["60"]["score"]["agree"] == 1
    assert report["told"]["60"]["score"]["differ"] == ["2"]


def test_answers_of_visual_arft_have_the_scores_that_a_hand_reckons():
    """3, 6, 10, 14 and 17 match; of the others F1 gives .4 to 1, .2 to 5, .8 to 7 and .5 to 18. 101 has no truth, 2 no answer."""
    found = reckoned(SAMPLE)["modes"]["visual_arft_mat_search"]

    assert (found["n"], found["failed"], found["without_truth"]) == (14, 1, 1)
    assert found["success"]["value"] == pytest.approx(5 / 13)
    assert found["f1"] == pytest.approx((5 + 0.4 + 0.2 + 0.8 + 0.5) / 13)


def own_run(folder: Path) -> dict:
    """A bench of four questions in two modes, in `folder` as it keeps one; its own figures."""
    model = speaking_model({"\n": "<answer>Porto</answer>"})
    candidates = CandidateSet("set", tuple(written(text) for text in ("I know it.", "I look.")))
    library = Library.of(model, [one.text for one in candidates.active])
    modes = (Mode.SELECT, Mode.THINK)
    agents = {
        mode.value: Agent(model, thinker_of(mode, library, model, Freedom(tokens=3)), {})
        for mode in modes
    }
    truths = ("Porto", "Lisbon", "10-20", "porto!")
    asked = [Question(f"q{n}", "Which?", (truth,), "made") for n, truth in enumerate(truths)]
    plan = BenchPlan((Place("made"),), modes)
    folder.mkdir()
    with Records(folder / "records.jsonl", run_id(plan, {})) as records:
        played = play_all(tasks_of(plan, ("select", "think"), asked), Alone(agents, 0), records)
    arena = Arena("made", tuple(asked), {}, lambda model, listed: None)
    found = figures(plan, judged(played, arena, None), candidates)
    (folder / "report.json").write_text(json.dumps({"plan": {}, **found}))
    return found


def test_a_bench_reckoned_again_has_the_figures_that_it_reported(tmp_path):
    found = own_run(tmp_path / "made")
    report = reckoned(tmp_path / "made")
    (summary,) = report["summaries"]

    assert report["modes"] == found["modes"]
    assert report["select_against"] == found["select_against"]
    assert report["modes"]["select"]["success"]["value"] == 0.5
    assert summary["differ"] == []
    assert summary["figures"] == 2 * 8
    for told in report["told"].values():
        assert {name: one["agree"] for name, one in told.items()} == {
            "exact": 4,
            "relaxed": 4,
            "f1": 4,
        }


def test_a_named_bench_is_told_apart_from_another_by_its_modes(tmp_path):
    for name in ("a", "b"):
        own_run(tmp_path / name)
    report = reckoned(f"old={tmp_path / 'a'}", f"new={tmp_path / 'b'}", metric="relaxed")

    assert list(report["modes"]) == ["old select", "old think", "new select", "new think"]


def test_a_line_that_is_no_record_is_named_and_the_others_count(tmp_path):
    path = lines(tmp_path / "results.jsonl", mars_rows()[0], "{broken", [1], {"question": "?"})
    report = reckoned(path)

    assert report["records"] == 1
    assert [one["where"] for one in report["no_records"]] == [f"{path}:{n}" for n in (2, 3, 4)]
    assert all(one["reason"] for one in report["no_records"])


def test_what_stands_in_a_file_again_counts_once(tmp_path):
    row = mars_rows()[0]
    report = reckoned(lines(tmp_path / "results.jsonl", row, row, mars_rows()[1]))

    assert (report["records"], report["repeated"], report["modes"]["results"]["n"]) == (3, 1, 2)


def test_an_id_that_two_files_have_is_two_runs(tmp_path):
    row = {"input": "", "output": "<answer>Porto</answer>", "gts": ["Porto"], "score": 1.0}
    for step in (0, 60):
        lines(tmp_path / f"{step}.jsonl", row)
    report = reckoned(tmp_path)

    assert (report["repeated"], list(report["modes"].values())[0]["n"]) == (0, 2)


def test_named_places_are_compared_on_the_questions_that_both_have(tmp_path):
    asked = {"answers": ["Porto"]}
    run = ssr_run(tmp_path / "run", **asked)
    rows = [mars_row(f"q{n}", ["<answer>Porto</answer>"], ["Porto"]) for n in (1, 2)]
    path = lines(tmp_path / "results.jsonl", *rows)
    report = reckoned(f"select={run}", f"think={path}")
    against = report["select_against"]["think"]

    assert (against["n"], against["unpaired"]) == (2, 1)
    assert against["success_difference"]["value"] == -0.5
    assert against["model_saved"] is None, "one of the two tells no time"


def test_places_of_any_name_are_compared_the_first_with_each_other(tmp_path):
    run = ssr_run(tmp_path / "run", answers=["Porto"])
    rows = [mars_row(f"q{n}", ["<answer>Porto</answer>"], ["Porto"] * (n > 1)) for n in (1, 2)]
    path = lines(tmp_path / "results.jsonl", *rows)
    report = reckoned(f"ours={run}", f"theirs={path}")
    shown = CliRunner().invoke(app, ["bench-records", f"theirs={path}", f"ours={run}"])
    told = " ".join(shown.stdout.split())

    assert report["select_against"] == {}
    assert report["first_against"]["first"] == "ours"
    assert report["first_against"]["modes"]["theirs"]["success_difference"]["value"] == -1.0
    assert "theirs against ours, 2 questions, 1 of them with a truth: success +100.0" in told
    assert "1 of 2" in told
    assert "5 records in" in told


@pytest.mark.parametrize("value", ["-1.0", "NaN", "Infinity", "-3"])
@pytest.mark.parametrize("key", ["reasoning", "action_tokens"])
def test_a_record_of_impossible_seconds_or_tokens_is_none(tmp_path, key, value):
    own_run(tmp_path / "made")
    path = tmp_path / "made" / "records.jsonl"
    first, *rest = path.read_text().splitlines()
    row = json.loads(first)
    turn = row["turns"][0]
    (turn["seconds"] if key == "reasoning" else turn)[key] = json.loads(value)
    path.write_text("\n".join([json.dumps(row), *rest]) + "\n")
    report = reckoned(path)
    (none,) = report["no_records"]

    assert none["where"] == f"{path}:1"
    assert none["reason"].startswith(f"{key}: ")
    assert report["records"] == len(rest)
    assert CliRunner().invoke(app, ["bench-records", str(path)]).exit_code == 3


def test_an_ssr_run_of_negative_seconds_is_none(tmp_path):
    folder = ssr_run(tmp_path / "run")
    path = folder / "example_0001_sample_001" / "trajectory.json"
    value = json.loads(path.read_text())
    value["turns"][0]["prefill_seconds"] = -1
    path.write_text(json.dumps(value))

    assert "prefill_seconds: -1" in reckoned(folder)["no_records"][0]["reason"]


def test_two_places_of_one_name_are_refused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        lines(tmp_path / folder / "results.jsonl", mars_rows()[0])
    with pytest.raises(ForethoughtError, match="two places go by 'results'"):
        reckoned(tmp_path / "a" / "results.jsonl", tmp_path / "b" / "results.jsonl")


def test_a_place_without_records_is_told(tmp_path):
    (tmp_path / "notes.json").write_text('{"a": 1}')
    with pytest.raises(NothingToDo, match=r"no run record there; .*notes\.json:1: no run record"):
        reckoned(tmp_path / "notes.json")
    with pytest.raises(NotFound):
        reckoned(tmp_path / "nowhere")


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_records_that_were_tampered_with_count_as_records_or_as_none(tmp_path_factory, data):
    """Whatever stands in any field: every line is told, the report is whole and valid JSON."""
    whole = ssr_trajectory("q1", [ssr_turn(0, 2, SEARCH, 0.06), ssr_turn(1, 1, "Lisbon", 0.07)])
    own = {
        "run": "r",
        "mode": "select",
        "id": "1",
        "turns": [
            {"seconds": {}, "context_tokens": 1, "action_text": "", "chosen": 0, "reasoning": "x"}
        ],
    }
    answers = {"pred_answer": "x", "gt": "x"}
    rows = [
        json.loads(json.dumps(data.draw(st.sampled_from([whole, own, answers, *mars_rows()]))))
        for _ in range(3)
    ]
    for row in rows:
        holder = row
        if row.get("turns") and data.draw(st.booleans()):
            holder = data.draw(st.sampled_from(row["turns"]))
        for key in data.draw(st.lists(st.sampled_from(sorted(holder)), max_size=3)):
            holder[key] = data.draw(VALUES)
    path = lines(tmp_path_factory.mktemp("rows") / "rows.jsonl", *rows)
    try:
        report = reckoned(path)
    except NothingToDo:
        return

    assert report["records"] + len(report["no_records"]) == 3
    assert (
        sum(one["n"] for one in report["modes"].values()) == report["records"] - report["repeated"]
    )
    json.dumps(report, allow_nan=False)


def test_the_command_exits_with_3_where_a_line_was_no_record(tmp_path):
    path = lines(tmp_path / "results.jsonl", *mars_rows())
    whole = CliRunner().invoke(app, ["bench-records", f"mars={path}", "--json"])
    with path.open("a") as file:
        file.write("and a line\n")
    partial = CliRunner().invoke(app, ["bench-records", f"mars={path}"])

    assert whole.exit_code == 0
    assert json.loads(whole.stdout)["modes"]["mars"]["n"] == 7
    assert partial.exit_code == 3
    assert "llm_score: 4 of 5 agree" in " ".join(partial.stdout.split())
    assert f"{path.name}:8" in "".join(partial.stdout.split())


def test_the_judging_metric_needs_a_judge(tmp_path):
    path = lines(tmp_path / "results.jsonl", *mars_rows())
    found = CliRunner().invoke(app, ["bench-records", str(path), "--metric", "judge"])

    assert isinstance(found.exception, ForethoughtError)
