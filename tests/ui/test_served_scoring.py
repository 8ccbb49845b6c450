"""`forethought score --engine`: the numbers of a served model, its label, and one line for each mistake."""

import json

import pytest
from engine_server import EngineServer

from forethought.scorer.model import load_model
from forethought.ui.cli import main

SECRET = "sk-very-secret"


@pytest.fixture(scope="module")
def model():
    return load_model()


@pytest.fixture
def score(monkeypatch, capsys, tmp_path):
    """Runs `forethought score ssr` in this process: exit code, JSON or text, and what went to standard error."""
    (tmp_path / "turn.txt").write_text("Question: Who built the bridge?\n", "utf-8")

    def run(*options):
        base = ("forethought", "score", "ssr", "--context", str(tmp_path / "turn.txt"))
        monkeypatch.setattr("sys.argv", [*base, *options])
        code = 0
        try:
            main()
        except SystemExit as exit:
            code = int(exit.code or 0)
        printed = capsys.readouterr()
        is_json = "--json" in options and code == 0
        return code, json.loads(printed.out) if is_json else printed.out, printed.err

    return run


@pytest.mark.parametrize(("kind", "calibration"), [("sglang", "raw"), ("vllm", "pmi")])
def test_a_served_model_says_what_the_same_model_says_here(score, model, kind, calibration):
    with EngineServer(model, kind) as server:
        options = ("--calibration", calibration, "--json")
        code, far, err = score(*options, "--engine", kind, "--url", server.url)
        _, here, _ = score(*options)

    assert code == 0, err
    assert far["selected"] == here["selected"]
    for one, other in zip(far["candidates"], here["candidates"], strict=True):
        assert one["score"] == pytest.approx(other["score"], abs=1e-4)
    assert far["engine"]["label"].endswith(server.url)
    assert far["engine"]["milliseconds"]["score"] <= far["milliseconds"]["score"]
    assert far["model"] == "SmolLM2-135M-Instruct@served"
    assert "engine" not in here


def test_the_table_names_the_engine_and_no_secret(score, model, monkeypatch):
    monkeypatch.setenv("FORETHOUGHT_ENGINE_TOKEN", SECRET)
    with EngineServer(model, "sglang") as server:
        server.token = SECRET
        code, out, err = score("--engine", "sglang", "--url", server.url)

    assert code == 0, err
    assert "sglang 0.5.23 at" in out.replace("\n", " ")
    assert SECRET not in out + err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--engine", "vllm"), "--url"),
        (("--url", "http://127.0.0.1:1"), "--engine"),
        (("--engine", "vllm", "--url", "127.0.0.1"), "no engine's URL"),
        (("--engine", "vllm", "--url", "http://127.0.0.1:1", "--model", "./none"), "such folder"),
    ],
)
def test_a_wrong_call_is_one_line(score, options, said):
    code, _, err = score(*options)

    assert code == 2
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "option",
    [
        ("--method", "plain"),
        ("--calibration", "batch"),
        ("--calibration", "fitted"),
        ("--constrained",),
        ("--image", "page.png"),
    ],
)
def test_what_needs_the_weights_here_is_refused_with_an_engine(score, model, option):
    with EngineServer(model, "sglang") as server:
        code, _, err = score(*option, "--engine", "sglang", "--url", server.url)

    assert code == 2
    assert f"{option[0]}" in err
    assert "weights" in err
    assert server.requests == []
