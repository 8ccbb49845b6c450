"""The bench's page, run: with a report and without, on a floor, with hostile and missing figures."""

import json

import pytest
from bench_reports import bench_report
from curated_store import HOSTILE, TEXTS, curated, mined
from streamlit.testing.v1 import AppTest

from forethought.data import commands
from forethought.data.commands import Edit
from forethought.data.store import Store
from forethought.ui.bench.agreeing import agreement
from forethought.ui.pareto import pareto_points

NAME = "search-v1"


def bench(store):  # AppTest runs the source of this function alone
    from forethought.ui import bench_screen

    bench_screen.show(store)


def shown(store: Store) -> AppTest:
    at = AppTest.from_function(bench, kwargs={"store": store}, default_timeout=60).run()
    assert not at.exception
    return at


def played(store: Store, **more) -> Store:
    store.put("bench", NAME, bench_report(store.candidate_set(NAME), **more))
    return store


def headers(at: AppTest) -> list[str]:
    return [header.value for header in at.header]


def cells(at: AppTest) -> list[str]:
    return [str(cell) for frame in at.dataframe for cell in frame.value.to_numpy().ravel()]


@pytest.fixture
def store(tmp_path) -> Store:
    return curated(tmp_path / "store.db")


def test_without_a_bench_the_page_says_how_to_run_one(store):
    at = shown(store)

    assert "forethought bench search-v1" in at.code[0].value
    assert not at.dataframe


def test_an_empty_store_says_what_to_do(tmp_path):
    assert any("no candidate set" in info.value for info in shown(Store.open(tmp_path / "e")).info)


def test_a_bench_shows_its_claim_figures_chart_and_candidates(store):
    at = shown(played(store))

    assert any("Selecting less think" in text.value for text in at.text)
    assert [metric.label for metric in at.metric] == [
        "Success, select",
        "Success, think",
        "Reasoning time saved",
        "Model time saved",
    ]
    assert len(at.get("vega_lite_chart")) == 1
    assert {text for text, _ in TEXTS} <= set(cells(at))
    assert headers(at).index("Success by benchmark") < headers(at).index("How long it takes")
    assert any("Published" in header for header in headers(at))
    assert not [warning for warning in at.warning if "changed since" in warning.value]


def test_policies_stand_in_the_picture_and_tell_what_they_chose_turn_by_turn(store):
    (run, other) = list(store.traces())[:2]
    turns = [f"{run.id}:1", f"{other.id}:0", "t_gone:2"]
    records = [
        {"id": turn, "mode": mode, "recorded": 0, "action": action, "route": route}
        for turn, action in zip(turns, (0, 1, 0), strict=True)
        for mode, route in (("select", None), ("margin=0.5", "think"))
    ]
    name = store.candidate_set(NAME)
    report = bench_report(name, modes=("select", "think", "margin=0.5"))
    first = next(iter(report["benchmarks"].values()))
    first["agreement"] = agreement(records, 0)
    store.put("bench", NAME, report)
    at = shown(store)

    place = headers(at).index("What each policy chose, turn by turn")
    frame = next(one.value for one in at.dataframe if "turn" in one.value.columns)
    assert place > 0
    assert frame["turn"].tolist() == ["2", "1", "3"]
    assert frame["select"].tolist() == ["✓", "✗", "✓"]
    assert frame["margin=0.5"].tolist() == ["think ✓", "think ✗", "think ✓"]
    assert frame["question"].tolist() == [run.question, other.question, "t_gone"]
    points = pareto_points(report)
    assert {(one.mode, one.label, one.mark) for one in points} >= {
        ("policy", "margin=0.5", "margin=0.5")
    }


def test_without_policies_nobody_tells_where_turns_were_sent(store):
    assert not any("each policy" in header for header in headers(shown(played(store))))


def test_on_a_floor_nothing_is_claimed_and_agreement_leads(store):
    at = shown(played(store, succeeds=lambda mode, n: False))

    assert any(text.value.startswith("Floor: no claim") for text in at.text)
    assert headers(at)[0] == "Action agreement under the recorded history"
    assert not any("saved" in metric.label for metric in at.metric)
    said = " ".join(caption.value for caption in at.caption)
    for word in ("Agreement is,", "Coverage is", "Floor: every mode", "A dash (–)"):
        assert word in said


def test_a_change_since_the_bench_is_told(store):
    played(store)
    first = store.candidate_set(NAME).candidates[0]
    commands.reword(store, Edit(NAME, first.id, first.version, "ann"), "I should look.")

    assert any("has changed since" in warning.value for warning in shown(store).warning)


@pytest.mark.parametrize(
    "report",
    [{}, {"modes": None, "benchmarks": {"a": None}}, {"modes": {"select": {}}, "floor": False}],
    ids=["empty", "none", "a mode of nothing"],
)
def test_a_bench_of_which_nothing_is_known_is_shown_all_the_same(store, report):
    store.put("bench", NAME, report)

    shown(store)


def test_no_question_at_all(store):
    shown(played(store, questions=0))


def test_hostile_text_is_shown_letter_by_letter_and_nowhere_else(tmp_path):
    hostile = mined("<b>$x$ :smile:", tuple((text, (text[:50],)) for text in HOSTILE))
    store = curated(tmp_path / "hostile.db", hostile)
    report = bench_report(hostile, (HOSTILE[0], HOSTILE[1], HOSTILE[5]), ("select", "think"))
    report |= {"model": HOSTILE[2], "modes": report["modes"] | {HOSTILE[0]: {"n": 1}}}
    report["modes"]["select"]["stops"] = {HOSTILE[3]: 2}
    store.put("bench", hostile.name, report)
    at = shown(store)

    assert HOSTILE[2][:30] in "".join(text.value for text in at.text)
    assert HOSTILE[0] in cells(at)
    assert not set("\u202e\u2066") & set("".join(cells(at)))
    said = [e.value for e in (*at.markdown, *at.caption, *at.header, *at.info, *at.warning)]
    assert not any(text[:12] in value for value in said for text in HOSTILE)
    assert max(map(len, cells(at))) < 300
    for chart in at.get("vega_lite_chart"):
        json.loads(chart.proto.spec)
