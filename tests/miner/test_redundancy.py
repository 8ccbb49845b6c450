"""Texts that are one too many: near in meaning, or suiting the same turns."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from forethought.miner.choose import choose
from forethought.miner.redundancy import BLOCK, Nearness
from forethought.miner.similarity import MILLION, MILLIONTHS

SEEDS = st.integers(0, 2**32 - 1)


def affinities(seed: int, rows: int, texts: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, MILLION + 1, (rows, texts)).astype(MILLIONTHS)


@given(SEEDS, st.sampled_from([3, 50, BLOCK, BLOCK + 1, 2 * BLOCK + 7]))
def test_the_overlap_is_the_correlation_over_all_turns_however_many_blocks_they_make(seed, rows):
    millionths = affinities(seed, rows)
    counts = np.random.default_rng(seed).integers(1, 4, rows)

    overlap = Nearness.of(np.eye(5), millionths, counts).overlap

    plainly = np.corrcoef(np.repeat(millionths / MILLION, counts, axis=0).T)
    assert np.allclose(overlap, plainly, atol=2e-6)


def test_a_text_that_suits_all_turns_alike_overlaps_with_none():
    affinity = np.array([[0.5, 0.1], [0.5, 0.9], [0.5, 0.2]])

    assert Nearness.of(np.eye(2), affinity, np.ones(3)).overlap[0].tolist() == [0, 0]


@given(SEEDS)
def test_phrases_are_chosen_out_of_millionths_as_out_of_what_was_rounded_to_six_digits(seed):
    millionths = affinities(seed, 40, 12)
    rounded = np.random.default_rng(seed).random(40)

    assert (millionths / MILLION == (millionths / MILLION).round(6)).all()
    assert choose(millionths, rounded, 6) == choose(millionths / MILLION, rounded, 6)
