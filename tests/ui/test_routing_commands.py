import json
import os
import stat

import numpy as np
import pytest
from typer.testing import CliRunner

from forethought.data.errors import ForethoughtError
from forethought.scorer.routing.utility.latent_router import load_router
from forethought.ui.cli import app
from forethought.ui.routing_commands import show_routing

WORDS = ("river", "bridge", "king", "song", "planet", "engine", "poem", "treaty")


def table(tmp_path, rows=120):
    draw = np.random.default_rng(0)
    lines = [
        "sample_id,dataset_idx,question,answer,img_path,small_correct,small_cost,large_correct,large_cost"
    ]
    for i in range(rows):
        word = WORDS[i % 8]
        small, large = int(draw.random() < (0.9 if i % 8 < 4 else 0.1)), int(draw.random() < 0.7)
        lines.append(
            f"q{i},s_{i},Which {word} is number {i}?,x,{word if i % 2 else ''}.png,{small},1,{large},4"
        )
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines).replace(",.png,", ",,"), "utf-8")
    return path


def vectors(path, texts):
    draw = np.random.default_rng(0)
    np.savez(path, texts=np.array(texts), vectors=draw.standard_normal((len(texts), 8)))
    return str(path)


@pytest.fixture
def call(tmp_path):
    own = vectors(
        tmp_path / "own.npz", [f"Which {WORDS[i % 8]} is number {i}?" for i in range(120)]
    )
    pictures = vectors(tmp_path / "pictures.npz", [f"{word}.png" for word in WORDS])
    return [
        "route",
        str(table(tmp_path)),
        "--embedder",
        own,
        "--pictures",
        pictures,
        "--seeds",
        "1",
    ]


def test_a_router_is_trained_compared_and_kept(call, tmp_path):
    out = tmp_path / "router.safetensors"

    done = CliRunner().invoke(app, [*call, "--out", str(out), "--json"])

    assert done.exit_code == 0, done.exception
    report = json.loads(done.stdout)
    assert report["arms"].keys() == {"large", "small"}
    assert report["routers"]["latent router"]["nauc"]["n"] == report["questions"]["test"]
    router = load_router(out)
    assert router.arms == ("large", "small")
    assert router.encoder.image is not None
    assert router.embedder == report["embedder"]


def test_the_table_for_people_names_every_router_in_eighty_columns(call):
    done = CliRunner().invoke(app, call)

    assert done.exit_code == 0, done.exception
    for name in ("latent router", "best single", "kNN", "oracle", "learned on", "large / small"):
        assert name in done.stdout
    head, *rows = [line for line in done.stdout.splitlines() if "[" in line or "nAUC" in line]
    assert all(word in head for word in ("nAUC", "latent less it", "peak", "QNC", "Rank"))
    assert max(map(len, rows)) <= 80
    assert [row.count("]") for row in rows] == [1] + [2] * (len(rows) - 1), "but for its own"


def report(call):
    done = CliRunner().invoke(app, [*call, "--json"])
    assert done.exit_code == 0, done.exception
    return json.loads(done.stdout)


def test_no_figure_depends_on_how_arms_are_named(call):
    whole = report(call)

    for named in (["small", "large"], ["large", "small", "large"]):
        arms = [part for arm in named for part in ("--arm", arm)]
        assert report([*call, *arms]) == whole
    done = CliRunner().invoke(app, [*call, "--arm", "small", "--arm", "small"])
    assert "two arms or more, and it has small" in str(done.exception)


def test_half_an_arm_is_told_with_its_column_and_names_stand_on_one_line(call, tmp_path):
    path = tmp_path / "table.csv"
    head, *lines = path.read_text("utf-8").splitlines()
    name = "sm\u202eall\n\x1b[31m"
    head = head.replace("small_correct", f'"{name}_correct"').replace(
        "small_cost", f'"{name}_cost"'
    )
    more = [f"{head},third\x1b_correct", *(f"{line},1" for line in lines)]
    path.write_text("\n".join(more), "utf-8")

    assert report(call)["columns_left_out"] == ["third\x1b_correct"]
    done = CliRunner().invoke(app, call)

    told = "columns left out, for an arm M has M_correct and M_cost: third\ufffd_correct"
    assert told in done.stdout.splitlines()
    for line in done.stdout.splitlines():
        assert "\x1b" not in line and "\u202e" not in line
        if "at no price" in line:
            assert line.endswith("% to large / sm\ufffdall \ufffd[31m")


def test_what_is_read_and_what_is_no_file_stays_as_it_is(call, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/null")
    (tmp_path / "same").hardlink_to(tmp_path / "table.csv")
    (tmp_path / "link").symlink_to(tmp_path / "own.npz")
    names = ("table.csv", "own.npz", "pictures.npz")
    before = [(tmp_path / name).read_bytes() for name in names]

    for name in (*names, "same", "link", "pipe", "null"):
        done = CliRunner().invoke(app, [*call, "--out", str(tmp_path / name)])
        assert isinstance(done.exception, ForethoughtError), name
        assert "cannot write" in str(done.exception) and "\n" not in str(done.exception)

    assert [(tmp_path / name).read_bytes() for name in names] == before
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    assert stat.S_ISCHR(os.stat(tmp_path / "null").st_mode)


def test_a_table_in_a_folder_of_records_is_not_overwritten(call, tmp_path):
    (tmp_path / "out" / "b").mkdir(parents=True)
    path = tmp_path / "out" / "b" / "records.jsonl"
    path.write_text("{}\n", "utf-8")

    done = CliRunner().invoke(app, ["route", str(tmp_path / "out"), "--out", str(path)])

    assert "is read, and would be lost" in str(done.exception)
    assert path.read_text("utf-8") == "{}\n"


def figures(value):
    estimate = {"value": value, "low": value, "high": value}
    return {
        "nauc": estimate, "difference": estimate, "peak": value, "qnc": value, "rank_score": value, "shares": {"a": 1},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "three", "two"),
    [(20.0, "20.000", "20.00"), (0.5, ".500", ".50"), (-0.25, "-.250", "-.25"), (10.05, "10.050", "10.05")],
)  # fmt: skip
def test_only_a_leading_zero_is_left_out(capsys, value, three, two):
    told = {
        "routers": {"kNN": figures(value)}, "arms": {"a": {}}, "best_single": {"arm": "a", "quality": 1.0, "cost": 1.0},
        "questions": {"mine": 1, "choose": 1, "test": 1}, "left_out": 0, "columns_left_out": [], "records_cut_off": 2,
        "same_cost": True,
    }  # fmt: skip

    show_routing(told)

    shown = capsys.readouterr().out
    row = next(line for line in shown.splitlines() if "kNN" in line)
    signed = three if value < 0 else f"+{three}"
    assert row.split() == [
        "kNN", three, f"[{three},", f"{three}]", signed, f"[{signed},", f"{signed}]", three, two, three,
    ]  # fmt: skip
    assert "records cut off at a file's end, left out: 2" in shown
    assert "all arms cost the same: nAUC is the best quality" in shown


def test_a_mistake_in_the_call_is_told(call, tmp_path):
    for wrong, told in (
        ([*call, "--arm", "small"], "two arms or more"),
        ([*call, "--arm", "huge", "--arm", "small"], "huge: no such arm"),
        ([*call, "--out", str(tmp_path)], "it is a folder"),
        (["route", str(tmp_path / "nowhere.csv")], "no table there"),
    ):
        done = CliRunner().invoke(app, wrong)
        assert isinstance(done.exception, ForethoughtError)
        assert told in str(done.exception)
