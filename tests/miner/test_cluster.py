"""Groups that recur, and noise that stays noise."""

import numpy as np
import pytest

from forethought.miner.cluster import NOISE, cluster


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def blobs(sizes: list[int], seed: int = 0) -> np.ndarray:
    """Tight groups of these sizes around random directions in 64 dimensions."""
    rng = np.random.default_rng(seed)
    return unit(
        np.concatenate(
            [rng.standard_normal(64) * 3 + 0.3 * rng.standard_normal((n, 64)) for n in sizes]
        )
    )


def test_planted_groups_are_found_and_kept_apart():
    labels = cluster(blobs([40, 40, 40]), [1] * 120).labels

    for start in (0, 40, 80):
        group = labels[start : start + 40]
        inside = group[group != NOISE]
        assert len(inside) > 20
        assert not set(inside) & set(np.delete(labels, range(start, start + 40))) - {NOISE}


def test_pure_noise_forms_no_large_group():
    labels = cluster(unit(np.random.default_rng(1).standard_normal((300, 64))), [1] * 300).labels

    assert (labels == NOISE).mean() > 0.8


def test_a_text_said_fifty_times_is_a_habit_of_its_own():
    vectors = unit(np.random.default_rng(2).standard_normal((60, 64)))
    weights = [1] * 60
    weights[7] = 50

    labels = cluster(vectors, weights).labels

    assert labels[7] != NOISE


@pytest.mark.parametrize("rows", [0, 1, 2, 4, 10, 29])
def test_small_data_is_joined_without_a_crash(rows):
    clustering = cluster(unit(np.random.default_rng(3).standard_normal((rows, 64))), [1] * rows)

    assert len(clustering.labels) == rows
    assert sum(map(len, clustering.groups)) == rows


def test_two_near_texts_among_few_are_joined():
    vectors = blobs([2, 2])

    assert [len(group) for group in cluster(vectors, [1] * 4).groups] == [2, 2]


def test_a_vector_that_is_no_number_is_refused():
    with pytest.raises(AssertionError, match="NaN"):
        cluster(np.full((40, 64), np.nan), [1] * 40)
