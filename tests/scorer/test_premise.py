import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_models import ByteTokenizer, tiny_model, tiny_network

from forethought.scorer import premise
from forethought.scorer.model import wrap
from forethought.scorer.plain import score_plainly, totals
from forethought.scorer.premise import PREMISE, premise_sums

CANDIDATES = ((1, 2, 3), (1, 9))
DIGEST = "0123456789abcdef" * 4


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path))
    return tmp_path / "premises"


def model(revision=DIGEST, dtype="float64"):
    return replace(tiny_model(dtype=dtype), revision=revision)


def expected(dtype="float64"):
    return totals(score_plainly(tiny_model(dtype=dtype), list(PREMISE.encode()), CANDIDATES))


def mark(folder):
    """Changes the stored sums, so that reading them shows."""
    for path in folder.glob("*.json"):
        content = json.loads(path.read_text())
        path.write_text(json.dumps(content | {"value": [-1.0] * len(content["value"])}))


def test_the_premise_is_scored_like_any_context():
    assert np.allclose(premise_sums(model(), CANDIDATES), expected(), atol=1e-10)


def test_stored_sums_are_the_same_to_the_bit_and_are_read_again(folder):
    first, second = premise_sums(model(), CANDIDATES), premise_sums(model(), CANDIDATES)

    assert np.array_equal(first, second)
    assert len([*folder.iterdir()]) == 1
    mark(folder)
    assert premise_sums(model(), CANDIDATES).tolist() == [-1.0, -1.0]


def test_another_model_dtype_or_candidate_is_computed_anew(folder):
    premise_sums(model(), CANDIDATES)
    mark(folder)

    assert np.allclose(premise_sums(model("f" * 40), CANDIDATES), expected(), atol=1e-10)
    assert np.allclose(premise_sums(model(dtype="float32"), CANDIDATES), expected(), atol=1e-4)
    assert premise_sums(model(), CANDIDATES[::-1]).tolist() != [-1.0, -1.0]


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "5",
        "[]",
        "null",
        "[" * 100_000,
        '{"value": [1, 1]}',
        '{"facts": {}, "value": [1, 1]}',
    ],
)
def test_a_damaged_file_is_computed_again_and_mended(folder, damage):
    sums = premise_sums(model(), CANDIDATES)
    (path,) = folder.iterdir()
    whole = path.read_text()
    path.write_text(damage)

    assert np.array_equal(premise_sums(model(), CANDIDATES), sums)
    assert path.read_text() == whole


@pytest.mark.parametrize("sums", [[-1.0], [-1.0, float("nan")], ["x", "y"], None])
def test_stored_sums_that_are_no_sums_are_computed_again(folder, sums):
    before = premise_sums(model(), CANDIDATES)
    (path,) = folder.iterdir()
    path.write_text(json.dumps(json.loads(path.read_text()) | {"value": sums}))

    assert np.array_equal(premise_sums(model(), CANDIDATES), before)


def halve(network):
    network.lm_head.weight.data *= 0.5


def step(network):
    with torch.no_grad():
        network.model.layers[1].mlp.up_proj.weight.add_(0.1)


def nudge(network):
    network.model.embed_tokens.weight.data[ord("Q"), 0] += 1e-3


@pytest.mark.parametrize("train", [halve, step, nudge])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_weights_changed_in_memory_neither_read_nor_spoil_what_the_folder_has(folder, train, dtype):
    network = tiny_network().to(getattr(torch, dtype))
    loaded = wrap(network, ByteTokenizer(), "tiny", DIGEST)
    before, print_before = premise_sums(loaded, CANDIDATES), loaded.fingerprint()
    mark(folder)

    train(network)

    sums = premise_sums(loaded, CANDIDATES)
    assert np.array_equal(sums, premise._computed(loaded, CANDIDATES))
    assert not np.array_equal(sums, before)
    untouched = wrap(tiny_network().to(getattr(torch, dtype)), ByteTokenizer(), "tiny", DIGEST)
    assert untouched.fingerprint() == print_before
    assert premise_sums(untouched, CANDIDATES).tolist() == [-1.0, -1.0], "its own, marked"


def test_a_folder_in_the_place_of_a_file_costs_time_only(folder):
    sums = premise_sums(model(), CANDIDATES)
    (path,) = folder.iterdir()
    path.unlink()
    path.mkdir()

    assert np.array_equal(premise_sums(model(), CANDIDATES), sums)
    assert [*folder.iterdir()] == [path], "nothing half-made is left"


def test_a_model_without_a_digest_is_not_remembered(folder):
    premise_sums(model(revision="0"), CANDIDATES)

    assert not folder.exists()


def test_a_cache_that_cannot_be_written_costs_time_only(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FORETHOUGHT_CACHE", str(tmp_path / "file"))

    assert np.allclose(premise_sums(model(), CANDIDATES), expected(), atol=1e-10)


def test_the_layout_is_part_of_the_name(folder, monkeypatch):
    premise_sums(model(), CANDIDATES)
    mark(folder)
    monkeypatch.setattr(premise, "LAYOUT", premise.LAYOUT + 1)

    assert np.allclose(premise_sums(model(), CANDIDATES), expected(), atol=1e-10)
