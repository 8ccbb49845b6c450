import json

import numpy as np
import pytest
from typer.testing import CliRunner

from forethought.data.errors import ForethoughtError
from forethought.scorer.routing.utility.latent_router import load_router
from forethought.ui.cli import app

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
