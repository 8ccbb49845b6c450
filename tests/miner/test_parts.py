"""Dividing one group: everything goes somewhere, the heaviest part comes first, and a part is said by a phrase near it."""

import numpy as np
from embedders import HashingEmbedder
from hypothesis import given
from hypothesis import strategies as st

from forethought.miner.parts import MOST, divide, phrase_for
from forethought.miner.phrase import Phrase


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def bundles(sizes: list[int], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows about one axis each, and which axis that is."""
    rng = np.random.default_rng(seed)
    axis = np.repeat(np.arange(len(sizes)), sizes)
    return unit(np.eye(8)[axis] + 0.05 * rng.standard_normal((len(axis), 8))), axis


def test_bundles_are_set_apart_the_largest_first():
    vectors, axis = bundles([5, 20, 10])
    parts = divide(vectors, [1] * len(vectors), 3)

    assert [set(parts[axis == k]) for k in range(3)] == [{2}, {0}, {1}]


def test_what_recurs_is_found_without_a_number_and_never_more_than_can_be_seen():
    two, _ = bundles([40, 40])
    many, _ = bundles([40] * 7)

    assert set(divide(two, [1] * len(two))) == {0, 1}
    assert set(divide(many, [1] * len(many))) == set(range(MOST))


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 5))
def test_every_row_goes_to_some_part_and_parts_are_numbered_by_weight(rows, count, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 9, rows)
    parts = divide(unit(rng.standard_normal((rows, 8))), weights.tolist(), count)
    totals = np.bincount(parts, weights)

    assert len(parts) == rows
    assert len(totals) <= count
    assert (np.diff(totals) <= 0).all()
    assert totals.all()


def test_a_part_is_said_by_the_nearest_phrase_that_is_not_taken():
    texts = ["I should look it up.", "I can give the answer."]
    phrases = [Phrase(text, 3, 3) for text in texts]
    near = HashingEmbedder().embed(["I should look that up."])

    assert phrase_for(near, phrases, HashingEmbedder(), ()) == texts[0]
    assert phrase_for(near, phrases, HashingEmbedder(), {texts[0].casefold()}) == texts[1]
    assert phrase_for(near, phrases, HashingEmbedder(), {t.casefold() for t in texts}) is None
