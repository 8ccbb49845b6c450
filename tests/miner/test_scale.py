"""Many turns: samples stand for all, each thing is worked out once, and an interrupted run goes on."""

import os
import random

import numpy as np
import pytest
from embedders import HashingEmbedder
from hypothesis import given
from hypothesis import strategies as st
from runs import runs
from sklearn.metrics import adjusted_rand_score

from forethought.miner import stages
from forethought.miner.abstract import Generalizer
from forethought.miner.assign import NEIGHBOURS, _first_of_largest
from forethought.miner.cluster import NOISE, cluster
from forethought.miner.language import words
from forethought.miner.mask import Mask
from forethought.miner.mine import MinerSettings, mine
from forethought.miner.ownership import owned_by
from forethought.miner.sampling import cluster_many, stratified_sample
from forethought.miner.stages import Kept, Rows, Stages
from forethought.miner.thoughts import thoughts_of

THOUGHTS = list(thoughts_of(runs(90)))
MASK = Mask.fit(THOUGHTS)
EMBEDDER = HashingEmbedder()


def planted(groups: int, size: int, noise: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors around `groups` centres, and `noise` of them around none; with their group."""
    rng = np.random.default_rng(7)
    centres = rng.standard_normal((groups, 32))
    labels = np.concatenate([np.repeat(np.arange(groups), size), np.full(noise, NOISE)])
    vectors = rng.standard_normal((len(labels), 32))
    inside = labels != NOISE
    vectors[inside] = centres[labels[inside]] + 0.25 * vectors[inside]
    order = rng.permutation(len(labels))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit[order].astype(np.float32), labels[order]


def test_a_sample_finds_the_groups_and_the_rest_joins_them():
    vectors, labels = planted(groups=8, size=300, noise=600)

    found = cluster_many(vectors, [1] * len(vectors), np.zeros(len(vectors), int), most=700).labels

    inside = (labels != NOISE) & (found != NOISE)
    assert adjusted_rand_score(labels[inside], found[inside]) > 0.95
    assert (found[labels != NOISE] != NOISE).mean() > 0.8
    assert (found[labels == NOISE] == NOISE).mean() > 0.7


def test_what_fits_at_once_is_clustered_as_ever():
    vectors, _ = planted(groups=4, size=40, noise=40)
    weights = [1 + row % 3 for row in range(len(vectors))]

    many = cluster_many(vectors, weights, np.zeros(len(vectors), int)).labels

    assert many.tolist() == cluster(vectors, weights).labels.tolist()


@given(st.lists(st.integers(0, 4), min_size=1, max_size=200), st.integers(5, 60))
def test_a_sample_is_no_larger_than_asked_and_holds_every_kind(strata, most):
    rows = stratified_sample(np.array(strata), np.ones(len(strata)), most)

    assert rows.tolist() == sorted(set(rows.tolist()))
    assert len(rows) == len(strata) if len(strata) <= most else len(rows) <= most
    if most >= 25:
        assert {strata[row] for row in rows} == set(strata)


def test_heavy_rows_are_sampled_before_light_ones():
    weights = np.ones(1000)
    weights[::100] = 1e6

    rows = stratified_sample(np.zeros(1000, int), weights, 20)

    assert set(range(0, 1000, 100)) <= set(rows.tolist())


@given(st.lists(st.integers(0, 5), max_size=150))
def test_the_nearest_turns_are_those_that_sorting_all_would_give(values):
    cosine = np.array(values, float)
    plainly = np.argsort(-cosine, kind="stable")[:NEIGHBOURS]

    assert sorted(_first_of_largest(cosine).tolist()) == sorted(plainly.tolist())


def test_what_was_remembered_of_other_thoughts_changes_nothing_that_is_said():
    together = Generalizer(MASK)

    assert [together.say(thought) for thought in THOUGHTS] == [
        Generalizer(MASK).say(thought) for thought in THOUGHTS
    ]


def test_of_what_a_run_owns_only_the_words_of_the_text_matter_to_masking():
    for thought in THOUGHTS:
        owned = owned_by(thought.owned)
        assert MASK.apply(thought.text, owned.within({*words(thought.text)})) == MASK.apply(
            thought.text, thought.owned
        )


def test_traces_may_come_one_at_a_time_and_in_any_order():
    traces = runs(90)
    shuffled = random.Random(1).sample(traces, len(traces))

    streamed = mine(iter(shuffled), EMBEDDER, "x")

    assert streamed.candidate_set == mine(traces, EMBEDDER, "x").candidate_set


class Stopped(Exception):
    pass


def stop_at(stage: str):
    def progress(step: str) -> None:
        if step == stage:
            raise Stopped

    return progress


@pytest.mark.parametrize("stage", ["phrase", "embed", "choose", "assign"])
def test_an_interrupted_run_goes_on_and_ends_with_the_same_set(tmp_path, stage):
    settings = MinerSettings(resume=tmp_path)
    with pytest.raises(Stopped):
        mine(runs(90), EMBEDDER, "x", settings, stop_at(stage))
    kept = {path.name.split("-")[0] for path in tmp_path.iterdir()}

    result = mine(runs(90), EMBEDDER, "x", settings)

    assert {record.name for record in result.stages if record.is_resumed} == kept >= {"fit", "mask"}
    assert result.candidate_set == mine(runs(90), EMBEDDER, "x").candidate_set


def test_other_traces_and_damaged_products_are_worked_out_anew(tmp_path):
    settings = MinerSettings(resume=tmp_path)
    first = mine(runs(90), EMBEDDER, "x", settings)
    other = mine(runs(80), EMBEDDER, "x", settings)
    for path in tmp_path.glob("mask-*"):
        path.write_bytes(path.read_bytes()[:100])
    again = mine(runs(90), EMBEDDER, "x", settings)

    assert not any(record.is_resumed for record in other.stages)
    assert {r.name for r in again.stages if r.is_resumed} == {"fit", "phrase", "cluster"}
    assert again.candidate_set == first.candidate_set


def test_a_stage_with_other_parameters_is_another_stage_and_so_are_those_behind_it(tmp_path):
    def made(parameter: str) -> list[bool]:
        stages = Stages("inputs", tmp_path)
        kept = Kept(lambda value: {"value": value}, lambda product: product["value"], [parameter])
        behind = Kept(lambda value: {"value": value}, lambda product: product["value"])
        assert stages.run("first", lambda: [parameter], lambda _: Rows(0, 1), kept) == [parameter]
        stages.run("second", lambda: [1, "ü", None], lambda _: Rows(1, 3), behind)
        return [record.is_resumed for record in stages.records]

    assert made("a") == [False, False]
    assert made("a") == [True, True]
    assert made("b") == [False, False]


def test_the_manifest_tells_each_stages_rows_seconds_and_memory():
    result = mine(runs(90), EMBEDDER, "x")
    stages = {record.name: record for record in result.stages}

    assert list(stages) == ["fit", "mask", "phrase", "embed", "cluster", "choose", "assign"]
    assert stages["fit"].rows.into == result.num_thoughts
    assert stages["cluster"].rows == (result.num_distinct, result.num_clusters)
    assert all(record.seconds >= 0 and record.peak_mib > 0 for record in stages.values())


def test_products_used_longest_ago_go_when_there_are_too_many_or_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(stages, "MOST_KEPT", 6)
    monkeypatch.setattr(stages, "MOST_BYTES", 10_000)
    for used in range(8):
        (tmp_path / f"{used}.npz").write_bytes(bytes(100))
        os.utime(tmp_path / f"{used}.npz", (used, used))
    large, own = tmp_path / "7.npz", tmp_path / "0.npz"

    stages.prune(tmp_path, {own})
    assert sorted(path.stem for path in tmp_path.iterdir()) == list("0234567")

    large.write_bytes(bytes(10_000))
    stages.prune(tmp_path, {own})
    assert {path.stem for path in tmp_path.iterdir()} == {"0", "7"}


def test_many_runs_leave_the_products_of_the_last_and_those_are_found_again(tmp_path, monkeypatch):
    monkeypatch.setattr(stages, "MOST_KEPT", 5)
    settings = MinerSettings(resume=tmp_path)
    for count in (60, 70, 80, 90):
        mine(runs(count), EMBEDDER, "x", settings)
        mine(runs(60), EMBEDDER, "x", settings)

    again = mine(runs(60), EMBEDDER, "x", settings)

    assert len(list(tmp_path.iterdir())) == 5
    assert {record.name for record in again.stages if record.is_resumed} == {
        "fit", "mask", "phrase", "cluster"
    }  # fmt: skip
