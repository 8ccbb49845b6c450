"""The table's benchmarks as arenas, and a whole bench over one with pictures: every mode, real pixels, real files."""

import json

import pytest
from curated_store import mined
from PIL import Image, ImageDraw
from search_server import SearchServer
from tiny_folders import save_chatting_folder

from forethought.data.errors import (
    BenchmarkUnavailable,
    ForethoughtError,
    NotFound,
    NothingToDo,
    ToolUnavailable,
)
from forethought.data.store import Store
from forethought.scorer.agent.thinking import Mode
from forethought.scorer.agent.tools import Situation
from forethought.scorer.model import load_model
from forethought.ui.bench.arenas import arenas_of
from forethought.ui.bench.plan import BenchPlan, Calibration, Place, Prompt
from forethought.ui.bench.runs import RECORDS, Bench
from forethought.ui.bench.searching import BackEnds, arena_of

TOOLS = ("image_search_tool", "text_search_tool")


def row(number: int, **changed) -> dict:
    return {
        "id": f"q{number}",
        "question": f"Which colour is number {number}?",
        "image": f"images/{number}.png",
        "ground_truth": "teal",
        "candidate_answers": ["blue-green"],
    } | changed


@pytest.fixture(scope="module")
def infoseek(tmp_path_factory):
    """Three that can be asked, one without its picture, one whose picture is broken, one without a truth."""
    folder = tmp_path_factory.mktemp("infoseek")
    (folder / "images").mkdir()
    for number in range(3):
        image = Image.new("RGB", (48, 32), "white")
        ImageDraw.Draw(image).ellipse((4, 4, 20 + 8 * number, 28), fill="teal")
        image.save(folder / "images" / f"{number}.png")
    (folder / "images" / "4.png").write_bytes(b"\x89PNG and no more")
    rows = [*map(row, range(5)), row(5, ground_truth="", candidate_answers=[])]
    lines = "".join(json.dumps(one) + "\n" for one in rows)
    (folder / "questions.jsonl").write_text(lines, "utf-8")
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return load_model(str(save_chatting_folder(tmp_path_factory.mktemp("vlm"))))


def plan(infoseek, **changed) -> BenchPlan:
    limits = {"turns": 2, "thought_tokens": 4, "action_tokens": 8, "context_tokens": 20_000}
    place = Place("infoseek", str(infoseek))
    return BenchPlan(**{"places": (place,), "modes": tuple(Mode), "limits": limits} | changed)


def bench(infoseek, model, out, **changed) -> Bench:
    out.mkdir(exist_ok=True)
    store = Store.open(out / "forethought.db")
    planned = plan(infoseek, **changed)
    return Bench(store, mined(), model, planned, arenas_of(store, mined(), planned), out)


def lines(out) -> list[dict]:
    return [json.loads(line) for line in (out / "infoseek" / RECORDS).read_bytes().splitlines()]


def test_every_mode_is_played_over_pictures_and_what_is_broken_is_counted(
    infoseek, model, tmp_path
):
    report = bench(infoseek, model, tmp_path, sizes=(1, 2, 99)).run()
    own = report["benchmarks"]["infoseek"]

    assert list(report["modes"]) == [*map(str, Mode), "select@1", "select@2"]
    assert {one["n"] for one in report["modes"].values()} == {5}
    assert {one["stops"]["media-error"] for one in report["modes"].values()} == {2}
    assert own["left_out"] == {"unusable": 1}
    assert own["metric"] == "relaxed"
    assert report["mean"]["select"]["success"] == own["modes"]["select"]["success"]["value"]
    assert set(report["modes"]["select@1"]["shares"]) == {mined().active[0].id}
    for one in lines(tmp_path):
        broken = one["id"] in ("q3", "q4")
        assert (one["stop"] == "media-error") is broken
        assert bool(one["turns"]) is not broken
        assert all(turn["seconds"]["media"] > 0 for turn in one["turns"][:1])
        if broken:
            assert "questions.jsonl" in one["detail"]
    json.dumps(report, allow_nan=False)


def test_a_bench_goes_on_from_its_records_in_any_mode(infoseek, model, tmp_path):
    first = bench(infoseek, model, tmp_path, limit=2).run()
    before = (tmp_path / "infoseek" / RECORDS).read_bytes()
    bench(infoseek, model, tmp_path).run()
    again = bench(infoseek, model, tmp_path, limit=2).run()

    assert (tmp_path / "infoseek" / RECORDS).read_bytes().startswith(before)
    assert again == first


