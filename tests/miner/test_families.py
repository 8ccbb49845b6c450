"""Two levels: matrices whose families are plain to see, and properties of how alike candidates are."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.data.candidates import Candidate, written
from forethought.miner.families import APART, families, likeness


def candidate(number: int, support: int = 1, actions: tuple[str, ...] = ("go",)) -> Candidate:
    turns = tuple(f"t{number}:{turn}" for turn in range(support))
    return replace(written(f"I should do thing {number}.", actions), support=turns)


def matrix(pairs: dict[tuple[int, int], float], size: int) -> np.ndarray:
    alike = np.eye(size)
    for (row, column), value in pairs.items():
        alike[row, column] = alike[column, row] = value
    return alike


@st.composite
def sets(draw):
    size = draw(st.integers(0, 9))
    made = [
        candidate(n, draw(st.integers(0, 5)), draw(st.sampled_from([("go",), ("take",), ()])))
        for n in range(size)
    ]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    vectors = rng.standard_normal((size, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return made, vectors, rng.random((12, size)), rng.integers(1, 4, 12).astype(float)


def test_what_is_alike_is_one_family_named_by_the_one_most_like_its_turns():
    made = [candidate(0, 2), candidate(1, 30), candidate(2, 3), candidate(3, 9)]
    alike = matrix({(0, 2): 0.7, (0, 3): 0.8, (2, 3): 0.75}, 4)

    first, second = families(made, alike)

    assert first.candidates == (made[1],)
    assert second.candidates == (made[0], made[2], made[3])
    assert second.name == made[3].text
    assert (first.share, second.share) == (0.6818, 0.3182)


def test_families_part_where_they_are_further_apart_on_average_than_measured():
    made = [candidate(0), candidate(1), candidate(2)]
    near = matrix({(0, 1): 1 - APART + 0.01}, 3)
    far = matrix({(0, 1): 1 - APART - 0.01}, 3)
    chained = matrix({(0, 1): 0.9, (1, 2): 0.9, (0, 2): 0.0}, 3)  # .45 on average

    assert [len(family.candidates) for family in families(made, near)] == [2, 1]
    assert [len(family.candidates) for family in families(made, far)] == [1, 1, 1]
    assert [len(family.candidates) for family in families(made, chained)] == [2, 1]


@given(sets())
def test_every_candidate_is_in_one_family_and_names_come_from_within(made):
    candidates, *rest = made
    found = families(candidates, likeness(candidates, *rest))

    members = [one for family in found for one in family.candidates]
    assert sorted(c.id for c in members) == sorted(c.id for c in candidates)
    assert all(family.name in {c.text for c in family.candidates} for family in found)
    has_turns = any(one.support for one in candidates)
    assert sum(family.share for family in found) == pytest.approx(float(has_turns), abs=0.01)


@given(sets(), st.randoms())
def test_the_order_of_a_set_does_not_change_its_families(made, random):
    candidates, vectors, affinity, counts = made
    order = random.sample(range(len(candidates)), len(candidates))
    moved = [candidates[row] for row in order]
    alike = likeness(moved, vectors[order], affinity[:, order], counts)

    groups = {frozenset(f.candidates) for f in families(moved, alike)}
    before = families(candidates, likeness(candidates, vectors, affinity, counts))
    assert groups == {frozenset(f.candidates) for f in before}


@given(sets())
def test_likeness_is_symmetric_between_none_and_equal_and_counts_turns(made):
    candidates, vectors, affinity, counts = made
    alike = likeness(candidates, vectors, affinity, counts)
    turns = np.repeat(affinity, counts.astype(int), axis=0)

    assert np.array_equal(alike, alike.T)
    assert np.all(alike >= 0) and np.all(alike <= 1)
    assert np.allclose(np.diag(alike), 1)
    assert np.allclose(alike, likeness(candidates, vectors, turns, np.ones(len(turns))), atol=1e-5)


def test_one_text_for_two_actions_in_other_situations_is_two_families():
    made = [candidate(0, actions=("take",)), candidate(1, actions=("put",))]
    affinity = np.array([[1.0, 0.0], [0.0, 1.0]])
    alike = likeness(made, np.array([[1.0, 0.0], [1.0, 0.0]]), affinity, np.ones(2))

    assert alike[0, 1] == pytest.approx(1 / 3, abs=1e-6)
    assert len(families(made, alike)) == 2


def test_a_candidate_that_suits_no_turn_more_than_another_is_like_itself_by_text_and_action():
    (alone,) = families([candidate(0)], np.ones((1, 1)))
    flat = likeness([candidate(0), candidate(1)], np.eye(2), np.ones((3, 2)), np.ones(3))

    assert alone.share == 1.0
    assert flat[0, 1] == pytest.approx(1 / 3, abs=1e-6)
    assert families([], np.zeros((0, 0))) == ()
