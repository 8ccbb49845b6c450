"""Ratings taught by what two arms did: what is left in the folder, what is measured on which questions, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from curated_store import mined
from tiny_folders import save_folder
from typer.testing import CliRunner

from forethought.data.benchmarks.question import Question
from forethought.data.errors import ForethoughtError, NothingToDo
from forethought.data.identity import Split, split_of
from forethought.data.store import Store
from forethought.scorer.agent.dialogue import Plain
from forethought.scorer.agent.episode import Limits
from forethought.scorer.agent.session import LocalSession
from forethought.scorer.agent.thinking import Library, Mode
from forethought.scorer.model import load_model
from forethought.scorer.routing.proactive.probe import read_probe
from forethought.scorer.routing.proactive.rated_questions import ArmNames, read_rated
from forethought.scorer.routing.proactive.rating import JOINT, OWN, rate
from forethought.scorer.routing.proactive.readings import read_ratings, read_signals
from forethought.scorer.routing.proactive.share_curve import curve
from forethought.scorer.routing.proactive.signals import Entropy, LogZ, Look, Margin
from forethought.scorer.training.teaching import MODEL, Schedule
from forethought.ui.bench.arena import Arena
from forethought.ui.bench.plan import BenchPlan, Place
from forethought.ui.bench.runs import Bench
from forethought.ui.cli import app
from forethought.ui.rating_training import PROBE_FILE, REPORT, By, RatingPlan, teach_ratings

SET = mined()
ALL = dict.fromkeys(Split)
TEXTS = [f"{'Add' if n % 2 else 'Name'} {n}?" for n in range(60)]


def csv(folder, right=lambda n: (n % 2, 1 - n % 2)):
    """The small arm adds, the large one names."""
    lines = ["sample_id,question,small_correct,small_cost,large_correct,large_cost"]
    for n, text in enumerate(TEXTS):
        small, large = right(n)
        lines.append(f"q{n},{text},{small},1,{large},4")
    path = folder / "table.csv"
    path.write_text("\n".join(lines), "utf-8")
    return path


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return str(save_folder(tmp_path_factory.mktemp("tiny")))


def plan(tiny, *tables, epochs=1, **changed) -> RatingPlan:
    schedule = Schedule(epochs, group=4, rate=3e-3, looks=2)
    arms = ArmNames("small", "large")
    return RatingPlan(tables, arms, tiny, **{"schedule": schedule, "most": ALL} | changed)


@pytest.mark.parametrize("by", By)
def test_a_model_a_probe_and_a_table_are_left(tmp_path, tiny, by):
    report = teach_ratings(plan(tiny, csv(tmp_path), by=by, epochs=6), SET, tmp_path / "out")

    assert json.loads((tmp_path / "out" / REPORT).read_text("utf-8")) == report
    counts = {split.value: sum(split_of(text) is split for text in TEXTS) for split in Split}
    assert report["questions"] == counts
    assert report["always"].keys() == {"small", "large"}
    taught = load_model(str(tmp_path / "out" / MODEL))
    read_probe(tmp_path / "out" / PROBE_FILE).require_fits(taught)
    signals = report["signals"]
    for name, row in signals.items():
        assert row["area"]["low"] <= row["area"]["value"] <= row["area"]["high"]
        assert row["area"]["value"] <= signals["oracle"]["area"]["value"] + 1e-9, name
    assert signals["random"]["area"]["value"] == pytest.approx(
        np.mean([one["success"] for one in report["always"].values()])
    )
    assert {name.partition(":")[0] for name, row in signals.items() if row["chosen"]} == {
        "rating, untaught",
        "rating, taught",
        "probe",
    }
    best = signals["rating, taught: joint"]["area"]["value"]
    assert best > signals["random"]["area"]["value"] + 0.1, "who adds and who names is learnt"


def test_the_table_s_figures_are_the_curve_s(tmp_path, tiny):
    report = teach_ratings(plan(tiny, csv(tmp_path)), SET, tmp_path / "out")
    model = load_model(tiny)
    own = read_rated((csv(tmp_path),), ArmNames("small", "large"), model, ALL).splits[Split.TEST]
    library = Library.of(model, [one.text for one in SET.active])
    read = read_signals(model, own.trunks, library)
    rated = read_ratings(model, own.trunks)

    for name, needs in (
        ("margin", read.margin),
        ("log Z", read.log_z),
        ("rating, untaught: own", -rated.own),
    ):
        expected = curve(own.arms, needs)
        assert report["signals"][name]["area"]["value"] == pytest.approx(expected.area)
        assert report["signals"][name]["at"]["0.5"] == pytest.approx(expected.at(0.5))


def test_what_is_read_is_what_a_policy_reads(tiny):
    """Whatever stood in the session before."""
    model = load_model(tiny)
    library = Library.of(model, [one.text for one in SET.active])
    trunks = [tuple(model.encode(f"Question: {text}\n")) for text in TEXTS[:5]]
    read, rated = read_signals(model, trunks, library), read_ratings(model, trunks)

    for place, trunk in enumerate(trunks):
        session = LocalSession(model)
        session.append_text(trunk)
        session.settle()
        look = Look(session, library)
        told = [Margin().need(look), LogZ().need(look), Entropy().need(look)]
        found = [read.margin[place], read.log_z[place], read.entropy[place]]
        assert found == pytest.approx(told, abs=1e-4)
        assert read.state[place] == pytest.approx(look.hidden, abs=1e-4)
        own, more = rate(session, (OWN, JOINT)).ratings
        assert [rated.own[place], rated.more[place]] == pytest.approx(
            [own.value, more.value], abs=1e-4
        )


def test_a_question_is_in_one_split_and_counts_once(tmp_path, tiny):
    path = csv(tmp_path)
    more = path.read_text("utf-8").splitlines()
    more += [line.replace("q", "again", 1) for line in more[1:9]] + ["half,Which?,1,1,,"]
    path.write_text("\n".join(more), "utf-8")
    table = read_rated((path,), ArmNames("small", "large"), load_model(tiny), ALL)

    assert sum(len(own.trunks) for own in table.splits.values()) == len(TEXTS)
    assert table.left_out == 9


def test_at_most_so_many_questions_the_same_each_time(tmp_path, tiny):
    model, names = load_model(tiny), ArmNames("small", "large")
    few = read_rated((csv(tmp_path),), names, model, {Split.MINE: 3, Split.TEST: 2}).splits
    whole = read_rated((csv(tmp_path),), names, model, ALL).splits

    assert few[Split.MINE].trunks == whole[Split.MINE].trunks[:3]
    assert few[Split.TEST].trunks == whole[Split.TEST].trunks[:2]


def test_a_bench_s_ratings_follow_what_stood_before_its_thoughts(tmp_path, tiny):
    model = load_model(tiny)
    questions = tuple(Question(f"q{n}", text, ("x",), "b") for n, text in enumerate(TEXTS[:12]))
    arena = Arena(
        "b",
        questions,
        {},
        lambda model, listed: Plain("Be brief.\n"),
        limits=Limits(turns=1, thought_tokens=2, action_tokens=2),
        beginnings=("<answer>",),
        is_guided=True,
    )
    bench_plan = BenchPlan((Place("b"),), (Mode.SELECT, Mode.THINK), limit=None)
    store = Store.open(tmp_path / "a.db")
    Bench(store, SET, model, bench_plan, (arena,), tmp_path / "out").run()
    names = ArmNames("select", "think")
    table = read_rated((tmp_path / "out",), names, model, ALL)

    told = {trunk for own in table.splits.values() for trunk in own.trunks}
    assert told == {
        tuple(model.encode("Be brief.\n") + model.encode(f"Question: {text}\n"))
        for text in TEXTS[:12]
    }
    lines = (tmp_path / "out" / "b" / "records.jsonl").read_text("utf-8").splitlines()
    silent = [json.dumps({**json.loads(line), "prompt": []}) for line in lines]
    (tmp_path / "out" / "b" / "records.jsonl").write_text("\n".join(silent), "utf-8")
    with pytest.raises(NothingToDo, match="no question that both select and think were asked"):
        read_rated((tmp_path / "out",), names, model, ALL)


def test_a_teaching_goes_on_and_another_is_refused(tmp_path, tiny):
    own = plan(tiny, csv(tmp_path))
    first = teach_ratings(own, SET, tmp_path / "out")
    assert teach_ratings(own, SET, tmp_path / "out") == first

    other = csv(tmp_path, right=lambda n: (1 - n % 2, n % 2))
    with pytest.raises(ForethoughtError, match="another training|name another --out"):
        teach_ratings(plan(tiny, other), SET, tmp_path / "out")
    with pytest.raises(ForethoughtError, match="name another --out"):
        teach_ratings(replace(own, by=By.GROUPS), SET, tmp_path / "out")


@pytest.mark.parametrize(
    ("right", "forms"),
    [
        (lambda n: (1, 1), set()),
        (lambda n: (n % 2, n % 2), {"probe: fails"}),
        (lambda n: (0, n % 2), {"probe: gains"}),
    ],
)
def test_where_nothing_can_be_told_apart_there_is_no_probe(tmp_path, tiny, right, forms):
    report = teach_ratings(plan(tiny, csv(tmp_path, right)), SET, tmp_path / "out")
    json.dumps(report, allow_nan=False)

    assert {name for name in report["signals"] if name.startswith("probe")} == forms
    assert (tmp_path / "out" / PROBE_FILE).exists() == bool(forms)
    assert bool(report["probe"]) == bool(forms)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--small", "nobody"], "nobody: no such arm"),
        (["--large", "small"], "named as both arms"),
    ],
)
def test_what_cannot_be_taught_is_one_line(tmp_path, tiny, options, said):
    call = ["ratings", "ssr", str(csv(tmp_path)), "--model", tiny, "--out", str(tmp_path / "out")]
    names = {"--small": "small", "--large": "large"} | dict(zip(*[iter(options)] * 2, strict=True))
    done = CliRunner().invoke(app, [*call, *(part for pair in names.items() for part in pair)])

    assert done.exit_code != 0
    assert isinstance(done.exception, ForethoughtError)
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_the_table_for_people_fits_eighty_columns(tmp_path, tiny):
    call = ["ratings", "ssr", str(csv(tmp_path)), "--model", tiny, "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*call, "--small", "small", "--large", "large"])

    assert done.exit_code == 0, done.exception
    rows = [line for line in done.stdout.splitlines() if "[" in line]
    assert max(map(len, rows)) <= 80
    for name in ("random", "margin", "log Z", "taught: joint", "probe: fails", "oracle"):
        assert any(row.strip().startswith(name) for row in rows), name
    assert "--policy" in done.stdout