def test_listing_a_set_changes_what_choosing_modes_read_and_nothing_else(infoseek, model, tmp_path):
    listed = bench(infoseek, model, tmp_path / "a", limit=3).run()
    bare = bench(infoseek, model, tmp_path / "b", limit=3, is_listed=False).run()

    def context(report, mode) -> float:
        return report["modes"][mode]["tokens_a_turn"]["context"]

    for mode in Mode:
        chooses = mode in (Mode.SELECT, Mode.HYBRID)
        assert (context(listed, mode) > context(bare, mode)) is chooses


def test_the_same_questions_are_drawn_from_the_same_seed(infoseek):
    def ids(seed: int) -> list[str]:
        arena = arena_of(Place("infoseek", str(infoseek)), BackEnds(), seed, None)
        return [question.id for question in arena.questions]

    assert ids(0) == ids(0)
    assert sorted(ids(0)) == ["q0", "q1", "q2", "q3", "q4"]
    assert len({tuple(ids(seed)) for seed in range(8)}) > 1


def test_a_tool_without_a_back_end_is_not_told_and_is_disabled(infoseek, model, tmp_path):
    place = Place("infoseek", str(infoseek))
    passages = tmp_path / "passages.jsonl"
    passages.write_text('{"id": "1", "contents": "Teal is blue-green."}\n')
    bare, full = (arena_of(place, BackEnds(text), 0, None) for text in (None, str(passages)))

    assert set(bare.tools) == {"image_search_tool"}
    assert bare.disabled == {"search", "image_zoom_in_tool"}
    assert set(full.tools) == {"image_search_tool", "search"}
    for arena in (bare, full):
        prompt = "".join(piece.text for piece in arena.dialogue(model, ()).opening())
        assert ("text_search_tool" in prompt) is ("search" in arena.tools)


def test_text_is_searched_where_the_user_says(infoseek):
    found = [("Teal", "http://example.org", "A colour.")]
    for kind, spelled in (("search-r1", "{}"), ("searxng", "searxng={}")):
        with SearchServer(kind, found) as server:
            ends = BackEnds(spelled.format(server.url))
            arena = arena_of(Place("infoseek", str(infoseek)), ends, 0, None)
            told = arena.tools["search"].call({"query": "teal"}, Situation("?"))

        assert "A colour." in told.text


def test_plainly_asked_there_is_no_template(infoseek, model, tmp_path):
    report = bench(infoseek, model, tmp_path, prompt=Prompt.PLAIN, limit=1).run()

    assert report["modes"]["select"]["n"] == 1


@pytest.mark.parametrize(
    ("changed", "error", "words"),
    [
        ({"places": (Place("infosick"),)}, BenchmarkUnavailable, "infosick"),
        ({"places": (Place("infoseek", "nowhere"),)}, NotFound, "nowhere"),
        ({"places": (Place("mmsearch", "{}"),)}, BenchmarkUnavailable, "no question of MMSearch"),
        ({"places": (Place("infoseek", "{}"),) * 2}, ForethoughtError, "more than once"),
        ({"calibration": Calibration.BATCH}, NothingToDo, "--calibration raw or pmi"),
    ],
)
def test_what_cannot_be_played_is_one_line_before_anything_is(
    infoseek, model, tmp_path, changed, error, words
):
    filled = {
        key: tuple(Place(one.name, one.path and one.path.format(infoseek)) for one in value)
        if key == "places"
        else value
        for key, value in changed.items()
    }
    with pytest.raises(error, match=words) as raised:
        bench(infoseek, model, tmp_path, **filled).run()

    assert "\n" not in str(raised.value)
    assert not list(tmp_path.rglob(RECORDS))


@pytest.mark.parametrize("mishap", [500, b"<html>a web page</html>"])
def test_a_search_that_does_not_answer_is_known_before_anything_is_played(infoseek, mishap):
    with SearchServer("search-r1") as server:
        server.mishaps += [mishap] * 9
        with pytest.raises(ToolUnavailable, match="cannot be asked") as raised:
            arena_of(Place("infoseek", str(infoseek)), BackEnds(server.url), 0, None)

    assert "\n" not in str(raised.value)
